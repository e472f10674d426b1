// What papers say of losses under compression, on handwritten digits with each problem's default
// settings, 8 workers and 50 epochs, as our runs have it: confirmed or not. The experiments
// error-feedback, quantised and cat show more of the same.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

constexpr int workers = 8;
constexpr int batch = 32;

Options digits(const std::string& problem, const Options& more) {
  Options options{{"learn", problem},
                  {"platform", star_platform({.nodes = workers, .nic_Bps = 1e8})},
                  {"throughput", "1000"},
                  {"batch", std::to_string(batch)},
                  {"iterations", "281"}};  // 50 epochs
  for (const auto& [key, value] : more)
    options[key] = value;
  return options;
}

Options both(Options first, const Options& second) {
  first.insert(second.begin(), second.end());
  return first;
}

std::vector<CurvePoint> curve(const Options& options) {
  return simulated(options).trace.learned->curve;
}

double last_loss(const std::string& problem, const Options& more) {
  return curve(digits(problem, more)).back().loss;
}

const Options topk_sgd{{"schedule", "topk-sgd"}, {"compressor", "topk"}, {"density", "0.01"}};

// By seed: how far TopK-SGD's loss at the end is above BSP's, as a part of that.
std::vector<double> topk_above_bsp(const std::string& problem, Options setting, int seeds) {
  std::vector<double> all;
  for (int seed = 1; seed <= seeds; ++seed) {
    setting["seed"] = std::to_string(seed);
    all.push_back(last_loss(problem, both(setting, topk_sgd)) / last_loss(problem, setting) - 1);
  }
  return all;
}

// Shi et al. 2019, Alistarh et al. 2018: it ends where BSP does. 2 % mean something where the least
// loss is far from 0, as with the first two problems.
TEST(Claims, TopkSgdEndsWithinTwoPercentOfBspWhereWorkersAreAlikeWithTwoSeeds) {
  for (const double above : topk_above_bsp("least-squares", {}, 2))
    EXPECT_NEAR(above, -0.003, 0.002);
  for (const double above : topk_above_bsp("logistic", {}, 2))
    EXPECT_NEAR(above, -0.005, 0.006);
}

// A loss near 0 that goes on falling is another after every step.
TEST(Claims, TopkSgdEndsNearBspWithMlpOnAverageOfThreeSeedsOnly) {
  const std::vector<double> mlp = topk_above_bsp("mlp", {}, 3);
  EXPECT_LT(std::abs(mlp[0] + mlp[1] + mlp[2]) / 3, 0.02);
  EXPECT_GT(*std::ranges::max_element(mlp), 0.02);
}

TEST(Claims, TopkSgdEndsBelowBspWithSoftmaxWithOneSeed) {
  EXPECT_NEAR(topk_above_bsp("softmax", {}, 1).front(), -0.076, 0.01);
}

TEST(Claims, TopkSgdEndsFarAboveBspWhereShardsDifferWithTwoSeeds) {
  for (const double above : topk_above_bsp("least-squares", {{"skew", "0.1"}}, 2))
    EXPECT_GT(above, 0.06);
}

// Alistarh et al. 2018: what is left of that goes to zero with the learning rate, if there is error
// feedback; without, it stays.
TEST(Claims, ErrorFeedbackConvergesAsTheRateFallsAndTopkAloneDoesNotWithOneSeed) {
  for (const auto& [rate, iterations] : {std::pair("0.1", "400"), {"0.02", "2000"}}) {
    const Options setting{{"skew", "0.1"},
                          {"learning-rate", rate},
                          {"iterations", iterations},
                          {"evaluate-every", "143700"}};
    const double dense = last_loss("least-squares", setting);
    const double with = last_loss("least-squares", both(setting, topk_sgd)) / dense - 1;
    if (std::string(rate) == "0.1")
      EXPECT_GT(with, 0.06);
    else
      EXPECT_LT(std::abs(with), 0.02);
    const double without =
        last_loss("least-squares", both({{"error-feedback", "off"}}, both(setting, topk_sgd)));
    EXPECT_NEAR(without / dense - 1, 0.6, 0.1) << rate;
  }
}

// After every iteration: the largest distance of 4-bit QSGD's loss from BSP's, as a part of that.
double farthest_from_bsp(const std::string& problem, Options setting) {
  setting["evaluate-every"] = std::to_string(workers * batch);
  const std::vector<CurvePoint> dense = curve(digits(problem, setting));
  const std::vector<CurvePoint> quantised =
      curve(digits(problem, both(setting, {{"compressor", "qsgd"}, {"bits", "4"}})));
  EXPECT_GT(dense.size(), 280u);
  EXPECT_EQ(dense.size(), quantised.size());
  double farthest = 0;
  for (std::size_t i = 0; i < std::min(dense.size(), quantised.size()); ++i)
    farthest = std::max(farthest, std::abs(quantised[i].loss / dense[i].loss - 1));
  return farthest;
}

// Alistarh et al. 2017: four bits lose nothing. All along the curve.
TEST(Claims, FourBitsOfQsgdAreWithinOnePercentOfBspPerIterationWithOneSeed) {
  EXPECT_LT(farthest_from_bsp("softmax", {}), 0.005);
  EXPECT_NEAR(farthest_from_bsp("mlp", {}), 0.011, 0.002);
  // Contradicted: where shards differ, steps are rough.
  EXPECT_NEAR(farthest_from_bsp("mlp", {{"skew", "0.1"}}), 0.2, 0.05);
}

// Khirirat et al. 2020: choosing how much to send at every step costs less than any fixed density,
// in what communication is said to cost. That of a worker to a part of the loss at the start.
struct Spent {
  double affine = 0;
  double packets = 0;
};

Spent spent(const Options& method, const char* feedback, double part) {
  const double parameters = 4810;
  const double start = 2.38037;
  const std::vector<CurvePoint> points =
      curve(both(method, digits("mlp", {{"error-feedback", feedback},
                                        {"evaluate-every", std::to_string(workers * batch)},
                                        {"until", "loss:" + std::to_string(part * start)}})));
  EXPECT_NEAR(points.front().loss, start, 1e-4);
  const double element_bits = 32 + std::ceil(std::log2(parameters));
  const double packet_elements = std::floor(512 / element_bits);
  Spent all;
  for (std::size_t i = 1; i < points.size(); ++i) {
    // All are gathered by all; an element has 8 bytes. CAT's packets are full, but for fixed
    // densities a part of one costs one.
    const double elements = (points[i].bytes - points[i - 1].bytes) / (workers * (workers - 1)) / 8;
    all.affine += 576 * elements * element_bits / 512 + 64;
    const double packets = elements / packet_elements;
    all.packets += 576 * (method.contains("cost") ? packets : std::ceil(packets)) + 64;
  }
  return all;
}

// Confirmed without error feedback, which its theory does without, too. With it, contradicted: what
// small messages leave out is not lost.
TEST(Claims, CatCostsLessThanAnyFixedDensityWithoutErrorFeedbackOnlyWithOneSeed) {
  struct Verdict {
    const char* feedback;
    double part, affine, packets;  // of what the best fixed density costs
  };
  for (const Verdict& verdict : {Verdict{"off", 0.5, 0.89, 0.62}, Verdict{"on", 0.04, 2.68, 1.2}}) {
    const auto spent_with = [&](const Options& method) {
      return spent(method, verdict.feedback, verdict.part);
    };
    Spent least{1e99, 1e99};
    for (const char* density : {"0.001", "0.003", "0.01", "0.03"}) {
      const Spent fixed = spent_with({{"compressor", "topk"}, {"density", density}});
      least.affine = std::min(least.affine, fixed.affine);
      least.packets = std::min(least.packets, fixed.packets);
    }
    const Spent affine = spent_with({{"compressor", "cat"}, {"cost", "affine"}});
    EXPECT_NEAR(affine.affine / least.affine, verdict.affine, 0.05) << verdict.feedback;
    const Spent packets = spent_with({{"compressor", "cat"}, {"cost", "packet"}});
    EXPECT_NEAR(packets.packets / least.packets, verdict.packets, 0.05) << verdict.feedback;
  }
}

// Where cost is bits alone, its rule is to send the largest value and nothing else.
TEST(Claims, CatSendsOneValueWhereOnlyBitsCostWithOneSeed) {
  const std::vector<CurvePoint> points =
      curve(digits("mlp", {{"compressor", "cat"},
                           {"cost", "payload"},
                           {"iterations", "10"},
                           {"evaluate-every", std::to_string(workers * batch)}}));
  for (std::size_t i = 1; i < points.size(); ++i)
    EXPECT_EQ(points[i].bytes, static_cast<double>(i) * 8 * workers * (workers - 1));
}

}  // namespace
}  // namespace syncline
