// The exchanges without servers, from their papers: who sends what to whom in each round.
#pragma once

#include "tests/reference/rounds.h"

namespace syncline::reference {

// What a worker does to average one bucket with the exchange in these facts; with several channels,
// for the channel's share of the bucket.
Parts parts_of(const Facts& facts, const Message& message, int rank, int channel = 0);

// All workers, in the order in which the channel visits them.
std::vector<int> ring_of(const Facts& facts, int channel);

// The parent of a node in the tree over 1 .. n in which every label lies between those on its left
// and right, and the label with most trailing zeros in any range is above the others; 0: it is the
// root.
int above(int label, int n);

}  // namespace syncline::reference
