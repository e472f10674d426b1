// One fuzz input, for libFuzzer (fuzz_main.cpp) and for the corpus that the tests always run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace syncline {

// Takes arbitrary bytes for a message and for a gradient. Aborts where something outside the span
// was written, or where a message that encode made is refused; any other wrong is the sanitizers'
// to see.
void fuzz_once(std::span<const std::uint8_t> input);

}  // namespace syncline
