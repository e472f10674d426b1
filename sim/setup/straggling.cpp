#include "sim/setup/straggling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "sim/schedule.h"

namespace syncline {
namespace {

// ln P(normal < z).
double log_probability(double z) {
  return z > 0 ? std::log1p(-0.5 * std::erfc(z / std::numbers::sqrt2))
               : std::log(0.5 * std::erfc(-z / std::numbers::sqrt2));
}

struct LogNormal {
  double mean, sigma;  // of the logarithm
};

LogNormal log_of(const VaryingTime& time) {
  const double variance = std::log1p(time.variation * time.variation);
  return {std::log(time.mean_s) - variance / 2, std::sqrt(variance)};
}

// The iteration of workers of which none may get more than `lead` iterations ahead of the slowest:
// n equal ones take v^2 ln(n) / (2 lead) longer, for variations v that are small against that lead.
double with_leads_s(const std::vector<VaryingTime>& times, double lead) {
  const VaryingTime& slowest = *std::ranges::max_element(times, {}, &VaryingTime::mean_s);
  const auto equals = std::ranges::count_if(times, [&](const VaryingTime& time) {
    return time.mean_s > slowest.mean_s * (1 - slowest.variation);
  });
  return slowest.mean_s *
         (1 + slowest.variation * slowest.variation *
                  std::log(std::max<double>(1, static_cast<double>(equals))) / (2 * lead));
}

VaryingTime one_after_the_other(const VaryingTime& one, const VaryingTime& other) {
  const double mean_s = one.mean_s + other.mean_s;
  return {mean_s, std::hypot(one.mean_s * one.variation, other.mean_s * other.variation) / mean_s};
}

// Times of workers who wait for each other after each kind.
struct Replica {
  std::vector<VaryingTime> first, second;
};

}  // namespace

VaryingTime longest_of(const std::vector<VaryingTime>& times) {
  std::map<std::pair<double, double>, double> alike;  // how many have mean and variation
  VaryingTime longest;
  for (const VaryingTime& time : times) {
    ++alike[{time.mean_s, time.variation}];
    longest = std::max(longest, time, [](const VaryingTime& one, const VaryingTime& other) {
      return one.mean_s < other.mean_s;
    });
  }
  if (times.size() < 2 || longest.mean_s == 0)
    return longest;
  std::vector<std::pair<LogNormal, double>> kinds;
  double from = -HUGE_VAL, to = -HUGE_VAL;  // logarithms: outside, the longest is improbable
  for (const auto& [time, count] : alike) {
    if (time.second == 0) {
      from = std::max(from, std::log(time.first));
      to = std::max(to, from);
      continue;
    }
    const LogNormal kind = log_of({time.first, time.second});
    kinds.emplace_back(kind, count);
    from = std::max(from, kind.mean - 8 * kind.sigma);
    to = std::max(to, kind.mean + 12 * kind.sigma);
  }
  // E(T) = t + integral of P(T > x) dx from t, and E(T^2) with 2 x P(T > x), by Simpson's rule over
  // ln x.
  constexpr int parts = 2000;
  const double width = (to - from) / parts;
  double mean_s = std::exp(from), square = mean_s * mean_s;
  for (int part = 0; part <= parts && width > 0; ++part) {
    const double log_x = from + part * width, x = std::exp(log_x);
    double none_longer = 0;
    for (const auto& [kind, count] : kinds)
      none_longer += count * log_probability((log_x - kind.mean) / kind.sigma);
    const double weight = width / 3 * (part % parts == 0 ? 1 : part % 2 == 1 ? 4 : 2);
    const double longer = -std::expm1(none_longer) * x * weight;
    mean_s += longer;
    square += 2 * x * longer;
  }
  return {mean_s, std::sqrt(std::max(0.0, square / (mean_s * mean_s) - 1))};
}

double straggling_factor(const Scenario& scenario, const Topology& topology,
                         const std::vector<ComputedIteration>& iterations) {
  if (scenario.straggling == 0 || iterations.size() < 2)
    return 1;
  const Schedule& schedule = *scenario.schedule;
  const Settings& settings = scenario.schedule_settings;
  std::map<int, Replica> replicas;
  const bool has_shards = schedule.sharding != nullptr;
  std::optional<Among> group;
  if (has_shards)
    group = schedule.sharding(settings).group;
  else if (schedule.replica != nullptr)
    group = schedule.replica(settings);
  double slowest_s = 0;
  for (int worker = 0; worker < topology.workers(); ++worker) {
    const ComputedIteration& one = iterations[index(worker)];
    const double all_s = one.passes_s + one.step_s;
    slowest_s = std::max(slowest_s, all_s);
    if (all_s == 0)
      continue;
    Replica& replica = replicas[group ? topology.group_of(*group, worker) : worker];
    if (has_shards && one.passes_s > 0 && one.step_s > 0) {
      replica.first.push_back({one.step_s, scenario.straggling});
      replica.second.push_back({one.passes_s, scenario.straggling});
    } else {
      replica.first.push_back(
          {all_s, scenario.straggling * std::hypot(one.passes_s, one.step_s) / all_s});
    }
  }
  if (slowest_s == 0)
    return 1;
  const double round = schedule.round_of(settings, topology.workers());
  std::vector<VaryingTime> together, of_an_iteration;
  for (const auto& [number, replica] : replicas) {
    of_an_iteration.push_back(
        one_after_the_other(longest_of(replica.first), longest_of(replica.second)));
    const auto& [mean_s, variation] = of_an_iteration.back();
    together.push_back({mean_s, variation / std::sqrt(round)});
  }
  const double at_once_s = longest_of(together).mean_s;
  if (!schedule.delays_averages(settings))
    return at_once_s / slowest_s;
  return std::min(at_once_s, with_leads_s(of_an_iteration, settings.number(average_delay_name))) /
         slowest_s;
}

}  // namespace syncline
