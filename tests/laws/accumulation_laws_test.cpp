// Law 28 (tests/laws/README.md): an iteration of k micro-steps takes as long as k - 1 forward and
// backward passes plus an iteration of one micro-step, with the same messages.
#include <gtest/gtest.h>

#include "tests/laws/every_schedule.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

constexpr double micro_s = 0.1;  // 10 samples at 100 samples/s

double sum_of_links(const Simulated& run) {
  double bytes = 0;  // in the window
  for (const LinkUse& link : run.trace.links)
    bytes += link.measured_bytes;
  return bytes;
}

// Several workers per node, several buckets, servers and compression; without jitter, so that waits
// do not depend on chance. If hosts are alike, all begin the exchange k - 1 passes later; if not,
// fast hosts wait longer for slow ones, and may advance work that does not need these.
TEST(Law28, ItComputesLongerBeforeTheSameExchange) {
  int cases = 0;
  for (const Case& one : every_schedule())
    for (const double slow_speed : {1.0, 0.6}) {
      Options options = one.options;
      if (options.at("schedule") == "fsdp")
        options["zero"] = "1";  // others send more with more micro-steps
      options["jitter"] = "0";
      options["platform"] = star_platform({.nodes = 2,
                                           .workers_per_node = 2,
                                           .nic_Bps = 2e8,
                                           .servers = std::stoi(options.at("servers")),
                                           .slow_speed = slow_speed,
                                           .cores = one.name.ends_with("cores 2") ? 2 : 1});
      const Simulated single = simulated(options);
      if (!single.trace.in_step)
        continue;
      const bool hides_behind_steps =
          options.contains("average-delay") && options.at("average-delay") != "0";
      ++cases;
      for (const int steps : {2, 5}) {
        options["accumulation"] = std::to_string(steps);
        const Simulated run = simulated(options);
        const std::string name = one.name + " " + std::to_string(slow_speed) + " " +
                                 std::to_string(steps) + " micro-steps";
        const double later_s = (steps - 1) * micro_s / slow_speed;
        EXPECT_LE(run.iteration_s(), single.iteration_s() + later_s + 1e-6) << name;
        if (!hides_behind_steps) {
          EXPECT_GE(run.iteration_s(), slow_speed == 1 ? single.iteration_s() + later_s - 1e-6
                                                       : steps * micro_s / slow_speed - 1e-6)
              << name;
        }
        EXPECT_NEAR(sum_of_links(run) / run.figures.window_iterations,
                    sum_of_links(single) / single.figures.window_iterations,
                    1e-6 * sum_of_links(single))
            << name;
        EXPECT_NEAR(run.figures.throughput_samples_per_s * run.iteration_s(), 4 * 10 * steps, 1e-6)
            << name;
        EXPECT_FALSE(run.below_its_bound()) << name;
      }
    }
  EXPECT_GT(cases, 20);
}

// One worker, every schedule: three passes more, minus the wait for its server that these passes
// hide.
TEST(Law28, AWorkerAloneTakesThreePassesMore) {
  for (const auto& [schedule, entry] : Registered<Schedule>::all()) {
    if (entry.defaults.contains("compressor"))
      continue;
    Options options{{"platform", star_platform({.nodes = 1})},
                    {"model", model_of({400'000, 900'000})},
                    {"schedule", schedule},
                    {"bucket-bytes", "0"}};
    const double single_s = simulated(options).iteration_s();
    options["accumulation"] = "4";
    const Simulated run = simulated(options);
    EXPECT_LE(run.iteration_s(), single_s + 3 * micro_s + 1e-6) << schedule;
    EXPECT_GE(run.iteration_s(), 4 * micro_s - 1e-6) << schedule;
    EXPECT_NEAR(run.figures.throughput_samples_per_s, 40 / run.iteration_s(), 1e-6) << schedule;
    EXPECT_NEAR(run.figures.scaling_efficiency, 4 * micro_s / run.iteration_s(), 1e-6) << schedule;
    EXPECT_NEAR(run.figures.compute_s, 4 * micro_s, 1e-3) << schedule;  // the window cuts some
  }
}

// The optimiser steps once per iteration, whatever is accumulated: sgd moves 3 values of 4 bytes
// for each parameter.
TEST(Law28, TheOptimiserTakesOneStep) {
  const double step_s = 3 * 4 * 4e6 / 8e9;
  Options options{{"platform", star_platform({.nodes = 1})},
                  {"model", model_of({1'000'000, 3'000'000})},
                  {"optimizer", "sgd"},
                  {"memory-bandwidth", "8e9"},
                  {"accumulation", "8"}};
  const Simulated run = simulated(options);
  EXPECT_NEAR(run.iteration_s(), 8 * (micro_s - step_s) + step_s, precise);
}

// The exchange hides behind the last backward pass only. With a backward pass of B seconds, one
// bucket per layer, and an exchange much longer than B, an iteration takes k times the computation,
// minus B, plus the exchange from the first bucket on. A `batch` k times as large would hide all of
// it.
TEST(Law28, OnlyTheLastBackwardPassHidesTheExchange) {
  Options options{{"platform", star_platform({.nodes = 2, .nic_Bps = 4e7, .nic_latency_s = 0})},
                  {"model", model_of({1'000'000, 1'000'000, 1'000'000, 1'000'000})},
                  {"bucket-bytes", "0"},
                  {"fidelity", "step"},
                  {"accumulation", "4"}};
  // A ring of two: each bucket of 4e6 bytes crosses a card in 0.1 s, 0.4 s in all, starting when
  // the first bucket is ready, after a quarter of the last backward pass.
  const double backward_s = micro_s * 2 / 3;
  const double expected = 4 * micro_s - backward_s + backward_s / 4 + 4 * 0.1;
  EXPECT_NEAR(simulated(options).iteration_s(), expected, 1e-5);
  EXPECT_NEAR(predicted(options).iteration_s, expected, 1e-5);
  options["accumulation"] = "1";
  options["batch"] = "40";
  EXPECT_NEAR(simulated(options).iteration_s(), 4 * (micro_s - backward_s * 3 / 4) + 4 * 0.1, 1e-5);
}

// Also with compression and its residual: messages are made of the sum over all micro-steps.
TEST(Law28, LearnsWhatABatchOfThatSizeLearns) {
  for (const char* compressor : {"none", "topk"})
    for (const char* schedule : {"bsp", "local-sgd", "asp"}) {
      Options options = small_data();
      options.insert({{"platform", star_platform({.nodes = 2, .workers_per_node = 2})},
                      {"learn", "softmax"},
                      {"schedule", schedule},
                      {"compressor", compressor},
                      {"iterations", "12"}});
      options["batch"] = "3";
      options["accumulation"] = "4";
      const Simulated accumulated = simulated(options);
      options["batch"] = "12";
      options["accumulation"] = "1";
      const Simulated whole = simulated(options);
      ASSERT_TRUE(accumulated.trace.learned && whole.trace.learned);
      EXPECT_EQ(accumulated.trace.learned->curve.back().samples,
                whole.trace.learned->curve.back().samples);
      if (whole.trace.in_step) {
        EXPECT_EQ(accumulated.trace.learned->parameters_at_end,
                  whole.trace.learned->parameters_at_end)
            << compressor << schedule;
      }
      options["batch"] = "3";
      options["accumulation"] = "4";
      options["learning-batch"] = "2";
      const Simulated smaller = simulated(options);
      EXPECT_NE(smaller.trace.learned->parameters_at_end, whole.trace.learned->parameters_at_end)
          << compressor << schedule;
      EXPECT_EQ(smaller.iteration_s(), accumulated.iteration_s()) << compressor << schedule;
    }
}

}  // namespace
}  // namespace syncline
