#include "sim/setup/repeated_runs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "kernels/io/text.h"
#include "kernels/philox.h"
#include "sim/window.h"

namespace syncline {
namespace {

constexpr int several = 5;
constexpr int fewest = 3;  // with two, Student's interval says next to nothing

bool several_say_more(const Setup& setup) {
  return setup.learning_task == nullptr && chance_decides(setup);
}

}  // namespace

bool chance_decides(const Setup& setup) {
  return setup.scenario.schedule->waits(setup.scenario.schedule_settings) !=
             Schedule::Waiting::for_all &&
         setup.traffic.cluster.topology.workers() > 1 && setup.has_chance();
}

int runs_of(const Setup& setup, double seconds_of_a_run, double most_seconds) {
  if (setup.scenario.repeats)
    return *setup.scenario.repeats;
  if (!several_say_more(setup))
    return 1;
  for (int runs = several; runs >= fewest; --runs)
    if (runs * seconds_of_a_run <= most_seconds)
      return runs;
  return 1;
}

std::string too_few_runs(const Setup& setup, int runs) {
  if (runs >= several || setup.scenario.repeats || !several_say_more(setup))
    return "";
  return fmt::format(
      "{}, because five would take longer than --limit-seconds: chance decides when workers meet, "
      "{}; repeats = 5 makes five",
      runs == 1 ? "one run" : counted(runs, "run"),
      runs == 1 ? "and one run shows little of this, so its interval is wide"
                : "and the interval of fewer runs is wider");
}

double interval_of_each(double interval, int runs) {
  constexpr double of_many = 1.96;  // Student's factor for a 95 % interval
  return runs < fewest ? interval
                       : interval * std::max(1.0, of_many * std::sqrt(runs) /
                                                      student(static_cast<std::size_t>(runs)));
}

std::uint64_t seed_of_run(std::uint64_t seed, int run) {
  constexpr std::uint32_t purpose = 2;  // 0 is jitter's, 1 is for sizes
  if (run == 0)
    return seed;
  const PhiloxWords words =
      philox({static_cast<std::uint32_t>(run), 0, 0, purpose}, static_cast<std::uint32_t>(seed),
             static_cast<std::uint32_t>(seed >> 32));
  return (std::uint64_t{words[0]} << 32 | words[1]) >> 11;  // within the range of the option
}

}  // namespace syncline
