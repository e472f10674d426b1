// The channels of nodes with several network cards, by NCCL's definition.
#pragma once

#include <vector>

namespace syncline::reference {

// There are as many as the node with the fewest cards has cards. Each goes through all workers,
// node by node, enters a node by one card and leaves by one; no two enter, or leave, by the same
// card. Result by channel and node: its workers in order. `card_of`: for each worker, the number of
// its card in its node. Empty: a single channel, in the order of ranks.
std::vector<std::vector<std::vector<int>>> channels_of(const std::vector<std::vector<int>>& nodes,
                                                       const std::vector<int>& card_of);

}  // namespace syncline::reference
