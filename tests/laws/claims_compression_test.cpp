// Papers' claims about losses under compression, checked in our runs on handwritten digits with 8
// workers: confirmed or not. The experiments error-feedback, quantised and cat show more. Where
// methods compete, each uses the learning rate that the experiment's tune.cfg chose for it.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <tuple>

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

// For each of three seeds: by what share TopK-SGD's final loss is above BSP's.
std::vector<double> topk_above_bsp(const std::string& problem, const Options& setting,
                                   const Options& topk, const Options& bsp) {
  std::vector<double> all;
  for (const char* seed : {"1", "2", "3"}) {
    const Options same = both({{"seed", seed}}, setting);
    all.push_back(last_loss(problem, both(both(same, topk_sgd), topk)) /
                      last_loss(problem, both(same, bsp)) -
                  1);
  }
  return all;
}

Options falling(const char* rate) {
  return {{"learning-rate", rate}, {"learning-rate-schedule", "cosine"}};
}

// Shi et al. 2019, Alistarh et al. 2018: TopK-SGD ends at BSP's loss. 2 % is a meaningful distance
// where the least loss is far from 0, as in these two problems.
TEST(Claims, TopkSgdEndsWithinTwoPercentOfBspWithThreeSeeds) {
  const Options thousand{{"iterations", "1000"}}, shards{{"skew", "0.1"}};
  for (const double above :
       topk_above_bsp("least-squares", thousand, falling("0.1"), falling("0.1")))
    EXPECT_NEAR(above, 0, 0.0005);
  for (const double above :
       topk_above_bsp("least-squares", both(thousand, shards), falling("0.05"), falling("0.1")))
    EXPECT_NEAR(above, 0, 0.0025);
  for (const double above : topk_above_bsp("logistic", {}, falling("8"), falling("2")))
    EXPECT_NEAR(above, -0.0185, 0.003);
  for (const double above : topk_above_bsp("logistic", shards, falling("2"), falling("2")))
    EXPECT_NEAR(above, 0.006, 0.012);
}

// TopK-SGD tolerates twice the learning rate.
TEST(Claims, TopkSgdEndsFarBelowBspWithMlpWithThreeSeeds) {
  for (const double above :
       topk_above_bsp("mlp", {}, {{"learning-rate", "2"}}, {{"learning-rate", "1"}}))
    EXPECT_NEAR(above, -0.6, 0.06);
}

TEST(Claims, TopkAloneEndsFarAboveBspAtItsBestRateWithThreeSeeds) {
  for (const double above :
       topk_above_bsp("least-squares", {{"iterations", "1000"}},
                      {{"learning-rate", "0.4"}, {"error-feedback", "off"}}, falling("0.1")))
    EXPECT_NEAR(above, 0.12, 0.01);
}

// Not at the problem's learning rate if that stays constant.
TEST(Claims, TopkSgdEndsFarAboveBspWhereShardsDifferAtAConstantRateWithThreeSeeds) {
  for (const double above : topk_above_bsp("least-squares", {{"skew", "0.1"}}, {}, {}))
    EXPECT_GT(above, 0.06);
}

// Alistarh et al. 2018: with error feedback the remaining distance goes to zero with the learning
// rate; without, it stays.
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

// The largest distance of 4-bit QSGD's loss from BSP's after any iteration, as a share of BSP's.
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

// Alistarh et al. 2017: four bits lose nothing. Checked along the whole curve, at the same learning
// rate.
TEST(Claims, FourBitsOfQsgdAreWithinOnePercentOfBspPerIterationWithThreeSeeds) {
  EXPECT_LT(farthest_from_bsp("softmax", {}), 0.005);
  for (const char* seed : {"1", "2", "3"})
    EXPECT_NEAR(farthest_from_bsp("mlp", {{"seed", seed}}), 0.0095, 0.003) << seed;
  // Contradicted where shards differ: steps are rough there.
  EXPECT_NEAR(farthest_from_bsp("mlp", {{"skew", "0.1"}}), 0.2, 0.05);
}

// Iterations with the quantiser divided by those without, for each seed, with the learning rates
// that experiments/quantised/tune.cfg chose.
std::vector<double> iterations_to_a_tenth(const Options& quantiser) {
  std::vector<double> parts;
  for (const char* seed : {"1", "2", "3"}) {
    const auto iterations = [&](const Options& method) {
      const auto all = curve(
          both(method,
               digits("mlp", {{"seed", seed}, {"until", "loss:0.1"}, {"evaluate-every", "256"}})));
      EXPECT_LE(all.back().loss, 0.1);
      return static_cast<double>(all.size() - 1);
    };
    parts.push_back(iterations(quantiser) / iterations({{"learning-rate", "1.4"}}));
  }
  return parts;
}

TEST(Claims, FewerBitsTakeAsManyIterationsUntilVarianceIsLargeWithThreeSeeds) {
  for (const Options& level : {Options{{"bits", "4"}, {"learning-rate", "1"}},
                               Options{{"bits", "2"}, {"learning-rate", "1"}}})
    for (const double part : iterations_to_a_tenth(both(level, {{"compressor", "qsgd"}})))
      EXPECT_NEAR(part, 1, 0.21);
  for (const double part : iterations_to_a_tenth({{"compressor", "qsgd"},
                                                  {"bits", "2"},
                                                  {"norm", "two"},
                                                  {"quant-bucket", "8192"},
                                                  {"learning-rate", "0.7"}}))
    EXPECT_NEAR(part, 1.36, 0.25);
  for (const double part :
       iterations_to_a_tenth({{"compressor", "efsign"}, {"learning-rate", "4"}}))
    EXPECT_NEAR(part, 0.41, 0.09);
}

// Khirirat et al. 2020: choosing at every step how much to send costs less than any fixed density,
// in the paper's measures of communication cost. Here: one worker's cost up to a given loss, for
// each seed, with the learning rates that experiments/cat/tune.cfg chose.
struct Spent {
  double bits = 0;
  double affine = 0;
  double packets = 0;
};

std::vector<Spent> spent(const std::string& problem, const Options& method) {
  const double element_bits = 32 + std::ceil(std::log2(problem == "mlp" ? 4810 : 650));
  const double packet_elements = std::floor(512 / element_bits);
  std::vector<Spent> seeds;
  for (const char* seed : {"1", "2", "3"}) {
    const std::vector<CurvePoint> points =
        curve(both(method, digits(problem, {{"seed", seed},
                                            {"iterations", "600"},
                                            {"evaluate-every", std::to_string(workers * batch)}})));
    Spent all;
    for (std::size_t i = 1; i < points.size(); ++i) {
      // An all-gather among all workers; an element has 8 bytes. CAT's packets are full; with fixed
      // densities a partly filled packet costs a whole one.
      const double elements =
          (points[i].bytes - points[i - 1].bytes) / (workers * (workers - 1)) / 8;
      const double packets = elements / packet_elements;
      all.bits += elements * element_bits;
      all.affine += 576 * elements * element_bits / 512 + 64;
      all.packets += 576 * (method.contains("cost") ? packets : std::ceil(packets)) + 64;
    }
    const std::string& target = method.at("until");
    EXPECT_LE(points.back().loss, std::stod(target.substr(target.find(':') + 1))) << seed;
    seeds.push_back(all);
  }
  return seeds;
}

Options fixed_density(const char* density, const char* rate) {
  return {{"compressor", "topk"}, {"density", density}, {"learning-rate", rate}};
}

Options cat(const char* cost, const char* rate) {
  return {{"compressor", "cat"}, {"cost", cost}, {"learning-rate", rate}};
}

// Under packet costs and without error feedback, CAT sends exactly one packet at every step: as
// good as the fixed density that fills one, and no better.
TEST(Claims, CatIsOnePacketAlwaysWithoutErrorFeedbackWithThreeSeeds) {
  const Options setting{{"error-feedback", "off"}, {"until", "loss:1.19"}};
  const std::vector<Spent> chosen = spent("mlp", both(setting, cat("packet", "2.8"))),
                           packet = spent("mlp", both(setting, fixed_density("0.0023", "2.8"))),
                           four = spent("mlp", both(setting, fixed_density("0.001", "4")));
  for (std::size_t seed = 0; seed < chosen.size(); ++seed) {
    EXPECT_DOUBLE_EQ(chosen[seed].packets, packet[seed].packets) << seed;
    EXPECT_LT(chosen[seed].packets, 0.95 * four[seed].packets) << seed;
  }
}

// Contradicted with error feedback: what small messages leave out is not lost.
TEST(Claims, CatCostsMoreThanAFixedDensityWithErrorFeedbackWithThreeSeeds) {
  const Options setting{{"until", "loss:0.0952"}};
  const std::vector<Spent> affine = spent("mlp", both(setting, cat("affine", "2.8"))),
                           four = spent("mlp", both(setting, fixed_density("0.001", "2.8"))),
                           packet = spent("mlp", both(setting, cat("packet", "2.8"))),
                           eleven = spent("mlp", both(setting, fixed_density("0.0023", "2.8")));
  for (std::size_t seed = 0; seed < affine.size(); ++seed) {
    EXPECT_NEAR(affine[seed].affine / four[seed].affine, 1.75, 0.3) << seed;
    EXPECT_NEAR(packet[seed].packets / eleven[seed].packets, 1.12, 0.07) << seed;
  }
}

// Confirmed where training goes on for long without error feedback: least squares, down to a fifth
// of the initial excess over the least loss.
TEST(Claims, CatCostsLessThanAFixedDensityWithLeastSquaresWithThreeSeeds) {
  const Options setting{{"error-feedback", "off"}, {"until", "loss:0.302"}};
  const std::vector<Spent> affine = spent("least-squares", both(setting, cat("affine", "0.56"))),
                           three =
                               spent("least-squares", both(setting, fixed_density("0.005", "0.8")));
  for (std::size_t seed = 0; seed < affine.size(); ++seed)
    EXPECT_NEAR(affine[seed].affine / three[seed].affine, 0.83, 0.11) << seed;
}

// If only bits cost, CAT's rule sends just the largest value: the cheapest way, given large enough
// learning rates.
TEST(Claims, CatSendsOneValueWhereOnlyBitsCostWithOneSeed) {
  const std::vector<CurvePoint> points =
      curve(digits("mlp", {{"compressor", "cat"},
                           {"cost", "payload"},
                           {"iterations", "10"},
                           {"evaluate-every", std::to_string(workers * batch)}}));
  for (std::size_t i = 1; i < points.size(); ++i)
    EXPECT_EQ(points[i].bytes, static_cast<double>(i) * 8 * workers * (workers - 1));
}

TEST(Claims, OneValueCostsTheFewestBitsToTheTargetWithThreeSeeds) {
  for (const auto& [setting, one, few] :
       {std::tuple(Options{{"error-feedback", "off"}, {"until", "loss:1.19"}}, "8", "4"),
        {Options{{"until", "loss:0.0952"}}, "2.8", "2.8"}}) {
    const std::vector<Spent> payload = spent("mlp", both(setting, cat("payload", one))),
                             four = spent("mlp", both(setting, fixed_density("0.001", few)));
    for (std::size_t seed = 0; seed < payload.size(); ++seed)
      EXPECT_LT(payload[seed].bits, 0.85 * four[seed].bits) << seed;
  }
}

}  // namespace
}  // namespace syncline
