#include "sim/commands/folder.h"

#include <stdexcept>

#include "kernels/io/text.h"

namespace syncline {

namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw std::invalid_argument(brief_path(folder) + ": no such folder");
  std::vector<fs::path> paths;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error))
    paths.push_back(entries->path());
  if (error)
    throw std::invalid_argument(brief_path(folder) + ": cannot be read: " + error.message());
  return paths;
}

}  // namespace syncline
