// Law 39: messages take the seconds that they take on SimGrid's network. With `fidelity = step`
// SimGrid moves them; with `flow` LinkShares works their rates out.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "tests/laws/awkward.h"
#include "tests/laws/simulated.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

// By verb: the seconds of all its rows.
std::map<Verb, double> seconds_by_verb(const Trace& trace) {
  std::map<Verb, double> seconds;
  for (const Row& row : trace.rows)
    seconds[row.verb] += row.end_s - row.start_s;
  return seconds;
}

// Compares the two, unless `flow` fuses partitions.
void compare(Options options, int& compared) {
  options["fidelity"] = "step";
  const Simulated steps = simulated(options);
  options["fidelity"] = "flow";
  const Simulated flows = simulated(options);
  if (flows.trace.flows < steps.trace.flows)
    return;
  ++compared;
  EXPECT_NEAR(flows.trace.end_s / steps.trace.end_s, 1, 1e-6);
  EXPECT_NEAR(flows.figures.throughput_samples_per_s / steps.figures.throughput_samples_per_s, 1,
              1e-6);
  EXPECT_NEAR(flows.figures.staleness_mean, steps.figures.staleness_mean, 1e-9);
  const std::map<Verb, double> in_steps = seconds_by_verb(steps.trace);
  for (const auto& [verb, seconds] : seconds_by_verb(flows.trace))
    EXPECT_NEAR(seconds, in_steps.at(verb), 1e-5 * (seconds + steps.trace.end_s)) << name_of(verb);
  ASSERT_EQ(flows.trace.links.size(), steps.trace.links.size());
  for (std::size_t i = 0; i < flows.trace.links.size(); ++i) {
    EXPECT_EQ(flows.trace.links[i].name, steps.trace.links[i].name);
    EXPECT_DOUBLE_EQ(flows.trace.links[i].bytes, steps.trace.links[i].bytes);
  }
}

TEST(Law39, SharedFlowsAreThoseOfSimGridOnDrawnPlatforms) {
  const char* cells = std::getenv("SYNCLINE_CELLS");  // how many
  const int last = cells == nullptr ? 30 : std::atoi(cells);
  int compared = 0;
  for (int cell = 0; cell < last; ++cell) {
    Draws draws(static_cast<std::uint64_t>(cell) + 3900);
    const AwkwardPlatform platform = awkward_platform(draws, true);
    // SimGrid 3.32 goes on to limit a flow by what its links carried when it began.
    if (platform.workers < 2 || text_of(platform.path).find("bandwidth_file") != std::string::npos)
      continue;
    const std::string schedule =
        draws.of<std::string>({"asp", "ssp", "dssp", "inhad", "n-softsync", "easgd"});
    SCOPED_TRACE(std::to_string(cell) + " " + schedule + " " + platform.path);
    compare({{"platform", platform.path},
             {"model", model_of({400'000, 70'001, 1'000'000, 3})},
             {"schedule", schedule},
             {"bucket-bytes", draws.of<std::string>({"all", "1e6", "0"})},
             {"partition-bytes", draws.of<std::string>({"4e6", "3e5"})},
             {"jitter", draws.of<std::string>({"0", "0.1"})},
             {"server-overhead", draws.of<std::string>({"", "2e-5"})},
             {"iterations", "4"},
             {"repeats", "1"}},
            compared);
  }
  EXPECT_GE(compared, last / 6);
}

TEST(Law39, CollectivesAreThoseOfSimGridOnDrawnPlatforms) {
  const char* cells = std::getenv("SYNCLINE_CELLS");  // how many
  const int last = cells == nullptr ? 40 : std::atoi(cells);
  int compared = 0;
  for (int cell = 0; cell < last; ++cell) {
    Draws draws(static_cast<std::uint64_t>(cell) + 3990);
    const AwkwardPlatform platform = awkward_platform(draws, true);
    if (platform.workers < 2 || text_of(platform.path).find("bandwidth_file") != std::string::npos)
      continue;
    const std::string compressor = draws.of<std::string>({"none", "none", "topk", "qsgd"});
    const std::string exchange = draws.of(exchanges_for(compressor));
    SCOPED_TRACE(std::to_string(cell) + " " + compressor + " " + exchange + " " + platform.path);
    Options options{{"platform", platform.path},
                    {"model", model_of({400'000, 70'001, 1'000'000, 3})},
                    {"exchange", exchange},
                    {"compressor", compressor},
                    {"bucket-bytes", draws.of<std::string>({"all", "1e6", "0"})},
                    {"step-overhead", draws.of<std::string>({"0", "1e-5"})},
                    {"overlap", draws.of<std::string>({"on", "off"})},
                    {"jitter", draws.of<std::string>({"0", "0.1"})},
                    {"iterations", "4"},
                    {"repeats", "1"}};
    if (compressor == "none" && draws.one_in(3))
      options.insert({{"schedule", "local-sgd"}, {"local-steps", "2"}});
    if (exchange == "ps")
      options["partition-bytes"] = draws.of<std::string>({"4e6", "1e6"});
    compare(options, compared);
  }
  EXPECT_GE(compared, last / 4);
}

TEST(Law39, SharedFlowsOfManyWorkersPerNodeTakeTheSameTime) {
  // 24 workers whose four servers are on their own nodes: buses, cards and the nodes' memory are
  // full in turn, one worker is slow for a while, and cards are unequal.
  int compared = 0;
  for (const char* schedule : {"asp", "ssp"})
    for (const char* factors : {"", "node1-nic*:0.37"}) {
      SCOPED_TRACE(std::string(schedule) + factors);
      compare({{"platform", star_platform({.nodes = 4,
                                           .workers_per_node = 6,
                                           .nic_Bps = 2e8,
                                           .bus_Bps = 3e8,
                                           .profile = "0 1\n0.5 0.3\n1 1\n",
                                           .zones = true})},
               {"model", model_of({2'000'000, 600'000, 1'400'000})},
               {"bandwidth-factor", factors},
               {"schedule", schedule},
               {"jitter", "0.05"},
               {"iterations", "5"},
               {"repeats", "1"}},
              compared);
    }
  EXPECT_EQ(compared, 4);
}

}  // namespace
}  // namespace syncline
