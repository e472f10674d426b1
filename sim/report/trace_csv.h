// A trace as text.
#pragma once

#include <ostream>
#include <string_view>

#include "sim/trace.h"

namespace syncline {

std::string_view name_of(Stream stream);

// One row a line, sorted by (start, rank, stream, order), times with twelve significant digits.
void write_csv(const Trace& trace, std::ostream& out);

}  // namespace syncline
