// Recognises files of other tools, which are neither models nor platforms for this program, by
// their beginning.
#pragma once

#include <string>
#include <string_view>

namespace syncline {

// Describes the file and what to do with it: "a trace of PyTorch's profiler: ..."; empty: the file
// is not recognised. `wanted` is "model" or "platform".
std::string foreign_file(std::string_view text, std::string_view wanted);

}  // namespace syncline
