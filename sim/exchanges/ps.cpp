// Parameter server (Li et al., OSDI 2014; BytePS, Jiang et al., OSDI 2020) for averaging: workers
// push gradients to sharded servers, which answer with the average when they have all gradients.
//
// With `aggregate = on` a node first reduce-scatters among its workers, each worker pushes its
// part, and the node all-gathers the answers: one gradient leaves and enters a node, as in BytePS.
// A single node then needs no server.
//
// A bucket is cut into partitions. Each partition passes four stages (sum in the node, push, pull,
// spread in the node), each in its own stream: while partition p is pushed, p - 1 is pulled, and
// the next bucket follows the last partition. `in-flight` limits the number of buckets under way at
// a time. By default there is no limit, as in BytePS, whose BYTEPS_SCHEDULING_CREDIT is 0 unless it
// is set (byteps/common/scheduled_queue.cc; BYTEPS_PARTITION_BYTES is 4096000 in global.cc). A
// partition is spread evenly over all servers. BytePS gives each partition to one server by a hash:
// about the same load over a model, but with hashing's imbalance.
#include <algorithm>
#include <utility>

#include "sim/collectives.h"

namespace syncline {
namespace {

constexpr int places_exchanged_with = 9;  // by a rank, with `fidelity = flow`

// The parts of workers' pushes for each server.
struct Shards {
  const Topology& topology;
  const Payload& payload;
  bool aggregate;

  // Bytes that worker `w` pushes to server `s`: its share of the node's gradient, divided over the
  // servers.
  std::uint64_t pushed(int w, int s) const {
    const std::vector<int>& local = topology.node_with(w);
    const std::uint64_t own =
        aggregate ? share(payload.bytes, static_cast<int>(local.size()), w - local.front())
                  : payload.bytes;
    return part_of(payload.parts, own, topology.servers, s);
  }
};

// Transfers with every rank of the other side.
std::vector<Transfer> all_transfers(const Shards& shards, int rank) {
  const int workers = shards.topology.workers();
  std::vector<Transfer> transfers;
  if (rank < workers)
    for (int s = 0; s < shards.topology.servers; ++s)
      transfers.push_back({workers + s, shards.pushed(rank, s)});
  else
    for (int w = 0; w < workers; ++w)
      transfers.push_back({w, shards.pushed(w, rank - workers)});
  return transfers;
}

// Used with `fidelity = flow`, because a thousand workers and a thousand servers have a million
// pairs. Nodes and servers are placed on a circle. A rank exchanges with its own place and with at
// most eight evenly spaced distances, which also carry the bytes of the places near them, so the
// bytes per rank do not change. Not used if places would differ in their workers or servers.
std::vector<Transfer> few_transfers(const Shards& shards, int rank) {
  const Topology& topology = shards.topology;
  const auto nodes = static_cast<int>(topology.nodes.size());
  const int places = std::min(nodes, topology.servers);
  const bool even = shards.payload.parts.empty() && nodes % places == 0 &&
                    topology.servers % places == 0 && nodes_of_one_size(topology);
  if (!even)
    return all_transfers(shards, rank);
  const int workers_there = topology.workers() / places;
  const int servers_there = topology.servers / places;
  const auto worker = [&](int place, int i) { return place % places * workers_there + i; };
  const auto server = [&](int place, int i) { return place % places * servers_there + i; };
  // Appends the transfers between this rank and the others in a range of distances from a worker's
  // place to a server's.
  std::vector<Transfer> transfers;
  const auto append = [&](const DistanceRange& range) {
    const auto carried = [&](int w, int i) {
      std::uint64_t bytes = 0;
      for (int distance = range.first; distance <= range.last; ++distance)
        bytes += shards.pushed(w, server(w / workers_there + distance, i));
      return bytes;
    };
    if (rank < topology.workers()) {
      for (int i = 0; i < servers_there; ++i)
        transfers.push_back({topology.workers() + server(rank / workers_there + range.middle, i),
                             carried(rank, i)});
    } else {
      const int place = (rank - topology.workers()) / servers_there;
      for (int i = 0; i < workers_there; ++i) {
        const int w = worker(place + places - range.middle, i);
        transfers.push_back({w, carried(w, (rank - topology.workers()) % servers_there)});
      }
    }
  };
  append({.middle = 0, .first = 0, .last = 0});
  for (const DistanceRange& range : representative_distances(places, places_exchanged_with - 1))
    append(range);
  return transfers;
}

Pushing pushing(const Settings& settings) {
  return {.partition_bytes = settings.number("partition-bytes"),
          .in_flight = static_cast<int>(settings.number("in-flight"))};
}

Plan pipeline(const Topology& topology, const Settings& settings, const Payload& payload, int rank,
              std::vector<Transfer> (*transfers)(const Shards&, int), int fine_pieces) {
  const std::uint64_t bytes = payload.bytes;
  const bool aggregate = settings.word("aggregate") == "on";
  const bool sums_in_nodes = aggregate && std::ranges::any_of(topology.nodes, [](const auto& node) {
                               return node.size() > 1;
                             });
  const bool no_servers = topology.workers() == 1 || (aggregate && topology.nodes.size() == 1);

  Plan plan;
  Stage stage{.stages = (sums_in_nodes ? 2 : 0) + (no_servers ? 0 : 2),
              .partitions = partitions(bytes, pushing(settings).partition_bytes),
              .in_flight = pushing(settings).in_flight,
              .fine_pieces = fine_pieces};
  const auto append = [&](Phase phase) {
    phase.stage = stage;
    plan.emplace_back(std::move(phase));
  };
  const auto pass_servers = [&] {
    if (no_servers)
      return;
    const std::vector<Transfer> shard = transfers({topology, payload, aggregate}, rank);
    const bool server = rank >= topology.workers();
    append({.verb = Verb::push,
            .sends = server ? std::vector<Transfer>() : shard,
            .receives = server ? shard : std::vector<Transfer>(),
            .adds = server});
    ++stage.place;
    append({.verb = Verb::pull,
            .sends = server ? shard : std::vector<Transfer>(),
            .receives = server ? std::vector<Transfer>() : shard});
    ++stage.place;
  };

  if (rank >= topology.workers()) {
    stage.place = sums_in_nodes ? 1 : 0;
    pass_servers();
    return plan;
  }
  const int node = topology.node_of[index(rank)];
  const std::vector<int>& local = topology.node_with(rank);
  const bool in_node = aggregate && local.size() > 1;
  const RingPlace inside = place_in(local, rank - local.front());
  if (in_node)
    append(ring_reduce_scatter(inside, bytes, node));
  stage.place += sums_in_nodes ? 1 : 0;
  pass_servers();
  if (in_node)
    append(ring_all_gather(inside, bytes, node));
  return plan;
}

Plan ps(const Topology& topology, const Settings& settings, const Payload& payload, int rank) {
  return pipeline(topology, settings, payload, rank, all_transfers, 0);
}

Plan ps_as_flows(const Topology& topology, const Settings& settings, const Payload& payload,
                 int rank) {
  constexpr int few_pairs = few_messages / 4;
  if (topology.pairs() <= few_pairs)
    return pipeline(topology, settings, payload, rank, all_transfers,
                    few_messages / static_cast<int>(std::max(topology.pairs(), 1LL)));
  const int flows = topology.workers() * std::min(topology.servers, places_exchanged_with);
  return pipeline(topology, settings, payload, rank, few_transfers, few_messages / flows);
}

const Registered<Exchange> entry{{
    .name = "ps",
    .sentence = "sharded parameter servers, one per node or on hosts of their own (`servers`)",
    .help = {.more = "Every server's card carries its share of all workers' gradients, so it needs "
                     "as many servers as nodes to keep up with a ring.",
             .paper = "Li et al., OSDI 2014; BytePS, Jiang et al., OSDI 2020"},
    .options = {choice("aggregate", "on: gradients are summed in the node first, for averaging",
                       "on", {"on", "off"}),
                number("partition-bytes",
                       "bytes of a bucket that are pushed at a time, over all servers", "4096000",
                       1),
                whole_number("in-flight",
                             "buckets under way at a time, from a push to its answer; 0: all", "0",
                             0, 1e6)},
    .uses_servers = true,
    .pushing = pushing,
    .plan = ps,
    .flow_plan = ps_as_flows,
}};

}  // namespace
}  // namespace syncline
