// Double binary tree (Sanders, Speck, Träff 2009; NCCL's tree): each half of the buffer is reduced
// up a binary tree and broadcast down again, in chunks that follow each other through the tree. The
// second tree is the first one mirrored or shifted, so a leaf of one tree is an inner node of the
// other, and every node carries about the same load. The trees connect nodes; the workers of a node
// form a chain behind the worker that is in the tree. Latency grows with log2 of the number of
// nodes and with the workers of a node; bytes stay near a ring's.
//
// Rounds: a node's level is the number of trailing zero bits of its label. Parents have higher
// levels, and the workers of a chain have lower levels than all nodes. Chunk c goes up from a rank
// in round c + level, and comes down to it in round c + 2 * top - level - 1, so everything that a
// rank forwards has arrived in an earlier round. In the middle all transfers are active and rounds
// are equal: one phase of many steps. While the trees fill and drain, each round is its own phase.
//
// With `fidelity = flow` and many chunks, only the first chunk goes through the trees round by
// round. Then all other chunks move at once, in one flow per edge, and take a step each. The number
// of rounds is the same. While the trees fill and drain, half of the transfers are active on
// average, but for half as many rounds.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "sim/collectives.h"

namespace syncline {
namespace {

// The in-order binary tree over 1 .. n: labels with more trailing zero bits are nearer to the root.
struct Tree {
  int n;

  static int span(int label) { return label & -label; }

  int root() const { return static_cast<int>(std::bit_floor(static_cast<unsigned>(n))); }

  int parent(int label) const {
    if (label == root())
      return 0;
    for (int step = span(label);; step = 2 * step) {
      const int up = ((label - step) & ~step) | (2 * step);  // the parent in the full tree
      if (up <= n)
        return up;
      label = up;
    }
  }

  std::vector<int> children(int label) const {
    std::vector<int> found;
    int step = span(label) / 2;
    if (step > 0)
      found.push_back(label - step);
    for (int child = label + step; step > 0; step /= 2, child = label + step)
      if (child <= n) {
        found.push_back(child);
        break;
      }
    return found;
  }

  static int level(int label) { return std::countr_zero(static_cast<unsigned>(label)); }
};

struct Timed {
  Transfer transfer;  // with all its chunks
  int first_round;
  bool sent;
};

// Appends one of the two trees: a tree over nodes, and in each node a chain behind the worker that
// is in the tree, so that one edge leads up out of a node, as in NCCL. `label` and `node_of`
// convert a node to its place in the tree and back; `first` says at which end of a node the chain
// begins.
template <class Label, class NodeOf>
void append_tree(std::vector<Timed>& all, const Topology& topology, int channel, int rank,
                 bool first, std::uint64_t bytes, Label label, NodeOf node_of) {
  const Tree tree{static_cast<int>(topology.nodes.size())};
  const int longest = largest_node(topology);
  // Channels go through every second node backwards, so the tree stays on its rail.
  const auto from_front = [&](int node) {
    return first != (topology.channel_count() > 1 && node % 2 == 1);
  };
  const auto at = [&](int node, int j) {  // the rank at this place of a node's chain
    const std::vector<int>& chain = topology.nodes[index(node)];
    const int place =
        chain.front() + (from_front(node) ? j : static_cast<int>(chain.size()) - 1 - j);
    return topology.channels.empty() ? place : topology.channels[index(channel)].ring[index(place)];
  };
  // The first worker of a chain is above all chains; levels fall along a chain.
  const auto level = [&](int node, int j) {
    return longest - 1 - j + (j == 0 ? Tree::level(label(node)) : 0);
  };
  const int top = longest - 1 + Tree::level(tree.root());
  const auto append = [&](int peer, int child_level, bool to_parent) {
    all.push_back({{peer, bytes}, child_level, to_parent});
    all.push_back({{peer, bytes}, 2 * top - child_level - 1, !to_parent});
  };

  const int node = topology.node_of[index(rank)];
  const std::vector<int>& local = topology.node_with(rank);
  const auto m = static_cast<int>(local.size());
  const int place = place_in(topology, channel, rank).position;
  const int j = from_front(node) ? place - local.front() : local.back() - place;
  if (j > 0)
    append(at(node, j - 1), level(node, j), true);
  if (j + 1 < m)
    append(at(node, j + 1), level(node, j + 1), false);
  if (j > 0)
    return;
  if (const int parent = tree.parent(label(node)); parent != 0)
    append(at(node_of(parent), 0), level(node, 0), true);
  for (const int child : tree.children(label(node)))
    append(at(node_of(child), 0), level(node_of(child), 0), false);
}

// Appends a phase with the chunks of each transfer that `chunks_of` returns: first .. last - 1.
template <class ChunksOf>
void append_phase(Plan& plan, const std::vector<Timed>& all, int chunks, int round, int steps,
                  int members, ChunksOf chunks_of) {
  Phase phase{.verb = Verb::tree,
              .steps = steps,
              .group = 0,
              .group_size = steps > 1 ? members : 0,
              .turn = round};
  for (const Timed& timed : all)
    if (const auto [first, last] = chunks_of(timed); first < last)
      (timed.sent ? phase.sends : phase.receives)
          .push_back({timed.transfer.peer, shares(timed.transfer.bytes, chunks, first, last)});
  if (!phase.sends.empty() || !phase.receives.empty())
    plan.push_back(std::move(phase));
}

// Moves the first chunk round by round, then all others.
Plan first_then_rest(const std::vector<Timed>& all, int chunks, int fill, int members) {
  Plan plan;
  for (int round = 0; round <= fill; ++round)
    append_phase(plan, all, chunks, round, 1, members, [&](const Timed& timed) {
      return std::pair(0, round == timed.first_round ? 1 : 0);
    });
  if (chunks > 1)
    append_phase(plan, all, chunks, fill + 1, chunks - 1, members,
                 [&](const Timed&) { return std::pair(1, chunks); });
  return plan;
}

Plan pipelined(const std::vector<Timed>& all, int chunks, int fill, int members) {
  Plan plan;
  const int steady = std::max(chunks - fill, 0);  // rounds from `fill` on in which all are active
  for (int round = 0; round < chunks + fill;) {
    const int steps = round == fill && steady > 1 ? steady : 1;
    append_phase(plan, all, chunks, round, steps, members, [&](const Timed& timed) {
      return std::pair(std::max(round - timed.first_round, 0),
                       std::min(round + steps - timed.first_round, chunks));
    });
    round += steps;
  }
  return plan;
}

// Both trees of a channel, for its share of the buffer.
std::vector<Timed> trees(const Topology& topology, int channel, std::uint64_t bytes, int rank) {
  const auto nodes = static_cast<int>(topology.nodes.size());
  std::vector<Timed> all;
  append_tree(
      all, topology, channel, rank, true, share(bytes, 2, 0), [](int node) { return node + 1; },
      [](int label) { return label - 1; });
  // The second tree is mirrored if this swaps odd and even labels, else shifted by one.
  if (nodes % 2 == 0)
    append_tree(
        all, topology, channel, rank, false, share(bytes, 2, 1),
        [nodes](int node) { return nodes - node; }, [nodes](int label) { return nodes - label; });
  else
    append_tree(
        all, topology, channel, rank, false, share(bytes, 2, 1),
        [nodes](int node) { return (node + 1) % nodes + 1; },
        [nodes](int label) { return (label + nodes - 2) % nodes; });
  return all;
}

Plan plan_by(Plan (*in_rounds)(const std::vector<Timed>&, int, int, int), const Topology& topology,
             const Settings& settings, const Payload& payload, int rank) {
  const int n = topology.workers();
  if (n == 1)
    return {};
  const auto nodes = static_cast<int>(topology.nodes.size());
  const int fill = 2 * (largest_node(topology) - 1 + Tree::level(Tree{nodes}.root())) - 1;
  Plan plan;
  for (int channel = 0; channel < topology.channel_count(); ++channel) {
    const std::uint64_t bytes = share(payload.bytes, topology.channel_count(), channel);
    const int chunks = partitions(bytes / 2, settings.number("chunk-bytes"));
    for (auto& action : in_rounds(trees(topology, channel, bytes, rank), chunks, fill, n)) {
      std::get<Phase>(action).stage.channel = channel;
      std::get<Phase>(action).stage.channels = topology.channel_count();
      plan.push_back(std::move(action));
    }
  }
  return plan;
}

Plan tree(const Topology& topology, const Settings& settings, const Payload& payload, int rank) {
  return plan_by(pipelined, topology, settings, payload, rank);
}

Plan tree_as_flows(const Topology& topology, const Settings& settings, const Payload& payload,
                   int rank) {
  const std::uint64_t bytes = share(payload.bytes, topology.channel_count(), 0);
  const int chunks = partitions(share(bytes, 2, 1), settings.number("chunk-bytes"));
  const bool can_pipeline = static_cast<double>(chunks) * topology.workers() <= few_messages;
  return plan_by(can_pipeline ? pipelined : first_then_rest, topology, settings, payload, rank);
}

const Registered<Exchange> entry{{
    .name = "tree",
    .sentence =
        "double binary tree: two trees reduce and broadcast half of the buffer each, in chunks",
    .help = {.more = "Steps grow with the logarithm of the nodes, so it is faster than a ring "
                     "where messages are small and nodes are many.",
             .paper = "Sanders, Speck and Träff, Parallel Computing 2009; NCCL"},
    .options = {number("chunk-bytes", "bytes that move up or down a tree at a time", "524288", 1)},
    .uses_servers = false,
    .has_channels = true,
    .plan = tree,
    .flow_plan = tree_as_flows,
}};

}  // namespace
}  // namespace syncline
