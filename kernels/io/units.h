// Bytes, written with a unit.
#pragma once

#include <string>

namespace syncline {

// Whether the option is of bytes, by its name, as bucket-bytes is.
bool is_of_bytes(const std::string& option);

// What such an option says by a unit is said by the number of bytes: "26214400" for "25MiB". Any
// other text is returned as it is.
std::string without_unit(const std::string& option, const std::string& text);

}  // namespace syncline
