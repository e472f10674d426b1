#include "sim/clock/gap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "sim/clock/clock.h"
#include "sim/schedule.h"

namespace syncline {
namespace {

constexpr double worst = 1e5;      // factor by which a rate may be lower, or computation longer
constexpr double longest_s = 100;  // of a step
constexpr double nearness = 1e-5;

// Links that only ways between nodes have, and links that ways inside nodes have.
struct Links {
  std::vector<int> between, inside;
};

Links links_of(const Topology& topology, Routes& routes) {
  std::set<int> inside;
  for (const std::vector<int>& node : topology.nodes)
    for (const int from : node)
      for (const int to : node)
        if (from != to) {
          const Route route = routes.between(from, to);
          inside.insert(route.links.begin(), route.links.end());
          inside.insert(route.fatpipes.begin(), route.fatpipes.end());
        }
  Links links;
  for (int link = 0; index(link) < routes.links().size(); ++link)
    (inside.contains(link) ? links.inside : links.between).push_back(link);
  return links;
}

// The amount, from `none` to `most`, with which iterations take `iteration_s`. More takes longer.
template <class SecondsWith>
std::optional<double> amount_for(double iteration_s, double none, double most,
                                 SecondsWith seconds_with) {
  if (seconds_with(most) < iteration_s)
    return std::nullopt;
  while (std::abs(most / none - 1) > nearness) {
    const double middle = std::sqrt(none * most);
    (seconds_with(middle) < iteration_s ? none : most) = middle;
  }
  return most;
}

// The round that repeats. Throws where arithmetic cannot tell how long it takes.
Round repeated_round(const Setup& setup) {
  const std::string schedule = "schedule " + setup.scenario.schedule->name;
  if (setup.traffic.partners != Schedule::Partners::each_other)
    throw std::runtime_error(
        schedule +
        ": --measured does not tell how long workers wait for servers or neighbours; allowed with "
        "it are schedules in which all workers average, such as bsp");
  if (setup.profiles.shown_s > 0)
    throw std::runtime_error("platform " + setup.scenario.platform +
                             ": profiles change it during a run; allowed with --measured are "
                             "platforms without profiles");
  Round round = recorded_round(setup);
  if (!round.repeats)
    throw std::runtime_error(schedule +
                             ": its rounds differ; allowed with --measured are schedules "
                             "that repeat after `round` iterations");
  return round;
}

}  // namespace

double scenario_iteration_s(const Setup& setup, Routes& routes) {
  return iteration_seconds(setup, repeated_round(setup), collective_times(setup, routes));
}

std::vector<Slowdown> slowdowns_of(const Setup& given, double iteration_s) {
  Setup setup = given;
  Routes routes = setup.traffic.cluster.routes();
  const Round round = repeated_round(setup);
  const CollectiveTimes exchanges = collective_times(setup, routes);  // makes all links known
  const Links links = links_of(setup.traffic.cluster.topology, routes);
  std::vector<Slowdown> causes;
  const auto add_links = [&](Slowdown::Kind kind, const std::vector<int>& of) {
    Slowdown cause{kind};
    cause.amount = amount_for(iteration_s, 1.0, 1 / worst, [&](double part) {
      Routes slower = routes;
      slower.scale(of, part);
      return iteration_seconds(setup, round, collective_times(setup, slower));
    });
    cause.rate_Bps = std::numeric_limits<double>::infinity();
    for (const int link : of)
      cause.rate_Bps = std::min(cause.rate_Bps, routes.link(link).bandwidth.mean_Bps());
    causes.push_back(cause);
  };
  if (!links.between.empty() && setup.traffic.cluster.topology.nodes.size() > 1)
    add_links(Slowdown::Kind::cards, links.between);
  if (!links.inside.empty())
    add_links(Slowdown::Kind::inside, links.inside);
  const auto all_traffic = [&](auto change) {
    change(setup.traffic);
    if (setup.within)
      change(*setup.within);
    if (setup.shards) {
      change(setup.shards->gather);
      change(setup.shards->reduce_scatter);
      if (setup.shards->across)
        change(*setup.shards->across);
    }
  };
  if (setup.traffic.cluster.topology.workers() > 1) {
    const double own_s = setup.scenario.step_overhead_s;
    causes.push_back(
        {Slowdown::Kind::steps, amount_for(iteration_s, 1e-9, longest_s, [&](double more_s) {
           all_traffic([&](Traffic& traffic) { traffic.step_overhead_s = own_s + more_s; });
           return iteration_seconds(setup, round, collective_times(setup, routes));
         })});
    all_traffic([&](Traffic& traffic) { traffic.step_overhead_s = own_s; });
  }
  causes.push_back(
      {Slowdown::Kind::computation, amount_for(iteration_s, 1.0, worst, [&](double times) {
         for (std::size_t worker = 0; worker < setup.compute.of_worker.size(); ++worker) {
           setup.compute.of_worker[worker].micro_step_s =
               given.compute.of_worker[worker].micro_step_s * times;
           setup.compute.of_worker[worker].step_s = given.compute.of_worker[worker].step_s * times;
         }
         return iteration_seconds(setup, round, exchanges);
       })});
  return causes;
}

}  // namespace syncline
