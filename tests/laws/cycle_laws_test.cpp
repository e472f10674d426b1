// Law 34 (tests/laws/README.md): with fusion-cycle a gradient goes out when the cycle ends in which
// it was made.
#include <gtest/gtest.h>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// Backward takes 2/30 s after 1/30 s of forward; it makes 4 MB every 1/60 s. Two hosts average b
// bytes in 2 (L + b / 2B), in step.
constexpr double forward_s = 0.1 / 3;

double exchange_s(int tensors) {
  return 2 * (2e-5 + tensors * 4e6 / 2 / 1e9);
}

Options cycles_of(const std::string& seconds) {
  static const std::string model = model_of({1'000'000, 1'000'000, 1'000'000, 1'000'000});
  return {{"platform", star_platform({})},
          {"model", model},
          {"bucket-bytes", "1e9"},
          {"fusion-cycle", seconds},
          {"fidelity", "step"}};
}

TEST(Law34, TheLastGradientWaitsForTheEndOfItsCycle) {
  struct {
    std::string cycle;
    std::size_t buckets;
    double sent_s;  // the last one, from the begin of backward
    int tensors;    // in it
  } const cases[] = {{"0.02", 4, 0.08, 1}, {"0.03", 3, 0.09, 1}, {"0.034", 2, 0.068, 2},
                     {"0.05", 2, 0.1, 1},  {"0.07", 1, 0.07, 4}, {"1", 1, 1, 4}};
  for (const auto& [cycle, buckets, sent_s, tensors] : cases)
    for (const char* fidelity : {"step", "flow"}) {
      Options options = cycles_of(cycle);
      options["fidelity"] = fidelity;
      const Simulated run = simulated(options);
      EXPECT_EQ(run.rows("backward").size(), buckets * run.rows("forward").size()) << cycle;
      EXPECT_NEAR(run.iteration_s(), forward_s + sent_s + exchange_s(tensors), 1e-6) << cycle;
      EXPECT_NEAR(predicted(options).iteration_s, run.iteration_s(), 1e-6) << cycle;
    }
}

// Without overlap all gradients are there when backward has ended.
TEST(Law34, WithoutOverlapOneCycleTakesAll) {
  Options options = cycles_of("0.02");
  options["overlap"] = "off";
  const Simulated run = simulated(options);
  EXPECT_NEAR(run.iteration_s(), forward_s + 0.08 + exchange_s(4), 1e-6);
  EXPECT_NEAR(predicted(options).iteration_s, run.iteration_s(), 1e-6);
}

// Buckets of one cycle keep their order: the network never stands still between them.
TEST(Law34, BucketsOfOneCycleFollowEachOther) {
  Options options = cycles_of("0.07");
  options["bucket-bytes"] = "4e6";
  const Simulated run = simulated(options);
  EXPECT_NEAR(run.iteration_s(), forward_s + 0.07 + 4 * exchange_s(1), 1e-6);
  EXPECT_NEAR(predicted(options).iteration_s, run.iteration_s(), 1e-6);
}

// A cycle is shorter than any wait that it can cause, and none at all waits for nothing.
TEST(Law34, ACycleDelaysByLessThanItself) {
  const double none_s = simulated(cycles_of("0")).iteration_s();
  const double one_s = forward_s + 0.2 / 3 + exchange_s(4);  // all bytes after backward
  EXPECT_LT(none_s, one_s + 1e-6);
  for (const char* cycle : {"1e-4", "1e-3", "5e-3", "0.011"}) {
    const double seconds = simulated(cycles_of(cycle)).iteration_s();
    const double hidden_s = forward_s + 0.2 / 3 + exchange_s(1);  // all but the last tensor's
    EXPECT_GE(seconds, hidden_s - 1e-6) << cycle;
    EXPECT_LE(seconds, hidden_s + std::stod(cycle) + 1e-6) << cycle;
  }
}

// Messages that are compressed are made before they wait.
TEST(Law34, ClosedFormsKnowTheWaitOfCompressedMessages) {
  Options options = cycles_of("0.03");
  options["compressor"] = "topk";
  options["density"] = "0.01";
  for (const int cores : {1, 2}) {
    options["platform"] = star_platform({.cores = cores});
    const Simulated run = simulated(options);
    EXPECT_NEAR(predicted(options).iteration_s / run.iteration_s(), 1, 0.01) << cores;
  }
}

}  // namespace
}  // namespace syncline
