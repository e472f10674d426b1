#include "sim/options/batches.h"

#include <cstdint>
#include <fmt/format.h>
#include <string>

#include "kernels/io/text.h"

namespace syncline {
namespace {

constexpr std::int64_t most_samples = 1'000'000'000;  // of a worker in an iteration

void share(const GivenOptions& given, Scenario& scenario, std::vector<Conflict>& conflicts) {
  const std::string asked = fmt::format("global-batch = {}", *scenario.global_batch);
  if (!scenario.workers) {
    conflicts.push_back({"global-batch",
                         asked + ": how many workers share it? Give workers, a number",
                         Conflict::LeftOut::cell});
    return;
  }
  const bool sets_accumulation = given.contains("batch");
  const std::int64_t workers = *scenario.workers;
  const std::int64_t each = sets_accumulation ? scenario.batch : scenario.accumulation;
  const std::string of_each = fmt::format("{} with {} {}", counted(workers, "worker"),
                                          sets_accumulation ? "batch" : "accumulation", each);
  if (*scenario.global_batch % (workers * each) != 0) {
    conflicts.push_back({"global-batch",
                         fmt::format("{}: {} take {} samples; allowed are multiples of that", asked,
                                     of_each, workers * each),
                         Conflict::LeftOut::cell});
    return;
  }
  const auto other = static_cast<int>(*scenario.global_batch / (workers * each));
  if (sets_accumulation && given.contains("accumulation") && other != scenario.accumulation) {
    conflicts.push_back({"accumulation",
                         fmt::format("accumulation = {} with {}: {} need {}; allowed is that, or "
                                     "leaving out one of the three",
                                     scenario.accumulation, asked, of_each, other),
                         Conflict::LeftOut::cell});
    return;
  }
  (sets_accumulation ? scenario.accumulation : scenario.batch) = other;
  scenario.written[sets_accumulation ? "accumulation" : "batch"] = std::to_string(other);
}

}  // namespace

void resolve_batches(const GivenOptions& given, Scenario& scenario,
                     std::vector<Conflict>& conflicts) {
  if (scenario.global_batch)
    share(given, scenario, conflicts);
  const std::int64_t samples = std::int64_t{scenario.batch} * scenario.accumulation;
  if (samples > most_samples)
    conflicts.push_back({"accumulation",
                         fmt::format("accumulation = {} with batch = {}: {} samples of a worker in "
                                     "an iteration; allowed are up to {}",
                                     scenario.accumulation, scenario.batch, samples, most_samples),
                         Conflict::LeftOut::cell});
}

}  // namespace syncline
