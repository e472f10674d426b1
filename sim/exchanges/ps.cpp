// Parameter server (Li et al., OSDI 2014; BytePS, Jiang et al., OSDI 2020) for averaging: workers
// push gradients to sharded servers, which answer with the average when they have all of them.
//
// With `aggregate = on` a node first reduce-scatters among its workers, each pushes its part, and
// the node all-gathers what came back: one gradient leaves and enters a node, as BytePS does. A
// single node then needs no server at all.
//
// The buffer is cut into partitions. While partition p is pushed, the average of p - 1 is pulled,
// so both directions of a full-duplex card are busy. So the plan is one push, several push-and-pull
// steps, and one last pull. A partition is spread over all servers evenly (BytePS hashes partitions
// to servers: about the same load over a model, but with hashing's imbalance).
#include <algorithm>
#include <utility>

#include "sim/plan.h"

namespace syncline {
namespace {

std::vector<Transfer> transfers(const std::vector<Transfer>& pushes, int partitions, int first,
                                int last) {
  std::vector<Transfer> part = pushes;
  for (Transfer& transfer : part) {
    const std::uint64_t bytes = transfer.bytes;
    transfer.bytes = shares(bytes, partitions, first, last);
  }
  return part;
}

// For a worker: one push, partitions - 1 steps of push-and-pull, one pull. For a server with sends
// and receives swapped.
void append_pipeline(Plan& plan, const std::vector<Transfer>& pushes, int partitions, bool server,
                     int members) {
  const auto phase = [&](std::string_view name, std::vector<Transfer> up,
                         std::vector<Transfer> down, int steps) {
    if (server)
      std::swap(up, down);
    plan.push_back(Phase{.name = name,
                         .sends = std::move(up),
                         .receives = std::move(down),
                         .steps = steps,
                         .group = -1,
                         .group_size = steps > 1 ? members : 0});
  };
  phase("push", transfers(pushes, partitions, 0, 1), {}, 1);
  if (partitions > 1)
    phase("push-pull", transfers(pushes, partitions, 1, partitions),
          transfers(pushes, partitions, 0, partitions - 1), partitions - 1);
  phase("pull", {}, transfers(pushes, partitions, partitions - 1, partitions), 1);
}

Plan ps(const Topology& topology, const Settings& settings, const Payload& payload, int rank) {
  const std::uint64_t bytes = payload.bytes;
  const bool aggregate = settings.word("aggregate") == "on";
  const auto nodes = static_cast<int>(topology.nodes.size());
  const bool no_servers = topology.workers() == 1 || (aggregate && nodes == 1);
  const int workers = topology.workers();
  const double partition_bytes = settings.number("partition-bytes") * topology.servers;
  const int partitions = pieces(bytes, partition_bytes);

  // What worker `w` pushes to server `s`: its part of the node's gradient, cut over the servers.
  const auto pushed = [&](int w, int s) {
    const std::vector<int>& local =
        topology.nodes[static_cast<std::size_t>(topology.node_of[static_cast<std::size_t>(w)])];
    const std::uint64_t part =
        aggregate ? share(bytes, static_cast<int>(local.size()), w - local.front()) : bytes;
    return share(part, topology.servers, s);
  };

  Plan plan;
  std::vector<Transfer> pushes;  // of the whole buffer
  if (rank >= workers) {
    if (no_servers)
      return {};
    for (int w = 0; w < workers; ++w)
      pushes.push_back({w, pushed(w, rank - workers)});
    append_pipeline(plan, pushes, partitions, true, topology.ranks());
    return plan;
  }

  const int node = topology.node_of[static_cast<std::size_t>(rank)];
  const std::vector<int>& local = topology.nodes[static_cast<std::size_t>(node)];
  const bool in_node = aggregate && local.size() > 1;
  const RingPlace inside = place_in(local, rank - local.front());
  if (in_node)
    plan.push_back(ring_reduce_scatter(inside, bytes, node));
  if (!no_servers) {
    for (int s = 0; s < topology.servers; ++s)
      pushes.push_back({workers + s, pushed(rank, s)});
    append_pipeline(plan, pushes, partitions, false, topology.ranks());
  }
  if (in_node)
    plan.push_back(ring_all_gather(inside, bytes, node));
  return plan;
}

const Registered<Exchange> entry{{
    .name = "ps",
    .sentence = "sharded parameter servers, one per node or on hosts of their own (`servers`)",
    .parameters = {{.name = "aggregate",
                    .sentence = "on: gradients are summed in the node first, for averaging",
                    .fallback = "on",
                    .choices = {"on", "off"}},
                   {.name = "partition-bytes",
                    .sentence = "bytes a server handles at a time: pushes and pulls overlap so",
                    .fallback = "4096000",
                    .minimum = 1}},
    .uses_servers = true,
    .plan = ps,
}};

}  // namespace
}  // namespace syncline
