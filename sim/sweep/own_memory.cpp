#include "sim/sweep/own_memory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <unistd.h>

#include "kernels/io/text.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

constexpr double unlimited = std::numeric_limits<double>::infinity();

// Files of the kernel have no length, so they are read as streams. `max` is not a number: no limit.
double limit_in(const fs::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return number_in<double>(word).value_or(unlimited);
}

std::string text_in(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

double control_group_bytes(const std::string& list, const std::string& root) {
  double least = unlimited;
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);) {
    // "0::/path" is a line of version 2, "4:cpu,memory:/path" a line of version 1.
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos)
      continue;
    const std::vector<std::string> controllers =
        split(line.substr(first + 1, second - first - 1), ',');
    const bool is_old = std::ranges::find(controllers, "memory") != controllers.end();
    if (!is_old && second != first + 1)
      continue;
    const fs::path mounted = is_old ? fs::path(root) / "memory" : fs::path(root);
    const char* file = is_old ? "memory.limit_in_bytes" : "memory.max";
    // In a container the path may be the path outside; what is mounted is then the container's own
    // group.
    for (fs::path path = fs::path(line.substr(second + 1)).relative_path();;
         path = path.parent_path()) {
      least = std::min(least, limit_in(mounted / path / file));
      if (path.empty())
        break;
    }
  }
  return least;
}

double own_memory_bytes() {
  const double machine =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return std::min(machine, control_group_bytes(text_in("/proc/self/cgroup"), "/sys/fs/cgroup"));
}

}  // namespace syncline
