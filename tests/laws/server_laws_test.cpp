// Laws 5 and 15 (tests/laws/README.md): where servers and aggregators live, what their work costs,
// and what asynchronous workers wait for.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// 10 MB in one tensor.
std::string ten_megabytes() {
  static const std::string model = model_of({2'500'000});
  return model;
}

double bytes_on(const Simulated& run, const std::string& link) {
  for (const LinkUse& use : run.trace.links)
    if (use.name == link)
      return use.bytes;
  return 0;
}

TEST(Law15, WorkersCopyToTheirNodesMemoryEachOverItsOwnBus) {
  // On worker 0's host, as once, worker 0 copied for free and the others shared its bus: 3 ms.
  const Simulated run =
      simulated({{"platform", star_platform({.nodes = 1, .workers_per_node = 4, .zones = true})},
                 {"model", ten_megabytes()},
                 {"schedule", "inhad"}});
  int copies = 0;
  for (const Row& row : run.rows("hand-over")) {
    EXPECT_NEAR(row.end_s - row.start_s, 1e-3, 1e-9) << row.rank;
    copies += row.rank < 4 ? 1 : 0;
  }
  EXPECT_EQ(copies, 4 * 11);
}

TEST(Law15, TheNodesHostLimitsCopiesByItsOwnLink) {
  // 10 MB through 1 GB/s, one worker after the other, whether the platform has such a host or the
  // program adds a port.
  const Options options{{"model", ten_megabytes()}, {"schedule", "inhad"}};
  Options declared = options;
  declared["platform"] = star_platform({.nodes = 1, .workers_per_node = 4, .host_Bps = 1e9});
  Options added = options;
  added["platform"] = star_platform({.nodes = 1, .workers_per_node = 4, .zones = true});
  added["host-bandwidth"] = "1e9";
  for (const Options& platform : {declared, added})
    for (const Row& row : simulated(platform).rows("hand-over"))
      EXPECT_NEAR(row.end_s - row.start_s, 1e-2, 1e-9) << row.rank;
}

TEST(Law15, AServerOnANodeLoadsNoWorkersBusWithOthersBytes) {
  for (const bool zones : {true, false})
    for (const char* schedule : {"asp", "ssp", "inhad", "bsp"}) {
      Options options{
          {"platform",
           star_platform(
               {.nodes = 2, .workers_per_node = 3, .zones = zones, .host_Bps = zones ? 0 : 48e9})},
          {"model", ten_megabytes()},
          {"schedule", schedule},
          {"exchange", "ps"}};
      if (schedule == std::string("bsp"))
        options["aggregate"] = "off";
      const Simulated run = simulated(options);
      const double own = 11 * 10e6;  // one push or copy of each iteration
      for (const char* node : {"node0", "node1"})
        for (const char* gpu : {"-gpu0", "-gpu1", "-gpu2"})
          for (const char* way : {"-bus_UP", "-bus_DOWN"})
            EXPECT_DOUBLE_EQ(bytes_on(run, std::string(node) + gpu + way), own)
                << schedule << " " << node << gpu << way;
    }
}

TEST(Law15, OnAPlainClusterTheLinkIsTheCardAndTheServerStays) {
  // One worker per node: no copy inside a node, so its own shard costs no transfer.
  const Simulated run = simulated(
      {{"platform", star_platform({.nodes = 2})}, {"model", ten_megabytes()}, {"schedule", "asp"}});
  EXPECT_DOUBLE_EQ(bytes_on(run, "node0-nic_UP"), 11 * 10e6);  // half a push, half an answer
}

}  // namespace
}  // namespace syncline
