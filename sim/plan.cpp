#include "sim/plan.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "sim/collectives.h"

namespace syncline {
namespace {

// Small tensors are sent in a ring all-reduce of their own, before the last decode.
void append_small_tensors(Plan& plan, const Topology& topology, const Exchange& exchange,
                          std::uint64_t bytes, int rank) {
  constexpr int group_of_small_tensors = -2;
  if (bytes == 0 || topology.workers() == 1)
    return;
  Plan rings;
  if (exchange.has_channels)
    rings = in_channels(topology, rank, [&](const RingPlace& place, const ChannelShare& part) {
      return ring_all_reduce(place, part.of(bytes), group_of_small_tensors);
    });
  else
    rings = {
        ring_all_reduce(place_among_all(topology.workers(), rank), bytes, group_of_small_tensors)};
  if (topology.channel_count() > 1 && exchange.has_channels)
    for (auto& action : rings)
      std::get<Phase>(action).stage.pass = 1;
  plan.insert(plan.end() - (last_work(plan) != nullptr ? 1 : 0), rings.begin(), rings.end());
}

// The complete plan, but with every round of an all-to-all.
Plan whole_plan_of(const Exchange& exchange, const Topology& topology, const Settings& settings,
                   const Payload& payload, int rank, bool every_step) {
  const auto& make = every_step || !exchange.flow_plan ? exchange.plan : exchange.flow_plan;
  Plan plan;
  if (exchange.carries != Exchange::Carries::sums) {
    if (payload.bytes > 0 || payload.small_bytes == 0)
      plan = make(topology, settings, payload, rank);
    append_small_tensors(plan, topology, exchange, payload.small_bytes, rank);
    return plan;
  }
  for (int round = 0; round < payload.all_reduces; ++round) {
    Payload one = payload;
    one.bytes = share(payload.bytes + payload.small_bytes, payload.all_reduces, round);
    for (auto& action : make(topology, settings, one, rank)) {
      if (Phase* phase = std::get_if<Phase>(&action);
          phase != nullptr &&
          (phase->stage.stages > 1 || (exchange.has_channels && topology.channel_count() > 1)))
        phase->stage.pass = round;
      plan.push_back(std::move(action));
    }
  }
  if (payload.elements == 0 || plan.empty() || rank >= topology.workers())
    return plan;
  plan.insert(plan.begin(), encode(payload.elements));
  plan.push_back(decode(payload.elements));
  return plan;
}

}  // namespace

std::uint64_t part_of(const ServerParts& parts, std::uint64_t bytes, int servers, int server) {
  const std::uint64_t all = parts.empty() ? 0 : parts.back().before + parts.back().parameters;
  if (all == 0)
    return share(bytes, servers, server);
  // Cut at cumulative fractions, so that the parts add up to the message.
  const auto until = [&](std::uint64_t parameters) {
    return bytes % all == 0    ? bytes / all * parameters
           : parameters == all ? bytes
                               : static_cast<std::uint64_t>(static_cast<double>(bytes) *
                                                            static_cast<double>(parameters) /
                                                            static_cast<double>(all));
  };
  const ServerPart& part = parts[index(server)];
  return until(part.before + part.parameters) - until(part.before);
}

double Payload::tensors_in(double message_bytes, int servers, int server) const {
  const std::uint64_t held = part_of(parts, dense_bytes + small_bytes, servers, server);
  return held == 0 ? 0
                   : tensors_of(parts, tensors, server) * message_bytes / static_cast<double>(held);
}

bool is_ring(const Phase& phase) {
  return phase.steps > 1 && phase.group_size > 1 && phase.turn < 0 && phase.sends.size() == 1 &&
         phase.receives.size() == 1;
}

const Work* first_work(const Plan& plan) {
  return plan.empty() ? nullptr : std::get_if<Work>(&plan.front());
}

const Work* last_work(const Plan& plan) {
  return plan.size() < 2 ? nullptr : std::get_if<Work>(&plan.back());
}

Plan plan_of(const Exchange& exchange, const Topology& topology, const Settings& settings,
             const Payload& payload, int rank, bool every_step) {
  Plan plan = whole_plan_of(exchange, topology, settings, payload, rank, every_step);
  return every_step ? plan : with_fused_rounds(plan, topology);
}

int Topology::group_of(Among group, int worker) const {
  if (group == Among::all)
    return 0;
  if (group == Among::place)
    return worker - node_with(worker).front();
  return (group == Among::node ? node_of : site_of)[index(worker)];
}

std::vector<int> Topology::members(Among group, int worker) const {
  const int own = group_of(group, worker);
  std::vector<int> members;
  for (int other = 0; other < workers(); ++other)
    if (group_of(group, other) == own)
      members.push_back(other);
  return members;
}

Topology Topology::only(const std::vector<int>& members) const {
  std::vector<int> sizes;
  int last = -1;
  std::vector<int> place_of(index(workers()), -1);
  for (std::size_t i = 0; i < members.size(); ++i)
    place_of[index(members[i])] = static_cast<int>(i);
  std::vector<std::vector<int>> rings;
  for (const Channel& channel : channels) {
    rings.emplace_back();
    for (const int worker : channel.ring)
      if (place_of[index(worker)] >= 0)
        rings.back().push_back(place_of[index(worker)]);
  }
  for (const int worker : members) {
    if (const int node = node_of[index(worker)]; node != last) {
      sizes.push_back(0);
      last = node;
    }
    ++sizes.back();
  }
  Topology some = make_topology(sizes, 0);
  // Otherwise no data leave the node, or each node has a single way out.
  if (sizes.size() > 1 && members.size() > sizes.size())
    some.channels = channels_of(std::move(rings));
  return some;
}

std::vector<Channel> channels_of(std::vector<std::vector<int>> rings) {
  std::vector<Channel> channels;
  for (std::vector<int>& ring : rings) {
    std::vector<int> place_of(ring.size());
    for (std::size_t place = 0; place < ring.size(); ++place)
      place_of[index(ring[place])] = static_cast<int>(place);
    channels.push_back({.ring = std::move(ring), .place_of = std::move(place_of)});
  }
  return channels;
}

void Payload::add(const Payload& other, int workers) {
  const bool drawn = !messages.empty() || !other.messages.empty();
  const bool summed = !sums.empty() || !other.sums.empty();
  if (drawn)
    messages.resize(index(workers), bytes);
  if (summed)
    sums.resize(index(workers), bytes);
  for (int worker = 0; worker < workers; ++worker) {
    if (drawn)
      messages[index(worker)] += other.message_of(worker);
    if (summed)
      sums[index(worker)] += other.sum_of(worker);
  }
  bytes += other.bytes;
  dense_bytes += other.dense_bytes;
  small_bytes += other.small_bytes;
  elements += other.elements;
  tensors += other.tensors;
}

Topology make_topology(const std::vector<int>& workers_in_node, int servers) {
  Topology topology;
  topology.servers = servers;
  for (const int count : workers_in_node) {
    topology.nodes.emplace_back();
    for (int i = 0; i < count; ++i) {
      topology.nodes.back().push_back(topology.workers());
      topology.node_of.push_back(static_cast<int>(topology.nodes.size()) - 1);
    }
  }
  if (std::ranges::adjacent_find(workers_in_node, std::not_equal_to()) == workers_in_node.end() &&
      !workers_in_node.empty())
    topology.node_size = topology.nodes.front().size();
  return topology;
}

}  // namespace syncline
