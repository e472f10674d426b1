// Law 43: where all workers wait for each other, straggling = v takes the mean time of iterations
// whose computation jitter = v draws.
#include <gtest/gtest.h>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

struct StragglingCase {
  std::string name;
  Options options;
  std::string iterations = "1200";
};

std::vector<StragglingCase> straggling_cases() {
  const std::string model = model_of({400'000, 90'000, 1'000'000, 30'000, 700'000});
  const std::string unequal = star_platform({.nodes = 3, .workers_per_node = 3, .slow_speed = 0.9});
  const Options several{{"platform", "pcie:nodes=5:gpus=3:cards=1x25Gbps"},
                        {"model", model},
                        {"bucket-bytes", "2e6"},
                        {"fidelity", "analytic"}};
  const auto with = [&](const Options& more) {
    Options options = several;
    for (const auto& [key, value] : more)
      options[key] = value;
    return options;
  };
  return {
      {"overlap", several},
      {"slow host", with({{"platform", unequal}})},
      {"two nodes of two sizes", with({{"platform", "dgx:gpus=3+5:cards=1x100Gbps"}})},
      {"a host with a slow profile",
       with({{"platform", star_platform({.nodes = 3, .workers_per_node = 3, .profile = "0 0.7"})},
             {"fidelity", "step"}}),
       "400"},
      {"a step of a third", with({{"optimizer", "adam"}, {"memory-bandwidth", "2e9"}})},
      {"accumulation, a step of its own",
       with({{"accumulation", "3"}, {"optimizer", "adam"}, {"memory-bandwidth", "2e9"}})},
      {"without overlap, in channels",
       with({{"platform", "dgx:nodes=3:gpus=4:cards=4x100Gbps"}, {"overlap", "off"}})},
      {"slower beside collectives", with({{"overlap-slowdown", "0.3"}})},
      {"shards", with({{"schedule", "fsdp"}, {"units", "3"}, {"bucket-bytes", ""}})},
      {"shards, a step that all wait for", with({{"schedule", "fsdp"},
                                                 {"units", "3"},
                                                 {"bucket-bytes", ""},
                                                 {"optimizer", "adam"},
                                                 {"memory-bandwidth", "9e8"}})},
      {"shards in nodes, a step that a node waits for",
       with({{"platform", "dgx:nodes=8:gpus=2:cards=2x400Gbps"},
             {"schedule", "fsdp"},
             {"shard", "node"},
             {"units", "3"},
             {"bucket-bytes", ""},
             {"optimizer", "adam"},
             {"memory-bandwidth", "9e8"}})},
      {"local", with({{"schedule", "local-sgd"}, {"local-steps", "4"}})},
      {"replicas", with({{"schedule", "local-sgd"}, {"local-steps", "4"}, {"replica", "node"}})},
      {"local, delayed",
       with({{"schedule", "local-sgd"}, {"local-steps", "8"}, {"average-delay", "7"}})},
      {"local, delayed by a step",
       with({{"schedule", "local-sgd"}, {"local-steps", "8"}, {"average-delay", "1"}}), "800"},
      {"replicas, delayed", with({{"schedule", "local-sgd"},
                                  {"local-steps", "8"},
                                  {"average-delay", "6"},
                                  {"replica", "node"}})},
      {"replicas at once",
       with({{"schedule", "local-sgd"}, {"local-steps", "1"}, {"replica", "node"}})},
      {"512 workers", with({{"platform", "dgx:nodes=64:cards=8x400Gbps"}}), "80"},
      {"steps", with({{"fidelity", "step"}}), "400"},
      {"servers", with({{"schedule", "ssp"}, {"staleness", "0"}, {"fidelity", "flow"}}), "400"},
  };
}

TEST(Straggling, TakesTheMeanOfIterationsWithJitter) {
  for (const StragglingCase& one : straggling_cases())
    for (const auto& [variation, tolerance] : {std::pair("0.04", 0.004), {"0.3", 0.02}}) {
      Options drawn = one.options, mean = one.options;
      drawn["jitter"] = variation;
      drawn["iterations"] = one.iterations;
      mean["straggling"] = variation;
      const Simulated of_draws = simulated(drawn);
      EXPECT_NEAR(simulated(mean).iteration_s() / of_draws.iteration_s(), 1, tolerance)
          << one.name << ", " << variation;
      EXPECT_GT(of_draws.iteration_s(), simulated(one.options).iteration_s()) << one.name;
    }
}

// A profile of one value is a slower host: 0.1 s at 0.7 of its speed.
TEST(Straggling, OfAHostWithAProfileIsThatOfASlowHost) {
  Options options{{"platform", star_platform({.nodes = 3, .nic_Bps = 1e12, .profile = "0 0.7"})},
                  {"model", model_of({1})},
                  {"latency-factor", "0"}};
  for (const std::string straggling : {"", "0.02"}) {
    options["straggling"] = straggling;
    for (const std::string fidelity : {"step", "flow"}) {
      options["fidelity"] = fidelity;
      EXPECT_NEAR(simulated(options).iteration_s(), 0.1 / 0.7, 1e-5) << fidelity;
    }
  }
}

// 15 workers: the largest of 15 normals is 1.736 standard deviations above the mean.
TEST(Straggling, OfComputationAloneIsTheSlowestWorkers) {
  const double alone_s = 0.1;
  Options options{{"platform", "pcie:nodes=5:gpus=3:cards=1x25Gbps"},
                  {"model", model_of({1})},
                  {"latency-factor", "0"},
                  {"straggling", "0.01"}};
  for (const std::string fidelity : {"step", "flow", "analytic"}) {
    options["fidelity"] = fidelity;
    options["workers"] = "15";
    EXPECT_NEAR(simulated(options).iteration_s() / alone_s, 1.01736, 2e-4) << fidelity;
    options["workers"] = "1";
    EXPECT_NEAR(simulated(options).iteration_s(), alone_s, precise) << fidelity;
  }
  options["workers"] = "15";
  EXPECT_NEAR(predicted(options).iteration_s / alone_s, 1.01736, 2e-4);
}

}  // namespace
}  // namespace syncline
