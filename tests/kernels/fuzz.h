// One fuzz input, for libFuzzer (fuzz_main.cpp) and for the corpus that the tests always run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace syncline {

// Uses any bytes as a message and as a gradient. Aborts if something outside the span was written,
// or if a message made by encode is refused; other errors are for sanitizers to detect.
void fuzz_once(std::span<const std::uint8_t> input);

}  // namespace syncline
