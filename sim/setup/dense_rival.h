// A scenario without its compressor, for comparison.
#pragma once

#include "sim/setup/setup.h"

namespace syncline {

// The same schedule (`bsp` in place of `topk-sgd`) with the exchange Scenario::dense_exchange and
// no compressor, all else equal: the same buckets or, with fusion-cycle, the groups that cycles
// then make.
Setup dense_rival(const Setup& setup);

}  // namespace syncline
