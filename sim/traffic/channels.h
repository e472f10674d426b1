// Over how many rings, or pairs of trees, a gradient is cut, and which way each goes.
#pragma once

#include <optional>
#include <vector>

#include "sim/plan.h"
#include "sim/platform/routes.h"

namespace syncline {

// The channels over these workers, which are the first ranks of the routes. As many as `wanted`; if
// that is none, one for each card of the node that has fewest (NCCL counts cards likewise), or
// fewer where a ring carries more in these. The rings themselves are counted on every link that
// they cross. So cards are left out that are so slow that others would wait for them. It is one
// where more carry no more: a node has one card, a ring's narrowest link is inside a node, or an
// uplink is as narrow as a card. A single channel is in the order of ranks, and is not listed.
//
// In every node each card is entered by one channel and left by one. Where each card of a node has
// two workers or more, a channel leaves by the card that it entered by. Elsewhere it leaves by the
// card beside that, and the next such node is gone through the other way round. So it enters the
// next node by the card of the same place, which is on the same rail (NCCL does both). Only where
// all nodes are such nodes, and odd in number, does a channel change its rail, once.
std::vector<Channel> channels_over(const Topology& topology, Routes& routes,
                                   std::optional<int> wanted);

}  // namespace syncline
