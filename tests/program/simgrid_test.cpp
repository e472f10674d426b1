// Checks of SimGrid itself before its figures are trusted.
#include <gtest/gtest.h>

#include "sim/engine/self_test.h"
#include "sim/platform/platform.h"
#include "sim/sweep/process.h"
#include "sim/sweep/sweep.h"
#include "tests/program/program.h"
#include "tests/unit/errors.h"
#include "tests/unit/no_nameless_files.h"

namespace syncline {
namespace {

std::string self_test_with(const std::vector<std::string>& settings) {
  return run_child([&] { return self_test({.name = "", .sentence = "", .settings = settings}); });
}

TEST(SelfTest, FindsNothingWrongInThisSimGrid) {
  EXPECT_EQ(run_child([] { return self_test(find_network("exact")); }), "");
}

// A full or read-only /tmp, or one of another user, is not SimGrid's fault: commands that write
// nothing need none.
TEST(SelfTest, NeedsNoFileSystem) {
  for (const std::string platform : {"two-hosts", "dgx:nodes=2"})
    for (const std::string command : {"run", "explain"}) {
      const Ended ended = run_program(
          {command, "--model", "resnet20", "--throughput", "100", "--platform", platform}, "/",
          refuse_new_files);
      EXPECT_EQ(ended.code, 0) << ended.err;
      expect_mentions(ended.out, {command == "run" ? "samples/s" : "resnet20"});
    }
}

TEST(SelfTest, SaysWhatTookHowLongAndWhatIsRight) {
  // A TCP window of 4 MiB allows 4 MiB / 0.2 s.
  expect_mentions(self_test_with({"network/model:CM02", "network/crosstraffic:0"}),
                  {"this SimGrid (" + simgrid_version() + ")",
                   "answers 0.119073486 s where 0.104 s is right: 400 kB over"});
}

TEST(SelfTest, SeesFactorsOfLatencyAndBandwidth) {
  for (const char* factor : {"network/latency-factor:1.001", "network/bandwidth-factor:0.999"}) {
    expect_mentions(self_test_with({"network/model:CM02", "network/crosstraffic:0",
                                    "network/TCP-gamma:1e18", factor}),
                    {"0.104 s is right"});
  }
}

TEST(SelfTest, SeesThatFlowsShareByLatency) {
  expect_mentions(
      self_test_with({"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:1e18"}),
      {"0.108 s is right", "beside as many over 200 ms"});
}

TEST(Platform, RefusesASimGridThatDoesNotKeepASetting) {
  expect_mentions(
      error_of([] {
        self_test_with({"network/TCP-gamma:1", "network/TCP-gamma:2"});
      }),
      {"this SimGrid (" + simgrid_version() + ") does not keep the setting network/TCP-gamma:1"});
}

// In the InfiniBand model, SimGrid 3.35 and 4.1 slow down a lone transfer whose two ends begin at
// the same time: 4.4 ms become 15.
TEST(Platform, RefusesInfiniBandWhereSimGridCountsTransfersTwice) {
  const std::vector<std::string> arguments{"run",       "--model",      "resnet50", "--platform",
                                           "two-hosts", "--network",    "ib",       "--fidelity",
                                           "step",      "--throughput", "10"};
  const Ended ended = run_program(arguments);
  EXPECT_EQ(ended.code, simgrid_version() == "3.32" ? 0 : 2) << ended.err;
  if (ended.code == 2)
    expect_mentions(ended.err, {"network = ib", "allowed with SimGrid 3.32"});
}

// SimGrid 4.1 crashes on a FAT_TREE, TORUS or DRAGONFLY <cluster> that no <zone> contains.
TEST(Platform, WhereSimGridCrashesTheAnswerSaysWhatHelps) {
  Scenario scenario;
  scenario.platform = "tree.xml";
  const auto answer = [&](const std::string& printed) {
    return error_of(scenario, {.ok = false, .output = "", .error = printed, .aborted = true});
  };
  expect_mentions(answer("Segmentation fault."),
                  {"tree.xml", "<cluster> with a topology", "<zone routing=\"Full\"> around"});
  EXPECT_EQ(answer("Not a valid model!"),
            "platform tree.xml: SimGrid refuses it: Not a valid model!");
}

}  // namespace
}  // namespace syncline
