#include "sim/traffic/nccl_choice.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "sim/catalogue/devices.h"
#include "sim/catalogue/network.h"
#include "sim/traffic/exchange_time.h"
#include "sim/traffic/nccl_tuning.h"
#include "sim/traffic/pipeline_time.h"

namespace syncline {
namespace {

// A traffic that takes this candidate, by its name, for one payload.
Traffic by_candidate(const Traffic& traffic, const Payload& payload, const std::string& name) {
  Traffic by = traffic;
  const auto candidate =
      std::ranges::find(by.candidates, name, [](const auto& one) { return one.exchange->name; });
  by.picked = {
      {payload.bytes, {.candidate = static_cast<std::size_t>(candidate - by.candidates.begin())}}};
  return by;
}

// Bus bandwidth of a ring: its busiest link, if all transfers move at once.
double ring_Bps(const Traffic& traffic, Routes& routes) {
  const Payload payload = dense(1 << 26);  // any that all workers have shares of
  const Traffic by = by_candidate(traffic, payload, "ring");
  const int workers = by.cluster.topology.workers();
  Flows flows;
  for (int rank = 0; rank < workers; ++rank)
    for (const auto& action : by.plan_of(payload, rank, false))
      if (const Phase* phase = std::get_if<Phase>(&action))
        for (const Transfer& send : phase->sends)
          flows.add(routes.between(rank, send.peer), static_cast<double>(send.bytes));
  return 2. * (workers - 1) / workers * static_cast<double>(payload.bytes) / flows.seconds(routes);
}

NcclMachine machine_of(const Scenario& scenario, const Traffic& traffic, Routes& routes) {
  const Topology& topology = traffic.cluster.topology;
  NcclMachine machine{.ranks = topology.workers(),
                      .nodes = static_cast<int>(topology.nodes.size()),
                      .ring_Bps = ring_Bps(traffic, routes),
                      .channels = topology.channel_count(),
                      .net_latency_s = scenario.nccl_net_latency_s};
  const auto several = std::ranges::find_if(
      topology.nodes, [](const std::vector<int>& node) { return node.size() > 1; });
  if (several != topology.nodes.end())
    machine.inside_Bps = routes.width_Bps((*several)[0], (*several)[1]);
  std::set<std::string> devices{scenario.device};
  for (int rank = 0; scenario.device.empty() && rank < machine.ranks; ++rank)
    devices.insert(routes.device(rank));
  for (const std::string& name : devices)
    if (const Device* device = known_device(name)) {
      // RCCL, which AMD's GPUs have, is taken to be NCCL on Ampere.
      const double capability = device->compute_capability.value_or(8);
      machine.is_mixed |= capability != machine.compute_capability.value_or(capability);
      machine.compute_capability =
          std::min(machine.compute_capability.value_or(capability), capability);
    }
  return machine;
}

// Of a message up and down a tree of nodes, each with a chain of GPUs, as sim/exchanges/tree.cpp
// has them.
int tree_steps(const Topology& topology) {
  const auto nodes = static_cast<unsigned>(topology.nodes.size());
  return 2 * (largest_node(topology) - 1 + static_cast<int>(std::bit_width(nodes)) - 1);
}

// The transfers of this way, slowed and shortened until they take as long as it does.
PickedExchange picked(const NcclWay& way, const Traffic& traffic, Routes& routes,
                      const Payload& payload, double way_s, bool lowers_latencies) {
  Traffic by = by_candidate(traffic, payload, way.exchange());
  by.step_overhead_s = 0;  // the user's comes on top
  PickedExchange& pick = by.picked.at(payload.bytes);
  pick.wire = way.wire;
  if (lowers_latencies && way.algorithm != NcclAlgorithm::ring)
    pick.steps = tree_steps(traffic.cluster.topology);
  ExchangeTime time = exchange_time(by, routes, payload);
  if (lowers_latencies && time.fixed_s > 0) {
    // The latencies of a message that is one chunk.
    const Payload chunk = dense(64);
    Traffic alone = by_candidate(traffic, chunk, way.exchange());
    alone.step_overhead_s = 0;
    const double once_s = exchange_time(alone, routes, chunk).exchange_s();
    const double latency_s = std::max(std::min(once_s, way.latency_s), once_s - way.saved_s);
    pick.latency_part = std::min(1.0, latency_s / time.fixed_s);
    time = exchange_time(by, routes, payload);
  }
  pick.before_s = std::max(0.0, way_s - time.exchange_s());
  return pick;
}

ExchangeChoice choose(const NcclMachine& machine, Traffic& traffic, Routes& routes,
                      const Payload& payload, bool lowers_latencies) {
  ExchangeChoice choice{.bytes = payload.bytes};
  const NcclWay* best = nullptr;
  double best_s = 0;
  const std::vector<NcclWay> ways = nccl_ways(machine, payload.bytes);
  for (const NcclWay& way : ways) {
    const double seconds = way.seconds(payload.bytes);
    choice.seconds.emplace_back(way.name(), seconds);
    if (best == nullptr || seconds < best_s) {
      best = &way;
      best_s = seconds;
    }
  }
  std::ranges::stable_sort(choice.seconds, {}, &std::pair<std::string, double>::second);
  traffic.picked[payload.bytes] = picked(*best, traffic, routes, payload, best_s, lowers_latencies);
  return choice;
}

}  // namespace

std::vector<ExchangeChoice> choose_as_nccl(const Scenario& scenario, Traffic& traffic,
                                           Routes& routes, const std::vector<Payload>& payloads) {
  if (traffic.cluster.topology.workers() < 2)
    return {};
  traffic.candidates = scenario.candidates;
  const NcclMachine machine = machine_of(scenario, traffic, routes);
  std::map<std::uint64_t, ExchangeChoice> by_bytes;
  for (const Payload& payload : payloads) {
    const auto [known, added] = by_bytes.try_emplace(payload.bytes);
    if (added)
      known->second =
          choose(machine, traffic, routes, payload, scenario.network->latency_after_flow);
    ++known->second.buckets;
  }
  std::vector<ExchangeChoice> choices;
  for (auto& [bytes, choice] : by_bytes)
    choices.push_back(std::move(choice));
  return choices;
}

}  // namespace syncline
