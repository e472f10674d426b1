#include "sim/bounds.h"

#include <algorithm>
#include <utility>

#include "sim/plan.h"
#include "sim/schedule.h"

namespace syncline {
namespace {

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

Plan plan_of(const Setup& setup, std::uint64_t bytes, int rank) {
  return Registered<Exchange>::find(setup.scenario.exchange)
      .plan(setup.cluster.topology, setup.scenario.exchange_settings, bytes, rank);
}

int exchanging_ranks(const Setup& setup) {
  const Topology& topology = setup.cluster.topology;
  return Registered<Exchange>::find(setup.scenario.exchange).uses_servers ? topology.ranks()
                                                                          : topology.workers();
}

}  // namespace

double exchange_seconds(const Setup& setup, Routes& routes, std::uint64_t bytes) {
  // Ranks are in the same phase when it has the same name for the same time.
  std::map<std::pair<std::string_view, int>, std::map<int, double>> link_bytes;
  double slowest_s = 0;
  for (int rank = 0; rank < exchanging_ranks(setup); ++rank) {
    std::map<std::string_view, int> seen;
    double latencies_s = 0;
    for (const Phase& phase : plan_of(setup, bytes, rank)) {
      std::map<int, double>& loads = link_bytes[{phase.name, seen[phase.name]++}];
      double latency_s = 0;
      for (const Transfer& send : phase.sends) {
        const Route route = routes.between(rank, send.peer);
        latency_s = std::max(latency_s, route.latency_s);
        for (const int link : route.links)
          loads[link] += static_cast<double>(send.bytes);
      }
      latencies_s += phase.steps * (latency_s + setup.scenario.step_overhead_s);
    }
    slowest_s = std::max(slowest_s, latencies_s);
  }
  double seconds = slowest_s;
  for (const auto& [phase, loads] : link_bytes) {
    double busiest_s = 0;
    for (const auto& [link, load] : loads)
      busiest_s = std::max(busiest_s, load / routes.links()[index(link)].bandwidth_Bps);
    seconds += busiest_s;
  }
  return seconds;
}

ExchangeCost exchange_cost(const Setup& setup, Routes& routes) {
  ExchangeCost cost;
  cost.startup_s = exchange_seconds(setup, routes, 0);
  const std::uint64_t bytes = setup.model_bytes();
  cost.seconds_per_byte =
      (exchange_seconds(setup, routes, bytes) - cost.startup_s) / static_cast<double>(bytes);
  return cost;
}

std::map<int, double> link_bytes_per_iteration(const Setup& setup, Routes& routes) {
  std::map<int, double> loads;
  const auto add = [&](int from, int to, std::uint64_t bytes) {
    for (const int link : routes.between(from, to).links)
      loads[link] += static_cast<double>(bytes);
  };
  const Topology& topology = setup.cluster.topology;
  const Schedule& schedule = Registered<Schedule>::find(setup.scenario.schedule);
  if (schedule.aggregator != nullptr) {
    for (int rank = 0; rank < topology.workers(); ++rank) {
      const int node = setup.cluster.aggregator_of(topology.node_of[index(rank)]);
      add(rank, node, setup.model_bytes());
      add(node, rank, setup.model_bytes());
    }
  } else if (schedule.server != nullptr) {
    for (int rank = 0; rank < topology.workers(); ++rank)
      for (int s = 0; s < topology.servers; ++s)
        for (const Bucket& bucket : setup.buckets) {
          const std::uint64_t bytes = share(setup.bytes_of(bucket), topology.servers, s);
          add(rank, topology.workers() + s, bytes);
          add(topology.workers() + s, rank, bytes);
        }
  } else {
    for (const Bucket& bucket : setup.buckets)
      for (int rank = 0; rank < exchanging_ranks(setup); ++rank)
        for (const Phase& phase : plan_of(setup, setup.bytes_of(bucket), rank))
          for (const Transfer& send : phase.sends)
            add(rank, send.peer, send.bytes);
  }
  return loads;
}

}  // namespace syncline
