// Law 33 (tests/laws/README.md): `exchange = auto` is at most 3 % slower than the best exchange
// that it chooses from.
#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "tests/laws/rails.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

const std::vector<std::string> candidates{"ring", "tree", "halving-doubling", "hierarchical"};

// One bucket at a time, so overlap does not matter.
TEST(Law33, TheCheapestExchangeIsTakenWhateverTheSize) {
  const std::vector<std::string> platforms{
      star_platform({.nodes = 16, .nic_latency_s = 2e-4, .prefix = "lonely"}),
      star_platform({.nodes = 4, .workers_per_node = 4, .nic_latency_s = 1.4e-5, .bus_Bps = 6e9}),
      star_platform({.nodes = 3,
                     .workers_per_node = 3,
                     .nic_latency_s = 2e-4,
                     .bus_Bps = 2e9,
                     .bus_latency_s = 1e-6,
                     .bus_latency_growth_s = 3e-5}),
      rails_platform({}),
      rails_platform({.gpus = {4, 6}, .cards = 2, .card_Bps = 1e9}),
  };
  std::set<std::string> taken;
  for (const std::string& platform : platforms)
    for (const std::uint64_t values : {250ul, 25'000ul, 2'500'000ul, 250'000'000ul}) {
      Options options{{"platform", platform},  {"model", model_of({values})}, {"overlap", "off"},
                      {"bucket-bytes", "all"}, {"iterations", "2"},           {"fidelity", "step"}};
      double best_s = 1e9;
      for (const std::string& candidate : candidates) {
        options["exchange"] = candidate;
        if (platform == platforms.back() && candidate == "hierarchical")
          continue;  // needs nodes of one size
        best_s = std::min(best_s, simulated(options).iteration_s() - 0.1);
      }
      options["exchange"] = "auto";
      const Simulated run = simulated(options);
      EXPECT_LT(run.iteration_s() - 0.1, 1.03 * best_s) << platform << ", " << values;
      taken.insert(run.rows("tree").empty() ? run.rows("reduce-scatter").empty() ? "ring" : "other"
                                            : "tree");
    }
  EXPECT_GE(taken.size(), 2);  // no single exchange is always the best
}

// Buckets of different sizes take different exchanges, put the bytes of their closed forms on
// links, and ranks of one exchange never meet those of another.
TEST(Law33, BucketsOfSeveralSizesTakeSeveralExchanges) {
  for (const char* fidelity : {"step", "flow"}) {
    Options options{{"platform", rails_platform({})},
                    {"model", model_of({300, 200'000'000, 4'000, 2'000'000, 500, 30'000})},
                    {"bucket-bytes", "0"},
                    {"iterations", "2"},
                    {"fidelity", fidelity},
                    {"exchange", "auto"}};
    const Simulated run = simulated(options);
    double ring_s = 0;
    for (const std::string& candidate : candidates) {
      options["exchange"] = candidate;
      const double seconds = simulated(options).iteration_s();
      EXPECT_LT(run.iteration_s(), 1.03 * seconds) << candidate << ", " << fidelity;
      ring_s = candidate == "ring" ? seconds : ring_s;
    }
    EXPECT_LT(run.iteration_s(), ring_s) << fidelity;
    EXPECT_FALSE(run.below_its_bound()) << fidelity;
  }
}

TEST(Law33, WhatIsLearnedIsWhatARingLearns) {
  Options options = small_data();
  options["platform"] = rails_platform({.gpus = {4, 4}, .cards = 4});
  options["learn"] = "softmax";
  options["bucket-bytes"] = "0";
  options["iterations"] = "20";
  options["evaluate-every"] = "80";
  options["exchange"] = "auto";
  const Simulated chosen = simulated(options);
  options["exchange"] = "ring";
  const Simulated ring = simulated(options);
  ASSERT_TRUE(chosen.trace.learned && ring.trace.learned);
  EXPECT_EQ(chosen.trace.learned->curve.back().loss, ring.trace.learned->curve.back().loss);
}

}  // namespace
}  // namespace syncline
