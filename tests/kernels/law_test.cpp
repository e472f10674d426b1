// What papers prove about their quantisers, and what this project promises of every compressor.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <sstream>

#include "kernels/compressor.h"
#include "kernels/cpu/tiles.h"
#include "tests/kernels/data.h"

namespace syncline {
namespace {

// Lemma 3.1 of arXiv 1610.02132: E||Q(v) - v||^2 <= min(n/s^2, sqrt(n)/s) ||v||^2 per bucket.
TEST(Qsgd, VarianceIsBelowTheBoundOfThePaper) {
  for (const int bits : {2, 4, 8}) {
    const double levels = (1 << (bits - 1)) - 1, n = 512;
    const std::vector<float> v = gauss(512, 4);
    double error = 0;
    const int trials = 300;
    for (int trial = 0; trial < trials; ++trial)
      error += squared_error(v, sent_by("qsgd", {{"bits", std::to_string(bits)}, {"norm", "two"}},
                                        v, {static_cast<std::uint64_t>(trial), 0, 0})
                                    .decoded) /
               trials;
    EXPECT_LE(error, 1.02 * std::min(n / (levels * levels), std::sqrt(n) / levels) * squared(v));
  }
}

double mean_bits(const std::string& coding, int bits, std::size_t bucket) {
  double total = 0;
  const int buckets = 400;
  const std::vector<float> v = gauss(bucket * buckets, 5);
  const Sent sent = sent_by("qsgd",
                            {{"bits", std::to_string(bits)},
                             {"norm", "two"},
                             {"coding", coding},
                             {"quant-bucket", std::to_string(bucket)}},
                            v);
  total = 8.0 * static_cast<double>(sent.message.size()) / buckets;
  return total;
}

// Theorem 3.2: (3 + 3/2 log2(2 (s^2 + n) / (s (s + sqrt n)))) s (s + sqrt n) + 32 bits, where the
// lemma requires s^2 + sqrt(n) <= n/2. A bucket here also needs its end mark and a byte boundary.
TEST(Qsgd, SparseCodeIsShorterThanTheBoundOfThePaper) {
  for (const int bits : {2, 3}) {
    const double s = (1 << (bits - 1)) - 1, n = 4096, nonzero = s * (s + std::sqrt(n));
    ASSERT_LE(s * s + std::sqrt(n), n / 2);
    const double bound = (3 + 1.5 * std::log2(2 * (s * s + n) / nonzero)) * nonzero + 32;
    EXPECT_LE(mean_bits("sparse", bits, 4096), bound + 8 + 25);
  }
}

// Lemma A.6: 32 + ((log2(1 + (s^2 + min(n, s sqrt n)) / n) + 1) / 2 + 2) n bits, without its o(1).
// With s = sqrt(n) that is 3.29 n + 32; the "2.8 n + 32" quoted beside it omits the + 1, and the
// omega code does not reach it (about 3.2 n). Buckets of 64 with s = 7, of 256 with s = 15.
TEST(Qsgd, DenseCodeIsShorterThanTheBoundOfThePaper) {
  for (const int bits : {4, 5}) {
    const double s = (1 << (bits - 1)) - 1, n = bits == 4 ? 64 : 256;
    const double spread = (s * s + std::min(n, s * std::sqrt(n))) / n;
    EXPECT_LE(mean_bits("dense", bits, static_cast<std::size_t>(n)),
              32 + ((std::log2(1 + spread) + 1) / 2 + 2) * n + 8)
        << bits << " bits";
  }
}

TEST(Qsgd, FourBitsInBucketsOf512AreFourBitsAndAScale) {
  EXPECT_EQ(sent_by("qsgd", {}, gauss(1024, 1)).message.size(), 2 * 4u + 512u);
}

TEST(PowerSgd, RecoversAMatrixOfItsRankExactly) {
  const std::size_t side = 64;
  const std::vector<float> a = gauss(side, 1), b = gauss(side, 2), c = gauss(side, 3),
                           d = gauss(side, 4);
  std::vector<float> matrix;
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t j = 0; j < side; ++j)
      matrix.push_back(a[i] * b[j] + c[i] * d[j]);
  const Sent sent = sent_by("powersgd", {{"rank", "2"}}, matrix);
  EXPECT_LE(squared_error(matrix, sent.decoded), 1e-8 * squared(matrix));
  EXPECT_EQ(sent.message.size(), 4 * 2 * (64u + 64u));
}

TEST(ErrorFeedback, EverythingIsSentInTheEnd) {
  for (const char* name : {"topk", "gaussiank", "mstopk", "dgc", "randomk", "efsign", "onebit",
                           "threshold", "powersgd", "adacomp"}) {
    const std::vector<float> g = gauss(4096, 20);
    std::vector<double> arrived(g.size());
    State state;
    const int steps = 300;
    std::map<std::string, std::string> given = {{"density", "0.05"}};
    for (std::uint32_t step = 0; step < steps; ++step) {
      const Sent sent = sent_by(name, given, g, {1, step, 0}, state);
      for (std::size_t i = 0; i < g.size(); ++i)
        arrived[i] += sent.decoded[i];
    }
    double wrong = 0, size = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      wrong += std::pow(arrived[i] / steps - g[i], 2);
      size += std::pow(g[i], 2);
    }
    EXPECT_LE(wrong, 0.05 * size) << name;
  }
}

// What a compressor has sent may stay in the residual until its next message.
TEST(ErrorFeedback, SettlingTheResidualChangesNoLaterMessage) {
  for (const auto& [name, compressor] : Registered<Compressor>::all()) {
    const Settings settings = settings_at(compressor, has_density(compressor) ? "0.01" : "");
    State lazy, settled;
    for (std::uint32_t step = 0; step < 4; ++step) {
      std::vector<float> values = gauss(1003, step + 1);
      if (step == 1)
        values[500] = std::numeric_limits<float>::infinity();
      Message expected, got;
      compressor.cpu.encode(settings, std::span<const float>(values), {7, step, 3}, lazy, expected);
      compressor.cpu.encode(settings, std::span<const float>(values), {7, step, 3}, settled, got);
      settle(settled);
      EXPECT_TRUE(expected == got) << name << ", step " << step;
      EXPECT_TRUE(same_residual(lazy, settled)) << name << ", step " << step;
      EXPECT_TRUE(settled.sent.positive == 0 && settled.sent_rank == 0) << name;
    }
  }
}

// A worker that is left out of the second round has sent nothing: its next message starts from all.
TEST(ErrorFeedback, AFirstHalfAloneSendsNothing) {
  int tried = 0;
  for (const auto& [name, compressor] : Registered<Compressor>::all()) {
    if (!compressor.first_half)
      continue;
    ++tried;
    const Settings settings = settings_at(compressor, "");
    const std::vector<float> values[] = {gauss(1003, 1), gauss(1003, 2), gauss(1003, 3)};
    State halved, added;
    Message half, expected, got;
    for (State* const state : {&halved, &added})
      compressor.cpu.encode(settings, std::span<const float>(values[0]), {7, 0, 3}, *state, half);
    settle(added);
    for (std::size_t i = 0; i < values[1].size(); ++i)
      added.residual[i] = values[1][i] + added.residual[i];
    compressor.first_half(settings, std::span<const float>(values[1]), {7, 1, 3}, halved, half);
    EXPECT_TRUE(same_residual(added, halved)) << name;
    compressor.cpu.encode(settings, std::span<const float>(values[2]), {7, 2, 3}, added, expected);
    compressor.cpu.encode(settings, std::span<const float>(values[2]), {7, 2, 3}, halved, got);
    EXPECT_TRUE(expected == got) << name;
    EXPECT_TRUE(same_residual(added, halved)) << name;
  }
  EXPECT_GT(tried, 0);
}

TEST(Threads, AnyNumberGivesTheSameBytes) {
  const std::vector<float> values = gauss(200000, 30);
  const int all = threads();
  for (const auto& [name, compressor] : Registered<Compressor>::all()) {
    Message expected;
    for (const int count : {1, 2, 3}) {
      use_threads(count);
      const Message got = sent_by(name, {}, values).message;
      if (count == 1)
        expected = got;
      EXPECT_TRUE(got == expected) << name << " with " << count << " threads";
    }
  }
  use_threads(all);
}

// One compressor is one file: the stem of every file in compressors/ is its name.
TEST(Registry, EveryCompressorAnswersToTheStemOfItsFile) {
  std::vector<std::string> stems = {RECIPE};  // the README's, compiled into these tests
  for (const auto& file :
       std::filesystem::directory_iterator(std::string(KERNELS_FOLDER) + "/compressors"))
    if (file.path().extension() == ".cpp")
      stems.push_back(file.path().stem());
  std::sort(stems.begin(), stems.end());
  EXPECT_EQ(stems, Registered<Compressor>::names());
}

}  // namespace
}  // namespace syncline
