// The sign methods on a CPU.
#pragma once

#include "kernels/arithmetic/signs.h"

namespace syncline {

// Makes the sign method of this format; `published` describes its authors' code.
Compressor sign_method(const SignFormat& format, const std::string& sentence, const Help& help,
                       const MemoryTraffic::Chain& published);

}  // namespace syncline
