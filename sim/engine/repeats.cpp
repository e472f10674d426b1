#include "sim/engine/repeats.h"

#include "kernels/philox.h"

namespace syncline {
namespace {

constexpr int several = 5;
constexpr double most_seconds = 2;            // that several take at least,
constexpr double most_seconds_if_slow = 100;  // and where one alone does not know

// Whether a second run would say more than the first one: chance decides when workers meet.
bool several_say_more(const Setup& setup) {
  return setup.lesson == nullptr &&
         setup.scenario.schedule->waits(setup.scenario.schedule_settings) !=
             Schedule::Waiting::for_all &&
         setup.traffic.cluster.topology.workers() > 1 && setup.has_chance();
}

}  // namespace

int runs_of(const Setup& setup, double seconds_of_a_run) {
  if (setup.scenario.repeats)
    return *setup.scenario.repeats;
  const double most = setup.scenario.schedule->settles_slowly ? most_seconds_if_slow : most_seconds;
  return several_say_more(setup) && several * seconds_of_a_run <= most ? several : 1;
}

bool are_too_few(const Setup& setup, int runs) {
  return runs < several && !setup.scenario.repeats && setup.scenario.schedule->settles_slowly &&
         several_say_more(setup);
}

std::uint64_t seed_of_run(std::uint64_t seed, int run) {
  constexpr std::uint32_t purpose = 2;  // jitter's is 0, that of sizes 1
  if (run == 0)
    return seed;
  const PhiloxWords words =
      philox({static_cast<std::uint32_t>(run), 0, 0, purpose}, static_cast<std::uint32_t>(seed),
             static_cast<std::uint32_t>(seed >> 32));
  return (std::uint64_t{words[0]} << 32 | words[1]) >> 11;  // as large as the option may be
}

}  // namespace syncline
