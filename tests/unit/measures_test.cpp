// What messages lose, compared with the promises of papers, and histograms of what was compressed.
#include "sim/learning/measures.h"

#include <cmath>
#include <gtest/gtest.h>

#include "tests/unit/coded.h"

namespace syncline {
namespace {

Coded coded(WrittenOptions words) {
  words.emplace("exchange", "allgather");
  return {words, {2, 2}};
}

Promise promised(const WrittenOptions& words, std::size_t elements, std::size_t sent) {
  const Coded here = coded(words);
  return here.compression.compressor().promise(here.compression.settings(0), elements, sent);
}

TEST(Promise, OfSparsifiersIsOfTheKThatTheyAreAskedFor) {
  for (const char* name : {"topk", "gaussiank", "mstopk", "sidco", "dgc", "randomk"}) {
    const Promise promise = promised({{"compressor", name}, {"density", "0.25"}}, 1000, 300);
    EXPECT_EQ(promise.values, 250) << name;
    EXPECT_EQ(promise.left_out, 0.75) << name;
    EXPECT_FALSE(promise.bits) << name;
    if (std::string(name) == "randomk")
      EXPECT_FALSE(promise.left_out_of_a_bell);
    else
      EXPECT_EQ(promise.left_out_of_a_bell, 0.5625) << name;
  }
  const Promise all = promised({{"compressor", "topk"}, {"density", "1"}}, 7, 7);
  EXPECT_EQ(all.left_out, 0);
}

TEST(Promise, OfThoseThatDecideOnKIsOfTheKTheySent) {
  for (const WrittenOptions& words :
       {WrittenOptions{{"compressor", "threshold"}}, WrittenOptions{{"compressor", "cat"}}}) {
    const Promise promise = promised(words, 1000, 500);
    EXPECT_EQ(promise.values, 500);
    EXPECT_EQ(promise.left_out, 0.5);
    EXPECT_EQ(promise.left_out_of_a_bell, 0.25);
  }
  // With one scale for all signs, or with values scaled up, another part is left out.
  const Promise signs = promised({{"compressor", "cat"}, {"rule", "sign"}}, 1000, 500);
  EXPECT_EQ(signs.values, 500);
  EXPECT_FALSE(signs.left_out);
  const Promise drawn = promised({{"compressor", "cat"}, {"rule", "stochastic"}}, 1000, 500);
  EXPECT_FALSE(drawn.values || drawn.left_out || drawn.left_out_of_a_bell || drawn.bits);
}

// Alistarh et al., Lemma 3.1 with s = 2^(bits - 1) - 1 levels, Theorem 3.2 and Lemma A.6.
TEST(Promise, OfQsgdIsItsVarianceAndItsCodeLength) {
  const auto of = [](const char* bits, const char* bucket, const char* norm, const char* coding,
                     std::size_t elements) {
    return promised({{"compressor", "qsgd"},
                     {"bits", bits},
                     {"quant-bucket", bucket},
                     {"norm", norm},
                     {"coding", coding}},
                    elements, 0);
  };
  EXPECT_EQ(of("4", "512", "two", "fixed", 5000).left_out, std::sqrt(512.0) / 7);
  EXPECT_EQ(of("4", "512", "max", "fixed", 5000).left_out, std::sqrt(512.0) / 7);
  EXPECT_EQ(of("4", "512", "two", "fixed", 16).left_out, 16.0 / 49);
  EXPECT_EQ(of("8", "512", "two", "fixed", 5000).left_out, 512.0 / (127 * 127));
  EXPECT_FALSE(of("4", "512", "two", "fixed", 5000).bits);
  EXPECT_FALSE(of("4", "512", "max", "sparse", 5000).bits);
  EXPECT_FALSE(of("4", "64", "two", "sparse", 5000).bits) << "49 + 8 > 64 / 2";
  // (3 + 3/2 log2(2 (1 + 1024) / (1 + 32))) (1 + 32) + 32, for each of three buckets
  EXPECT_NEAR(*of("2", "1024", "two", "sparse", 3000).bits, 3 * 425.872, 0.01);
  EXPECT_NEAR(*of("4", "16", "two", "dense", 16).bits,
              32 + ((std::log2(1 + 65.0 / 16) + 1) / 2 + 2) * 16, 1e-9);
  EXPECT_FALSE(of("4", "512", "two", "fixed", 5000).values);
}

Measures::MeasuredMessage message(double left_out, std::optional<double> bound) {
  return {
      .values = 10, .sent = 2, .bytes = 5, .left_out = left_out, .promise = {.left_out = bound}};
}

TEST(Measures, KnowTheLeastAndTheMostOfOneMessage) {
  Measures measures(0);
  for (const std::size_t sent : {7, 3, 9, 5}) {
    Measures::MeasuredMessage one = message(0, {});
    one.sent = sent;
    measures.add(sent == 9 ? 1 : 0, one);
  }
  EXPECT_EQ(measures.all().least_sent_values, 3);
  EXPECT_EQ(measures.all().most_sent_values, 9);
  EXPECT_EQ(measures.iterations()[0].least_sent_values, 3);
  EXPECT_EQ(measures.iterations()[0].most_sent_values, 7);
  EXPECT_EQ(measures.iterations()[1].least_sent_values, 9);
  EXPECT_EQ(measures.all().empty, 0);
}

// One of two messages in the first iteration, none of two in the second.
TEST(Measures, KnowThePartOfMessagesThatSentNothing) {
  Measures measures(0);
  for (const std::size_t sent : {0, 3, 5, 9}) {
    Measures::MeasuredMessage one = message(0, {});
    one.sent = sent;
    measures.add(sent < 5 ? 0 : 1, one);
  }
  EXPECT_EQ(measures.all().empty, 0.25);
  EXPECT_EQ(measures.iterations()[0].empty, 0.5);
  EXPECT_EQ(measures.iterations()[1].empty, 0);
}

TEST(Measures, AreMeansOfIterationsAndOfAll) {
  Measures measures(0);
  EXPECT_EQ(measures.all().messages, 0);
  measures.add(3, message(0.5, 0.75));
  measures.add(1, message(1, 0.75));
  measures.add(3, message(0.25, {}));
  const auto rows = measures.iterations();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].iteration, 1);
  EXPECT_EQ(rows[0].left_out_bound, 0.75);
  EXPECT_EQ(rows[1].iteration, 3);
  EXPECT_EQ(rows[1].messages, 2);
  EXPECT_EQ(rows[1].left_out, 0.375);
  EXPECT_FALSE(rows[1].left_out_bound) << "not of both";
  const Compressed all = measures.all();
  EXPECT_EQ(all.messages, 3);
  EXPECT_EQ(all.values, 10);
  EXPECT_EQ(all.sent_values, 2);
  EXPECT_EQ(all.bits_per_value, 4);
  EXPECT_DOUBLE_EQ(all.left_out, 1.75 / 3);
  EXPECT_FALSE(all.left_out_bound || all.target_values || all.bits_bound);
}

// No message is lost, however long a run is and whichever worker is ahead.
TEST(Measures, OfLongRunsHaveRowsOfSeveralIterations) {
  constexpr int iterations = 25'000;
  Measures measures(0);
  for (int i = 0; i < iterations; ++i) {
    measures.add(i, message(i, 1));
    measures.add(std::max(0, i - 5000), message(0, 1));
  }
  const auto rows = measures.iterations();
  EXPECT_LE(rows.size(), Measures::most_rows);
  EXPECT_EQ(rows.size(), iterations / 4U);
  double left_out = 0;
  std::int64_t messages = 0;
  for (const Compressed& row : rows) {
    EXPECT_EQ(row.iteration % 4, 0);
    messages += row.messages;
    left_out += row.left_out * static_cast<double>(row.messages);
  }
  EXPECT_EQ(messages, 2 * iterations);
  EXPECT_NEAR(left_out / static_cast<double>(messages), measures.all().left_out, 1e-6);
}

TEST(Histogram, IsOfTheFirstIterationsAndThenOfRarerOnes) {
  Measures measures(5);
  std::vector<int> watched;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(measures.watches(0, 3 * i + 2));
    const bool watches = measures.watches(5, 3 * i + 2);
    EXPECT_EQ(measures.watches(5, 3 * i + 2), watches) << "the iteration's other messages";
    if (watches)
      watched.push_back(i);
  }
  EXPECT_EQ(watched, (std::vector<int>{0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512}));
  EXPECT_TRUE(measures.histogram().empty()) << "nothing was there to see";
}

TEST(Histogram, CountsValuesAndSquaresBetweenDeviations) {
  Measures measures(0);
  ASSERT_TRUE(measures.watches(0, 7));
  std::vector<float> values(62, -1);
  values.insert(values.end(), 60, 3);
  measures.watch(7, values);
  double mean = 0, square = 0;
  for (const float value : values) {
    mean += value / 122.0;
    square += value * value / 122.0;
  }
  const double deviation = std::sqrt(square - mean * mean);
  const auto bins = measures.histogram();
  ASSERT_EQ(bins.size(), 50U);
  EXPECT_FALSE(bins.front().from);
  EXPECT_EQ(bins.front().to, -6);
  EXPECT_FALSE(bins.back().to);
  double share = 0, squares = 0, normal = 0, normal_squares = 0;
  for (const HistogramBin& bin : bins) {
    EXPECT_EQ(bin.iteration, 7);
    const double low = bin.from.value_or(-1e9), high = bin.to.value_or(1e9);
    const auto in = [&](double value) {
      const double place = (value - mean) / deviation;
      return place >= low && place < high;
    };
    EXPECT_DOUBLE_EQ(bin.share, (in(-1) ? 62.0 / 122 : 0) + (in(3) ? 60.0 / 122 : 0));
    EXPECT_NEAR(bin.square_share, (in(-1) ? 62 / 602.0 : 0) + (in(3) ? 540 / 602.0 : 0), 1e-12);
    share += bin.share;
    squares += bin.square_share;
    normal += bin.normal_share;
    normal_squares += bin.normal_square_share;
    const auto below = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
    EXPECT_NEAR(bin.normal_share, below(high) - below(low), 1e-9);
  }
  for (const double sum : {share, squares, normal, normal_squares})
    EXPECT_NEAR(sum, 1, 1e-9);
}

// For values with a normal distribution, also around a mean far from zero, measured and expected
// shares agree.
TEST(Histogram, OfNormalValuesIsTheNormalOne) {
  for (const double mean : {0.0, 3.0}) {
    std::vector<float> values;
    for (std::uint32_t i = 0; values.size() < 200'000; ++i) {
      const PhiloxWords words = philox({i, 0, 0, 0}, 1, 2);
      double sum = 0;  // of twelve uniform numbers: about normal with variance 1
      for (const std::uint32_t word : words)
        for (int part = 0; part < 3; ++part)
          sum += static_cast<double>(word >> 10 * part & 1023u) / 1023 - 0.5;
      values.push_back(static_cast<float>(mean + 0.5 * sum));
    }
    Measures here(0);
    ASSERT_TRUE(here.watches(0, 0));
    here.watch(0, values);
    for (const HistogramBin& bin : here.histogram()) {
      EXPECT_NEAR(bin.share, bin.normal_share, 0.004) << bin.from.value_or(-9);
      EXPECT_NEAR(bin.square_share, bin.normal_square_share, 0.006) << bin.from.value_or(-9);
    }
  }
}

TEST(Histogram, OfWhatIsAllTheSameHasNoShape) {
  Measures measures(0);
  ASSERT_TRUE(measures.watches(0, 0));
  measures.watch(0, std::vector<float>(100, 2.0f));
  EXPECT_TRUE(measures.histogram().empty());
}

}  // namespace
}  // namespace syncline
