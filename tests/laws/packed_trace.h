// Lossless text form of a trace: child processes return text.
#pragma once

#include <string>

#include "sim/trace.h"

namespace syncline {

std::string packed(const Trace& trace);
Trace unpacked(const std::string& text);

// The number with all its digits.
std::string number(double value);

}  // namespace syncline
