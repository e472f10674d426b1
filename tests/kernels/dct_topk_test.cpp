// Top-k of cosine transforms, compared with a transform in double from the formula: what is sent,
// what stays, and the size.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numbers>

#include "kernels/arithmetic/packing.h"
#include "kernels/compressor.h"
#include "tests/kernels/data.h"

namespace syncline {
namespace {

using Given = std::map<std::string, std::string>;

Settings settings(const Given& given) {
  return Settings(Registered<Compressor>::find("dct-topk").options, given);
}

// Orthonormal DCT-II of `side` numbers, from the definition.
std::vector<double> cosine_transform(const std::vector<double>& x) {
  const double n = static_cast<double>(x.size());
  std::vector<double> transformed(x.size());
  for (std::size_t q = 0; q < x.size(); ++q) {
    for (std::size_t j = 0; j < x.size(); ++j)
      transformed[q] += x[j] * std::cos(std::numbers::pi / n * (static_cast<double>(j) + 0.5) *
                                        static_cast<double>(q));
    transformed[q] *= q == 0 ? std::sqrt(1 / n) : std::sqrt(2 / n);
  }
  return transformed;
}

// Transforms rows, then columns.
std::vector<double> of_square(const std::vector<float>& values, std::size_t side) {
  std::vector<double> square(values.begin(), values.end());
  for (const std::size_t step : {std::size_t{1}, side})
    for (std::size_t line = 0; line < side; ++line) {
      const std::size_t first = line * (step == 1 ? side : 1);
      std::vector<double> x;
      for (std::size_t i = 0; i < side; ++i)
        x.push_back(square[first + i * step]);
      x = cosine_transform(x);
      for (std::size_t i = 0; i < side; ++i)
        square[first + i * step] = x[i];
    }
  return square;
}

float value_of(const Message& message, std::size_t j) {
  float value = 0;
  std::memcpy(&value, message.data() + 4 * j, sizeof value);
  return value;
}

// The place of value j, of `sent` in all, read bit by bit.
std::size_t place_of(const Message& message, std::size_t sent, unsigned bits, std::size_t j) {
  std::size_t place = 0;
  for (unsigned bit = 0; bit < bits; ++bit)
    place |= static_cast<std::size_t>(get_number(message.data() + 4 * sent, j * bits + bit, 1))
             << bit;
  return place;
}

bool refused(const Given& given, const Message& message, std::size_t elements) {
  std::vector<float> sum(elements);
  try {
    Registered<Compressor>::find("dct-topk")
        .cpu.decode(settings(given), message, Precision::fp32, {}, sum);
  } catch (const CorruptMessage&) {
    return true;
  }
  return false;
}

class Sides : public testing::TestWithParam<std::size_t> {
 protected:
  std::size_t side = GetParam(), chunk = side * side;

  Given given(const std::string& density, const std::string& feedback = "on") const {
    return {{"chunk", std::to_string(chunk)}, {"density", density}, {"error-feedback", feedback}};
  }
};

TEST_P(Sides, CoefficientsAreThoseOfTheDefinition) {
  const std::vector<float> values = gauss(chunk, 1);
  const std::vector<double> expected = of_square(values, side);
  const Message message = sent_by("dct-topk", given("1"), values).message;
  for (std::size_t j = 0; j < chunk; ++j)
    ASSERT_NEAR(value_of(message, j), expected[j], 1e-5) << j;
}

TEST_P(Sides, AllCoefficientsGiveAllBack) {
  const std::vector<float> values = gauss(3 * chunk + 7, 2);
  State state;
  const Sent sent = sent_by("dct-topk", given("1"), values, {}, state);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(sent.decoded[i], values[i], 1e-5) << i;
    ASSERT_NEAR(state.residual[i], 0, 1e-5) << i;
  }
}

// A wave with the row and column frequencies of one coefficient becomes that coefficient alone,
// with the length of the chunk.
TEST_P(Sides, AProductOfTwoCosinesIsOneCoefficient) {
  for (const auto& [down, along] :
       {std::pair<std::size_t, std::size_t>{0, 0}, {3, 5}, {side - 1, 1}}) {
    std::vector<float> values(chunk);
    const auto wave = [this](std::size_t q, std::size_t i) {
      return std::cos(std::numbers::pi / static_cast<double>(side) *
                      (static_cast<double>(i) + 0.5) * static_cast<double>(q));
    };
    for (std::size_t i = 0; i < chunk; ++i)
      values[i] = static_cast<float>(3 * wave(down, i / side) * wave(along, i % side));
    const Sent sent = sent_by("dct-topk", given("0.0001"), values);
    const unsigned bits = side == 64 ? 12 : side == 32 ? 10 : 8;
    ASSERT_EQ(sent.message.size(), 4u + (bits + 7) / 8);
    EXPECT_EQ(place_of(sent.message, 1, bits, 0), down * side + along);
    EXPECT_NEAR(value_of(sent.message, 0) / std::sqrt(squared(values)), 1, 1e-6);
    EXPECT_LT(squared_error(values, sent.decoded), 1e-10 * squared(values));
  }
}

// The transform preserves lengths: the rest is shorter by the length of what was sent.
TEST_P(Sides, EnergySentIsTheEnergyThatIsGone) {
  const std::vector<float> values = gauss(5 * chunk + 100, 3);
  State state;
  const Message message = sent_by("dct-topk", given("0.05"), values, {}, state).message;
  const std::size_t sent = 5 * (chunk / 20) + 5;
  double gone = 0;
  for (std::size_t j = 0; j < sent; ++j)
    gone += std::pow(value_of(message, j), 2);
  const std::vector<float> left(state.residual.begin(), state.residual.end());
  EXPECT_NEAR((squared(left) + gone) / squared(values), 1, 1e-6);
  EXPECT_GT(gone / squared(values), 0.15);  // the largest 5 % of a bell have a quarter
}

// The coefficients of largest magnitude, by the definition.
TEST_P(Sides, SendsTheLargestOfEachChunk) {
  const std::vector<float> values = gauss(chunk, 4);
  std::vector<double> magnitudes = of_square(values, side);
  for (double& coefficient : magnitudes)
    coefficient = std::fabs(coefficient);
  const Message message = sent_by("dct-topk", given("0.02"), values).message;
  const std::size_t k = chunk / 50;
  std::ranges::sort(magnitudes, std::greater<>());
  double sum = 0, expected = 0;
  for (std::size_t j = 0; j < k; ++j) {
    sum += std::fabs(value_of(message, j));
    expected += magnitudes[j];
  }
  EXPECT_NEAR(sum, expected, 1e-6 * expected);
}

// The automatic grid only has chunks of 4096.
TEST_P(Sides, TheFastVersionHasTheBytesOfTheReference) {
  const Compressor& compressor = Registered<Compressor>::find("dct-topk");
  for (const Distribution& distribution : distributions())
    for (const std::string density : {"0.01", "0.5"})
      for (const std::string feedback : {"on", "off"}) {
        const Settings at = settings(given(density, feedback));
        const std::vector<float> floats = distribution.values(9 * chunk + 33, 5);
        const std::vector<Half> small = halves(floats);
        for (const Gradient& gradient : {Gradient(floats), Gradient(small)}) {
          State plain, fast;
          Message expected, message;
          compressor.reference.encode(at, gradient, {}, plain, expected);
          compressor.cpu.encode(at, gradient, {}, fast, message);
          ASSERT_EQ(message, expected) << distribution.name;
          ASSERT_TRUE(same_residual(plain, fast)) << distribution.name;
          std::vector<float> sum(floats.size(), 1), of_reference = sum;
          compressor.cpu.decode(at, message, gradient.precision(), {}, sum);
          compressor.reference.decode(at, message, gradient.precision(), {}, of_reference);
          for (std::size_t i = 0; i < sum.size(); ++i)
            ASSERT_TRUE(sum[i] == of_reference[i] ||
                        (sum[i] != sum[i] && std::isnan(of_reference[i])))
                << distribution.name << ' ' << i;
        }
      }
}

INSTANTIATE_TEST_SUITE_P(Of, Sides, testing::Values(16, 32, 64));

// DeMo's: 32 of 4096, as fp32 values and 12 bits each.
TEST(DctTopK, ThirtyTwoOfEachChunkAreA93rd) {
  const WireSize size = Registered<Compressor>::find("dct-topk")
                            .wire_bytes(settings({}), 1000 * 4096, Precision::fp32);
  EXPECT_EQ(size.bytes, 1000 * 32 * 5.5);
  EXPECT_GT(4.0 * 1000 * 4096 / size.bytes, 93);
}

TEST(DctTopK, WhatIsBehindTheLastWholeChunkIsSentAsItIs) {
  State state;
  const Sent sent =
      sent_by("dct-topk", {{"density", "0.6"}, {"decay", "0.5"}}, {1, -3, 0.5f, 4, 2}, {}, state);
  EXPECT_EQ(sent.decoded, (std::vector<float>{0, -3, 0, 4, 2}));
  EXPECT_EQ(std::vector<float>(state.residual.begin(), state.residual.end()),
            (std::vector<float>{0.5f, 0, 0.25f, 0, 0}));
  EXPECT_EQ(sent.message.size(), 3u * 4 + 5);
}

TEST(DctTopK, ZerosStayZeros) {
  State state;
  const Sent sent = sent_by("dct-topk", {}, std::vector<float>(4096), {}, state);
  for (std::size_t j = 0; j < 32; ++j) {
    EXPECT_EQ(value_of(sent.message, j), 0);
    EXPECT_EQ(place_of(sent.message, 32, 12, j), j);
  }
  EXPECT_EQ(sent.decoded, std::vector<float>(4096));
  EXPECT_EQ(squared({state.residual.begin(), state.residual.end()}), 0);
}

// The chunk then has no finite coefficients; it sends non-finite values, which stay out of the
// residual. Other chunks are unaffected.
TEST(DctTopK, WhatIsNotFiniteSpoilsItsChunkAndNoOther) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    std::vector<float> values = gauss(3 * 256, 6);
    values[300] = bad;
    State state;
    const Sent sent = sent_by("dct-topk", {{"chunk", "256"}}, values, {}, state);
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(std::isfinite(sent.decoded[i]), i / 256 != 1) << i;
      EXPECT_TRUE(i / 256 == 1 ? state.residual[i] == 0 : std::isfinite(state.residual[i])) << i;
    }
  }
}

TEST(DctTopK, RefusesMessagesThatNoEncoderMakes) {
  const Given given{{"density", "0.6"}};
  const Message good = sent_by("dct-topk", given, {1, -3, 0.5f, 4, 2}).message;
  EXPECT_FALSE(refused(given, good, 5));
  const auto with = [&](std::size_t byte, unsigned value) {
    Message message = good;
    message[byte] = static_cast<std::byte>(value);
    return message;
  };
  EXPECT_TRUE(refused(given, with(12, 3), 5)) << "places 3, 3, 4";
  EXPECT_TRUE(refused(given, with(15, 5), 5)) << "a place behind the end";
  EXPECT_TRUE(refused(given, with(16, 0x10), 5)) << "a bit behind the last place";
  EXPECT_TRUE(refused(given, Message(good.begin(), good.end() - 1), 5)) << "too short";
}

}  // namespace
}  // namespace syncline
