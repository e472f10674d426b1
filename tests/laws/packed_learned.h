// Lossless text form of learning results: child processes return text.
#pragma once

#include <iosfwd>
#include <optional>

#include "sim/learned.h"

namespace syncline {

void pack(const Learned& learned, std::ostream& out);
// nullopt at the end of the text.
std::optional<Learned> unpack_learned(std::istream& in);

}  // namespace syncline
