// Law 26 (tests/laws/README.md) for channels: the reference finds its own channels, by NCCL's
// definition.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>

#include "tests/reference/channels.h"
#include "tests/reference/scenarios.h"

namespace syncline::reference {
namespace {

// Two nodes of four GPUs and three cards: {0, 1}, {2} and {3}.
TEST(Reference, AChannelComesInByOneCardAndGoesOutByOneThatNoOtherTakes) {
  const std::vector<std::vector<int>> nodes = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  const std::vector<int> card_of = {0, 0, 1, 2, 0, 0, 1, 2};
  const auto channels = channels_of(nodes, card_of);
  ASSERT_EQ(channels.size(), 3u);
  for (std::size_t node = 0; node < 2; ++node)
    for (const bool in : {true, false}) {
      std::vector<int> used;
      for (const auto& channel : channels) {
        std::vector<int> all = channel[node];
        used.push_back(card_of[static_cast<std::size_t>(in ? all.front() : all.back())]);
        std::ranges::sort(all);
        EXPECT_EQ(all, nodes[node]);
      }
      std::ranges::sort(used);
      EXPECT_EQ(used, (std::vector{0, 1, 2}));
    }
  EXPECT_TRUE(channels_of(nodes, {0, 0, 0, 0, 0, 0, 1, 2}).empty());  // one node has a single card
}

// SYNCLINE_CELLS=300 is the long form. There, two trees differ by 1 and 1.5 % with the reference's
// own channels, which order nodes differently (README); with the program's channels all agree.
TEST(Reference, DrawnMachinesWithSeveralCardsTakeInStepsWhatTheReferenceSays) {
  const char* given = std::getenv("SYNCLINE_CELLS");
  const int count = given != nullptr ? std::atoi(given) : 30;
  std::vector<Cell> cells;
  for (int seed = 0; seed < count; ++seed)
    cells.push_back(drawn_machine(static_cast<std::uint64_t>(seed)));
  const std::vector<Outcome> outcomes = outcomes_of(cells, 2);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    const std::string cell = cells[i].what + ", " + cells[i].platform + ", " + cells[i].size;
    ASSERT_EQ(outcome.error, "") << cell;
    EXPECT_NEAR(outcome.step_s / outcome.in_its_channels_s, 1, 0.0005) << cell;
    EXPECT_LE(std::abs(outcome.step_error()), 0.005)
        << cell << ": " << outcome.step_s << " for " << outcome.reference_s;
    EXPECT_TRUE(std::abs(outcome.flow_error()) <= 0.03 || outcome.warned)
        << cell << ": " << outcome.flow_s << " for " << outcome.reference_s;
  }
}

}  // namespace
}  // namespace syncline::reference
