// What has been learned, as text without loss, and back: child processes return text.
#pragma once

#include <iosfwd>
#include <optional>

#include "sim/learned.h"

namespace syncline {

void pack(const Learned& learned, std::ostream& out);
// None where the text has ended.
std::optional<Learned> unpack_learned(std::istream& in);

}  // namespace syncline
