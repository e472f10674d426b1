// Over how many rings, or pairs of trees, a gradient is cut, and which way each goes.
#pragma once

#include <optional>
#include <vector>

#include "sim/plan.h"
#include "sim/setup/platform.h"

namespace syncline {

// The channels over these workers, which are the first ranks of the routes. As many as `wanted`; if
// that is none, as many rings as can leave every node side by side, each as fast as it would be
// alone: one for each network card, where the network in a node is faster than a card (NCCL counts
// cards likewise). One where a ring meets its narrowest link inside a node, or leaves by the only
// card of one. A single one is in the order of ranks, and is not listed.
//
// Channel c enters a node at a worker of its card and leaves by one of its card: by the same, if
// two workers share it. If each has its own, nodes are gone through forwards and backwards by
// turns, so that a ring leaves by the card of the worker by whose card it enters the next node: on
// a network with rails it stays on one (NCCL does both).
std::vector<Channel> channels_over(const Topology& topology, Routes& routes,
                                   std::optional<int> wanted);

}  // namespace syncline
