// Files that gzip has packed (RFC 1951, RFC 1952).
#pragma once

#include <string>
#include <string_view>

namespace syncline {

// What is packed in these bytes of a file. Throws std::runtime_error, which begins with the path,
// where they are no such file, are damaged, or hold more than `most_bytes`.
std::string unpacked(const std::string& path, std::string_view packed, std::size_t most_bytes);

}  // namespace syncline
