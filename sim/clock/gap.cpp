#include "sim/clock/gap.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "sim/clock/clock.h"
#include "sim/clock/lower_bounds.h"
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

template <class Change>
void for_all_traffic(Setup& setup, Change change) {
  change(setup.traffic);
  if (setup.within)
    change(*setup.within);
  if (setup.shards) {
    change(setup.shards->gather);
    change(setup.shards->reduce_scatter);
    if (setup.shards->across)
      change(*setup.shards->across);
  }
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

// A scenario that one thing slows.
class Slowed {
 public:
  explicit Slowed(const Setup& setup)
      : setup_(setup),
        given_(setup),
        routes_(setup.traffic.cluster.routes()),
        round_(repeated_round(setup)),
        exchanges_(collective_times(setup, routes_)),  // makes all links known
        links_(links_of(setup.traffic.cluster.topology, routes_)) {}

  // Whether the scenario has such a thing.
  bool has(Slowdown::Kind kind) const {
    const Topology& topology = given_.traffic.cluster.topology;
    return kind == Slowdown::Kind::cards    ? !links_.between.empty() && topology.nodes.size() > 1
           : kind == Slowdown::Kind::inside ? !links_.inside.empty()
           : kind == Slowdown::Kind::steps  ? topology.workers() > 1
                                            : true;
  }

  std::vector<LinkLoad> loads() { return link_loads(given_, routes_); }

  double busiest_Bps(Slowdown::Kind kind, const std::vector<LinkLoad>& loads) const {
    const auto busiest = std::ranges::find_if(loads, [&](const LinkLoad& load) {
      return std::ranges::count(links(kind), load.link) > 0;
    });
    return routes_.link(busiest == loads.end() ? links(kind).front() : busiest->link)
        .bandwidth.mean_Bps();
  }

  double iteration_s(Slowdown::Kind kind, double amount) {
    if (kind == Slowdown::Kind::computation) {
      for (std::size_t worker = 0; worker < setup_.compute.of_worker.size(); ++worker) {
        setup_.compute.of_worker[worker].micro_step_s *= amount;
        setup_.compute.of_worker[worker].step_s *= amount;
      }
      const double seconds = iteration_seconds(setup_, round_, exchanges_);
      setup_.compute.of_worker = given_.compute.of_worker;
      return seconds;
    }
    if (kind == Slowdown::Kind::steps) {
      const double own_s = given_.scenario.step_overhead_s;
      const auto set = [](double step_s) {
        return [=](Traffic& traffic) { traffic.step_overhead_s = step_s; };
      };
      for_all_traffic(setup_, set(own_s + amount));
      const double seconds = iteration_seconds(setup_, round_, collective_times(setup_, routes_));
      for_all_traffic(setup_, set(own_s));
      return seconds;
    }
    Routes slower = routes_;
    slower.scale(links(kind), amount);
    return iteration_seconds(given_, round_, collective_times(given_, slower));
  }

 private:
  const std::vector<int>& links(Slowdown::Kind kind) const {
    return kind == Slowdown::Kind::cards ? links_.between : links_.inside;
  }

  Setup setup_;  // as given, but while it is slowed
  const Setup& given_;
  Routes routes_;
  Round round_;
  CollectiveTimes exchanges_;
  Links links_;
};

}  // namespace

double scenario_iteration_s(const Setup& setup, Routes& routes) {
  return iteration_seconds(setup, repeated_round(setup), collective_times(setup, routes));
}

double slowed_iteration_s(const Setup& setup, const Slowdown& slowdown) {
  return Slowed(setup).iteration_s(slowdown.kind, *slowdown.amount);
}

std::vector<Slowdown> slowdowns_of(const Setup& setup, double iteration_s) {
  Slowed slowed(setup);
  std::vector<Slowdown> causes;
  const auto add = [&](Slowdown::Kind kind, double none, double most) {
    if (slowed.has(kind))
      causes.push_back({kind, amount_for(iteration_s, none, most, [&](double amount) {
                          return slowed.iteration_s(kind, amount);
                        })});
  };
  add(Slowdown::Kind::cards, 1, 1 / worst);
  add(Slowdown::Kind::inside, 1, 1 / worst);
  add(Slowdown::Kind::steps, 1e-9, longest_s);
  add(Slowdown::Kind::computation, 1, worst);
  const std::vector<LinkLoad> loads = slowed.loads();
  for (Slowdown& cause : causes)
    if (cause.kind == Slowdown::Kind::cards || cause.kind == Slowdown::Kind::inside)
      cause.rate_Bps = slowed.busiest_Bps(cause.kind, loads);
  return causes;
}

}  // namespace syncline
