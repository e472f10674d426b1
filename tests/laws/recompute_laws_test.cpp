// Law 31 (tests/laws/README.md): what backward recomputes counts as computation, which becomes 4/3
// of itself if all of forward is recomputed, and moves no bytes.
#include <gtest/gtest.h>

#include "sim/schedule.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// 10 samples at 100 samples/s; 600 of 4,000 flop are attention's, all in the second tensor.
constexpr double computed_s = 0.1;

std::string attentive_model() {
  return written_platform(  // any file
      "# sample: sequence of 8 tokens\nlayer,parameters,forward_flop,attention_flop\n"
      "first,1000000,1000,0\nsecond,1000000,1000,600\nthird,2000000,2000,0\n");
}

// Computation of worker 0 in iteration 2.
double computation_s(const Simulated& run) {
  double seconds = 0;
  for (const Row& row : run.trace.rows)
    if (row.rank == 0 && row.iteration == 2 && row.stream == Stream::compute &&
        row.verb != Verb::wait)
      seconds += row.end_s - row.start_s;
  return seconds;
}

TEST(Recompute, TakesForwardOnceMore) {
  for (const auto& [schedule, entry] : Registered<Schedule>::all()) {
    if (entry.defaults.contains("compressor"))
      continue;
    for (const char* steps : {"1", "3"}) {
      Options options{{"platform", star_platform({.nodes = 1})},
                      {"model", attentive_model()},
                      {"schedule", schedule},
                      {"accumulation", steps}};
      const double off_s = computation_s(simulated(options));
      options["recompute"] = "full";
      EXPECT_NEAR(computation_s(simulated(options)) / off_s, 4.0 / 3, 1e-6) << schedule << steps;
      options["recompute"] = "selective";
      EXPECT_NEAR(computation_s(simulated(options)) / off_s, 1 + 600.0 / 4000 / 3, 1e-6)
          << schedule << steps;
    }
  }
}

// Recomputation is part of the backward pass of the layers whose forward it repeats.
TEST(Recompute, IsPartOfTheBackwardOfItsLayers) {
  for (const char* schedule : {"bsp", "fsdp"})
    for (const auto& [recompute, seconds] :
         std::vector<std::pair<std::string, std::vector<double>>>{{"off", {4000, 2000, 2000}},
                                                                  {"selective", {4000, 2600, 2000}},
                                                                  {"full", {6000, 3000, 3000}}}) {
      const Simulated run = simulated({{"platform", star_platform({.nodes = 2})},
                                       {"model", attentive_model()},
                                       {"schedule", schedule},
                                       {"bucket-bytes", "0"},
                                       {"recompute", recompute}});
      for (const Row& row : run.rows("backward"))
        EXPECT_NEAR(row.end_s - row.start_s,
                    seconds[static_cast<std::size_t>(row.bucket)] / 12000 * computed_s, precise)
            << schedule << recompute << row.bucket;
      double forward_s = 0;
      for (const Row& row : run.rows("forward"))
        forward_s += row.rank == 0 && row.iteration == 2 ? row.end_s - row.start_s : 0;
      EXPECT_NEAR(forward_s, computed_s / 3, precise) << schedule << recompute;
    }
}

TEST(Recompute, MovesNothingAndStepsOnce) {
  const double step_s = 3 * 4 * 4e6 / 8e9;
  Options options{{"platform", star_platform({.nodes = 1})},
                  {"model", attentive_model()},
                  {"optimizer", "sgd"},
                  {"memory-bandwidth", "8e9"},
                  {"recompute", "full"}};
  EXPECT_NEAR(simulated(options).iteration_s(), (computed_s - step_s) * 4 / 3 + step_s, precise);
  options["platform"] = star_platform({.nodes = 3});
  const Simulated full = simulated(options);
  options["recompute"] = "off";
  const Simulated off = simulated(options);
  EXPECT_DOUBLE_EQ(full.figures.bytes_sent, off.figures.bytes_sent);
  EXPECT_NEAR(full.figures.scaling_efficiency / off.figures.scaling_efficiency,
              off.iteration_s() / full.iteration_s(), precise);  // relative to running without it
}

// With equal workers that wait for each other, an iteration computes what one worker alone would
// plus what it recomputes, which is f / (1 + f) of the computation with f = 1/3 for all of forward,
// or 600/4000 of that.
TEST(Recompute, IsThePartThatScalingDoesNotCountAsWork) {
  for (const char* schedule : {"bsp", "fsdp"})
    for (const char* accumulation : {"1", "3"})
      for (const auto& [recompute, more] :
           {std::pair("off", 0.0), std::pair("selective", 0.05), std::pair("full", 1.0 / 3)}) {
        const Simulated run = simulated({{"platform", star_platform({.nodes = 3, .nic_Bps = 2e8})},
                                         {"model", attentive_model()},
                                         {"schedule", schedule},
                                         {"bucket-bytes", "0"},
                                         {"accumulation", accumulation},
                                         {"recompute", recompute}});
        const Figures& figures = run.figures;
        const double computes = figures.compute_s / figures.iteration_mean_s;
        EXPECT_NEAR(figures.recomputed, computes * more / (1 + more), 1e-9)
            << schedule << accumulation << recompute;
        EXPECT_NEAR(figures.scaling_efficiency + figures.recomputed, computes, 1e-9)
            << schedule << accumulation << recompute;
      }
}

// Once, the recomputed share was taken from buckets, and fused cycles have fewer buckets than
// tensors.
TEST(Recompute, IsTheSamePartWhereCyclesFuseTensors) {
  for (const char* cycle_s : {"0", "1e-3"}) {
    const Figures figures = simulated({{"platform", star_platform({.nodes = 3, .nic_Bps = 1e12})},
                                       {"model", attentive_model()},
                                       {"schedule", "bsp"},
                                       {"bucket-bytes", "1e9"},
                                       {"fusion-cycle", cycle_s},
                                       {"recompute", "full"}})
                                .figures;
    EXPECT_NEAR(figures.recomputed, figures.compute_s / figures.iteration_mean_s / 4, 1e-9)
        << cycle_s;
    EXPECT_GT(figures.recomputed, 0.2) << cycle_s;
  }
}

// The longer backward hides more, and the closed form models that.
TEST(Recompute, IsKnownToExplain) {
  for (const char* schedule : {"bsp", "fsdp"})
    for (const char* recompute : {"off", "selective", "full"}) {
      const Options options{{"platform", star_platform({.nodes = 2, .nic_Bps = 2e8})},
                            {"model", attentive_model()},
                            {"schedule", schedule},
                            {"fidelity", "step"},
                            {"bucket-bytes", "0"},
                            {"recompute", recompute}};
      EXPECT_NEAR(predicted(options).iteration_s / simulated(options).iteration_s(), 1, 1e-3)
          << schedule << recompute;
    }
}

}  // namespace
}  // namespace syncline
