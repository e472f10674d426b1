// Parameter server (Li et al., OSDI 2014; BytePS, Jiang et al., OSDI 2020) for averaging: workers
// push gradients to sharded servers, which answer with the average once they have everybody's.
//
// With `aggregate = on` a node first reduce-scatters among its workers, each pushes its part, and
// the node all-gathers what came back: one gradient leaves and enters a node, as BytePS does. A
// single node then needs no server at all.
//
// The buffer goes in partitions. While partition p is pushed, the average of p - 1 is pulled: the
// two directions of a full-duplex card work side by side. So the plan is one push, a run of
// push-and-pull steps, and one last pull. A partition is spread over all servers evenly (BytePS
// hashes partitions to servers, which comes to the same over a model, and leaves out the luck).
#include <algorithm>
#include <utility>

#include "sim/plan.h"

namespace syncline {
namespace {

std::vector<Transfer> transfers(const std::vector<Transfer>& pushes, int rounds, int first,
                                int last) {
  std::vector<Transfer> part = pushes;
  for (Transfer& transfer : part) {
    const std::uint64_t bytes = transfer.bytes;
    transfer.bytes = shares(bytes, rounds, first, last);
  }
  return part;
}

// One push, rounds - 1 steps of push-and-pull, one pull, for a worker; the mirror for a server.
void append_pipeline(Plan& plan, const std::vector<Transfer>& pushes, int rounds, bool server,
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
  phase("push", transfers(pushes, rounds, 0, 1), {}, 1);
  if (rounds > 1)
    phase("push-pull", transfers(pushes, rounds, 1, rounds),
          transfers(pushes, rounds, 0, rounds - 1), rounds - 1);
  phase("pull", {}, transfers(pushes, rounds, rounds - 1, rounds), 1);
}

Plan ps(const Topology& topology, const Settings& settings, const Payload& payload, int rank) {
  const std::uint64_t bytes = payload.bytes;
  const bool aggregate = settings.word("aggregate") == "on";
  const auto nodes = static_cast<int>(topology.nodes.size());
  const bool alone = topology.workers() == 1 || (aggregate && nodes == 1);
  const int workers = topology.workers();
  const double partition = settings.number("partition-bytes") * topology.servers;
  const int rounds = pieces(bytes, partition);

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
    if (alone)
      return {};
    for (int w = 0; w < workers; ++w)
      pushes.push_back({w, pushed(w, rank - workers)});
    append_pipeline(plan, pushes, rounds, true, topology.ranks());
    return plan;
  }

  const int node = topology.node_of[static_cast<std::size_t>(rank)];
  const std::vector<int>& local = topology.nodes[static_cast<std::size_t>(node)];
  const bool in_node = aggregate && local.size() > 1;
  const RingPlace inside = place_in(local, rank - local.front());
  if (in_node)
    plan.push_back(ring_reduce_scatter(inside, bytes, node));
  if (!alone) {
    for (int s = 0; s < topology.servers; ++s)
      pushes.push_back({workers + s, pushed(rank, s)});
    append_pipeline(plan, pushes, rounds, false, topology.ranks());
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
