// What reads files that somebody else may have written, one per file here: libFuzzer gives each any
// bytes (libfuzzer/main.cpp), and the tests give each its corpus (replay_test.cpp).
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
  std::string name;  // of its file, and of the folder of its corpus
  // Throws std::logic_error where a law of law.h is broken.
  std::function<void(Bytes)> read;
};

// The bytes as a file of this name in a folder of this process; returns its path.
std::string file_of(Bytes bytes, const std::string& name);

}  // namespace syncline
