// The readers of files that others may have written, one per file here: libFuzzer gives each
// arbitrary bytes (libfuzzer/main.cpp), and the tests give each its corpus (replay_test.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "kernels/registry.h"

namespace syncline {

using Bytes = std::span<const std::uint8_t>;

struct Reader {
  static constexpr const char* kind = "reader";
  std::string name;  // name of the reader's file, and of its corpus folder
  // Throws std::logic_error if a law of law.h is violated.
  std::function<void(Bytes)> read;
};

// Writes the bytes to a file of this name in this process's folder; returns its path.
std::string file_of(Bytes bytes, const std::string& name);

}  // namespace syncline
