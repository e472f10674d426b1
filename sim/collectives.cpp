#include "sim/collectives.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

namespace syncline {
namespace {

// In each of size - 1 steps every rank forwards one share to the next rank. A rank never forwards
// share `kept`, and the previous rank never forwards share `kept` - 1.
Phase ring_phase(Verb verb, const RingPlace& place, std::uint64_t bytes, int kept, int group) {
  const int n = place.size;
  return {.verb = verb,
          .sends = {{place.next, bytes - share(bytes, n, kept % n)}},
          .receives = {{place.previous, bytes - share(bytes, n, (kept + n - 1) % n)}},
          .steps = n - 1,
          .group = group,
          .group_size = n};
}

// The rounds that are run of an all-to-all with rounds 1 .. n - 1, each with the rounds for which
// it stands.
std::vector<DistanceRange> representative_rounds(const Topology& topology, int n) {
  constexpr int most = 16;
  const int m = n == topology.workers() ? largest_node(topology) : 1;  // else one of each node
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
    // In nodes of m workers, round r goes r modulo m places on: the middles take each remainder in
    // turn.
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

// The partitions first .. last - 1 of a piece of a phase, as {first, last}.
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

int partitions(std::uint64_t bytes, double partition_bytes) {
  return static_cast<int>(
      std::clamp(std::ceil(static_cast<double>(bytes) / partition_bytes), 1.0, 1e6));
}

bool nodes_of_one_size(const Topology& topology) {
  return topology.node_size > 0;
}

int largest_node(const Topology& topology) {
  std::size_t largest = 1;
  for (const std::vector<int>& node : topology.nodes)
    largest = std::max(largest, node.size());
  return static_cast<int>(largest);
}

RingPlace place_in(const std::vector<int>& ring, int position) {
  const int n = static_cast<int>(ring.size());
  return {.position = position,
          .size = n,
          .next = ring[index((position + 1) % n)],
          .previous = ring[index((position + n - 1) % n)]};
}

RingPlace place_among_all(int workers, int rank) {
  return {.position = rank,
          .size = workers,
          .next = (rank + 1) % workers,
          .previous = (rank + workers - 1) % workers};
}

RingPlace place_in(const Topology& topology, int channel, int rank) {
  if (topology.channels.empty())
    return place_among_all(topology.workers(), rank);
  const Channel& own = topology.channels[index(channel)];
  return place_in(own.ring, own.place_of[index(rank)]);
}

Plan in_channels(const Topology& topology, int rank,
                 const std::function<Phase(const RingPlace&, const ChannelShare&)>& phase) {
  Plan plan;
  const int channels = topology.channel_count();
  for (int channel = 0; channel < channels; ++channel) {
    Phase one = phase(place_in(topology, channel, rank), {channel, channels});
    one.stage.channel = channel;
    one.stage.channels = channels;
    plan.emplace_back(std::move(one));
  }
  return plan;
}

GridPlace place_in_grid(const Topology& topology, int rank, const std::string& exchange) {
  const int node = topology.node_of[index(rank)];
  const std::vector<int>& local = topology.node_with(rank);
  const int position = rank - local.front();
  const auto nodes = static_cast<int>(topology.nodes.size());
  if (!nodes_of_one_size(topology)) {
    const auto& other = *std::ranges::find_if(
        topology.nodes, [&](const auto& others) { return others.size() != local.size(); });
    throw std::invalid_argument(
        fmt::format("exchange = {}: every node needs the same number of workers, but one has {} "
                    "and another {}",
                    exchange, local.size(), other.size()));
  }
  const auto peer_in = [&](int other) { return topology.nodes[index(other)][index(position)]; };
  return {.inside = place_in(local, position),
          .across = {.position = node,
                     .size = nodes,
                     .next = peer_in((node + 1) % nodes),
                     .previous = peer_in((node + nodes - 1) % nodes)},
          .inside_group = node,
          .across_group = nodes + position};
}

Phase ring_reduce_scatter(const RingPlace& place, std::uint64_t bytes, int group) {
  return ring_phase(Verb::reduce_scatter, place, bytes, place.position, group);
}

Phase ring_all_gather(const RingPlace& place, std::uint64_t bytes, int group) {
  return ring_phase(Verb::all_gather, place, bytes, place.position + 1, group);
}

Phase ring_all_gather(const RingPlace& place, const std::vector<std::uint64_t>& messages,
                      int group) {
  const std::uint64_t all = std::accumulate(messages.begin(), messages.end(), std::uint64_t{0});
  const auto position = static_cast<std::size_t>(place.position);
  return {.verb = Verb::all_gather,
          .sends = {{place.next, all - messages[(position + 1) % messages.size()]}},
          .receives = {{place.previous, all - messages[position]}},
          .steps = place.size - 1,
          .group = group,
          .group_size = place.size};
}

Phase all_gather_across(const GridPlace& place, const std::vector<std::uint64_t>& messages) {
  Phase across = ring_all_gather(place.across, messages, place.across_group);
  across.verb = Verb::all_gather_across;
  return across;
}

std::vector<std::uint64_t> shares_of_messages(const Topology& topology, const Payload& payload,
                                              int position) {
  std::vector<std::uint64_t> bytes;
  for (const std::vector<int>& node : topology.nodes)
    bytes.push_back(
        share(payload.message_of(node[index(position)]), static_cast<int>(node.size()), position));
  return bytes;
}

Phase all_gather_of_sums(const Payload& payload, int workers, int rank) {
  const RingPlace place = place_among_all(workers, rank);
  if (payload.sums.empty())
    return ring_all_gather(place, payload.bytes, 0);
  std::vector<std::uint64_t> messages;
  for (int worker = 0; worker < workers; ++worker)
    messages.push_back(share(payload.sum_of(worker), workers, worker));
  return ring_all_gather(place, messages, 0);
}

Phase ring_all_reduce(const RingPlace& place, std::uint64_t bytes, int group) {
  Phase both = ring_reduce_scatter(place, bytes, group);
  const Phase gather = ring_all_gather(place, bytes, group);
  both.verb = Verb::all_reduce;
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

void append_all_to_all(Plan& plan, Verb verb, int workers, int rank,
                       const std::function<std::uint64_t(int from, int to)>& bytes) {
  std::vector<int> everybody(index(workers));
  std::iota(everybody.begin(), everybody.end(), 0);
  append_all_to_all(plan, verb, everybody, rank, bytes);
}

void append_all_to_all(Plan& plan, Verb verb, const std::vector<int>& ranks, int place,
                       const std::function<std::uint64_t(int from, int to)>& bytes) {
  const auto n = static_cast<int>(ranks.size());
  for (int s = 1; s < n; ++s) {
    const int to = (place + s) % n;
    const int from = (place + n - s) % n;
    plan.push_back(Phase{.verb = verb,
                         .sends = {{ranks[index(to)], bytes(place, to)}},
                         .receives = {{ranks[index(from)], bytes(from, place)}},
                         .round = true});
  }
}

void add_compressed_again(const Contributions& contributions, int worker, std::size_t first,
                          std::span<const float> added, Values& sum) {
  if (!added.empty())
    contributions.decode(worker, 1, first, contributions.encode(worker, 1, first, added),
                         std::span<float>(sum).subspan(first, added.size()));
}

Plan with_fused_rounds(const Plan& plan, const Topology& topology) {
  Plan fused;
  std::vector<Phase> rounds;  // consecutive rounds with the same verb
  const auto fuse = [&] {
    if (rounds.empty())
      return;
    const auto places = static_cast<int>(rounds.size()) + 1;
    for (const DistanceRange& range : representative_rounds(topology, places))
      fused.emplace_back(fused_rounds(rounds, range));
    rounds.clear();
  };
  for (const auto& action : plan) {
    const Phase* phase = std::get_if<Phase>(&action);
    const bool is_round = phase != nullptr && phase->round;
    if (!is_round || (!rounds.empty() && rounds.front().verb != phase->verb))
      fuse();
    if (is_round)
      rounds.push_back(*phase);
    else
      fused.push_back(action);
  }
  fuse();
  return fused;
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

}  // namespace syncline
