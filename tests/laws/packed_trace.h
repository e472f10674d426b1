// A trace as text without loss, and back: child processes return text.
#pragma once

#include <string>

#include "sim/trace.h"

namespace syncline {

std::string packed(const Trace& trace);
Trace unpacked(const std::string& text);

// With all its digits.
std::string number(double value);

}  // namespace syncline
