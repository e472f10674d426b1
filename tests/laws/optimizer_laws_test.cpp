// Laws 3 and 4 (tests/laws/README.md) with a separate optimiser step: the step follows
// communication and hides none of it.
#include <gtest/gtest.h>
#include <numeric>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// Seconds of a step that reads and writes `values` values for each of four million parameters.
double step_s(int values) {
  return values * 4 * 4e6 / 8e9;
}

// Four equal buckets of a million values; one worker alone takes 0.1 s per iteration.
Options scenario_with(const std::string& optimizer, const std::string& platform) {
  static const std::string model = model_of({1'000'000, 1'000'000, 1'000'000, 1'000'000});
  Options options{{"platform", platform}, {"model", model}, {"bucket-bytes", "0"}};
  if (optimizer != "in-throughput") {
    options["optimizer"] = optimizer;
    options["memory-bandwidth"] = "8e9";
  }
  return options;
}

double sum_s(const std::vector<Row>& rows) {
  return std::accumulate(rows.begin(), rows.end(), 0.0,
                         [](double sum, const Row& row) { return sum + row.end_s - row.start_s; });
}

TEST(Law3, AnOptimizersStepIsAPartOfTheMeasuredIteration) {
  for (const auto& [optimizer, values] :
       {std::pair("in-throughput", 0), {"sgd", 3}, {"momentum", 5}, {"adam", 7}}) {
    const Simulated run = simulated(scenario_with(optimizer, star_platform({.nodes = 1})));
    const auto iterations = static_cast<double>(run.rows("step").size());
    EXPECT_NEAR(run.iteration_s(), 0.1, precise) << optimizer;
    EXPECT_NEAR(run.figures.compute_s, 0.1, precise) << optimizer;
    EXPECT_NEAR(run.figures.scaling_efficiency, 1, precise) << optimizer;
    EXPECT_NEAR(sum_s(run.rows("step")) / iterations, step_s(values), precise) << optimizer;
    EXPECT_NEAR(sum_s(run.rows("forward")) / iterations, (0.1 - step_s(values)) / 3, precise)
        << optimizer;
  }
}

// The memory rate is that of the fastest host; a slower host's step takes longer in proportion to
// its computation.
TEST(Law3, ASlowHostStepsInProportionToItsSpeed) {
  const Simulated run =
      simulated(scenario_with("sgd", star_platform({.nodes = 3, .slow_speed = 0.5})));
  for (const Row& row : run.rows("step"))
    EXPECT_NEAR(row.end_s - row.start_s, (row.rank == 2 ? 2 : 1) * step_s(3), precise);
}

// The network is busy without a pause once the first of four buckets exists, C/3 + 2C/3/4 after the
// start. A step of s seconds makes this s/2 earlier, and follows it.
TEST(Law4, AnOptimizersStepHidesNoCommunication) {
  for (const char* exchange : {"ring", "halving-doubling"})
    for (const char* fidelity : {"flow", "step"}) {
      const std::string platform =
          star_platform({.nodes = 4, .workers_per_node = 2, .nic_Bps = 5e7});
      double seconds[2];
      for (const bool adam : {false, true}) {
        Options options = scenario_with(adam ? "adam" : "in-throughput", platform);
        options["exchange"] = exchange;
        options["fidelity"] = fidelity;
        seconds[adam ? 1 : 0] = simulated(options).iteration_s();
      }
      EXPECT_NEAR(seconds[1] - seconds[0], step_s(7) / 2, precise) << exchange << ' ' << fidelity;
    }
}

TEST(Law4, ClosedFormsKnowTheOptimizersStep) {
  for (const char* overlap : {"on", "off"})
    for (const char* optimizer : {"in-throughput", "adam"}) {
      Options options = scenario_with(optimizer, star_platform({.nodes = 4, .nic_Bps = 2e8}));
      options["overlap"] = overlap;
      options["compressor"] = "randomk";
      options["density"] = "0.25";
      EXPECT_NEAR(predicted(options).iteration_s, simulated(options).iteration_s(), 1e-6)
          << optimizer << ", overlap = " << overlap;
    }
}

// Ten milliseconds for each of four tensors, after communication; none if a worker is alone.
TEST(Law4, LaunchingTheOptimizersStepHidesNoCommunication) {
  for (const int nodes : {1, 4}) {
    Options options = scenario_with("adam", star_platform({.nodes = nodes, .nic_Bps = 5e7}));
    const double without_s = simulated(options).iteration_s();
    options["optimizer-overhead"] = "0.01";
    const Simulated run = simulated(options);
    EXPECT_NEAR(run.iteration_s() - without_s, nodes == 1 ? 0 : 4 * 0.01, precise);
    EXPECT_NEAR(run.figures.scaling_efficiency * run.iteration_s(), 0.1, precise);  // 0.1 s alone
  }
}

// Where servers apply gradients, workers have no step to take.
TEST(Law4, WorkersTakeNoStepWhereServersApply) {
  for (const char* schedule : {"asp", "ssp", "inhad"}) {
    Options options = scenario_with("adam", star_platform({.nodes = 2, .nic_Bps = 1e18}));
    options["schedule"] = schedule;
    options["optimizer-overhead"] = "0.01";
    options["iterations"] = "100";
    const Simulated run = simulated(options);
    EXPECT_EQ(sum_s(run.rows("step")), 0) << schedule;
    EXPECT_NEAR(run.figures.compute_s, 0.1 - step_s(7), 5e-4) << schedule;
  }
}

// A plain average replaces the parameters. An outer optimizer reads and writes 7 values per
// parameter, and 2 more for its momentum, whatever the optimizer of the steps is.
TEST(Law4, ApplyingAnAverageTakesNoStepOfTheInnerOptimizer) {
  for (const int nodes : {1, 3})
    for (const char* optimizer : {"sgd", "adam"})
      for (const char* fidelity : {"step", "analytic"})
        for (const auto& [option, value, values] : {std::tuple("outer-momentum", "0", 0),
                                                    {"outer-momentum", "0.9", 9},
                                                    {"outer-learning-rate", "0.7", 7},
                                                    {"average-delay", "1", 7}}) {
          Options options =
              scenario_with(optimizer, star_platform({.nodes = nodes, .nic_Bps = 1e12}));
          options["schedule"] = "local-sgd";
          options["local-steps"] = "2";
          options["fidelity"] = fidelity;
          options[option] = value;
          const Simulated run = simulated(options);
          EXPECT_NEAR(run.figures.compute_s, 0.1 + step_s(values) / 2, precise)
              << optimizer << fidelity << option << value << nodes;
        }
}

}  // namespace
}  // namespace syncline
