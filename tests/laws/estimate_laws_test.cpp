// Law 17 (tests/laws/README.md): a run sends what the estimate says.
#include <gtest/gtest.h>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

const std::vector<std::uint64_t> tensors{3'000'000, 40'000, 1'700'000, 2'000'000};

void expect_as_estimated(const Options& options, double tolerance) {
  const auto sent = static_cast<double>(simulated(options).trace.flows);
  std::string which;
  for (const auto& [name, value] : options)
    which += name == "platform" || name == "model" ? "" : name + " = " + value + " ";
  EXPECT_NEAR(estimated_flows(options) / sent, 1, tolerance) << which << "sent " << sent;
}

TEST(Law17, TheEstimateOfAnAverageHasItsMessages) {
  for (const auto& [even, fidelity] :
       std::vector<std::pair<bool, const char*>>{{true, "flow"}, {false, "flow"}, {true, "step"}})
    for (const char* exchange :
         {"ring", "halving-doubling", "tree", "ps", "hierarchical", "alltoall", "allgather"})
      for (const char* bucket_bytes : {"0", "all"}) {
        Options options{{"platform", star_platform({.nodes = 5, .workers_per_node = 3})},
                        {"model", model_of(tensors)},
                        {"exchange", exchange},
                        {"bucket-bytes", bucket_bytes},
                        {"fidelity", fidelity},
                        {"iterations", "3"}};
        if (!even && std::string(exchange) != "hierarchical")
          options["workers"] = "13";
        expect_as_estimated(options, 1e-9);
      }
}

// A round of four iterations sends one average; with replicas, every iteration sends another one
// within the group. Six iterations and one of warm-up make three rounds.
TEST(Law17, TheEstimateOfLocalSgdHasItsAveragesOncePerRound) {
  for (const char* exchange : {"ring", "halving-doubling", "tree", "hierarchical"})
    for (const char* replica : {"worker", "node"})
      for (const char* delay : {"0", "2"})
        for (const char* fidelity : {"flow", "step"})
          expect_as_estimated({{"platform", star_platform({.nodes = 5, .workers_per_node = 3})},
                               {"model", model_of(tensors)},
                               {"schedule", "local-sgd"},
                               {"local-steps", "4"},
                               {"replica", replica},
                               {"average-delay", delay},
                               {"exchange", exchange},
                               {"bucket-bytes", "0"},
                               {"fidelity", fidelity},
                               {"warmup", "1"},
                               {"iterations", "6"}},
                              1e-9);
}

// If max-iterations is one round, two rounds are run, plus one of warm-up. Once, a round of 40 with
// max-iterations 40 was estimated as 80 iterations, and ran 120.
TEST(Law17, TheEstimateOfRoundsAsLongAsMaxIterationsHasBothThatAreRun) {
  for (const char* steps : {"39", "40", "41"})
    expect_as_estimated({{"platform", star_platform({.nodes = 3})},
                         {"model", model_of(tensors)},
                         {"schedule", "local-sgd"},
                         {"local-steps", steps},
                         {"max-iterations", "40"},
                         {"iterations", ""},
                         {"fidelity", "step"}},
                        1e-9);
}

// A ring of 15 workers takes 15 * 28 = 420 messages for one bucket: 125,000 messages are 297
// rounds, however many iterations a round has.
TEST(Law17, RunsThatAverageSeldomAreSimulatedStepByStep) {
  Options options{{"platform", star_platform({.nodes = 5, .workers_per_node = 3})},
                  {"model", model_of(tensors)},
                  {"schedule", "local-sgd"},
                  {"bucket-bytes", "all"},
                  {"warmup", "0"}};
  for (const int steps : {1, 10, 400}) {
    options["local-steps"] = std::to_string(steps);
    options["iterations"] = std::to_string(297 * steps);
    EXPECT_EQ(settled_fidelity(options), "step") << steps;
    options["iterations"] = std::to_string(298 * steps);
    EXPECT_EQ(settled_fidelity(options), "flow") << steps;
  }
}

// Evaluations take place at the start, at the end, and when an epoch of 120 samples is full: 12
// workers of batch 4 fill one in three iterations, in one of local-sgd's rounds of four, and
// several in an iteration of batch 40.
TEST(Law17, TheEstimateOfLearningHasItsEvaluations) {
  for (const char* schedule : {"bsp", "asp", "local-sgd"})
    for (const char* batch : {"4", "40"})
      for (const char* iterations : {"1", "7", "20"}) {
        Options options = small_data();
        options.merge(Options{{"platform", star_platform({.nodes = 4, .workers_per_node = 3})},
                              {"learn", "softmax"},
                              {"schedule", schedule},
                              {"iterations", iterations}});
        options["batch"] = batch;
        if (std::string(schedule) == "local-sgd")
          options["local-steps"] = "4";
        const auto points =
            static_cast<double>(simulated(options).trace.learned.value().curve.size());
        EXPECT_NEAR(estimated_evaluations(options), points, 1)
            << schedule << " " << batch << " " << iterations;
      }
}

TEST(Law17, TheEstimateOfPushesHasTheirMessages) {
  for (const char* schedule : {"asp", "ssp", "backup", "n-softsync", "easgd"})
    for (const char* fidelity : {"flow", "step"})
      for (const int servers : {0, 8})
        for (const int nodes : {3, 12}) {
          Options options{
              {"platform",
               star_platform({.nodes = nodes, .workers_per_node = 2, .servers = servers})},
              {"model", model_of(tensors)},
              {"schedule", schedule},
              {"fidelity", fidelity},
              {"iterations", "3"}};
          if (servers > 0)
            options["servers"] = std::to_string(servers);
          expect_as_estimated(options, 1e-9);
        }
}

TEST(Law17, TheEstimateOfInhadIsWithinAFactorOfTwo) {
  for (const int nodes : {4, 24}) {
    const Options options{{"platform", star_platform({.nodes = nodes, .workers_per_node = 2})},
                          {"model", model_of(tensors)},
                          {"schedule", "inhad"},
                          {"iterations", "20"}};
    const double ratio =
        estimated_flows(options) / static_cast<double>(simulated(options).trace.flows);
    EXPECT_GT(ratio, 0.5) << nodes;
    EXPECT_LT(ratio, 2) << nodes;
  }
}

TEST(Law17, ARunOfUnknownLengthIsEstimatedFromItsLeastToItsMostIterations) {
  Options options{{"platform", star_platform({.nodes = 3})}, {"model", model_of(tensors)}};
  options["iterations"] = "11";
  const double eleven = estimated_flows(options);
  options["iterations"] = "auto";
  options["warmup"] = "1";
  EXPECT_NEAR(estimated_flows(options), eleven * 11 / 12, 1e-6 * eleven);
}

}  // namespace
}  // namespace syncline
