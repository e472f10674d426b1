// One iteration of a worker as Chakra JSON: what the jsonizer of MLCommons Chakra 1.0 makes of an
// execution trace (schema/protobuf/et_def.proto), one object after another.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "sim/trace.h"

namespace syncline {

// Computation as COMP_NODEs, one after another, and an all-reduce of each bucket's bytes: when its
// gradients are there, else (without `overlap`) after backward, and after the one before. The step
// waits for all. The iteration is the one in the middle of the window.
void write_chakra(const Trace& trace, int worker, const std::vector<std::uint64_t>& bucket_bytes,
                  bool overlap, std::ostream& out);

}  // namespace syncline
