// Fingerprints of the files that a simulation reads, so that a result is kept only while they are
// the same.
#pragma once

#include <string>
#include <vector>

namespace syncline {

// A hash (64-bit FNV-1a, in hexadecimal) of these files' contents, in this order. A missing file
// counts as missing.
std::string fingerprint_of_files(const std::vector<std::string>& paths);

}  // namespace syncline
