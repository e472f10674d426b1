#include "sim/clock/analytic.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/io/large_pages.h"
#include "sim/clock/clock.h"
#include "sim/clock/lane.h"
#include "sim/clock/peers_worker.h"
#include "sim/clock/require_arithmetic.h"
#include "sim/clock/round.h"
#include "sim/clock/traced.h"
#include "sim/schedule.h"

namespace syncline {
namespace {

// One object for all workers.
class AllWorkers final : public PeersWorker {
 public:
  explicit AllWorkers(const Setup& setup)
      : PeersWorker(setup),
        topology_(setup.traffic.cluster.topology),
        routes_(setup.traffic.cluster.routes()),
        times_(collective_times(setup, routes_)),
        length_(setup),
        trace_(begun_trace(setup)),
        all_(topology_, setup.shards ? setup.shards->gather.over : Among::all),
        groups_(topology_, setup.within                           ? setup.within->over
                           : setup.shards && setup.shards->across ? setup.shards->across->over
                                                                  : Among::all),
        now_s_(index(topology_.workers())),
        slowdown_(now_s_.size(), 1),
        second_core_s_(now_s_),
        looked_(now_s_.size()) {
    reserve_rows();
    const auto& [first, second] = times_.shared;
    all_.move_beside(groups_, SharedLink::rate_beside(first, second));
    groups_.move_beside(all_, SharedLink::rate_beside(second, first));
    for (Averages* averages : {&over_all_, &within_}) {
      averages->next.resize(now_s_.size());
      averages->read_s.resize(now_s_.size());
    }
    if (setup.within)
      within_.collective = made(Verb::all_reduce, *setup.within, times_.within, groups_);
    if (!setup.shards) {
      over_all_.collective = made(Verb::all_reduce, setup.traffic, times_.over_all, all_);
      return;
    }
    gather_ = made(Verb::all_gather, setup.shards->gather, times_.gather, all_);
    scatter_ =
        made(Verb::reduce_scatter, setup.shards->reduce_scatter, times_.reduce_scatter, all_);
    if (setup.shards->across)
      across_ = made(Verb::all_reduce, *setup.shards->across, times_.across, groups_);
    gathered_s_.assign(setup.buckets.size(), std::vector<double>(now_s_.size()));
  }

  Trace trace() {
    setup_.scenario.schedule->worker(*this);
    double end_s = last_end_s_;
    for (const double now_s : now_s_)
      end_s = std::max(end_s, now_s);
    finish_trace(
        setup_, setup_.buckets, length_, routes_, [this](const auto& sent) { for_each_pair(sent); },
        end_s, trace_);
    return std::move(trace_);
  }

  bool next_iteration() override {
    for (std::size_t rank = 0; rank < stepped_s_.size(); ++rank)
      length_.stepped(static_cast<int>(rank), iteration_, stepped_s_[rank]);
    stepped_s_.clear();
    if (over_ = !length_.has(iteration_ + 1); over_)
      return false;
    ++iteration_;
    const Scenario& scenario = setup_.scenario;
    for (int rank = 0; rank < topology_.workers(); ++rank) {
      if (iteration_ == 0)
        length_.starts(rank, 0);
      slowdown_[index(rank)] = jitter_factor(scenario.jitter, scenario.seed, rank, iteration_);
    }
    return true;
  }
  void forward() override {
    compute(Verb::forward, -1, [&](int worker) { return setup_.compute.forward_s(worker); });
    if (micro_steps() > 1)
      compute(Verb::accumulate, -1,
              [&](int worker) { return setup_.compute.accumulate_s(worker); });
  }
  void forward(const Bucket& bucket) override {
    compute(Verb::forward, bucket.index,
            [&](int worker) { return setup_.compute.forward_s(worker, bucket.forward_flop); });
  }
  void backward(const Bucket& bucket) override {
    compute(Verb::backward, bucket.index,
            [&](int worker) { return setup_.compute.backward_s(worker, bucket); });
  }
  void step() override { take_step(iteration_ + 1, &ComputeTimes::step_s); }
  void step_alone() override { take_step(-1, &ComputeTimes::step_s); }
  void step_together(double, double, std::optional<double>) override { take_average(); }
  void start_average(const Bucket& bucket, Among group) override {
    require_whole_gradients();
    require_group(group);
    deferred_.push_back({bucket.index, group});
    if (setup_.scenario.overlap || index(bucket.index) + 1 == setup_.buckets.size())
      start_deferred();
  }
  void finish_averages(Among group) override {
    start_deferred();
    Averages& averages = averages_in(group);
    for (std::size_t worker = 0; worker < now_s_.size(); ++worker)
      if (has_second_core(worker)) {
        read_arrived(averages, worker);
        wait_until(averages.read_s[worker], worker);
      } else {
        finish_on_only_core(averages, worker);
      }
  }
  void start_gather(const Bucket& unit) override {
    require_shards();
    const Lane::Times times = take(gather_, unit, now_s_);
    for (std::size_t worker = 0; worker < now_s_.size(); ++worker)
      gathered_s_[index(unit.index)][worker] = times.end_s[all_.group(worker)];
    if (!setup_.scenario.overlap)
      finish_gather(unit);
  }
  void finish_gather(const Bucket& unit) override {
    require_shards();
    for (std::size_t worker = 0; worker < now_s_.size(); ++worker)
      wait_until(gathered_s_[index(unit.index)][worker], worker);
  }
  void start_reduce_scatter(const Bucket& unit) override {
    require_shards();
    Lane::Times times = take(scatter_, unit, now_s_);
    const Lane* lane = &all_;
    if (across_.lane != nullptr) {
      std::vector<double> ready_s;
      for (std::size_t worker = 0; worker < now_s_.size(); ++worker)
        ready_s.push_back(times.end_s[all_.group(worker)]);
      times = take(across_, unit, ready_s);
      lane = &groups_;
    }
    for (std::size_t worker = 0; worker < now_s_.size(); ++worker)
      over_all_.read_s[worker] =
          std::max(over_all_.read_s[worker], times.end_s[lane->group(worker)]);
    if (!setup_.scenario.overlap)
      finish_averages(Among::all);
  }

 private:
  struct Arrived {
    int bucket = 0;
    int iteration = 0;  // that started the average
    double decompress_s = 0;
    std::vector<double> end_s;  // by group
  };
  // The averages started so far, in order, and how many of them each worker has read.
  struct Averages {
    Collective collective = {};
    std::vector<Arrived> arrived = {};
    std::vector<std::size_t> next = {};
    std::vector<double> read_s = {};  // all arrived, or decompressed, by then
  };

  // Reserves the rows of the shortest run. For a million workers the rows take gigabytes, which the
  // system provides in half the time as large pages.
  void reserve_rows() {
    const int of_collective =
        1 + (times_.have_tails() ? 1 : 0) + (setup_.traffic.compression.on() ? 2 : 0);
    const double rows = topology_.workers() * recorded_round(setup_).acts(of_collective);
    trace_.rows.reserve(static_cast<std::size_t>(rows * RunLength::iterations(setup_).first));
    use_large_pages(trace_.rows.data(), trace_.rows.capacity() * sizeof(Row));
  }

  // Calls `sent` with the bytes that each rank has sent to each other rank.
  void for_each_pair(const std::function<void(int from, int to, double bytes)>& sent) const {
    for (int rank = 0; rank < static_cast<int>(setup_.traffic.cluster.rank_hosts.size()); ++rank) {
      std::map<int, double> bytes_to;
      for (const Collective* collective :
           {&over_all_.collective, &within_.collective, &gather_, &scatter_, &across_})
        for (std::size_t bucket = 0; bucket < collective->moves.size(); ++bucket)
          if (rank < collective->traffic->averaging_ranks())
            collective->for_each_send(
                setup_.buckets[bucket], rank, [&](int, int to, std::uint64_t bytes) {
                  bytes_to[to] += collective->moves[bucket].calls * static_cast<double>(bytes);
                });
      for (const auto& [to, bytes] : bytes_to)
        sent(rank, to, bytes);
    }
  }

  Averages& averages_in(Among group) {
    require_group(group);
    return group == Among::all ? over_all_ : within_;
  }
  void start_deferred() {
    for (const auto& [bucket, group] : std::exchange(deferred_, {}))
      average(setup_.buckets[index(bucket)], averages_in(group));
  }
  bool has_second_core(std::size_t worker) const {
    return setup_.traffic.compression.on() && setup_.traffic.cluster.workers[worker].cores > 1;
  }
  static double end_of(const Averages& averages, const Arrived& one, std::size_t worker) {
    return one.end_s[averages.collective.lane->group(worker)];
  }

  Collective made(Verb verb, const Traffic& traffic, const std::vector<ExchangeTime>& times,
                  Lane& lane) const {
    for (const ExchangeTime& time : times)
      if (!time.works.empty())
        refuse_analytic("exchange = " + traffic.exchange->name +
                        " works on messages between its steps");
    return {verb, traffic, times, setup_.buckets, lane};
  }

  void add_row(Row row, double start_s, double end_s) {
    row.start_s = start_s;
    row.end_s = end_s;
    trace_.rows.push_back(row);
  }
  int this_iteration() const { return over_ ? -1 : iteration_; }
  static Row row(Verb verb, std::size_t worker, int bucket, int iteration) {
    return {
        .verb = verb, .rank = static_cast<int>(worker), .bucket = bucket, .iteration = iteration};
  }
  void wait_until(double moment_s, std::size_t worker) {
    if (moment_s <= now_s_[worker])
      return;
    add_row(row(Verb::wait, worker, -1, this_iteration()), now_s_[worker], moment_s);
    now_s_[worker] = moment_s;
  }

  // Computation takes longer while collectives move bytes.
  double end_of_computing(std::size_t worker, double seconds) {
    const double slow = 1 + setup_.scenario.slowdown_beside_collectives();
    double moment_s = now_s_[worker];
    if (slow == 1)
      return moment_s + seconds;
    while (seconds > 0) {
      const auto [in_all, all_until_s] = all_.moves(worker, moment_s, looked_[worker][0]);
      const auto [in_group, group_until_s] = groups_.moves(worker, moment_s, looked_[worker][1]);
      const double rate = in_all || in_group ? 1 / slow : 1;
      const double step_s =
          std::min({all_until_s - moment_s, group_until_s - moment_s, seconds / rate});
      if (step_s == seconds / rate)
        return moment_s + step_s;
      seconds -= step_s * rate;
      moment_s += step_s;
    }
    return moment_s;
  }
  void compute_one(Verb verb, int bucket, std::size_t worker, double seconds, std::int64_t version,
                   int iteration) {
    const double start_s = now_s_[worker];
    now_s_[worker] = end_of_computing(worker, seconds);
    Row row = this->row(verb, worker, bucket, iteration);
    row.version = version;
    add_row(row, start_s, now_s_[worker]);
  }
  template <class SecondsOf>
  void compute(Verb verb, int bucket, const SecondsOf& seconds_of, std::int64_t version = -1) {
    for (int worker = 0; worker < topology_.workers(); ++worker)
      compute_one(verb, bucket, index(worker), seconds_of(worker) * slowdown_[index(worker)],
                  version, this_iteration());
  }
  void take_average() { take_step(iteration_ + 1, &ComputeTimes::together_s); }
  void take_step(std::int64_t version, double (ComputeTimes::*seconds)(int worker) const) {
    if (setup_.compute.launch_s > 0)
      compute(Verb::launch, -1, [&](int) { return setup_.compute.launch_s; });
    compute(
        Verb::step, -1, [&](int worker) { return (setup_.compute.*seconds)(worker); }, version);
    stepped_s_ = now_s_;
  }

  // Waits until all of `averages` have arrived and been read. Meanwhile the worker also reads
  // averages over all workers; in groups nothing is compressed.
  void finish_on_only_core(Averages& averages, std::size_t worker) {
    double& arrived_s = averages.read_s[worker];
    for (; averages.next[worker] < averages.arrived.size() && &averages != &over_all_;
         ++averages.next[worker])
      arrived_s =
          std::max(arrived_s, end_of(averages, averages.arrived[averages.next[worker]], worker));
    std::size_t& next = over_all_.next[worker];
    for (; next < over_all_.arrived.size(); ++next) {
      const Arrived& one = over_all_.arrived[next];
      const double came_s = end_of(over_all_, one, worker);
      if (&averages != &over_all_ && came_s > std::max(now_s_[worker], arrived_s))
        break;
      if (one.decompress_s == 0) {
        over_all_.read_s[worker] = std::max(over_all_.read_s[worker], came_s);
        continue;
      }
      wait_until(came_s, worker);
      compute_one(Verb::decompress, one.bucket, worker, one.decompress_s, -1, one.iteration);
    }
    wait_until(arrived_s, worker);
  }

  // On a second core: reads averages that have arrived by `by_s`, before any later work.
  void read_arrived(Averages& averages, std::size_t worker,
                    double by_s = std::numeric_limits<double>::infinity()) {
    for (std::size_t& i = averages.next[worker]; i < averages.arrived.size(); ++i) {
      const Arrived& one = averages.arrived[i];
      const double came_s = end_of(averages, one, worker);
      if (came_s > by_s)
        return;
      averages.read_s[worker] =
          std::max(averages.read_s[worker],
                   one.decompress_s > 0 ? on_second_core(Verb::decompress, one.bucket, worker,
                                                         came_s, one.decompress_s, one.iteration)
                                        : came_s);
    }
  }
  double on_second_core(Verb verb, int bucket, std::size_t worker, double from_s, double seconds,
                        int iteration) {
    const double start_s = std::max(from_s, second_core_s_[worker]);
    second_core_s_[worker] = start_s + seconds;
    Row row = this->row(verb, worker, bucket, iteration);
    row.stream = Stream::compression;
    add_row(row, start_s, second_core_s_[worker]);
    return second_core_s_[worker];
  }

  void average(const Bucket& bucket, Averages& averages) {
    const ExchangeTime& time = (*averages.collective.times)[index(bucket.index)];
    std::vector<double> ready_s = now_s_;
    for (std::size_t worker = 0; time.compress_s > 0 && worker < now_s_.size(); ++worker) {
      if (has_second_core(worker)) {
        read_arrived(averages, worker, now_s_[worker]);
        ready_s[worker] =
            on_second_core(Verb::compress, bucket.index, worker, now_s_[worker] - bucket.hidden_s,
                           time.compress_s, this_iteration());
      } else {
        compute_one(Verb::compress, bucket.index, worker, time.compress_s, -1, this_iteration());
        ready_s[worker] = now_s_[worker];
      }
    }
    for (double& moment_s : ready_s)
      moment_s += bucket.waits_s;
    averages.arrived.push_back({.bucket = bucket.index,
                                .iteration = this_iteration(),
                                .decompress_s = time.decompress_s,
                                .end_s = take(averages.collective, bucket, ready_s).end_s});
  }

  Lane::Times take(Collective& collective, const Bucket& bucket,
                   const std::vector<double>& ready_s) {
    Lane::Times times = collective.lane->take((*collective.times)[index(bucket.index)], ready_s);
    Collective::Moves& moves = collective.moves[index(bucket.index)];
    ++moves.calls;
    for (std::size_t worker = 0; worker < now_s_.size(); ++worker) {
      const std::size_t group = collective.lane->group(worker);
      Row row = this->row(collective.verb, worker, bucket.index, this_iteration());
      row.stream = Stream::communication;
      row.stage = collective.lane == &groups_ ? 1 : 0;
      row.bytes_sent = moves.sent[worker];
      row.bytes_received = moves.received[worker];
      add_row(row, times.begin_s[group], times.free_s[group]);
      row.bytes_sent = row.bytes_received = 0;
      row.stage += 2;  // later stages of a pipeline, during the next bucket
      if (times.end_s[group] > times.free_s[group])
        add_row(row, times.tail_s[group], times.end_s[group]);
      last_end_s_ = std::max(last_end_s_, times.end_s[group]);
    }
    return times;
  }

  const Topology& topology_;
  Routes routes_;
  CollectiveTimes times_;
  RunLength length_;
  Trace trace_;
  Lane all_, groups_;  // streams: over all and shards; in groups and across groups
  Averages over_all_, within_;
  Collective gather_, scatter_, across_;
  std::vector<double> now_s_, slowdown_, second_core_s_;  // by worker
  std::vector<std::array<std::size_t, 2>> looked_;        // position in both lanes
  std::vector<std::vector<double>> gathered_s_;           // by unit and worker
  std::vector<std::pair<int, Among>> deferred_;           // averages, with overlap = off
  double last_end_s_ = 0;                                 // end of the last collective
  int iteration_ = -1;
  std::vector<double> stepped_s_;  // when this iteration's step ended, by worker; empty: not yet
  bool over_ = false;
};

}  // namespace

Trace by_arithmetic(const Setup& setup) {
  require_arithmetic(setup);
  return AllWorkers(setup).trace();
}

}  // namespace syncline
