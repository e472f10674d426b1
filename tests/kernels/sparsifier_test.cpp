// What papers say about their sparsifiers.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "kernels/arithmetic/keys.h"
#include "kernels/compressor.h"
#include "kernels/compressors/sidco.h"
#include "kernels/elementary.h"
#include "tests/kernels/data.h"

namespace syncline {
namespace {

// arXiv 1911.08772: ||u - Top_k(u)||^2 <= (1 - k/d)^2 ||u||^2 for bell-shaped u.
TEST(TopK, StaysInsideThePapersTighterBound) {
  for (const std::size_t which : {0u, 1u, 2u})  // gauss, laplace, student
    for (const double density : {0.001, 0.01, 0.1, 0.5}) {
      const std::vector<float> u = distributions()[which].values(100000, 9);
      const Sent sent = sent_by("topk", {{"density", std::to_string(density)}}, u);
      EXPECT_LE(squared_error(u, sent.decoded), (1 - density) * (1 - density) * squared(u));
    }
}

TEST(RandomK, MeetsTheClassicalBoundInExpectation) {
  const std::vector<float> u = gauss(5000, 2);
  double share = 0;
  const int trials = 400;
  for (int trial = 0; trial < trials; ++trial)
    share += squared_error(u, sent_by("randomk", {{"density", "0.1"}}, u,
                                      {static_cast<std::uint64_t>(trial), 0, 0})
                                  .decoded) /
             squared(u) / trials;
  EXPECT_NEAR(share, 0.9, 0.002);
}

TEST(RandomK, ChoosesEveryElementEquallyOften) {
  std::vector<int> times(100);
  const std::vector<float> ones(100, 1.0f);
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    const Sent sent = sent_by("randomk", {{"density", "0.1"}}, ones, {seed, 1, 2});
    for (std::size_t i = 0; i < times.size(); ++i)
      times[i] += sent.decoded[i] != 0 ? 1 : 0;
  }
  for (const int count : times)
    EXPECT_NEAR(count, 500, 5 * std::sqrt(450.0));
}

TEST(GaussianK, SelectsAboutKOfGaussianValues) {
  const std::vector<float> u = gauss(200000, 6);
  const std::size_t sent = pairs(sent_by("gaussiank", {{"density", "0.01"}}, u));
  EXPECT_GE(3 * sent, 2 * 2000u);
  EXPECT_LE(3 * sent, 4 * 2000u);
}

// Both sides of a bell lie above the one-sided threshold of 2.33 deviations: 2 k, so the loop goes
// to 3.49 (far too few) and to 1.745, where its three masks are used up: 8.1 % are sent.
TEST(GaussianK, OneSidedEndsWhereThePublishedLoopEnds) {
  std::vector<float> u = gauss(100000, 7);
  for (std::size_t i = 0; i < 100000; ++i)
    u.push_back(-u[i]);
  const Sent two = sent_by("gaussiank", {{"density", "0.01"}}, u);
  const Sent one = sent_by("gaussiank", {{"density", "0.01"}, {"sides", "one"}}, u);
  EXPECT_NEAR(static_cast<double>(pairs(two)), 2000, 300);
  EXPECT_NEAR(static_cast<double>(pairs(one)), 16198, 600);
}

TEST(GaussianK, TheLastChangeOfTheThresholdHasNoEffect) {
  // One huge value: mean + 3.3 deviations is above all others, and two halvings do not reach them.
  std::vector<float> u(100000, 1e-6f);
  u[5] = 1e6f;
  EXPECT_EQ(pairs(sent_by("gaussiank", {{"density", "0.01"}}, u)), 1u);
}

TEST(GaussianK, SelectsNothingOfATensorThatIsNotFinite) {
  std::vector<float> u = gauss(1000, 8);
  u[10] = std::nanf("");
  EXPECT_EQ(pairs(sent_by("gaussiank", {{"density", "0.01"}}, u)), 0u);
}

TEST(TopK, SendsNanFirstThenInfinity) {
  std::vector<float> u = gauss(1000, 8);
  u[10] = std::nanf("");
  u[20] = -std::numeric_limits<float>::infinity();
  const Sent sent = sent_by("topk", {{"density", "0.002"}}, u);
  EXPECT_TRUE(std::isnan(sent.decoded[10]));
  EXPECT_TRUE(std::isinf(sent.decoded[20]));
}

TEST(TopK, OfTensorsWithFewerThanKValuesSendsTheFirstZerosToo) {
  const Compressor& topk = Registered<Compressor>::find("topk");
  const Draw draw{7, 2, 3};
  for (const std::size_t n : {100u, 70001u, 262144u, 300007u})
    for (const char* feedback : {"on", "off"}) {
      const Settings settings(topk.options, {{"density", "0.02"}, {"error-feedback", feedback}});
      const std::size_t k = wanted(0.02, n);
      for (const auto& [name, values] : few_values(n, k, draw)) {
        SCOPED_TRACE(name + ", " + std::to_string(n) + ", error feedback " + feedback);
        const std::vector<Half> half_values = halves(values);
        for (const Gradient& g : {Gradient(std::span<const float>(values)),
                                  Gradient(std::span<const Half>(half_values))}) {
          State plain, fast;
          for (int step = 0; step < 2; ++step) {
            Message expected, got;
            topk.reference.encode(settings, g, draw, plain, expected);
            topk.cpu.encode(settings, g, draw, fast, got);
            ASSERT_EQ(got.size(), k * (4 + value_bytes(g.precision())));
            ASSERT_TRUE(expected == got);
            ASSERT_TRUE(same_residual(plain, fast));
          }
        }
      }
    }
}

TEST(MsTopK, SendsExactlyKAndNearlyTheLargest) {
  const std::vector<float> u = gauss(200000, 10);
  const Sent ms = sent_by("mstopk", {{"density", "0.01"}}, u);
  const Sent top = sent_by("topk", {{"density", "0.01"}}, u);
  EXPECT_EQ(pairs(ms), 2000u);
  std::size_t both = 0;
  for (std::size_t i = 0; i < u.size(); ++i)
    both += ms.decoded[i] != 0 && top.decoded[i] != 0 ? 1 : 0;
  EXPECT_GE(both, 1980u);  // over 99 %, as in the paper
}

TEST(Dgc, TrimsToKWhenTheSampleLetsTooManyThrough) {
  const std::vector<float> u = gauss(200000, 11);
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_LE(3 * pairs(sent_by("dgc", {{"density", "0.001"}}, u, {seed, 0, 0})), 4 * 200u);
}

TEST(Dgc, MomentumCorrectionSumsVelocitiesAndMasksWhatIsSent) {
  const std::vector<float> g = {1, 0.1f, 0.1f, 0.1f};
  State state;
  const std::map<std::string, std::string> given = {{"density", "0.25"}, {"momentum", "0.5"}};
  sent_by("dgc", given, g, {}, state);
  const std::span<const float> momentum = memory_of<float>(state, g.size());
  EXPECT_EQ(momentum[0], 0);  // sent, so masked
  EXPECT_EQ(state.residual[0], 0);
  EXPECT_FLOAT_EQ(momentum[1], 0.1f);
  sent_by("dgc", given, g, {}, state);
  EXPECT_FLOAT_EQ(momentum[1], 0.15f);  // 0.5 * 0.1 + 0.1
  EXPECT_FLOAT_EQ(state.residual[1], 0.1f + 0.15f);
}

// The sum that was put into an empty residual: what was sent plus what was left.
std::vector<float> clipped(const std::vector<float>& g, double limit) {
  State state;
  std::vector<float> sum =
      sent_by("dgc", {{"density", "0.1"}, {"clip-norm", std::to_string(limit)}}, g, {}, state)
          .decoded;
  for (std::size_t i = 0; i < g.size(); ++i)
    sum[i] += state.residual[i];
  return sum;
}

TEST(Dgc, ClipsANormAboveTheLimitAndNoOther) {
  for (const Distribution& distribution : distributions())
    for (const std::size_t n : {1u, 31u, 20011u})
      for (const double limit : {0.01, 5.0, 1e4}) {
        if (!distribution.finite)
          continue;
        SCOPED_TRACE(distribution.name + ", " + std::to_string(n) + ", " + std::to_string(limit));
        const std::vector<float> g = distribution.values(n, 3), kept = clipped(g, limit);
        if (squared(g) < 0.999 * limit * limit) {
          EXPECT_EQ(kept, g);
          continue;
        }
        EXPECT_LE(std::sqrt(squared(kept)), limit * (1 + 1e-5));
        std::size_t top = 0;
        for (std::size_t i = 0; i < n; ++i)
          top = std::abs(g[i]) > std::abs(g[top]) ? i : top;
        const double factor = kept[top] / g[top];
        for (std::size_t i = 0; i < n; ++i)  // the same factor for all
          ASSERT_NEAR(kept[i], factor * g[i], 1e-6 * std::abs(factor * g[i]) + 1e-44);
      }
}

TEST(Dgc, ClippingReachesTheLimit) {
  EXPECT_NEAR(std::sqrt(squared(clipped(gauss(20011, 3), 5))), 5, 1e-4);
  // These squares exceed fp32: the bound on their norm is twice the largest value.
  EXPECT_NEAR(std::sqrt(squared(clipped({3e20f, 4e20f, 0, 0}, 5))), 5 * 5 / 8.0, 1e-4);
}

TEST(Dgc, ClippingHidesNeitherNanNorInfinity) {
  for (const float special :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const std::vector<float> g = {1, special, 3, -4};
    EXPECT_EQ(bits_of(clipped(g, 0.1)), bits_of(g));
  }
}

TEST(Dgc, ClipsAsTheReferenceDoes) {
  const Compressor& dgc = Registered<Compressor>::find("dgc");
  for (const Distribution& distribution : distributions())
    for (const char* momentum : {"0", "0.9"})
      for (const char* limit : {"0.1", "100"}) {
        SCOPED_TRACE(distribution.name + ", momentum " + momentum + ", limit " + limit);
        const Settings settings(
            dgc.options, {{"density", "0.01"}, {"momentum", momentum}, {"clip-norm", limit}});
        const std::vector<float> values = distribution.values(20011, 7);
        const std::vector<Half> half_values = halves(values);
        for (const Gradient& g : {Gradient(std::span<const float>(values)),
                                  Gradient(std::span<const Half>(half_values))}) {
          State plain, fast;
          for (std::uint32_t step = 0; step < 3; ++step) {
            Message expected, got;
            dgc.reference.encode(settings, g, {7, step, 3}, plain, expected);
            dgc.cpu.encode(settings, g, {7, step, 3}, fast, got);
            ASSERT_TRUE(expected == got);
            ASSERT_TRUE(same_residual(plain, fast));
            ASSERT_TRUE(memory_bits_of(plain) == memory_bits_of(fast));
          }
        }
      }
}

TEST(Dgc, WarmsUpByQuarters) {
  const std::vector<float> u = gauss(100000, 5);
  const std::map<std::string, std::string> given = {
      {"density", "0.001"}, {"warm-up", "8"}, {"sample", "0.5"}};
  std::vector<double> shares;
  for (const std::uint32_t step : {0u, 1u, 2u, 4u, 6u, 7u, 8u})
    shares.push_back(static_cast<double>(pairs(sent_by("dgc", given, u, {1, step, 0}))) / 1e5);
  const std::vector<double> expected = {0.25,       0.25,       0.0625, 0.015625,
                                        0.00390625, 0.00390625, 0.001};
  for (std::size_t i = 0; i < shares.size(); ++i)
    EXPECT_NEAR(shares[i] / expected[i], 1, 0.4) << i;  // half are sampled
}

TEST(Sidco, AdaptsItsStagesUntilAboutKAreSent) {
  State state;
  std::size_t sent = 0;
  for (std::uint32_t step = 0; step < 40; ++step)
    sent = pairs(sent_by("sidco", {{"density", "0.001"}, {"error-feedback", "off"}},
                         gauss(200000, step), {1, step, 0}, state));
  EXPECT_NEAR(static_cast<double>(sent), 200, 80);
}

WireSize size_of(const std::string& name, const std::map<std::string, std::string>& given,
                 std::size_t elements) {
  const Compressor& compressor = Registered<Compressor>::find(name);
  return compressor.wire_bytes({compressor.options, given}, elements, Precision::fp32);
}

TEST(WireSize, BandsAreThoseOfTheStoppingRules) {
  const auto expect = [](const WireSize& size, double low, double middle, double high) {
    EXPECT_EQ(size.low, 8 * low);
    EXPECT_EQ(size.bytes, 8 * middle);
    EXPECT_EQ(size.high, 8 * high);
  };
  expect(size_of("gaussiank", {{"density", "0.01"}}, 100000), 667, 1000, 1333);
  expect(size_of("gaussiank", {{"density", "0.01"}}, 100), 1, 1, 1);
  expect(size_of("gaussiank", {{"density", "1"}}, 300), 200, 300, 300);
  expect(size_of("sidco", {{"density", "0.01"}}, 100000), 800, 1000, 1200);
  expect(size_of("dgc", {{"density", "0.01"}}, 100000), 10, 1000, 1333);  // from a sample of 1000
  expect(size_of("dgc", {{"density", "0"}}, 100000), 0, 0, 0);
  for (const char* name : {"topk", "mstopk"})
    expect(size_of(name, {{"density", "0.01"}}, 100000), 1000, 1000, 1000);
}

TEST(WireSize, MessagesOfGaussianValuesAreInsideTheBand) {
  const std::size_t n = 100000;
  for (const char* density : {"0.001", "0.01", "0.1"})
    for (const char* name : {"gaussiank", "dgc"}) {
      const WireSize band = size_of(name, {{"density", density}}, n);
      for (std::uint32_t step = 0; step < 10; ++step) {
        const std::map<std::string, std::string> given = {{"density", density}};
        const Sent sent = sent_by(name, given, gauss(n, step), {step, step, 0});
        EXPECT_GE(static_cast<double>(sent.message.size()), band.low) << name << ", " << density;
        EXPECT_LE(static_cast<double>(sent.message.size()), band.high) << name << ", " << density;
      }
    }
}

// SIDCo adapts to the mean of five encodings, and has converged when the number of stages stays.
TEST(WireSize, SidcosMessagesAreInsideTheBandOnceItHasConverged) {
  const std::size_t n = 100000;
  int converged = 0;
  for (const char* density : {"0.001", "0.01", "0.1"}) {
    const std::map<std::string, std::string> given = {{"density", density},
                                                      {"error-feedback", "off"}};
    const WireSize band = size_of("sidco", given, n);
    State state;
    const auto stages_of = [](State& one) { return memory_of<SidcoMemory>(one, 1).front().stages; };
    for (std::uint32_t five = 0; five < 10; ++five) {
      const int stages = stages_of(state);
      double mean = 0;
      for (std::uint32_t step = 5 * five; step < 5 * five + 5; ++step)
        mean += static_cast<double>(
                    sent_by("sidco", given, gauss(n, step), {1, step, 0}, state).message.size()) /
                5;
      if (stages_of(state) != stages)
        continue;
      ++converged;
      EXPECT_GE(mean, band.low) << density;
      EXPECT_LE(mean, band.high) << density;
    }
  }
  EXPECT_GE(converged, 10);
}

// Magnitudes with a gamma distribution: its own fit must find the requested share, within the error
// of the authors' closed form (shape 0.5 to 1).
TEST(Sidco, GammaFitFindsTheTailOfGammaValues) {
  for (const double shape : {0.5, 0.8, 1.0}) {
    std::mt19937_64 random(21);
    std::gamma_distribution<float> magnitude(static_cast<float>(shape), 0.01f);
    std::vector<float> u(400000);
    for (float& value : u)
      value = magnitude(random) * (random() % 2 == 0 ? 1.0f : -1.0f);
    const double sent = static_cast<double>(
        pairs(sent_by("sidco", {{"density", "0.01"}, {"fit", "gamma"}, {"stages", "1"}}, u)));
    EXPECT_GT(sent, 0.4 * 4000) << shape;
    EXPECT_LT(sent, 1.6 * 4000) << shape;
  }
}

// exp, log and log Gamma of elementary.h compared with the C library's.
TEST(Elementary, AgreesWithTheCLibrary) {
  for (double x = -650; x < 650; x += 0.37)
    EXPECT_NEAR(steady_exp(x) / std::exp(x), 1, 1e-14) << x;
  for (double x = 1e-300; x < 1e300; x *= 1.7)
    EXPECT_NEAR(steady_log(x), std::log(x), 1e-15 * std::fabs(std::log(x)) + 1e-15) << x;
  for (double x = 0.01; x < 200; x *= 1.03) {
    EXPECT_NEAR(steady_sqrt(x) / std::sqrt(x), 1, 1e-14) << x;
    EXPECT_NEAR(steady_log_gamma(x), std::lgamma(x), 1e-9) << x;
  }
  EXPECT_TRUE(std::isnan(steady_log(std::nan(""))) && std::isnan(steady_exp(std::nan(""))));
  EXPECT_TRUE(std::isnan(steady_sqrt(-1)) && std::isnan(steady_sqrt(std::nan(""))));
  EXPECT_TRUE(std::isinf(steady_exp(800)) && steady_exp(-800) == 0 && steady_sqrt(0) == 0);
}

TEST(Cat, PayloadCostAloneSendsOneElement) {
  EXPECT_EQ(pairs(sent_by("cat", {{"cost", "payload"}}, gauss(5000, 3))), 1u);
}

TEST(Cat, AHigherFixedCostSendsMore) {
  const std::vector<float> u = gauss(50000, 3);
  std::size_t before = 0;
  for (const char* fixed : {"10", "10000", "1000000"}) {
    const std::size_t now = pairs(sent_by("cat", {{"cost", "affine"}, {"fixed-cost", fixed}}, u));
    EXPECT_GT(now, before);
    before = now;
  }
}

// The walk's answer by brute force: the T with the most energy per cost.
TEST(Cat, TheWalkFindsTheMaximumOverAllT) {
  const std::vector<float> u = gauss(3000, 12);
  std::vector<double> squares;
  for (const float value : u)
    squares.push_back(static_cast<double>(value) * value);
  std::sort(squares.rbegin(), squares.rend());
  double energy = 0, best_ratio = 0;
  std::size_t best = 0;
  for (std::size_t i = 0; i < squares.size(); ++i) {
    energy += squares[i];
    const double cost = 576.0 / 512 * static_cast<double>(i + 1) * (12 + 32) + 50000;
    if (energy / cost > best_ratio) {
      best_ratio = energy / cost;
      best = i + 1;
    }
  }
  EXPECT_EQ(pairs(sent_by("cat", {{"cost", "affine"}, {"fixed-cost", "50000"}}, u)), best);
}

TEST(Cat, StochasticRuleIsUnbiased) {
  const std::vector<float> u = gauss(200, 13);
  std::vector<double> mean(u.size()), squares(u.size());
  const int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    const Sent sent =
        sent_by("cat", {{"rule", "stochastic"}, {"cost", "affine"}, {"fixed-cost", "3000"}}, u,
                {static_cast<std::uint64_t>(trial), 0, 0});
    for (std::size_t i = 0; i < u.size(); ++i) {
      mean[i] += sent.decoded[i] / trials;
      squares[i] += sent.decoded[i] * sent.decoded[i] / trials;
    }
  }
  for (std::size_t i = 0; i < u.size(); ++i)
    EXPECT_NEAR(mean[i], u[i], 0.02 + 6 * std::sqrt(squares[i] / trials)) << i;
}

}  // namespace
}  // namespace syncline
