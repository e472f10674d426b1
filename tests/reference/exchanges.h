// The exchanges without servers, from their papers: who sends what to whom in each round.
#pragma once

#include "tests/reference/rounds.h"

namespace syncline::reference {

// What a worker does to average one bucket with the exchange of these facts; of several channels,
// its share of the bucket in this one.
Parts parts_of(const Facts& facts, const Message& message, int rank, int channel = 0);

// All workers, in the order in which the channel goes through them.
std::vector<int> ring_of(const Facts& facts, int channel);

// The node above in the tree over 1 .. n in which every label is between those on its left and
// right, and the label with most trailing zeros of any range is above the others; 0: it is the
// root.
int above(int label, int n);

}  // namespace syncline::reference
