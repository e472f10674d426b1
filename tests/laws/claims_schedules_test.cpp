// Papers' claims about schedules, checked in our runs: each test asserts the verdict that the
// experiments' READMEs record, so that a change in either direction fails.
#include <algorithm>
#include <gtest/gtest.h>
#include <string>

#include "sim/catalogue/files.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

std::string experiments() {
  return data_root() + "/experiments";
}

double target_s(const Options& options) {
  const Simulated run = simulated(options);
  EXPECT_TRUE(run.trace.learned->target_s);
  return run.trace.learned->target_s.value_or(0);
}

// Eight workers with iterations of 0.2 s, evaluated every 256 samples.
Options softmax_until(const std::string& loss, const std::string& platform) {
  return {{"platform", platform},    {"learn", "softmax"},  {"batch", "32"},
          {"throughput", "160"},     {"iterations", "400"}, {"evaluate-every", "256"},
          {"until", "loss:" + loss}, {"schedule", "bsp"}};
}

Options ssp(Options options, const std::string& staleness) {
  options["schedule"] = "ssp";
  options["staleness"] = staleness;
  return options;
}

// Ho et al. 2013: bounded staleness finishes sooner than BSP there. In its slow second a worker
// falls 0.6 s behind, which is three iterations. Measured ratios: 0.43 and 0.66.
TEST(Claims, SspIsSoonerThanBspWhereSlowSpellsAreShorterThanItsStalenessWithTwoSeeds) {
  for (const char* seed : {"1", "2"}) {
    Options options = softmax_until("0.2", experiments() + "/labs/stragglers/in-turn-8x1.xml");
    options["seed"] = seed;
    const double bsp = target_s(options);
    EXPECT_LT(target_s(ssp(options, "4")), 0.5 * bsp) << seed;
    const double too_little = target_s(ssp(options, "1"));
    EXPECT_GT(too_little, 0.55 * bsp) << seed;
    EXPECT_LT(too_little, 0.8 * bsp) << seed;
  }
}

// A worker that never catches up sets the pace of all. Measured: 0.99 of BSP's seconds.
TEST(Claims, SspIsLevelWithBspWhereOneHostIsAlwaysSlowWithTwoSeeds) {
  for (const char* seed : {"1", "2"}) {
    Options options = softmax_until("0.15", star_platform({.nodes = 8, .slow_speed = 0.4}));
    options["seed"] = seed;
    const double bsp = target_s(options);
    EXPECT_NEAR(target_s(ssp(options, "3")), bsp, 0.03 * bsp) << seed;
  }
}

// Xiao et al. 2022, on four nodes of four GPUs with ResNet-50's time on 10 Gbit/s, learning digits.
Options four_nodes(const std::string& schedule) {
  return {{"platform", "pcie-8x4-10gbe"}, {"workers", "16"}, {"model", "resnet50"},
          {"throughput", "253"},          {"batch", "16"},   {"jitter", "0.1"},
          {"bucket-bytes", "all"},        {"learn", "mlp"},  {"iterations", "100"},
          {"schedule", schedule}};
}

double card_bytes(const Simulated& run) {
  double most = 0;
  for (const auto& link : run.figures.busiest_links)
    most = std::max(most, link.bytes_per_iteration);
  return most;
}

// At any learning rate, with the schedules' defaults. Confirmed: faster than ASP (measured 3.9
// times the samples/s), with a fourth of ASP's bytes. If GPUs are alike, staleness is limited (16
// against ASP's 22; none with `staleness` 0), and its mean is larger than ASP's (16 against 15).
TEST(Claims, OfInhadHoldOnAlikeGpusButForTheMeanStalenessWithOneSeed) {
  const Simulated asp = simulated(four_nodes("asp"));
  const Simulated inhad = simulated(four_nodes("inhad"));
  EXPECT_GT(inhad.figures.throughput_samples_per_s, 3 * asp.figures.throughput_samples_per_s);
  EXPECT_NEAR(card_bytes(inhad) / card_bytes(asp), 0.25, 0.01);
  EXPECT_LE(inhad.figures.staleness_max, 16);
  EXPECT_GT(asp.figures.staleness_max, 18);
  EXPECT_GT(inhad.figures.staleness_mean, asp.figures.staleness_mean);
  Options tight = four_nodes("inhad");
  tight["staleness"] = "0";
  EXPECT_EQ(simulated(tight).figures.staleness_max, 0);
}

// Seconds to the target, with the settings that an experiment chose on other seeds.
double chosen_s(const std::string& file, const std::string& who, const Options& but) {
  const Simulated run = simulated_section(experiments() + "/" + file, who, but);
  EXPECT_TRUE(run.trace.learned->target_s) << who << ", seed " << but.at("seed");
  return run.trace.learned->target_s.value_or(0);
}

double inhad_s(const std::string& who, const std::string& seed) {
  return chosen_s("inhad-vs-asp-vs-allreduce/chosen.cfg", who,
                  {{"seed", seed}, {"until", "loss:0.1"}});
}

// Confirmed: sooner than ASP. Open: whether sooner than all-reduce. Measured with five seeds: 12.2
// s (11.9 to 14.4), ASP 37.7 (33.4 to 42.1), all-reduce 11.5 (10.6 to 15.2).
TEST(Claims, OfInhadThatItConvergesFasterHoldAgainstAspAndAreOpenAgainstAllReduceWithThreeSeeds) {
  for (const char* seed : {"1", "2", "3"}) {
    const double inhad = inhad_s("resnet50 inhad", seed);
    EXPECT_LT(inhad, 0.45 * inhad_s("resnet50 asp", seed)) << seed;
    EXPECT_NEAR(inhad / inhad_s("resnet50 all-reduce", seed), 1.05, 0.15) << seed;
  }
}

// Contradicted: with VGG-16's time and the cnn, all-reduce is sooner. InHAD's best setting there
// waits for all, and so learns the same at fewer samples/s. Measured ratio: 1.29, at 210 and 271
// samples/s.
TEST(Claims, OfInhadThatItConvergesFasterThanAllReduceFailWithACnnWithThreeSeeds) {
  for (const char* seed : {"1", "2", "3"})
    EXPECT_GT(inhad_s("vgg16 inhad staleness 0", seed), 1.2 * inhad_s("vgg16 all-reduce", seed))
        << seed;
}

// Contradicted: with one GPU at a quarter of the speed, staleness is not limited. The limit counts
// only a worker's own gradients, and the others go on: measured 40, against ASP's 28.
TEST(Claims, OfInhadThatStalenessIsLimitedFailsWithASlowGpuWithOneSeed) {
  const auto on_slow = [](Options options) {
    options["platform"] = experiments() + "/inhad-vs-asp-vs-allreduce/one-slow-gpu.xml";
    return simulated(options);
  };
  const Simulated asp = on_slow(four_nodes("asp"));
  const Simulated inhad = on_slow(four_nodes("inhad"));
  EXPECT_GT(inhad.figures.staleness_max, 36);
  EXPECT_GT(inhad.figures.staleness_max, asp.figures.staleness_max);
  EXPECT_GT(inhad.figures.throughput_samples_per_s, 2 * asp.figures.throughput_samples_per_s);
}

double accurate_s(const std::string& who, const std::string& seed) {
  return chosen_s("time-to-accuracy/time-to-accuracy.cfg", who, {{"seed", seed}});
}

// On 10 Gbit/s with VGG-16's bytes. Measured with five seeds: 4.6 s (4.1 to 5.8); of the schedules
// that send all values, local-sgd is the fastest at 11.9 (11.9 to 23.8), the others take 33.5 to
// 49.5.
TEST(Claims, WithTopkBspIsAccurateInHalfOfTheSecondsOfAnyScheduleWithoutWithThreeSeeds) {
  for (const char* seed : {"1", "2", "3"}) {
    const double topk = accurate_s("bsp topk all alike", seed);
    const double local = accurate_s("local-sgd none all alike", seed);
    EXPECT_LT(topk, 0.5 * local) << seed;
    for (const char* schedule : {"bsp", "asp", "ssp", "inhad"})
      EXPECT_LT(local, 0.7 * accurate_s(schedule + std::string(" none all alike"), seed)) << seed;
  }
}

// Measured: 10.5 s against 4.6 with all alike; asp 11.7 against 12.8.
TEST(Claims, WorkersThatAreSlowInTurnCostBspAFactorOfTwoWithTopkAndAspNothingWithThreeSeeds) {
  double alike = 0, in_turn = 0;
  for (const char* seed : {"1", "2", "3"}) {
    EXPECT_GT(accurate_s("bsp topk slow in turn", seed), 2 * accurate_s("bsp topk all alike", seed))
        << seed;
    alike += accurate_s("asp topk all alike", seed);
    in_turn += accurate_s("asp topk slow in turn", seed);
  }
  EXPECT_LT(in_turn, 1.3 * alike);
}

}  // namespace
}  // namespace syncline
