#include "sim/engine/length.h"

#include <algorithm>
#include <cmath>

namespace syncline {
namespace {

constexpr int enough_if_all_alike = 10;  // iterations in step
constexpr int first_check = 20;          // iterations of the fastest worker
constexpr double between_checks = 1.15;  // times as many

}  // namespace

Length::Length(const Setup& setup)
    : setup_(setup), waiting_(setup.scenario.schedule->waits(setup.scenario.schedule_settings)) {
  const Scenario& scenario = setup.scenario;
  const auto workers = static_cast<std::size_t>(setup.traffic.cluster.topology.workers());
  workers_.resize(workers);
  missing_.resize(workers);
  end_ = setup.iterations ? scenario.warmup + *setup.iterations : -1;
  next_check_ = scenario.warmup + whole_rounds(in_step() ? enough_if_all_alike : first_check);
}

int Length::whole_rounds(int iterations) const {
  const int round = setup_.traffic.round;
  return (iterations + round - 1) / round * round;
}

std::pair<int, int> Length::iterations(const Setup& setup) {
  const Length length(setup);
  const Scenario& scenario = setup.scenario;
  if (length.end_ >= 0)
    return {length.end_, length.end_};
  const int most = scenario.warmup + scenario.max_iterations;
  return {std::min(length.next_check_, most), most};
}

double Length::start_s(int rank) const {
  if (in_step())
    return 0;
  const Topology& topology = setup_.traffic.cluster.topology;
  const int node = topology.node_of[index(rank)];
  const std::vector<int>& mates = topology.nodes[index(node)];
  const double place = rank - mates.front() + node / static_cast<double>(topology.nodes.size());
  return place / static_cast<double>(mates.size()) * setup_.compute.solo_s[index(rank)];
}

bool Length::has(int iteration) {
  if (ended_ || (end_ >= 0 && iteration >= end_))
    return false;
  latest_ = std::max(latest_, iteration);
  if (end_ >= 0 || iteration < next_check_)
    return true;
  const Scenario& scenario = setup_.scenario;
  const int measured = iteration - scenario.warmup;
  const bool known = is_known(measured);
  if (!known && measured < scenario.max_iterations) {
    const double later = std::max<double>(first_check, std::ceil(measured * between_checks));
    next_check_ =
        scenario.warmup + whole_rounds(std::min(static_cast<int>(later), scenario.max_iterations));
    return true;
  }
  cut_short_ = !known;
  latest_ = iteration - 1;
  end();
  return false;
}

void Length::end() {
  // Who waits for others could wait for ever for one that has ended: then all do as many.
  if (waiting_ == Schedule::Waiting::for_nobody)
    ended_ = true;
  end_ = whole_rounds(latest_ + 1);
}

void Length::sends(int rank, int iteration, int parts, bool all) {
  const auto missing = missing_[index(rank)].emplace(iteration, 1).first;
  missing->second += parts - (all ? 1 : 0);
}

bool Length::applied(int rank, int iteration, double now_s) {
  std::map<int, int>& missing = missing_[index(rank)];
  const auto parts = missing.find(iteration);
  if (--parts->second > 0)
    return false;
  missing.erase(parts);
  if (!in_step())
    workers_[index(rank)].counted_s.push_back(now_s);
  return true;
}

void Length::stepped(int rank, int iteration, double now_s) {
  if (!in_step())
    return;
  std::vector<double>& counted_s = workers_[index(rank)].counted_s;
  counted_s.resize(static_cast<std::size_t>(iteration) + 1);
  counted_s.back() = now_s;
}

std::vector<Progress> Length::common() const {
  const auto fewest = std::ranges::min_element(
      workers_, {}, [](const Progress& worker) { return worker.counted_s.size(); });
  std::vector<Progress> common = workers_;
  for (Progress& worker : common)
    worker.counted_s.resize(fewest->counted_s.size());
  return common;
}

bool Length::repeats() const {
  const Progress& worker = *std::ranges::max_element(
      workers_, {}, [](const Progress& worker) { return worker.counted_s.size(); });
  double least_s = 0;
  double most_s = 0;
  const auto warm = static_cast<std::size_t>(setup_.scenario.warmup);
  for (std::size_t i = warm; i < worker.counted_s.size(); ++i) {
    const double seconds = worker.counted_s[i] - (i > 0 ? worker.counted_s[i - 1] : worker.start_s);
    least_s = i == warm ? seconds : std::min(least_s, seconds);
    most_s = std::max(most_s, seconds);
  }
  return most_s - least_s <= 1e-6 * most_s;
}

// If staleness is bounded, a worker that does more than the others must wait for them in the end,
// perhaps long after this window.
bool Length::drifts_apart(const Window& window) const {
  constexpr double more = 0.02;
  constexpr double at_any_moment = 2;  // iterations
  std::vector<double> iterations;
  for (const Progress& worker : workers_)
    iterations.push_back(iterations_in({worker}, window));
  const auto [least, most] = std::ranges::minmax(iterations);
  return most - least > more * most + at_any_moment;
}

bool Length::is_known(int measured) {
  const Scenario& scenario = setup_.scenario;
  if (in_step() && setup_.profiles.shown_s == 0 && repeats())
    return true;
  if (measured < first_check)
    return false;
  const std::vector<Progress> known = in_step() ? common() : workers_;
  const Window warm = window_after(known, scenario.warmup);
  std::optional<Window> steady = in_step() ? warm : settled(known, warm);
  // Batches that begin at other places of a slow spell differ, unless each has whole ones.
  const std::optional<Window> whole =
      steady ? in_whole_periods(*steady, setup_.profiles.period_s) : std::nullopt;
  if (whole)
    steady = whole;
  // In step nothing but warm-up is dropped: an iteration leaves nothing behind for the next one.
  if ((!in_step() || whole) && warm.warm)
    window_ = steady.value_or(warm);
  if (!warm.warm || !steady || steady->to_s - steady->from_s < setup_.profiles.shown_s)
    return false;
  if (waiting_ == Schedule::Waiting::for_some && drifts_apart(*steady))
    return false;
  const std::optional<double> interval = interval_of(known, *steady);
  return interval && *interval <= scenario.interval;
}

}  // namespace syncline
