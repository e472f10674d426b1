// Compression between nodes only: bytes of each step, and when messages are encoded and decoded.
#include <gtest/gtest.h>

#include "tests/unit/collective.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

TEST(HierarchicalCompressed, SendsPartsOfItsShareToTheOtherNodesAndGathersTheirSums) {
  constexpr std::uint64_t k = 3600;  // pairs; all shares are whole
  for_each_grid([](const Topology& topology, int nodes, int m) {
    const auto u = at(m);
    const std::uint64_t part = 8 * k / u / at(nodes);
    for (const Plan& plan :
         collective("hierarchical-compressed", topology, topk(k, 120000)).plans) {
      EXPECT_EQ(sent_in(plan, "reduce-scatter"), 4 * (u - 1) * (120000 / u));
      EXPECT_EQ(sent_in(plan, "all-to-all"), at(nodes - 1) * part);
      EXPECT_EQ(sent_in(plan, "all-gather-across"), at(nodes - 1) * part);
      EXPECT_EQ(sent_in(plan, "all-gather"), 4 * (u - 1) * (120000 / u));
      EXPECT_EQ(steps_of(plan), 2 * (m - 1) + 2 * (nodes - 1));
    }
  });
}

TEST(HierarchicalCompressed, CompressesItsShareAndThenTheSumOfItsPart) {
  expect_no_work_for_dense("hierarchical-compressed");
  for_each_compressed("hierarchical-compressed", [](const Collective& all) {
    const auto nodes = static_cast<int>(all.topology.nodes.size());
    const std::uint64_t part = up(all.payload.elements, at(all.topology.workers() / nodes));
    const std::uint64_t own = up(part, at(nodes));
    const Works works{{"compress", 1, part},
                      {"decompress", nodes, own},
                      {"compress", 1, own},
                      {"decompress", 1, part}};
    for (const Actions& plan : actions_of(all.plans))
      EXPECT_EQ(work_of(plan), nodes > 1 ? works : Works());
  });
}

TEST(HierarchicalCompressed, RefusesUnevenNodesAndSaysHowMany) {
  expect_mentions(error_of([] {
                    collective("hierarchical-compressed", make_topology({4, 2}, 0), topk(1, 100));
                  }),
                  {"exchange = hierarchical-compressed", "4", "2"});
}

}  // namespace
}  // namespace syncline
