// Files of other tools that are neither a model nor a platform of ours, known by their beginning.
#pragma once

#include <string>
#include <string_view>

namespace syncline {

// What it is, and what to do with it: "a trace of PyTorch's profiler: ..."; empty: it is none of
// those. `wanted` is "model" or "platform".
std::string foreign_file(std::string_view text, std::string_view wanted);

}  // namespace syncline
