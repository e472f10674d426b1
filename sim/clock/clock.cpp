#include "sim/clock/clock.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <stdexcept>
#include <utility>

#include "sim/clock/streams.h"
#include "sim/schedule.h"

namespace syncline {
namespace {

// Evaluates several rounds of the slowest worker.
class Evaluation {
 public:
  Evaluation(const Setup& setup, const Round& round, const CollectiveTimes& times, double bandwidth,
             bool overlap)
      : setup_(setup),
        round_(round),
        times_(times),
        bandwidth_(bandwidth),
        overlap_(overlap && setup.scenario.overlap),
        worker_(slowest_worker(setup)),
        has_second_core_(setup.traffic.compression.on() &&
                         setup.traffic.cluster.workers[index(worker_)].cores > 1),
        streams_(1 + setup.scenario.slowdown_beside_collectives(), has_second_core_,
                 times.shared.shared_rates(), [this](const StreamJob& job) { ended(job); }),
        counts_{.gathering = std::vector<int>(setup.buckets.size())} {}

  // The seconds per iteration of a round that takes as long as the one before; else the mean of all
  // rounds but the first.
  double iteration_s() {
    constexpr int most_rounds = 8;
    double before_s = -1;
    double first_s = 0;
    for (int i = 0; i < most_rounds; ++i) {
      const double began_s = streams_.now_s();
      for (const AlikeIterations& part : round_.parts)
        perform(part);
      const double seconds = streams_.now_s() - began_s;
      if (is_idle() || std::abs(seconds - before_s) <= 1e-12 * streams_.now_s())
        return seconds / round_.iterations;
      before_s = seconds;
      if (i == 0)
        first_s = seconds;
    }
    return (streams_.now_s() - first_s) / (most_rounds - 1) / round_.iterations;
  }

 private:
  // Work that has been started and has not ended.
  struct Counts {
    std::size_t unread = 0;
    int over_all = 0, within = 0;
    std::vector<int> gathering = {};  // by unit

    bool operator==(const Counts&) const = default;
  };

  bool is_idle() const {
    return counts_ == Counts{.gathering = std::vector<int>(setup_.buckets.size())} &&
           streams_.is_idle();
  }
  const Bucket& bucket(int i) const { return setup_.buckets[index(i)]; }

  // Performs iterations one by one. Iterations that begin and end in the same state, except for the
  // remaining time of the same legs, are passed over together, as long as none of these legs ends.
  void perform(const AlikeIterations& part) {
    for (int i = 0; i < part.times; ++i) {
      const Streams::State before = streams_.state();
      const Counts counts = counts_;
      for (const Act& act : part.acts)
        perform(act);
      if (const int left = part.times - 1 - i; left > 1 && counts == counts_ && deferred_.empty())
        i += streams_.pass_over(before, left);
    }
  }

  void perform(const Act& act) {
    const ComputeTimes& compute_times = setup_.compute;
    switch (act.call) {
      case Call::forward:
        return streams_.compute(compute_times.before_backward_s(worker_));
      case Call::forward_bucket:
        return streams_.compute(compute_times.forward_s(worker_, bucket(act.bucket).forward_flop));
      case Call::backward:
        return streams_.compute(compute_times.backward_s(worker_, bucket(act.bucket)));
      case Call::step:
        return streams_.compute(compute_times.launch_s + compute_times.step_s(worker_));
      case Call::step_together:
        return streams_.compute(compute_times.launch_s + compute_times.together_s(worker_));
      case Call::start_average:
        ++outstanding(act.group == Among::all);
        deferred_.push_back(act);
        if (overlap_ || index(act.bucket) + 1 == setup_.buckets.size())
          make_deferred_messages();
        return;
      case Call::finish_averages:
        make_deferred_messages();
        return finish_averages(outstanding(act.group == Among::all));
      case Call::start_gather:
        ++counts_.gathering[index(act.bucket)];
        exchange(of_all, times_.gather, {.then = StreamJob::Then::gathered, .bucket = act.bucket});
        if (!overlap_)
          finish_gather(act.bucket);
        return;
      case Call::finish_gather:
        return finish_gather(act.bucket);
      case Call::start_reduce_scatter:
        ++counts_.over_all;
        exchange(of_all, times_.reduce_scatter,
                 {.then = StreamJob::Then::scattered, .bucket = act.bucket});
        if (!overlap_)
          streams_.wait_until([&] { return counts_.over_all == 0; });
        return;
      case Call::send_parameters:
      case Call::receive_parameters:
      case Call::mix:
        throw std::logic_error("workers with neighbours do not go together");
    }
  }

  int& outstanding(bool over_all) { return over_all ? counts_.over_all : counts_.within; }

  void make_deferred_messages() {
    for (const Act& deferred : std::exchange(deferred_, {}))
      make_message(deferred);
  }

  void make_message(const Act& act) {
    const bool over_all = act.group == Among::all;
    const double seconds =
        (over_all ? times_.over_all : times_.within)[index(act.bucket)].compress_s;
    StreamJob job{.then = StreamJob::Then::average, .bucket = act.bucket, .over_all = over_all};
    if (has_second_core_ && seconds > 0) {
      job.legs = {{Leg::Kind::second_core, std::max(0.0, seconds - bucket(act.bucket).hidden_s)}};
      return streams_.add(on_second_core, std::move(job));
    }
    streams_.compute(seconds);
    ended(job);
  }

  void finish_averages(const int& outstanding) {
    for (;;) {
      streams_.wait_until([&] { return outstanding == 0 || !to_read_.empty(); });
      if (to_read_.empty())
        return;
      const StreamJob job = to_read_.front();
      to_read_.pop_front();
      --counts_.unread;
      streams_.compute(time_of(job).decompress_s);
      ended({.then = StreamJob::Then::averaged, .over_all = job.over_all});
    }
  }

  void finish_gather(int unit) {
    streams_.wait_until([&] { return counts_.gathering[index(unit)] == 0; });
  }

  const ExchangeTime& time_of(const StreamJob& job) const {
    return (job.over_all ? times_.over_all : times_.within)[index(job.bucket)];
  }

  void exchange(JobStream stream, const std::vector<ExchangeTime>& times, StreamJob job) {
    const ExchangeTime& time = times[index(job.bucket)];
    job.tail_s = time.shared_fixed_s + time.shared_bytes_s / bandwidth_;
    const double moving_s = time.fixed_s + time.bytes_s / bandwidth_ - job.tail_s;
    double after = 0;
    for (const ExchangeTime::Work& work : time.works) {
      job.legs.push_back({Leg::Kind::moves, (work.after - after) * moving_s});
      job.legs.push_back({Leg::Kind::works, work.seconds});
      after = work.after;
    }
    job.legs.push_back({Leg::Kind::moves, (1 - after) * moving_s});
    streams_.add(stream, std::move(job));
  }

  void ended(const StreamJob& job) {
    switch (job.then) {
      case StreamJob::Then::average:
        return exchange(job.over_all ? of_all : of_groups,
                        job.over_all ? times_.over_all : times_.within,
                        {.then = StreamJob::Then::read,
                         .bucket = job.bucket,
                         .over_all = job.over_all,
                         .not_before_s = streams_.now_s() + bucket(job.bucket).waits_s});
      case StreamJob::Then::read:
        if (const double seconds = time_of(job).decompress_s; seconds > 0) {
          StreamJob read{.bucket = job.bucket,
                         .over_all = job.over_all,
                         .legs = {{Leg::Kind::second_core, seconds}}};
          if (has_second_core_)
            return streams_.add(on_second_core, std::move(read));
          ++counts_.unread;
          return to_read_.push_back(std::move(read));
        }
        [[fallthrough]];
      case StreamJob::Then::averaged:
        --outstanding(job.over_all);
        return;
      case StreamJob::Then::gathered:
        --counts_.gathering[index(job.bucket)];
        return;
      case StreamJob::Then::scattered:
        if (!times_.across.empty())
          return exchange(of_groups, times_.across,
                          {.then = StreamJob::Then::shards_averaged, .bucket = job.bucket});
        [[fallthrough]];
      case StreamJob::Then::shards_averaged:
        --counts_.over_all;
    }
  }

  const Setup& setup_;
  const Round& round_;
  const CollectiveTimes& times_;
  double bandwidth_;
  bool overlap_;
  int worker_;
  bool has_second_core_;
  Streams streams_;
  std::vector<Act> deferred_;      // averages, with overlap = off
  std::deque<StreamJob> to_read_;  // averages that have arrived
  Counts counts_;
};

}  // namespace

int slowest_worker(const Setup& setup) {
  int found = 0;
  const auto takes = [&](int worker) {
    return std::pair(setup.compute.solo_s(worker),
                     -setup.traffic.cluster.workers[index(worker)].cores);
  };
  for (int worker = 1; worker < setup.traffic.cluster.topology.workers(); ++worker)
    if (takes(worker) > takes(found))
      found = worker;
  return found;
}

bool CollectiveTimes::have_tails() const {
  for (const auto* times : {&over_all, &within, &gather, &reduce_scatter, &across})
    for (const ExchangeTime& time : *times)
      if (time.shared_fixed_s + time.shared_bytes_s > 0)
        return true;
  return false;
}

ShardSums sums_of(const Round& round, const CollectiveTimes& times) {
  const auto sum = [&](Call call, const std::vector<ExchangeTime>& of_units) {
    ExchangeTime sum;
    const std::vector<int> calls = round.calls(call, Among::all, of_units.size());
    for (std::size_t unit = 0; unit < of_units.size(); ++unit) {
      const double count = static_cast<double>(calls[unit]) / round.iterations;
      sum.fixed_s += count * of_units[unit].fixed_s;
      sum.bytes_s += count * of_units[unit].bytes_s;
      sum.about = sum.about || of_units[unit].about;
    }
    return sum;
  };
  return {.gather = sum(Call::start_gather, times.gather),
          .reduce_scatter = sum(Call::start_reduce_scatter, times.reduce_scatter),
          .across = sum(Call::start_reduce_scatter, times.across)};
}

CollectiveTimes collective_times(const Setup& setup, Routes& routes) {
  CollectiveTimes times;
  if (!setup.shards) {
    times = {.over_all = bucket_times(setup.traffic, routes, setup.buckets),
             .within = bucket_times(setup.within, routes, setup.buckets)};
    if (setup.within)
      times.shared = shared_link(setup.traffic, times.over_all, *setup.within, times.within,
                                 setup.buckets, routes);
    return times;
  }
  const Shards& shards = *setup.shards;
  times = {.gather = bucket_times(shards.gather, routes, setup.buckets),
           .reduce_scatter = bucket_times(shards.reduce_scatter, routes, setup.buckets),
           .across = bucket_times(shards.across, routes, setup.buckets)};
  if (shards.across)
    times.shared = shared_link(shards.reduce_scatter, times.reduce_scatter, *shards.across,
                               times.across, setup.buckets, routes);
  return times;
}

double iteration_seconds(const Setup& setup, const Round& round, const CollectiveTimes& times,
                         double bandwidth, bool overlap) {
  try {
    return Evaluation(setup, round, times, bandwidth, overlap).iteration_s();
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("schedule " + setup.scenario.schedule->name + ": " + error.what());
  }
}

}  // namespace syncline
