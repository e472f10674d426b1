// Double binary tree (Sanders, Speck, Träff 2009; NCCL's tree): each half of the buffer is reduced
// up a binary tree and broadcast down again, in chunks that follow each other through the tree. The
// second tree is the first one turned, so that a leaf of one is an inner rank of the other and
// every rank carries about the same load. Latency grows with log2 n, bytes stay near a ring's.
//
// Rounds: a rank's level is how many zeros its label ends in; its parent's is higher. Chunk c goes
// up from it in round c + level, and comes down to it in round c + 2 top - level - 1, so everything
// a rank passes on came in an earlier round. In the middle all transfers are active and rounds are
// alike: one phase of many steps. While the trees fill and drain, each round is a phase of its own.
#include <algorithm>
#include <bit>
#include <vector>

#include "sim/plan.h"

namespace syncline {
namespace {

// The in-order binary tree over 1 .. n: the more zeros a number ends in, the nearer to the root.
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
  Transfer transfer;  // all chunks of it
  int first_round;
  bool sent;
};

// This rank's transfers in one tree, in which it has `label`; `rank_of` gives the others' ranks.
template <class RankOf>
void append_tree(std::vector<Timed>& all, const Tree& tree, int label, std::uint64_t bytes,
                 RankOf rank_of) {
  const int top = Tree::level(tree.root());
  const auto up = [](int child) { return Tree::level(child); };
  const auto down = [top](int child) { return 2 * top - Tree::level(child) - 1; };
  if (const int parent = tree.parent(label); parent != 0) {
    all.push_back({{rank_of(parent), bytes}, up(label), true});
    all.push_back({{rank_of(parent), bytes}, down(label), false});
  }
  for (const int child : tree.children(label)) {
    all.push_back({{rank_of(child), bytes}, up(child), false});
    all.push_back({{rank_of(child), bytes}, down(child), true});
  }
}

Plan pipelined(const std::vector<Timed>& all, int chunks, int fill, int members) {
  Plan plan;
  const int rounds = chunks + fill;
  const int steady = std::max(chunks - fill, 0);  // rounds from `fill` on in which all are active
  for (int round = 0; round < rounds;) {
    const int steps = round == fill && steady > 1 ? steady : 1;
    Phase phase{.name = "tree",
                .sends = {},
                .receives = {},
                .steps = steps,
                .group = 0,
                .group_size = steps > 1 ? members : 0};
    for (const Timed& timed : all) {
      const int first = std::max(round - timed.first_round, 0);
      const int last = std::min(round + steps - timed.first_round, chunks);
      if (first < last)
        (timed.sent ? phase.sends : phase.receives)
            .push_back({timed.transfer.peer, shares(timed.transfer.bytes, chunks, first, last)});
    }
    if (!phase.sends.empty() || !phase.receives.empty())
      plan.push_back(std::move(phase));
    round += steps;
  }
  return plan;
}

Plan tree(const Topology& topology, const Settings& settings, const Payload& payload, int rank) {
  const std::uint64_t bytes = payload.bytes;
  const int n = topology.workers();
  if (n == 1)
    return {};
  const Tree tree{n};
  std::vector<Timed> all;
  append_tree(all, tree, rank + 1, share(bytes, 2, 0), [](int label) { return label - 1; });
  // Mirrored where that swaps odd and even labels, else moved on by one, which does.
  if (n % 2 == 0)
    append_tree(all, tree, n - rank, share(bytes, 2, 1), [n](int label) { return n - label; });
  else
    append_tree(all, tree, (rank + 1) % n + 1, share(bytes, 2, 1),
                [n](int label) { return (label + n - 2) % n; });

  const int fill = 2 * Tree::level(tree.root()) - 1;
  const int chunks = pieces(bytes / 2, settings.number("chunk-bytes"));
  return pipelined(all, chunks, fill, n);
}

const Registered<Exchange> entry{{
    .name = "tree",
    .sentence =
        "double binary tree: two trees reduce and broadcast half of the buffer each, in chunks",
    .parameters = {{.name = "chunk-bytes",
                    .sentence = "bytes that move up or down a tree at a time",
                    .fallback = "524288",
                    .minimum = 1}},
    .uses_servers = false,
    .plan = tree,
}};

}  // namespace
}  // namespace syncline
