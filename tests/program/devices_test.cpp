// Devices, precisions and memory: mistakes a user may make, and what a result says.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/io/text.h"
#include "tests/program/program.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

Ended run_device(const std::vector<std::string>& more, const std::string& folder) {
  std::vector<std::string> arguments{"run",   "--platform", "two-regions-2x4x8", "--workers", "2",
                                     "--out", "out",        "--iterations",      "2"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments, folder);
}

TEST(BadDevices, AreAnsweredInOneLineWithExitCodeTwo) {
  const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> all{
      {{"--precision", "fp8"}, {"precision = fp8", "fp32, tf32, bf16 or fp16"}},
      {{"--wire-precision", "tf32"}, {"wire-precision = tf32", "fp32, bf16 or fp16"}},
      {{"--activation-bytes", "-1"}, {"activation-bytes = -1", "allowed are"}},
      {{"--activation-bytes", "much"}, {"activation-bytes = much"}},
      {{"--efficiency", "0.4", "--precision", "bf16", "--device", "v100"},
       {"precision = bf16", "device v100", "a100"}},
      {{"--efficiency", "0.4", "--precision", "tf32", "--device", "abacus"},
       {"precision = tf32", "device abacus", "a100"}},
      {{"--precision", "bf16"}, {"no compute cost", "bf16"}},
      {{"--throughput", "9", "--price", "device"}, {"price = device", "or devices"}},
      {{"--throughput", "9", "--price", "devices", "--device", "t4"},
       {"price = devices", "device t4", "h100"}},
      {{"--throughput", "9", "--precision", "bf16", "--learn", "digits"},
       {"--precision", "bf16 with learn", "wire-precision"}},
      {{"--throughput", "9", "--wire-precision", "bf16", "--learn", "digits"},
       {"--wire-precision", "bf16 with learn"}},
  };
  for (const auto& [arguments, mentions] : all) {
    const TemporaryFolder folder;
    std::vector<std::string> with_model{"--model", "resnet50"};
    with_model.insert(with_model.end(), arguments.begin(), arguments.end());
    const Ended ended = run_device(with_model, folder.path());
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, mentions);
  }
}

TEST(Devices, ThatAreTooSmallAreAWarningWithItsArithmetic) {
  const TemporaryFolder folder;
  const std::string fits =
      "10.21 B parameters x (2 parameters + 2 gradients + 4 fp32 copy) bytes "
      "= 81.69 GB ";
  const Ended ended = run_device({"--model", "llama-10b", "--precision", "bf16", "--efficiency",
                                  "0.4", "--activation-bytes", "0"},
                                 folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  expect_mentions(ended.out, {"warning", "does not fit into memory: " + fits + "> 40 GB of a100",
                              "312 TFLOP/s, the bf16 peak of a100"});
  const Ended larger = run_device({"--model", "llama-10b", "--precision", "bf16", "--efficiency",
                                   "0.4", "--device", "h200", "--activation-bytes", "0"},
                                  folder.path());
  EXPECT_EQ(larger.out.find("memory"), std::string::npos) << larger.out;
  const Ended explained =
      run_program({"explain", "--platform", "two-regions-2x4x8", "--workers", "2", "--model",
                   "llama-10b", "--precision", "bf16", "--efficiency", "0.4", "--device", "h200",
                   "--activation-bytes", "0"});
  expect_mentions(explained.out, {"memory at least " + fits + "<= 141 GB of h200"});
}

TEST(Devices, ThatAreTooSmallForACellOfASweepLeaveItOutOfTheVerdict) {
  const Ended ended = run_device({"--model", "bert-large", "--precision", "bf16", "--efficiency",
                                  "0.4", "--batch", "8,32", "--activation-bytes", "2e9"},
                                 TemporaryFolder().path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  expect_mentions(ended.out,
                  {"memory", "18.69 GB of 40 GB", "66.69 GB of 40 GB",
                   "warning (batch 32): does not fit into memory: ", "batch 8 is the fastest: ",
                   "batch 32 does not fit into memory (66.69 GB of 40 GB): not a "
                   "candidate"});
}

// For this transformer, a fifth of the activations is kept if everything is recomputed.
TEST(Devices, KnowWhatRecomputeSparesOfTheirMemory) {
  const Ended ended = run_device({"--model", "gpt-1.3b", "--precision", "bf16", "--efficiency",
                                  "0.4", "--batch", "4", "--recompute", "off,full"},
                                 TemporaryFolder().path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  expect_mentions(ended.out, {"+ 4 samples x 11.91 GB of activations = 58.16 GB > 40 GB of a100",
                              "recompute full is the fastest", "recompute off does not fit"});
}

// Korthikanti et al. 2022: selective recomputation drops the scores of pairs of tokens, which
// FlashAttention does not keep anyway. Their products take 4 s s h of a block's 2 s (4 h h + 3 h f)
// + 4 s s h.
TEST(Devices, WarnThatSelectiveRecomputeSparesNothingOfFlashAttention) {
  const auto ended = [](const std::string& model, const std::string& recompute) {
    return run_device({"--model", model, "--precision", "bf16", "--efficiency", "0.4", "--batch",
                       "1", "--recompute", recompute},
                      TemporaryFolder().path());
  };
  const double s = 4096, h = 4096, f = 11008, words = 32000, blocks = 32;
  const double attention = blocks * 4 * s * s * h;
  const double forward = blocks * 2 * s * (4 * h * h + 3 * h * f) + attention + 2 * s * h * words;
  const Ended llama = ended("llama-2-7b", "selective");
  EXPECT_EQ(llama.code, 0) << llama.err;
  expect_mentions(llama.out,
                  {"recompute = selective spares no memory: model llama-2-7b",
                   fmt::format("takes {:.1f} % more computation", 100 * attention / (3 * forward)),
                   "full spares memory"});
  for (const auto& [model, recompute] : std::vector<std::pair<std::string, std::string>>{
           {"llama-2-7b", "full"}, {"llama-2-7b", "off"}, {"gpt-1.3b", "selective"}})
    EXPECT_EQ(ended(model, recompute).out.find("spares no"), std::string::npos) << model;
}

// The memory line names residuals: a worker of two nodes compresses everything, or with
// `hierarchical` the fourth that it sends between nodes; inhad compresses on the node's host.
TEST(Devices, NameTheResidualsInTheirMemory) {
  const auto memory = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{
        "explain", "--platform", "cloud:nodes=2:gpus=4", "--model",      "resnet50", "--throughput",
        "300",     "--device",   "v100-modelled",        "--compressor", "topk"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended explained = run_program(arguments);
    EXPECT_EQ(explained.code, 0) << explained.err;
    return explained.out;
  };
  expect_mentions(memory({}), {"(4 parameters + 4 gradients + 4 residual) bytes"});
  expect_mentions(memory({"--exchange", "hierarchical"}),
                  {"(4 parameters + 4 gradients + 4 x 0.25 residual) bytes"});
  expect_mentions(memory({"--exchange", "alltoall"}), {"4 gradients + 4 x 1.125 residual) bytes"});
  expect_mentions(memory({"--schedule", "asp"}), {"4 gradients + 4 residual) bytes"});
  expect_mentions(memory({"--schedule", "inhad"}), {"(4 parameters + 4 gradients) bytes"});
  expect_mentions(memory({"--dense-below", "1000000000"}), {"(4 parameters + 4 gradients) bytes"});
}

// 28 bytes for each of 25.56 million parameters.
TEST(Devices, SayAtWhichRateAnOptimizerSteps) {
  const auto explained = [](const std::string& device) {
    return run_program({"explain", "--platform", "two-regions-2x4x8", "--workers", "2", "--model",
                        "resnet50", "--throughput", "100", "--optimizer", "adam", "--device",
                        device})
        .out;
  };
  expect_mentions(
      explained("a100"),
      {"adam's step, 0.0005262 s on worker 0 (memory-bandwidth 1360 GB/s, measured of a100)"});
  expect_mentions(explained("h100"), {"(memory-bandwidth 3350 GB/s, nominal of h100)"});
}

// 16 V100, then 16 A100; their speeds are as 15.7 to 19.5 and their memories as 814 to 1360.
TEST(Devices, StepAtTheRateOfTheirOwnMemory) {
  const TemporaryFolder folder;
  const Ended ended = run_program(
      {"run", "--platform", "hetero-v100-a100", "--model", "resnet50", "--throughput", "100",
       "--optimizer", "adam", "--iterations", "2", "--warmup", "1", "--trace", "--out", "out"},
      folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  std::set<int> ranks;
  std::istringstream rows(text_of(folder.path("out/result.trace.csv")));
  for (std::string row; std::getline(rows, row);) {
    const std::vector<std::string> fields = split(row, ',');
    if (fields.size() < 5 || fields[4] != "step")
      continue;
    const int rank = std::stoi(fields[2]);
    EXPECT_NEAR(std::stod(fields[1]) - std::stod(fields[0]),
                28 * 25'557'032.0 / (rank < 16 ? 814e9 : 1360e9), 1e-8)
        << rank;
    ranks.insert(rank);
  }
  EXPECT_EQ(ranks.size(), 32U);
}

// Two A100 at 1.99 dollars per hour, together 100 samples/s.
TEST(Devices, HavePricesWithSellerAndDate) {
  const TemporaryFolder folder;
  const Ended ended = run_device(
      {"--model", "resnet20", "--throughput", "50", "--price", "devices"}, folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  expect_mentions(ended.out, {"a100 1.99 USD/h (lambda.ai", "2026-09-20"});
  const auto result = nlohmann::json::parse(text_of(folder.path("out/result.json")));
  const double per_s = result["figures"]["throughput_samples_per_s"];
  EXPECT_NEAR(result["figures"]["epoch_cost"].get<double>(), 1e6 / per_s / 3600 * 2 * 1.99, 1e-6);
  EXPECT_EQ(result["scenario"]["price"], "devices");
  const Ended sweep = run_device(
      {"--model", "resnet20", "--throughput", "50", "--price", "devices", "--device", "a100,h100"},
      TemporaryFolder().path());
  expect_mentions(sweep.out, {"Prices: a100 1.99 USD/h", "h100 3.99 USD/h"});
}

TEST(Devices, HavePricesInExplainToo) {
  const auto explained = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"explain",  "--platform",   "dgx:nodes=2", "--model",
                                       "resnet20", "--throughput", "50",          "--price"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments).out;
  };
  expect_mentions(explained({"devices"}),
                  {"price 3.99 for an hour of a worker, in the mean: h100 3.99 USD/h (", "2026-"});
  EXPECT_EQ(explained({"2"}).find("for an hour"), std::string::npos);
}

TEST(Devices, AreListed) {
  const Ended ended = run_program({"list", "devices"});
  EXPECT_EQ(ended.code, 0);
  expect_mentions(ended.out, {"h100 ", "bf16 989", "80 GB", "USD/h", "2026-09-20"});
  EXPECT_EQ(ended.out.find("modelled"), std::string::npos) << ended.out;
  const Ended tables = run_program({"list", "cost-tables"});
  EXPECT_EQ(tables.code, 0);
  expect_mentions(tables.out, {"v100-modelled ", "modelled on NVIDIA V100", "h100 "});
  EXPECT_EQ(tables.out.find("TFLOP/s"), std::string::npos) << tables.out;
}

}  // namespace
}  // namespace syncline
