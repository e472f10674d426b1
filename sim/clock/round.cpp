#include "sim/clock/round.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "sim/clock/peers_worker.h"
#include "sim/schedule.h"

namespace syncline {
namespace {

// Waits for nothing, and hands on the verbs of each of a worker's first iterations.
class Recorder final : public PeersWorker {
 public:
  using Iteration = std::function<void(std::int64_t iteration, std::vector<Act> acts)>;

  Recorder(const Setup& setup, int rank, std::int64_t iterations, Iteration recorded)
      : PeersWorker(setup), rank_(rank), iterations_(iterations), recorded_(std::move(recorded)) {}

  bool next_iteration() override {
    end_iteration();
    over_ = begun_ == iterations_;
    if (!over_)
      ++begun_;
    return !over_;
  }
  void forward() override { note({.call = Call::forward}); }
  void forward(const Bucket& bucket) override {
    note({.call = Call::forward_bucket, .bucket = bucket.index});
  }
  void backward(const Bucket& bucket) override {
    note({.call = Call::backward, .bucket = bucket.index});
  }
  void step() override { note({.call = Call::step}); }
  void step_alone() override { step(); }
  void step_together(double, double, std::optional<double>) override {
    note({.call = Call::step_together});
  }
  void start_average(const Bucket& bucket, Among group) override {
    require_averages();
    require_whole_gradients();
    require_group(group);
    note({.call = Call::start_average, .group = group, .bucket = bucket.index});
  }
  void finish_averages(Among group) override {
    require_group(group);
    note({.call = Call::finish_averages, .group = group});
  }
  void start_gather(const Bucket& unit) override {
    require_shards();
    note({.call = Call::start_gather, .bucket = unit.index});
  }
  void finish_gather(const Bucket& unit) override {
    note({.call = Call::finish_gather, .bucket = unit.index});
  }
  void start_reduce_scatter(const Bucket& unit) override {
    require_shards();
    note({.call = Call::start_reduce_scatter, .bucket = unit.index});
  }
  int rank() const override { return rank_; }
  void send_parameters(int to) override {
    setup_.scenario.schedule->require_neighbours(rank_, to, workers());
    note({.call = Call::send_parameters, .other = to});
  }
  void receive_parameters(int from) override {
    setup_.scenario.schedule->require_neighbours(rank_, from, workers());
    note({.call = Call::receive_parameters, .other = from});
  }
  void mix(double) override {
    if (setup_.scenario.schedule->neighbours != nullptr)
      note({.call = Call::mix});
  }

 private:
  void note(const Act& act) {
    if (over_ || begun_ == 0)  // outside any iteration
      return;
    if (++noted_ > most_acts)
      throw std::runtime_error(fmt::format(
          "schedule {}: a round of {} iterations with {} buckets has more than {} "
          "verbs; allowed are shorter rounds, or larger buckets (bucket-bytes)",
          setup_.scenario.schedule->name, setup_.traffic.round, setup_.buckets.size(), most_acts));
    acts_.push_back(act);
  }

  void end_iteration() {
    if (begun_ == 0)
      return;
    if (begun_ % setup_.traffic.round == 0)
      noted_ = 0;
    recorded_(begun_ - 1, std::exchange(acts_, {}));
  }

  int rank_;
  std::int64_t iterations_;
  Iteration recorded_;
  std::vector<Act> acts_;   // of this iteration
  std::int64_t begun_ = 0;  // iterations
  std::int64_t noted_ = 0;  // of this round
  bool over_ = false;
};

// Puts buckets that move equally often together.
void add_moved(const Traffic& traffic, const Setup& setup, const std::vector<int>& calls,
               int iterations, int stream, std::vector<Moved>& all) {
  std::map<int, std::vector<Bucket>, std::greater<>> by_calls;
  for (const Bucket& bucket : setup.buckets)
    by_calls[calls[index(bucket.index)]].push_back(bucket);
  for (const auto& [times, buckets] : by_calls)
    if (times > 0)
      all.push_back({.traffic = traffic,
                     .buckets = buckets,
                     .times = static_cast<double>(times) * traffic.round / iterations,
                     .stream = stream});
}

}  // namespace

double Round::acts(double of_collective) const {
  const auto starts = [](Call call) {
    return call == Call::start_average || call == Call::start_gather ||
           call == Call::start_reduce_scatter;
  };
  double acts = 0;
  for (const AlikeIterations& part : parts)
    for (const Act& act : part.acts)
      acts += part.times * (starts(act.call) ? of_collective : 1);
  return acts / iterations;
}

std::vector<int> Round::calls(Call call, Among group, std::size_t buckets) const {
  std::vector<int> calls(buckets);
  for (const AlikeIterations& part : parts)
    for (const Act& act : part.acts)
      if (act.call == call && act.group == group && index(act.bucket) < buckets)
        calls[index(act.bucket)] += part.times;
  return calls;
}

// Records 3 rounds. If a round is one iteration, records 66: two periods of calls that change with
// a period of up to 32 iterations. If rounds differ, all but the first are kept.
Round recorded_round(const Setup& setup) {
  const int length = setup.traffic.round;
  std::vector<std::vector<AlikeIterations>> rounds(length == 1 ? 66 : 3);
  Recorder recorder(setup, 0, static_cast<std::int64_t>(rounds.size()) * length,
                    [&](std::int64_t iteration, std::vector<Act> acts) {
                      auto& parts = rounds[static_cast<std::size_t>(iteration / length)];
                      if (!parts.empty() && parts.back().acts == acts)
                        ++parts.back().times;
                      else
                        parts.push_back({.acts = std::move(acts)});
                    });
  setup.scenario.schedule->worker(recorder);
  Round round{.parts = rounds[1], .iterations = length};
  round.repeats = std::equal(rounds.begin() + 2, rounds.end(), rounds.begin() + 1);
  for (std::size_t i = 2; i < rounds.size() && !round.repeats; ++i) {
    round.parts.insert(round.parts.end(), rounds[i].begin(), rounds[i].end());
    round.iterations += length;
  }
  return round;
}

RecordedIterations recorded_iterations(const Setup& setup, int rank, std::int64_t iterations) {
  RecordedIterations all;
  Recorder recorder(setup, rank, iterations, [&all](std::int64_t, std::vector<Act> acts) {
    const auto kind = std::ranges::find(all.kinds, acts);
    all.kind_of.push_back(static_cast<std::size_t>(kind - all.kinds.begin()));
    if (kind == all.kinds.end())
      all.kinds.push_back(std::move(acts));
  });
  setup.scenario.schedule->worker(recorder);
  return all;
}

std::vector<Moved> moved(const Setup& setup) {
  if (setup.traffic.partners != Schedule::Partners::each_other)
    return {{.traffic = setup.traffic, .buckets = setup.sent_buckets()}};
  const Round round = recorded_round(setup);
  std::vector<Moved> all;
  const auto add = [&](const Traffic& traffic, Call call, Among group, int stream) {
    const std::vector<int> calls = round.calls(call, group, setup.buckets.size());
    add_moved(traffic, setup, calls, round.iterations, stream, all);
  };
  if (setup.shards) {
    add(setup.shards->gather, Call::start_gather, Among::all, 0);
    add(setup.shards->reduce_scatter, Call::start_reduce_scatter, Among::all, 0);
    if (setup.shards->across)
      add(*setup.shards->across, Call::start_reduce_scatter, Among::all, 1);
    return all;
  }
  add(setup.traffic, Call::start_average, Among::all, 0);
  if (setup.within)  // besides those over all, in separate streams
    add(*setup.within, Call::start_average, setup.within->over, 1);
  return all;
}

}  // namespace syncline
