// The channels (rings, or pairs of trees) over which a gradient is cut, and the way of each.
#pragma once

#include <optional>
#include <vector>

#include "sim/plan.h"
#include "sim/platform/routes.h"

namespace syncline {

// The channels over these workers, which are the first ranks of the routes: `wanted` channels. If
// `wanted` is none: one channel for each card of the node with the fewest cards (NCCL counts cards
// likewise), or fewer channels if their rings carry more. The bandwidth of rings counts every link
// that they cross, so cards that are so slow that the others would wait for them are left out.
// There is one channel if more would carry no more: a node has one card, a ring's narrowest link is
// inside a node, or an uplink is as narrow as a card. A single channel has the order of ranks, and
// is not listed.
//
// In every node each card is entered by one channel and left by one. Where each card of a node has
// two workers or more, a channel leaves by the card that it entered by. Elsewhere the channel
// leaves by the next card, and goes through the next such node in the other direction. So the
// channel enters the next node by the card of the same place, which is on the same rail (NCCL does
// both). Only if all nodes are such nodes, and their number is odd, does a channel change its rail,
// once.
std::vector<Channel> channels_over(const Topology& topology, Routes& routes,
                                   std::optional<int> wanted);

}  // namespace syncline
