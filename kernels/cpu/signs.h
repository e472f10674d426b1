// The sign methods on a CPU.
#pragma once

#include "kernels/arithmetic/signs.h"

namespace syncline {

Codec signs_plainly(const SignFormat& format);
Codec signs(const SignFormat& format);  // over tiles

}  // namespace syncline
