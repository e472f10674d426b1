// Bytes written with a unit.
#pragma once

#include <string>

namespace syncline {

// Whether an option counts bytes, which its name shows, such as bucket-bytes.
bool is_of_bytes(const std::string& option);

// For such an option, replaces a number with a unit by the number of bytes: "26214400" for "25MiB".
// Returns any other text unchanged.
std::string without_unit(const std::string& option, const std::string& text);

}  // namespace syncline
