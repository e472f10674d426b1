// A folder that a user names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace syncline {

// Throws std::invalid_argument, one line, if it is no folder or cannot be read.
std::vector<std::filesystem::path> entries_of(const std::string& folder);

}  // namespace syncline
