// Mistakes a user may make about learning: one line that says what, where and what is allowed, and
// exit code 2.
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

struct Wrong {
  std::vector<std::string> arguments;
  std::vector<std::string> mentions;
};

TEST(BadLearning, IsAnsweredInOneLineWithExitCodeTwo) {
  const std::vector<Wrong> all{
      {{"--learn", "chess"}, {"--learn", "chess", "allowed are", "mlp", "digits"}},
      {{"--learning-rate", "0.1", "--model", "resnet50"}, {"--learning-rate", "give learn", "cnn"}},
      {{"--learn", "mlp", "--learning-rate", "-1"}, {"learning-rate = -1", "allowed are"}},
      {{"--learn", "mlp", "--learning-rate", "nan"}, {"learning-rate = nan", "allowed are"}},
      {{"--learn", "mlp", "--momentum", "1.5"}, {"momentum = 1.5", "allowed are"}},
      {{"--learn", "mlp", "--weight-decay", "-1"}, {"weight-decay = -1", "allowed are"}},
      {{"--learn", "mlp", "--clip-norm", "big"}, {"clip-norm = big", "allowed are"}},
      {{"--learn", "mlp", "--learning-rate-schedule", "line"},
       {"line", "constant, step or cosine"}},
      {{"--learn", "mlp", "--learning-rate-warm-up", "-2"}, {"warm-up = -2", "allowed are"}},
      {{"--learn", "mlp", "--skew", "0"}, {"skew = 0", "allowed are", "none"}},
      {{"--learn", "mlp", "--evaluate-every", "0"}, {"evaluate-every = 0", "epoch"}},
      {{"--learn", "mlp", "--until", "0.9"}, {"until = 0.9", "accuracy:X", "loss:X"}},
      {{"--learn", "mlp", "--until", "accuracy:1.1"}, {"accuracy = 1.1", "0 to 1"}},
      {{"--learn", "mlp", "--until", "loss:nan"}, {"loss = nan", "allowed are"}},
      {{"--learn", "mlp", "--staleness-rate", "inverse"}, {"staleness-rate", "bsp", "workers"}},
      {{"--learn", "mlp", "--schedule", "asp", "--staleness-rate", "inverse", "--rate-in-residual",
        "on"},
       {"--rate-in-residual", "off"}},
      {{"--learn", "mlp", "--schedule", "local-sgd", "--rate-in-residual", "on"},
       {"--rate-in-residual", "local-sgd", "off"}},
      {{"--learn", "mlp", "--max-iterations", "20"}, {"--max-iterations", "iterations or until"}},
      {{"--learn", "mlp", "--interval", "0.5"}, {"--interval", "iterations or until"}},
      {{"--learn", "mlp", "--hidden", "0"}, {"hidden = 0", "allowed are"}},
      {{"--learn", "softmax", "--hidden", "8"}, {"--hidden", "problem softmax"}},
      {{"--learn", "mlp", "--classes", "4"}, {"--classes", "data digits"}},
      {{"--learn", "mlp", "--data", "generated", "--classes", "1"}, {"classes = 1", "allowed are"}},
      {{"--learn", "cnn", "--data", "generated"}, {"cnn", "images"}},
      {{"--learn", "mlp", "--data", "/no/such/folder"}, {"/no/such/folder"}},
      {{"--schedule", "local-sgd", "--local-steps", "0", "--learn", "mlp"},
       {"local-steps = 0", "allowed are"}},
      {{"--learn", "mlp", "--schedule", "local-sgd", "--average-delay", "8"},
       {"average-delay = 8", "less than local-steps = 8"}},
      {{"--learn", "mlp", "--schedule", "local-sgd", "--average-delay", "-1"},
       {"average-delay = -1", "allowed are"}},
      {{"--learn", "mlp", "--schedule", "local-sgd", "--replica", "rack"},
       {"rack", "worker, node or site"}},
      {{"--learn", "mlp", "--schedule", "local-sgd", "--replica", "node", "--exchange", "ps",
        "--servers", "0"},
       {"replica = node", "exchange ps", "allowed is worker"}},
      {{"--learn", "mlp", "--schedule", "local-sgd", "--average-mixing", "1.5"},
       {"average-mixing = 1.5", "allowed are", "changes"}},
      {{"--learn", "mlp", "--schedule", "local-sgd", "--average-mixing", "half"},
       {"average-mixing = half", "allowed are", "changes"}},
      {{"--learn", "mlp", "--schedule", "backup", "--backup-workers", "2"},
       {"backup-workers = 2", "at least one of 2 workers", "less than that"}},
      {{"--learn", "mlp", "--schedule", "backup", "--backup-workers", "20"},
       {"backup-workers = 20", "at least one of 2 workers", "less than that"}},
      {{"--learn", "mlp", "--schedule", "n-softsync", "--splitting", "3"},
       {"splitting = 3", "allowed is up to the number of workers, 2"}},
      {{"--learn", "mlp", "--schedule", "n-softsync", "--splitting", "0"},
       {"splitting = 0", "allowed are"}},
      {{"--learn", "mlp", "--schedule", "easgd", "--moving-rate", "1.5"},
       {"moving-rate = 1.5", "allowed are", "auto"}},
      {{"--learn", "mlp", "--schedule", "easgd", "--period", "0"}, {"period = 0", "allowed are"}},
      {{"--learn", "mlp", "--schedule", "easgd", "--compressor", "topk"},
       {"compressor = topk", "schedule easgd sends parameters", "allowed is none"}},
      {{"--learn", "mlp", "--schedule", "easgd", "--staleness-rate", "inverse"},
       {"staleness-rate = inverse", "schedule easgd", "allowed is workers"}},
      {{"--learn", "mlp", "--schedule", "local-sgd", "--replica", "site"},
       {"site", "host ", "no property `site`"}},
      {{"--learn", "mlp", "--schedule", "bsp", "--replica", "site"},
       {"--replica", "means nothing to schedule bsp"}},
  };
  for (const Wrong& wrong : all) {
    std::vector<std::string> arguments{"run", "--platform", "two-hosts", "--throughput", "100"};
    arguments.insert(arguments.end(), wrong.arguments.begin(), wrong.arguments.end());
    const Ended ended = run_program(arguments);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, {"syncline: "});
    expect_mentions(ended.err, wrong.mentions);
  }
}

// Once, the figures were NaN, and the program asked the user to report that.
TEST(Until, MetInWarmUpIsMeasuredFromTheStart) {
  for (const char* schedule : {"bsp", "asp", "ssp", "inhad", "local-sgd", "backup"}) {
    const Ended ended =
        run_program({"run", "--platform", "straggler-8x1", "--throughput", "1000", "--learn",
                     "digits", "--schedule", schedule, "--until", "loss:2.5", "--warmup", "20"});
    EXPECT_EQ(ended.code, 0) << schedule << ": " << ended.err;
    expect_mentions(ended.out, {"target", "loss 2.5: after", "figures are from the start"});
  }
}

TEST(HeldOut, ValidationIsSaidAndChangesWhatIsHeldOut) {
  const auto accuracy = [](const std::string& held_out) {
    const Ended ended =
        run_program({"run", "--platform", "two-hosts", "--throughput", "1000", "--learn", "digits",
                     "--iterations", "100", "--held-out", held_out});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out.find("the last 360 of the others are held out") != std::string::npos,
              held_out == "validation");
    return ended.out.substr(ended.out.find("\naccuracy"), 40);
  };
  EXPECT_NE(accuracy("test"), accuracy("validation"));
}

TEST(BadLearning, NeedsSecondsOfComputation) {
  const Ended ended = run_program({"run", "--platform", "two-hosts", "--learn", "mlp"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
  expect_mentions(ended.err, {"throughput", "efficiency"});
}

TEST(BadLearning, WithoutAModelIsOnlyAllowedWithLearn) {
  const Ended ended = run_program({"run", "--platform", "two-hosts", "--throughput", "100"});
  EXPECT_EQ(ended.code, 2);
  expect_mentions(ended.err, {"--model"});
}

}  // namespace
}  // namespace syncline
