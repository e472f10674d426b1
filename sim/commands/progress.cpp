#include "sim/commands/progress.h"

#include <cmath>

namespace syncline {
namespace {

constexpr double every_s = 5;
const std::string rewrite = "\r\033[K";

}  // namespace

std::string ProgressLine::text(std::size_t done, double elapsed_s) {
  if (total_ < 2 || (!terminal_ && (elapsed_s < next_s_ || done == total_)))
    return "";
  next_s_ = elapsed_s + every_s;
  const std::string line = std::to_string(done) + " of " + std::to_string(total_) + " cells in " +
                           std::to_string(std::lround(elapsed_s)) + " s";
  return terminal_ ? rewrite + line : line + "\n";
}

std::string ProgressLine::clearing() const {
  return terminal_ && total_ > 1 ? rewrite : "";
}

}  // namespace syncline
