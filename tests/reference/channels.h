// The channels of nodes with several network cards, from NCCL's definition.
#pragma once

#include <vector>

namespace syncline::reference {

// As many as the node with the fewest cards has; each goes through all workers, node by node, in by
// one card and out by one, and no two go in, or out, by the same. By channel and node: its workers
// in order. `card_of`: by worker, the number of its card in its node. Empty: a single channel, in
// the order of ranks.
std::vector<std::vector<std::vector<int>>> channels_of(const std::vector<std::vector<int>>& nodes,
                                                       const std::vector<int>& card_of);

}  // namespace syncline::reference
