// The sign methods on a CPU.
#pragma once

#include "kernels/arithmetic/signs.h"

namespace syncline {

// The sign method of this format; `published` is its authors' code.
Compressor sign_method(const SignFormat& format, const std::string& sentence, const Help& help,
                       const MemoryTraffic::Chain& published);

}  // namespace syncline
