#include "sim/sweep/progress.h"

#include <cmath>
#include <fmt/format.h>
#include <sys/mman.h>

namespace syncline {
namespace {

constexpr double every_s = 5;
const std::string rewrite = "\r\033[K";

}  // namespace

std::string ProgressLine::text(std::size_t done, double elapsed_s, const std::string& latest) {
  if ((total_ < 2 && latest.empty()) || (!terminal_ && (elapsed_s < next_s_ || done == total_)))
    return "";
  next_s_ = elapsed_s + every_s;
  shown_ = true;
  const std::string line = fmt::format("{} of {} cells in {} s{}{}", done, total_,
                                       std::lround(elapsed_s), latest.empty() ? "" : "; ", latest);
  return terminal_ ? rewrite + line : line + "\n";
}

std::string ProgressLine::clearing() const {
  return terminal_ && shown_ ? rewrite : "";
}

LatestLoss::LatestLoss() : said_(nullptr) {
  void* memory =
      mmap(nullptr, sizeof(Said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED)
    said_ = new (memory) Said{};
}

LatestLoss::~LatestLoss() {
  if (said_ != nullptr)
    munmap(said_, sizeof(Said));
}

void LatestLoss::say(double simulated_s, double loss) {
  if (said_ == nullptr)
    return;
  said_->simulated_s = simulated_s;
  said_->loss = loss;
  said_->anything = true;
}

std::string LatestLoss::text() const {
  if (said_ == nullptr || !said_->anything)
    return "";
  return fmt::format("loss {:.3g} at {:.4g} simulated seconds", said_->loss.load(),
                     said_->simulated_s.load());
}

}  // namespace syncline
