#include "sim/traffic/nccl_choice.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>

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
double ring_Bps(const Traffic& traffic, Routes& routes, const Payload& payload) {
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

NcclMachine machine_of(const Traffic& traffic, Routes& routes, const Payload& payload) {
  const Topology& topology = traffic.cluster.topology;
  NcclMachine machine{.ranks = topology.workers(),
                      .nodes = static_cast<int>(topology.nodes.size()),
                      .ring_Bps = ring_Bps(traffic, routes, payload)};
  const auto several = std::ranges::find_if(
      topology.nodes, [](const std::vector<int>& node) { return node.size() > 1; });
  if (several != topology.nodes.end())
    machine.inside_Bps = routes.width_Bps((*several)[0], (*several)[1]);
  return machine;
}

// The transfers of this way, slowed and shortened until they take as long as it does.
PickedExchange picked(const NcclWay& way, const Traffic& traffic, Routes& routes,
                      const Payload& payload, double way_s, bool lowers_latencies) {
  Traffic by = by_candidate(traffic, payload, way.exchange());
  by.step_overhead_s = 0;  // the user's comes on top
  PickedExchange& pick = by.picked.at(payload.bytes);
  pick.wire = way.wire;
  ExchangeTime time = exchange_time(by, routes, payload);
  if (lowers_latencies && time.fixed_s > 0) {
    // A long message goes up and down a tree in chunks, whose latencies NCCL does not wait for.
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

ExchangeChoice choose(Traffic& traffic, Routes& routes, const Payload& payload,
                      bool lowers_latencies) {
  ExchangeChoice choice{.bytes = payload.bytes};
  const NcclWay* best = nullptr;
  double best_s = 0;
  const std::vector<NcclWay> ways = nccl_ways(machine_of(traffic, routes, payload), payload.bytes);
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

std::vector<ExchangeChoice> choose_as_nccl(const std::vector<CandidateExchange>& candidates,
                                           Traffic& traffic, Routes& routes,
                                           const std::vector<Payload>& payloads,
                                           bool lowers_latencies) {
  if (traffic.cluster.topology.workers() < 2)
    return {};
  traffic.candidates = candidates;
  std::map<std::uint64_t, ExchangeChoice> by_bytes;
  for (const Payload& payload : payloads) {
    const auto [known, added] = by_bytes.try_emplace(payload.bytes);
    if (added)
      known->second = choose(traffic, routes, payload, lowers_latencies);
    ++known->second.buckets;
  }
  std::vector<ExchangeChoice> choices;
  for (auto& [bytes, choice] : by_bytes)
    choices.push_back(std::move(choice));
  return choices;
}

}  // namespace syncline
