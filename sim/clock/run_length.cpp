#include "sim/clock/run_length.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "kernels/philox.h"
#include "sim/platform/routes.h"

namespace syncline {
namespace {

constexpr int enough_if_all_alike = 10;  // iterations, if workers are in step
constexpr int alike_rounds = 2;          // and rounds
constexpr int first_check = 20;          // iterations of the fastest worker
constexpr double between_checks = 1.15;  // factor between checks

// Without chance, outside step, the times at which workers meet change only slowly, and the spread
// of a short run does not show it.
constexpr int first_check_without_chance = 60;
// If workers settle slowly, random variation hides that: nodes of four with InHAD and jitter gain 1
// % over their first 160 iterations, and 0.2 % more later.
constexpr int first_check_if_slow = 160;

int first_check_apart(const Setup& setup) {
  const Scenario& scenario = setup.scenario;
  int first = first_check;
  if (setup.traffic.cluster.topology.workers() > 1) {
    if (!setup.has_chance())
      first = first_check_without_chance;
    else if (scenario.schedule->settles_slowly)
      first = first_check_if_slow;
  }
  return std::min(first * setup.traffic.round, scenario.max_iterations);
}

// Approximate seconds of an iteration for each worker of a schedule with servers, if there were no
// other worker; with neighbours, of computation.
std::vector<double> alone_s(const Setup& setup) {
  const Scenario& scenario = setup.scenario;
  const Topology& topology = setup.traffic.cluster.topology;
  std::vector<double> seconds;
  if (setup.traffic.partners == Schedule::Partners::neighbours) {
    for (int worker = 0; worker < topology.workers(); ++worker)
      seconds.push_back(setup.compute.solo_s(worker));
    return seconds;
  }
  double pushed = 0;
  double pulled = 0;
  for (const Bucket& bucket : setup.buckets) {
    const Payload payload = setup.traffic.payload_of(bucket, -1);
    pushed += static_cast<double>(payload.bytes + payload.small_bytes);
    pulled += static_cast<double>(setup.traffic.pulled_bytes(payload));
  }
  const double bytes = std::max(pushed, pulled);
  const double of_a_server = bytes / topology.servers;
  const auto ahead = scenario.schedule->gradients_ahead;
  const bool waits = ahead == nullptr || ahead(scenario.schedule_settings) == 0;  // for answers
  Routes routes = setup.traffic.cluster.routes();
  for (int worker = 0; worker < topology.workers(); ++worker) {
    double latency_s = 0;
    double transfer_s = 0;
    int ways = 0;
    std::map<int, int> ways_over;  // by link
    constexpr int looked_at = 8;
    for (int server = 0; server < topology.servers;
         server += std::max(1, topology.servers / looked_at)) {
      const Route route = routes.between(worker, topology.workers() + server);
      ++ways;
      for (const int link : route.links)
        ++ways_over[link];
      latency_s = std::max(latency_s, route.latency_s);
      transfer_s = std::max(transfer_s, of_a_server / route.flow_Bps);
    }
    for (const auto& [link, count] : ways_over)
      transfer_s = std::max(transfer_s, (count == 1 ? of_a_server : bytes * count / ways) /
                                            routes.link(link).bandwidth.mean_Bps());
    transfer_s += 2 * latency_s;
    const double compute_s = setup.compute.solo_s(worker);
    transfer_s /= setup.traffic.round;
    seconds.push_back(waits ? compute_s + transfer_s : std::max(compute_s, transfer_s));
  }
  return seconds;
}

}  // namespace

RunLength::RunLength(const Setup& setup)
    : setup_(setup),
      waiting_(setup.scenario.schedule->waits(setup.scenario.schedule_settings)),
      delays_(setup.scenario.schedule->delays_averages(setup.scenario.schedule_settings)) {
  const Scenario& scenario = setup.scenario;
  const auto workers = static_cast<std::size_t>(setup.traffic.cluster.topology.workers());
  workers_.resize(workers);
  parts_.resize(workers);
  latest_start_ = std::max(1.0, setup.iterations.value_or(scenario.max_iterations) / 4.0);
  // What is learned by a time includes the starts, which a long run forgets.
  if (scenario.learns())
    latest_start_ = std::min(latest_start_, 2.0);
  end_ = setup.iterations ? scenario.warmup + *setup.iterations : -1;
  const int round = setup.traffic.round;
  next_check_ =
      scenario.warmup + whole_rounds(in_step() ? std::max(enough_if_all_alike, alike_rounds * round)
                                               : first_check_apart(setup));
}

int RunLength::whole_rounds(int iterations) const {
  const int round = setup_.traffic.round;
  return (iterations + round - 1) / round * round;
}

std::pair<int, int> RunLength::iterations(const Setup& setup) {
  const RunLength length(setup);
  const Scenario& scenario = setup.scenario;
  if (length.end_ >= 0)
    return {length.end_, length.end_};
  // At least two rounds are run, even if they exceed max-iterations.
  return {
      length.next_check_,
      std::max(length.next_check_, scenario.warmup + length.whole_rounds(scenario.max_iterations))};
}

double RunLength::start_s(int rank) {
  const Scenario& scenario = setup_.scenario;
  // Workers that wait for neighbours soon go together anyway.
  if (in_step() || (setup_.traffic.partners == Schedule::Partners::neighbours &&
                    waiting_ == Schedule::Waiting::for_some))
    return 0;
  const auto most_lead = scenario.schedule->most_lead;
  const double lead = most_lead == nullptr ? 0 : most_lead(scenario.schedule_settings);
  if (setup_.has_chance() && lead > 0) {
    if (alone_s_.empty())
      alone_s_ = alone_s(setup_);
    return drawn_start_s(rank, lead);
  }
  const Topology& topology = setup_.traffic.cluster.topology;
  const int node = topology.node_of[index(rank)];
  const std::vector<int>& mates = topology.nodes[index(node)];
  const double place = rank - mates.front() + node / static_cast<double>(topology.nodes.size());
  return place / static_cast<double>(mates.size()) *
         std::min<double>(setup_.traffic.round, latest_start_) * setup_.compute.solo_s(rank);
}

// Workers that drift at random end up spread over all possible positions. Where leads are bounded,
// one worker begins at once and the others at any time within the lead that they may have: a worker
// waits, on average, half an iteration beyond its bound. Otherwise only the fraction of an
// iteration matters. Two numbers are drawn for this, because their sum spreads the fraction well
// even if an iteration takes half or twice the assumed time.
double RunLength::drawn_start_s(int rank, double lead) const {
  constexpr std::uint32_t purpose = 4;  // sim/README.md lists all purposes
  const auto drawn = [&](int of) {
    const std::uint64_t seed = setup_.scenario.seed;
    return philox({static_cast<std::uint32_t>(of), 0, 0, purpose}, static_cast<std::uint32_t>(seed),
                  static_cast<std::uint32_t>(seed >> 32));
  };
  const Scenario& scenario = setup_.scenario;
  const auto part_of = [](std::uint32_t word) { return (word + 0.5) * 0x1p-32; };
  const auto words = drawn(rank);
  const double iteration_s = alone_s_[index(rank)];
  if (lead >= (end_ >= 0 ? end_ : scenario.max_iterations))  // no worker can get that far ahead
    return std::min(2.0 * setup_.traffic.round, latest_start_) *
           (part_of(words[0]) + part_of(words[1])) / 2 * iteration_s;
  if (index(rank) == drawn(0)[2] % workers_.size())
    return 0;
  return std::min(lead + 0.5, latest_start_) * part_of(words[0]) * iteration_s;
}

bool RunLength::has(int iteration) {
  if (ended_ || (end_ >= 0 && iteration >= end_))
    return false;
  latest_ = std::max(latest_, iteration);
  if (end_ >= 0 || iteration < next_check_)
    return true;
  const Scenario& scenario = setup_.scenario;
  const int measured = iteration - scenario.warmup;
  const bool known = is_known(measured);
  if (!known && measured < scenario.max_iterations) {
    const int least = in_step() ? least_in_step() : first_check_apart(setup_);
    const double later = std::max<double>(least, std::ceil(measured * between_checks));
    next_check_ =
        scenario.warmup + whole_rounds(std::min(static_cast<int>(later), scenario.max_iterations));
    return true;
  }
  cut_short_ = !known;
  latest_ = iteration - 1;
  end();
  return false;
}

void RunLength::end() {
  // A worker that waits for others could wait forever for one that has ended, so all do the same
  // number of iterations.
  if (waiting_ == Schedule::Waiting::for_nobody)
    ended_ = true;
  end_ = whole_rounds(latest_ + 1);
}

void RunLength::sends(int rank, int iteration, int shards, bool all) {
  Parts& parts = parts_[index(rank)][iteration];
  parts.sent += shards;
  parts.missing += shards - (all ? 1 : 0);
}

double RunLength::counted(int rank, int iteration, bool applied, double now_s) {
  const auto parts = parts_[index(rank)].find(iteration);
  parts->second.applied += applied ? 1 : 0;
  if (--parts->second.missing > 0)
    return 0;
  const double part = static_cast<double>(parts->second.applied) / parts->second.sent;
  parts_[index(rank)].erase(parts);
  if (!in_step())
    workers_[index(rank)].count(now_s, part);
  return part;
}

void RunLength::stepped(int rank, int iteration, double now_s) {
  if (!in_step()) {
    if (setup_.scenario.schedule->has_own_parameters())
      workers_[index(rank)].count(now_s, 1);
    return;
  }
  std::vector<double>& counted_s = workers_[index(rank)].counted_s;
  counted_s.resize(static_cast<std::size_t>(iteration) + 1);
  counted_s.back() = now_s;
}

// Rounds are the samples of the interval. An interval of few rounds, checked until it is narrow
// enough, is too narrow.
int RunLength::least_in_step() const {
  return std::min(first_check * setup_.traffic.round, whole_rounds(setup_.scenario.max_iterations));
}

bool RunLength::repeats() const {
  const auto round = static_cast<std::size_t>(setup_.traffic.round);
  const auto warm = static_cast<std::size_t>(setup_.scenario.warmup);
  const auto ahead = std::ranges::max_element(
      workers_, {}, [](const Progress& worker) { return worker.counted_s.size(); });
  // Where averages arrive late, a slow worker may have rounds that are longer.
  const std::span<const Progress> looked_at = delays_ ? std::span(workers_) : std::span(&*ahead, 1);
  double least_s = std::numeric_limits<double>::infinity();
  double most_s = 0;
  for (const Progress& worker : looked_at) {
    if (delays_ && worker.counted_s.size() < warm + round)
      return false;
    for (std::size_t i = warm; i + round <= worker.counted_s.size(); i += round) {
      const double seconds =
          worker.counted_s[i + round - 1] - (i > 0 ? worker.counted_s[i - 1] : worker.start_s);
      least_s = std::min(least_s, seconds);
      most_s = std::max(most_s, seconds);
    }
  }
  return most_s - std::min(least_s, most_s) <= 1e-6 * most_s;
}

// The last half of the rounds: none if workers still get ahead of each other there. An average that
// arrives late lets them, until the fastest has to wait for it.
std::optional<Window> RunLength::settled_rounds(const Progress& pace) const {
  const std::size_t rounds = pace.counted_s.size();
  const auto warm = static_cast<std::size_t>(setup_.scenario.warmup / setup_.traffic.round);
  const std::size_t dropped = (rounds + warm) / 2;
  if (dropped == 0 || dropped == rounds)
    return std::nullopt;
  const int round = setup_.traffic.round;
  const auto [fastest_s, slowest_s] = between_rounds(workers_, dropped, rounds, round);
  // By chance alone the means of this many iterations differ so much.
  const double range = 2 * std::sqrt(2 * std::log(static_cast<double>(workers_.size())));
  const double chance =
      range * setup_.scenario.jitter / std::sqrt(static_cast<double>(rounds - dropped) * round);
  if (slowest_s - fastest_s > std::max(1e-3, 1.1 * chance) * slowest_s)
    return std::nullopt;
  return window_after({pace}, static_cast<int>(dropped));
}

// If staleness is bounded, a worker that does more iterations than the others must wait for them in
// the end, perhaps long after this window.
bool RunLength::drifts_apart(const Window& window) const {
  constexpr double more = 0.02;
  constexpr double at_any_moment = 2;  // iterations
  std::vector<double> iterations;
  for (const Progress& worker : workers_)
    iterations.push_back(iterations_in({worker}, window));
  const auto [least, most] = std::ranges::minmax(iterations);
  return most - least > more * most + at_any_moment;
}

// In step only the warm-up is dropped: a round leaves nothing behind for the next one.
bool RunLength::is_known_in_step(int measured) {
  if (setup_.profiles.shown_s == 0 && repeats())
    return true;
  const int round = setup_.traffic.round;
  if (measured < least_in_step())
    return false;
  const Progress pace = pace_of(workers_, round);
  const Window warm = window_after({pace}, setup_.scenario.warmup / round);
  if (!warm.warm)
    return false;
  std::optional<Window> steady = warm;
  if (delays_ && workers_.size() > 1)
    window_ = steady = settled_rounds(pace);
  if (!steady)
    return false;
  if (setup_.profiles.shown_s == 0)
    return interval_of_rounds(pace, *steady).value_or(std::numeric_limits<double>::infinity()) <=
               setup_.scenario.interval &&
           std::abs(halves_of_rounds_differ(pace, *steady)) <= steady_halves;
  return is_known_of({pace}, *steady, steady);
}

// Batches that begin at different places of a slow spell differ, unless each batch covers whole
// spells.
bool RunLength::is_known_of(const std::vector<Progress>& known, const Window& warm,
                            std::optional<Window> steady) {
  const std::optional<Window> whole =
      steady ? in_whole_periods(*steady, setup_.profiles.period_s) : std::nullopt;
  if (whole)
    steady = whole;
  if ((!in_step() || whole) && warm.warm)
    window_ = steady.value_or(warm);
  if (!warm.warm || !steady || steady->to_s - steady->from_s < setup_.profiles.shown_s)
    return false;
  if (waiting_ == Schedule::Waiting::for_some && drifts_apart(*steady))
    return false;
  const std::optional<double> interval = interval_of(known, *steady);
  return interval && *interval <= setup_.scenario.interval &&
         std::abs(halves_differ(known, *steady)) <= steady_halves;
}

bool RunLength::is_known(int measured) {
  if (in_step())
    return is_known_in_step(measured);
  if (measured < first_check_apart(setup_))
    return false;
  const Window warm = window_after(workers_, setup_.scenario.warmup);
  return is_known_of(workers_, warm, settled(workers_, warm));
}

}  // namespace syncline
