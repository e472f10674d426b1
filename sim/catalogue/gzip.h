// Unpacks files of gzip (RFC 1952) with zlib.
#pragma once

#include <string>
#include <string_view>

namespace syncline {

// The unpacked contents of a file with these bytes. Throws std::runtime_error, which begins with
// the path, if the bytes are no such file, are damaged, or hold more than `most_bytes`.
std::string unpacked(const std::string& path, std::string_view packed, std::size_t most_bytes);

}  // namespace syncline
