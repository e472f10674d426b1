#include "sim/clock/neighbours.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <queue>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/clock/peers_worker.h"
#include "sim/clock/require_arithmetic.h"
#include "sim/clock/round.h"
#include "sim/clock/traced.h"
#include "sim/schedule.h"
#include "sim/traffic/link_shares.h"

namespace syncline {
namespace {

// All workers and their copies, from event to event.
class CopiesClock {
 public:
  explicit CopiesClock(const Setup& setup)
      : setup_(setup),
        routes_(setup.traffic.cluster.routes()),
        shares_(routes_),
        length_(setup),
        trace_(begun_trace(setup)) {
    for (int rank = 0; rank < trace_.workers; ++rank) {
      const double start_s = length_.start_s(rank);
      workers_.push_back({.now_s = start_s});
      length_.starts(rank, start_s);
      events_.push({.at_s = start_s, .order = order_++, .worker = rank});
    }
  }

  Trace trace() {
    for (;;) {
      const double event_s = events_.empty() ? never : events_.top().at_s;
      const double next_s = std::min(event_s, now_s_ + shares_.next_end_s());
      if (next_s == never)
        break;
      const std::vector<int> left = shares_.pass(next_s - now_s_);
      now_s_ = next_s;
      for (const int copy : left)
        leaves(copy);
      if (event_s <= now_s_) {
        const Event event = events_.top();
        events_.pop();
        event.copy >= 0 ? arrives(event.copy) : go_on(workers_[index(event.worker)], event.worker);
      }
    }
    refuse_deadlock();
    finish_trace(
        setup_, setup_.buckets, length_, routes_,
        [this](const auto& sent) {
          for (const auto& [pair, bytes] : bytes_between_)
            sent(pair.first, pair.second, bytes);
        },
        now_s_, trace_);
    return std::move(trace_);
  }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  struct Worker {
    RecordedIterations calls = {};  // as far as it has come, and some more
    int iteration = -1;
    std::size_t next = 0;  // act
    double now_s = 0;
    double slowdown = 1;
    std::optional<double> stepped_s = {};
    int waits_for = -1;                          // the worker whose copy it waits for
    std::map<int, int> arrived = {};             // copies not received yet, by sender
    std::vector<int> deferred = {}, mixed = {};  // receivers, and senders since the last mix
  };
  struct Event {
    double at_s = 0;
    std::int64_t order = 0;
    int worker = -1;  // goes on
    int copy = -1;    // arrives
    bool operator>(const Event& other) const {
      return std::pair(at_s, order) > std::pair(other.at_s, other.order);
    }
  };
  struct Copy {
    int from = 0, to = 0, iteration = 0;
    double sent_s = 0;
    std::uint64_t bytes = 0;
  };

  void refuse_deadlock() const {
    const auto waits = [](const Worker& worker) { return worker.waits_for >= 0; };
    const auto first = std::ranges::find_if(workers_, waits);
    if (first == workers_.end())
      return;
    const std::vector<std::string>& names = trace_.rank_names;
    throw std::runtime_error(fmt::format(
        "the schedule has a deadlock: {} in iteration {} waits in receive_parameters() for {}; "
        "waiting workers: {}",
        names[index(static_cast<int>(first - workers_.begin()))], first->iteration,
        names[index(first->waits_for)], std::ranges::count_if(workers_, waits)));
  }

  void add_row(Row row, double start_s, double end_s) {
    row.start_s = start_s;
    row.end_s = end_s;
    trace_.rows.push_back(row);
  }

  static const std::vector<Act>& acts_of(const Worker& worker) {
    return worker.calls.kinds[worker.calls.kind_of[index(worker.iteration)]];
  }

  // Records twice as many iterations when the worker has done those that are recorded.
  void record_more(Worker& worker, int rank) const {
    constexpr std::int64_t fewest = 16;
    const auto known = static_cast<std::int64_t>(worker.calls.kind_of.size());
    if (worker.iteration == known)
      worker.calls = recorded_iterations(setup_, rank, std::max(fewest, 2 * known));
  }

  // Does what the worker does until it waits: for a copy, or for the other workers to come to its
  // time.
  void go_on(Worker& worker, int rank) {
    for (;;) {
      if (worker.now_s > now_s_)
        return events_.push({.at_s = worker.now_s, .order = order_++, .worker = rank});
      if (worker.iteration < 0 || worker.next == acts_of(worker).size()) {
        if (const auto stepped_s = std::exchange(worker.stepped_s, std::nullopt))
          length_.stepped(rank, worker.iteration, *stepped_s);
        if (!length_.has(worker.iteration + 1))
          return;
        ++worker.iteration;
        worker.next = 0;
        record_more(worker, rank);
        worker.slowdown =
            jitter_factor(setup_.scenario.jitter, setup_.scenario.seed, rank, worker.iteration);
        continue;  // a schedule may call nothing in an iteration
      }
      if (!does(worker, rank, acts_of(worker)[worker.next]))
        return;
      ++worker.next;
    }
  }

  // Returns false if the worker must wait for a copy first.
  bool does(Worker& worker, int rank, const Act& act) {
    const ComputeTimes& times = setup_.compute;
    const auto compute = [&](Verb verb, double seconds, std::int64_t version = -1) {
      const double start_s = std::exchange(worker.now_s, worker.now_s + seconds * worker.slowdown);
      add_row({.verb = verb,
               .rank = rank,
               .bucket = act.bucket,
               .iteration = worker.iteration,
               .version = version},
              start_s, worker.now_s);
    };
    switch (act.call) {
      case Call::forward:
        compute(Verb::forward, times.forward_s(rank));
        if (times.micro_steps > 1)
          compute(Verb::accumulate, times.accumulate_s(rank));
        return true;
      case Call::forward_bucket:
        compute(Verb::forward,
                times.forward_s(rank, setup_.buckets[index(act.bucket)].forward_flop));
        return true;
      case Call::backward:
        compute(Verb::backward, times.backward_s(rank, setup_.buckets[index(act.bucket)]));
        return true;
      case Call::step:
        send_deferred(worker, rank);
        if (times.launch_s > 0)
          compute(Verb::launch, times.launch_s);
        compute(Verb::step, times.step_s(rank), worker.iteration + 1);
        worker.stepped_s = worker.now_s;
        return true;
      case Call::send_parameters:
        worker.deferred.push_back(act.other);
        if (setup_.scenario.overlap)
          send_deferred(worker, rank);
        return true;
      case Call::receive_parameters:
        send_deferred(worker, rank);
        return receives(worker, act.other);
      case Call::mix:
        send_deferred(worker, rank);
        for (const int from : std::exchange(worker.mixed, {}))
          add_row({.verb = Verb::mix,
                   .stream = Stream::messages,
                   .rank = rank,
                   .iteration = worker.iteration,
                   .worker = from},
                  now_s_, now_s_);
        return true;
      default:
        throw std::logic_error("a recorder refuses all other calls of workers with neighbours");
    }
  }

  bool receives(Worker& worker, int from) {
    int& arrived = worker.arrived[from];
    worker.waits_for = arrived > 0 ? -1 : from;
    if (arrived == 0)
      return false;
    --arrived;
    worker.mixed.push_back(from);
    return true;
  }

  void send_deferred(Worker& worker, int rank) {
    for (const int to : std::exchange(worker.deferred, {})) {
      const auto& hosts = setup_.traffic.cluster.rank_hosts;
      const bool joins = hosts[index(rank)] != hosts[index(to)];
      const auto number = static_cast<int>(copies_.size());
      copies_.push_back({.from = rank,
                         .to = to,
                         .iteration = worker.iteration,
                         .sent_s = now_s_,
                         .bytes = joins ? setup_.model_bytes() : 0});
      if (!joins) {
        arrives(number);
        continue;
      }
      bytes_between_[{rank, to}] += static_cast<double>(copies_.back().bytes);
      ++trace_.flows;
      auto route = routes_between_.find({rank, to});
      if (route == routes_between_.end())
        route = routes_between_.emplace(std::pair(rank, to), routes_.between(rank, to)).first;
      if (copies_.back().bytes == 0)
        leaves(number);
      else
        shares_.add(route->second, static_cast<double>(copies_.back().bytes), number);
    }
  }

  // All of the copy has left its sender.
  void leaves(int number) {
    const Copy& copy = copies_[index(number)];
    const double more_s =
        routes_between_.at({copy.from, copy.to}).latency_s + setup_.scenario.step_overhead_s;
    events_.push({.at_s = now_s_ + more_s, .order = order_++, .copy = number});
  }

  void arrives(int number) {
    const Copy copy = copies_[index(number)];
    Row row{.verb = Verb::parameters,
            .stream = Stream::messages,
            .rank = copy.from,
            .iteration = copy.iteration,
            .bytes_sent = copy.bytes,
            .worker = copy.to};
    add_row(row, copy.sent_s, now_s_);
    std::swap(row.rank, row.worker);
    row.bytes_received = std::exchange(row.bytes_sent, 0);
    add_row(row, copy.sent_s, now_s_);
    Worker& worker = workers_[index(copy.to)];
    ++worker.arrived[copy.from];
    if (worker.waits_for != copy.from)
      return;
    if (now_s_ > worker.now_s)
      add_row({.verb = Verb::wait, .rank = copy.to, .iteration = worker.iteration}, worker.now_s,
              now_s_);
    worker.now_s = now_s_;
    worker.waits_for = -1;
    events_.push({.at_s = now_s_, .order = order_++, .worker = copy.to});
  }

  const Setup& setup_;
  Routes routes_;
  LinkShares shares_;
  RunLength length_;
  Trace trace_;
  double now_s_ = 0;
  std::int64_t order_ = 0;
  std::vector<Worker> workers_;
  std::vector<Copy> copies_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::map<std::pair<int, int>, Route> routes_between_;
  std::map<std::pair<int, int>, double> bytes_between_;
};

bool can_be_followed(const Schedule& schedule) {
  return !schedule.draws_neighbours && schedule.answer == nullptr;
}

// Seconds per iteration in the long run: of the worker whose second half of the run took longest.
double long_run_s(const Setup& given, int iterations, bool overlap) {
  Setup setup = given;
  setup.scenario.overlap = overlap;
  setup.scenario.jitter = 0;
  setup.scenario.warmup = 0;
  setup.iterations = iterations;
  const Trace trace = CopiesClock(setup).trace();
  double longest_s = 0;
  const auto half = index(iterations / trace.round / 2 * trace.round);
  for (const Progress& worker : progress_of(trace)) {
    const std::vector<double>& counted_s = worker.counted_s;
    longest_s = std::max(longest_s, counted_s.back() - counted_s[counted_s.size() - 1 - half]);
  }
  return longest_s / static_cast<double>(half);
}

// The same where nothing is computed: copies alone.
double copies_alone_s(Setup setup, int iterations, bool have_bytes) {
  for (ComputeTimes::OfWorker& worker : setup.compute.of_worker)
    worker = {};
  setup.compute.launch_s = 0;
  if (!have_bytes)
    setup.model_bucket.parameters = 0;
  return long_run_s(setup, iterations, true);
}

// Whether a worker's calls are the same in every round from this iteration on.
bool repeats_from(const Setup& setup, int iteration) {
  const std::vector<std::size_t> kinds =
      recorded_iterations(setup, 0, std::max(setup.scenario.max_iterations, 2 * iteration)).kind_of;
  return std::equal(kinds.begin() + iteration + setup.traffic.round, kinds.end(),
                    kinds.begin() + iteration);
}

}  // namespace

Trace copies_by_arithmetic(const Setup& setup) {
  require_arithmetic(setup);
  if (!can_be_followed(*setup.scenario.schedule))
    refuse_analytic("schedule " + setup.scenario.schedule->name +
                    " draws whom a worker asks, or answers copies as they come");
  try {
    return CopiesClock(setup).trace();
  } catch (const CallsDependOnTime& error) {
    refuse_analytic(error.what());
  }
}

std::optional<Averaging> averaging_with_neighbours(const Setup& setup) {
  constexpr double most_copies = 2e5;
  constexpr int most_rounds = 48, fewest_rounds = 4;
  if (!can_be_followed(*setup.scenario.schedule))
    return std::nullopt;
  const int workers = setup.traffic.cluster.topology.workers();
  double copies = 1;  // of a round, as if all workers sent as many as the first one
  for (const Neighbour& to : setup.traffic.neighbours(setup.traffic.schedule_settings, 0, workers))
    copies += workers * to.copies * setup.traffic.round;
  const int rounds = static_cast<int>(std::min<double>(most_rounds, most_copies / copies));
  if (rounds < fewest_rounds)
    return std::nullopt;
  const int iterations = rounds * setup.traffic.round;
  try {
    if (!repeats_from(setup, rounds / 2 * setup.traffic.round))
      return std::nullopt;
  } catch (const CallsDependOnTime&) {
    return std::nullopt;
  }
  const double fixed_s = copies_alone_s(setup, iterations, false);
  Averaging known;
  known.exchange = {.fixed_s = fixed_s,
                    .bytes_s = copies_alone_s(setup, iterations, true) - fixed_s};
  known.without_overlap_s = long_run_s(setup, iterations, false);
  known.iteration_s =
      setup.scenario.overlap ? long_run_s(setup, iterations, true) : known.without_overlap_s;
  return known;
}

}  // namespace syncline
