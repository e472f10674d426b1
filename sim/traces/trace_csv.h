// A trace as text.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "sim/trace.h"

namespace syncline {

// The order in which rows are written: of start, rank, stream and recording.
std::vector<std::size_t> in_order(const Trace& trace);

// One row per line; times have twelve significant digits. If messages are kept, a row has the ranks
// that it sends to and receives from, ">2 <7", and the numbers of these messages in the same order.
void write_csv(const Trace& trace, std::ostream& out);

}  // namespace syncline
