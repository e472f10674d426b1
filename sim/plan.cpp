#include "sim/plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>

namespace syncline {
namespace {

// In each of size - 1 steps every rank forwards one part to the next rank. It never forwards part
// `kept`, and the previous rank never forwards part `kept` - 1.
Phase ring_phase(std::string_view name, const RingPlace& place, std::uint64_t bytes, int kept,
                 int group) {
  const int n = place.size;
  return {.name = name,
          .sends = {{place.next, bytes - share(bytes, n, kept % n)}},
          .receives = {{place.previous, bytes - share(bytes, n, (kept + n - 1) % n)}},
          .steps = n - 1,
          .group = group,
          .group_size = n};
}

// A ring all-reduce of these bytes, before the last decode.
void append_small_tensors(Plan& plan, int workers, std::uint64_t bytes, int rank) {
  constexpr int group_of_small_tensors = -2;
  if (bytes == 0 || workers == 1)
    return;
  plan.insert(plan.end() - (last_work(plan) != nullptr ? 1 : 0),
              ring_all_reduce(place_among_all(workers, rank), bytes, group_of_small_tensors));
}

// Of the rounds 1 .. workers - 1 of an all-to-all, those that are run, each with those it stands
// for.
std::vector<DistanceRange> representative_rounds(const Topology& topology) {
  constexpr int most = 16;
  const int n = topology.workers();
  std::size_t largest = 1;
  for (const std::vector<int>& node : topology.nodes)
    largest = std::max(largest, node.size());
  const auto m = static_cast<int>(largest);
  const int near = n - 1 <= most ? n - 1 : m - 1 <= most ? std::min(m - 1, (n - 1) / 2) : 0;
  std::vector<DistanceRange> rounds;
  const auto add_each = [&](int first, int last) {
    for (int round = first; round <= last; ++round)
      rounds.push_back({.middle = round, .first = round, .last = round});
  };
  add_each(1, near);
  const int far = n - 1 - 2 * near;
  const int ranges = std::min(far, most);
  for (int i = 0; i < ranges; ++i) {
    const int first = near + 1 + i * far / ranges;
    const int last = near + (i + 1) * far / ranges;
    // Round r goes r modulo m places on in a node, where nodes have m: each remainder in its turn.
    int middle = (first + last) / 2;
    middle += (i - middle % m + m) % m;
    while (middle > last)
      middle -= m;
    rounds.push_back(
        {.middle = middle < first ? (first + last) / 2 : middle, .first = first, .last = last});
  }
  add_each(std::max(n - near, near + 1), n - 1);
  return rounds;
}

Phase fused_rounds(std::span<const Phase> rounds, const DistanceRange& range) {
  Phase fused = rounds[index(range.middle - 1)];
  fused.steps = range.last - range.first + 1;
  fused.sends[0].bytes = fused.receives[0].bytes = 0;
  for (int round = range.first; round <= range.last; ++round) {
    fused.sends[0].bytes += rounds[index(round - 1)].sends[0].bytes;
    fused.receives[0].bytes += rounds[index(round - 1)].receives[0].bytes;
  }
  return fused;
}

// The complete plan, of every step or from flow_plan.
Plan whole_plan_of(const Exchange& exchange, const Topology& topology, const Settings& settings,
                   const Payload& payload, int rank, bool every_step) {
  const auto& make = every_step || !exchange.flow_plan ? exchange.plan : exchange.flow_plan;
  Plan plan;
  if (exchange.carries != Exchange::Carries::sums) {
    if (payload.bytes > 0 || payload.small_bytes == 0)
      plan = make(topology, settings, payload, rank);
    append_small_tensors(plan, topology.workers(), payload.small_bytes, rank);
    return plan;
  }
  for (int round = 0; round < payload.all_reduces; ++round) {
    Payload part = payload;
    part.bytes = share(payload.bytes + payload.small_bytes, payload.all_reduces, round);
    for (auto& action : make(topology, settings, part, rank)) {
      if (Phase* phase = std::get_if<Phase>(&action); phase != nullptr && phase->stage.stages > 1)
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

// Partitions of a phase that its piece has: first .. last - 1.
std::pair<int, int> partitions_of(const Stage& stage, int piece, bool every_step) {
  const int pieces = pieces_of(stage, every_step);
  const int single = std::min(stage.stages - 1, pieces - 1);  // pieces of one partition
  const int large = pieces - single;
  const int before = single - std::min(stage.place, single);
  const auto begin = [&](int i) {
    const int of_large = std::clamp(i - before, 0, large);
    return i - of_large +
           static_cast<int>(static_cast<long long>(stage.partitions - single) * of_large / large);
  };
  return {begin(piece), begin(piece + 1)};
}

}  // namespace

bool nodes_of_one_size(const Topology& topology) {
  return std::ranges::all_of(topology.nodes, [&](const std::vector<int>& node) {
    return node.size() == topology.nodes.front().size();
  });
}

bool is_ring(const Phase& phase) {
  return phase.steps > 1 && phase.group_size > 1 && phase.sends.size() == 1 &&
         phase.receives.size() == 1;
}

bool is_fused(const Phase& phase, bool every_step, int workers) {
  if (every_step || phase.steps == 1)
    return false;
  return phase.round || static_cast<double>(workers) * phase.steps > few_messages;
}

int pieces_of(const Stage& stage, bool every_step) {
  return every_step ? stage.partitions
                    : std::min(stage.partitions, std::max(stage.stages, stage.fine_pieces));
}

Phase piece_of(const Phase& phase, int piece, bool every_step) {
  const auto [first, last] = partitions_of(phase.stage, piece, every_step);
  Phase part = phase;
  for (std::vector<Transfer>* transfers : {&part.sends, &part.receives})
    for (Transfer& transfer : *transfers)
      transfer.bytes = shares(transfer.bytes, phase.stage.partitions, first, last);
  part.steps *= last - first;
  return part;
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

int pieces(std::uint64_t bytes, double piece) {
  return static_cast<int>(std::clamp(std::ceil(static_cast<double>(bytes) / piece), 1.0, 1e6));
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
  return topology;
}

RingPlace place_in(const std::vector<int>& ring, int position) {
  const int n = static_cast<int>(ring.size());
  return {.position = position,
          .size = n,
          .next = ring[static_cast<std::size_t>((position + 1) % n)],
          .previous = ring[static_cast<std::size_t>((position + n - 1) % n)]};
}

RingPlace place_among_all(int workers, int rank) {
  return {.position = rank,
          .size = workers,
          .next = (rank + 1) % workers,
          .previous = (rank + workers - 1) % workers};
}

GridPlace place_in_grid(const Topology& topology, int rank, const std::string& exchange) {
  const int node = topology.node_of[static_cast<std::size_t>(rank)];
  const std::vector<int>& local = topology.nodes[static_cast<std::size_t>(node)];
  const int position = rank - local.front();
  std::vector<int> peers;
  for (const std::vector<int>& other : topology.nodes) {
    if (other.size() != local.size())
      throw std::invalid_argument(
          "exchange = " + exchange + ": every node needs the same number of workers, but one has " +
          std::to_string(local.size()) + " and another " + std::to_string(other.size()));
    peers.push_back(other[static_cast<std::size_t>(position)]);
  }
  return {.inside = place_in(local, position),
          .across = place_in(peers, node),
          .inside_group = node,
          .across_group = static_cast<int>(peers.size()) + position};
}

Phase ring_reduce_scatter(const RingPlace& place, std::uint64_t bytes, int group) {
  return ring_phase("reduce-scatter", place, bytes, place.position, group);
}

Phase ring_all_gather(const RingPlace& place, std::uint64_t bytes, int group) {
  return ring_phase("all-gather", place, bytes, place.position + 1, group);
}

Phase ring_all_gather(const RingPlace& place, const std::vector<std::uint64_t>& parts, int group) {
  const std::uint64_t all = std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
  const auto position = static_cast<std::size_t>(place.position);
  return {.name = "all-gather",
          .sends = {{place.next, all - parts[(position + 1) % parts.size()]}},
          .receives = {{place.previous, all - parts[position]}},
          .steps = place.size - 1,
          .group = group,
          .group_size = place.size};
}

std::vector<std::uint64_t> shares_of_messages(const Topology& topology, const Payload& payload,
                                              int position) {
  std::vector<std::uint64_t> bytes;
  for (const std::vector<int>& node : topology.nodes)
    bytes.push_back(share(payload.message_of(node[static_cast<std::size_t>(position)]),
                          static_cast<int>(node.size()), position));
  return bytes;
}

Phase all_gather_of_sums(const Payload& payload, int workers, int rank) {
  const RingPlace place = place_among_all(workers, rank);
  if (payload.sums.empty())
    return ring_all_gather(place, payload.bytes, 0);
  std::vector<std::uint64_t> parts;
  for (int worker = 0; worker < workers; ++worker)
    parts.push_back(share(payload.sum_of(worker), workers, worker));
  return ring_all_gather(place, parts, 0);
}

Phase ring_all_reduce(const RingPlace& place, std::uint64_t bytes, int group) {
  Phase both = ring_reduce_scatter(place, bytes, group);
  const Phase gather = ring_all_gather(place, bytes, group);
  both.name = "all-reduce";
  both.sends[0].bytes += gather.sends[0].bytes;
  both.receives[0].bytes += gather.receives[0].bytes;
  both.steps += gather.steps;
  return both;
}

std::vector<DistanceRange> representative_distances(int size, int most) {
  const int ranges = std::min(most, size - 1);
  const auto begin = [&](int i) { return 1 + (i * (size - 1) + ranges - 1) / ranges; };
  std::vector<DistanceRange> all;
  for (int i = 0; i < ranges; ++i)
    all.push_back(
        {.middle = (begin(i) + begin(i + 1) - 1) / 2, .first = begin(i), .last = begin(i + 1) - 1});
  return all;
}

void append_all_to_all(Plan& plan, std::string_view name, int workers, int rank,
                       const std::function<std::uint64_t(int from, int to)>& bytes) {
  for (int s = 1; s < workers; ++s) {
    const int to = (rank + s) % workers;
    const int from = (rank + workers - s) % workers;
    plan.push_back(Phase{.name = name,
                         .sends = {{to, bytes(rank, to)}},
                         .receives = {{from, bytes(from, rank)}},
                         .round = true});
  }
}

Plan with_fused_rounds(const Plan& plan, const Topology& topology) {
  Plan fused;
  std::vector<Phase> rounds;  // consecutive ones of one name
  const auto fuse = [&] {
    if (rounds.empty())
      return;
    for (const DistanceRange& range : representative_rounds(topology))
      fused.emplace_back(fused_rounds(rounds, range));
    rounds.clear();
  };
  for (const auto& action : plan) {
    const Phase* phase = std::get_if<Phase>(&action);
    const bool is_round = phase != nullptr && phase->round;
    if (!is_round || (!rounds.empty() && rounds.front().name != phase->name))
      fuse();
    if (is_round)
      rounds.push_back(*phase);
    else
      fused.push_back(action);
  }
  fuse();
  return fused;
}

}  // namespace syncline
