// A trace as text.
#pragma once

#include <ostream>
#include <string_view>

#include "sim/trace.h"

namespace syncline {

std::string_view name_of(Stream stream);

// One row per line, sorted by (start, rank, stream, order); times have twelve significant digits.
void write_csv(const Trace& trace, std::ostream& out);

}  // namespace syncline
