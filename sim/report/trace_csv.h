// A trace as text.
#pragma once

#include <ostream>
#include <string>

#include "sim/trace.h"

namespace syncline {

// "communication", and of its next stages, or lanes, "communication-2" and so on.
std::string name_of(Stream stream, int stage = 0);

// One row per line, sorted by (start, rank, stream, order); times have twelve significant digits.
void write_csv(const Trace& trace, std::ostream& out);

}  // namespace syncline
