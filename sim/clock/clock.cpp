#include "sim/clock/clock.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <deque>
#include <limits>
#include <stdexcept>
#include <utility>

#include "sim/schedule.h"

namespace syncline {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double rounding = 4e-16;  // of a moment
constexpr double nothing_s = 1e-15;

// A part of what a stream does: bytes move, the first core works, or the second one does.
struct Leg {
  enum class Kind { moves, works, second_core } kind = Kind::moves;
  double seconds = 0;
};

// What a stream takes in its turn.
struct Job {
  enum class Then {
    average,   // its message is made: it can be exchanged
    read,      // the average has arrived: it is decompressed, if it has to be
    averaged,  // in groups, too
    gathered,
    scattered,       // in the group, and then between groups
    shards_averaged  // between groups
  };
  Then then = Then::averaged;
  int bucket = 0;
  bool over_all = true;
  double not_before_s = 0;
  std::vector<Leg> legs = {};
  double tail_s = 0;  // it ends so much later than the next one may begin
  std::size_t leg = 0;
  double left_s = 0;  // of that leg
};

enum Stream { of_all, of_groups, second_core, streams };

// Several rounds of the slowest worker.
class Evaluation {
 public:
  Evaluation(const Setup& setup, const Round& round, const CollectiveTimes& times, double bandwidth)
      : setup_(setup),
        round_(round),
        times_(times),
        bandwidth_(bandwidth),
        worker_(static_cast<int>(std::ranges::max_element(setup.compute.solo_s) -
                                 setup.compute.solo_s.begin())),
        has_second_core_(setup.traffic.compression.on() &&
                         setup.traffic.cluster.workers.front().cores > 1),
        slow_(1 + setup.scenario.slowdown_beside_collectives()),
        gathering_(setup.buckets.size()) {}

  double iteration_s() {
    constexpr int most_rounds = 8;
    double before_s = -1;
    for (int i = 0; i < most_rounds; ++i) {
      const double began_s = now_s_;
      for (const AlikeIterations& part : round_.parts)
        perform(part);
      const double seconds = now_s_ - began_s;
      const bool known = is_idle() || std::abs(seconds - before_s) <= 1e-12 * now_s_;
      before_s = seconds;
      if (known)  // the next one would be the same
        break;
    }
    return before_s / round_.iterations;
  }

 private:
  bool is_idle() const {
    return outstanding_ == 0 && outstanding_within_ == 0 && tails_.empty() &&
           std::ranges::all_of(jobs_, &std::deque<Job>::empty);
  }
  const Bucket& bucket(int i) const { return setup_.buckets[index(i)]; }

  void perform(const AlikeIterations& part) {
    for (int i = 0; i < part.times; ++i) {
      const bool was_idle = is_idle();
      const double began_s = now_s_;
      for (const Act& act : part.acts)
        perform(act);
      if (was_idle && is_idle()) {  // the others would be the same
        now_s_ += (part.times - 1 - i) * (now_s_ - began_s);
        return;
      }
    }
  }

  void perform(const Act& act) {
    const ComputeTimes& compute_times = setup_.compute;
    const bool overlap = setup_.scenario.overlap;
    switch (act.verb) {
      case Verb::forward:
        return compute(compute_times.before_backward_s(worker_));
      case Verb::forward_bucket:
        return compute(compute_times.forward_s(worker_, bucket(act.bucket).forward_flop));
      case Verb::backward:
        return compute(compute_times.backward_s(worker_, bucket(act.bucket)));
      case Verb::step:
        return compute(compute_times.launch_s + compute_times.step_s[index(worker_)]);
      case Verb::start_average:
        ++outstanding(act.group == Among::all);
        deferred_.push_back(act);
        if (overlap || index(act.bucket) + 1 == setup_.buckets.size())
          for (const Act& deferred : std::exchange(deferred_, {}))
            make_message(deferred);
        return;
      case Verb::finish_averages:
        return finish_averages(outstanding(act.group == Among::all));
      case Verb::start_gather:
        ++gathering_[index(act.bucket)];
        exchange(of_all, times_.gather, {.then = Job::Then::gathered, .bucket = act.bucket});
        if (!overlap)
          finish_gather(act.bucket);
        return;
      case Verb::finish_gather:
        return finish_gather(act.bucket);
      case Verb::start_reduce_scatter:
        ++outstanding_;
        exchange(of_all, times_.reduce_scatter,
                 {.then = Job::Then::scattered, .bucket = act.bucket});
        if (!overlap)
          wait_until([&] { return outstanding_ == 0; });
    }
  }

  int& outstanding(bool over_all) { return over_all ? outstanding_ : outstanding_within_; }

  void make_message(const Act& act) {
    const bool over_all = act.group == Among::all;
    const double seconds =
        (over_all ? times_.over_all : times_.within)[index(act.bucket)].compress_s;
    Job job{.then = Job::Then::average, .bucket = act.bucket, .over_all = over_all};
    if (has_second_core_ && seconds > 0) {
      job.legs = {{Leg::Kind::second_core, seconds}};
      return add(second_core, std::move(job));
    }
    compute(seconds);
    ended(job);
  }

  void finish_averages(const int& outstanding) {
    for (;;) {
      wait_until([&] { return outstanding == 0 || !to_read_.empty(); });
      if (to_read_.empty())
        return;
      const Job job = to_read_.front();
      to_read_.pop_front();
      compute(time_of(job).decompress_s);
      ended({.then = Job::Then::averaged, .over_all = job.over_all});
    }
  }

  void finish_gather(int unit) {
    wait_until([&] { return gathering_[index(unit)] == 0; });
  }

  const ExchangeTime& time_of(const Job& job) const {
    return (job.over_all ? times_.over_all : times_.within)[index(job.bucket)];
  }

  void exchange(Stream stream, const std::vector<ExchangeTime>& times, Job job) {
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
    add(stream, std::move(job));
  }

  void add(Stream stream, Job job) {
    job.left_s = job.legs.front().seconds;
    jobs_[stream].push_back(std::move(job));
  }

  void ended(const Job& job) {
    switch (job.then) {
      case Job::Then::average:
        return exchange(job.over_all ? of_all : of_groups,
                        job.over_all ? times_.over_all : times_.within,
                        {.then = Job::Then::read,
                         .bucket = job.bucket,
                         .over_all = job.over_all,
                         .not_before_s = now_s_ + bucket(job.bucket).waits_s});
      case Job::Then::read:
        if (const double seconds = time_of(job).decompress_s; seconds > 0) {
          Job read{.bucket = job.bucket,
                   .over_all = job.over_all,
                   .legs = {{Leg::Kind::second_core, seconds}}};
          if (has_second_core_)
            return add(second_core, std::move(read));
          return to_read_.push_back(std::move(read));
        }
        [[fallthrough]];
      case Job::Then::averaged:
        --outstanding(job.over_all);
        return;
      case Job::Then::gathered:
        --gathering_[index(job.bucket)];
        return;
      case Job::Then::scattered:
        if (!times_.across.empty())
          return exchange(of_groups, times_.across,
                          {.then = Job::Then::shards_averaged, .bucket = job.bucket});
        [[fallthrough]];
      case Job::Then::shards_averaged:
        --outstanding_;
    }
  }

  void compute(double seconds) {
    pass([&] { return seconds <= nothing_s; }, &seconds);
  }
  template <class Ready>
  void wait_until(const Ready& ready) {
    pass(ready, nullptr);
  }

  // Lets time pass until it is ready, while the first core computes so much (null: nothing).
  template <class Ready>
  void pass(const Ready& ready, double* computing_s) {
    while (settle(), !ready()) {
      const bool moving = any(Leg::Kind::moves);
      const double beside = moving ? 1 / slow_ : 1;
      const bool shares = !has_second_core_ && computing_s != nullptr && any(Leg::Kind::works);
      const double rate = shares ? 0.5 : beside;
      const auto rate_of = [&](Leg::Kind kind) {
        return kind == Leg::Kind::second_core ? beside
               : kind == Leg::Kind::works     ? (shares ? 0.5 : 1)
                                              : 1;
      };
      const double step_s = next_s(computing_s != nullptr ? *computing_s / rate : never, rate_of);
      if (step_s == never)
        throw std::runtime_error("schedule " + setup_.scenario.schedule->name +
                                 ": its workers wait for what they have not started");
      for (std::deque<Job>& jobs : jobs_)
        if (begun(jobs))
          jobs.front().left_s =
              std::max(0.0, jobs.front().left_s - step_s * rate_of(kind_of(jobs)));
      if (computing_s != nullptr)
        *computing_s = std::max(0.0, *computing_s - step_s * rate);
      now_s_ += step_s;
    }
  }

  // Until something else is to be done.
  template <class RateOf>
  double next_s(double first_s, const RateOf& rate_of) const {
    for (const std::deque<Job>& jobs : jobs_)
      if (!jobs.empty())
        first_s = std::min(first_s, begun(jobs) ? jobs.front().left_s / rate_of(kind_of(jobs))
                                                : jobs.front().not_before_s - now_s_);
    for (const auto& [end_s, job] : tails_)
      first_s = std::min(first_s, end_s - now_s_);
    return first_s;
  }

  static Leg::Kind kind_of(const std::deque<Job>& jobs) {
    return jobs.front().legs[jobs.front().leg].kind;
  }
  bool has_come(double moment_s) const { return moment_s <= now_s_ * (1 + rounding); }
  bool begun(const std::deque<Job>& jobs) const {
    return !jobs.empty() && has_come(jobs.front().not_before_s);
  }
  bool any(Leg::Kind kind) const {
    return std::ranges::any_of(
        jobs_, [&](const std::deque<Job>& jobs) { return begun(jobs) && kind_of(jobs) == kind; });
  }

  // Ends what has ended by now, and what follows from it at this moment.
  void settle() {
    for (bool again = true; std::exchange(again, false);) {
      for (std::deque<Job>& jobs : jobs_)
        while (begun(jobs) && jobs.front().left_s <= nothing_s) {
          Job& job = jobs.front();
          if (++job.leg < job.legs.size()) {
            job.left_s = job.legs[job.leg].seconds;
            continue;
          }
          tails_.emplace_back(now_s_ + job.tail_s, std::move(job));
          jobs.pop_front();
          again = true;
        }
      for (std::size_t i = 0; i < tails_.size();)
        if (has_come(tails_[i].first)) {
          const Job job = std::move(tails_[i].second);
          tails_.erase(tails_.begin() + static_cast<std::ptrdiff_t>(i));
          ended(job);
          again = true;
        } else {
          ++i;
        }
    }
  }

  const Setup& setup_;
  const Round& round_;
  const CollectiveTimes& times_;
  double bandwidth_;
  int worker_;
  bool has_second_core_;
  double slow_;
  double now_s_ = 0;
  std::array<std::deque<Job>, streams> jobs_;
  std::vector<std::pair<double, Job>> tails_;  // and when they end
  std::vector<Act> deferred_;                  // averages, with overlap = off
  std::deque<Job> to_read_;                    // averages that have arrived
  std::vector<int> gathering_;                 // by unit
  int outstanding_ = 0, outstanding_within_ = 0;
};

}  // namespace

ShardSums sums_of(const Round& round, const CollectiveTimes& times) {
  const auto sum = [&](Verb verb, const std::vector<ExchangeTime>& of_units) {
    ExchangeTime sum;
    std::vector<int> calls = round.calls(verb);
    calls.resize(of_units.size());
    for (std::size_t unit = 0; unit < of_units.size(); ++unit) {
      const double count = static_cast<double>(calls[unit]) / round.iterations;
      sum.fixed_s += count * of_units[unit].fixed_s;
      sum.bytes_s += count * of_units[unit].bytes_s;
      sum.about = sum.about || of_units[unit].about;
    }
    return sum;
  };
  return {.gather = sum(Verb::start_gather, times.gather),
          .reduce_scatter = sum(Verb::start_reduce_scatter, times.reduce_scatter),
          .across = sum(Verb::start_reduce_scatter, times.across)};
}

CollectiveTimes collective_times(const Setup& setup, Routes& routes) {
  if (!setup.shards)
    return {.over_all = bucket_times(setup.traffic, routes, setup.buckets),
            .within = bucket_times(setup.within, routes, setup.buckets)};
  const Shards& shards = *setup.shards;
  return {.gather = bucket_times(shards.gather, routes, setup.buckets),
          .reduce_scatter = bucket_times(shards.reduce_scatter, routes, setup.buckets),
          .across = bucket_times(shards.across, routes, setup.buckets)};
}

double iteration_seconds(const Setup& setup, const Round& round, const CollectiveTimes& times,
                         double bandwidth) {
  return Evaluation(setup, round, times, bandwidth).iteration_s();
}

}  // namespace syncline
