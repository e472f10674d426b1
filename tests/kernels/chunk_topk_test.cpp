// Chunk-wise top-k by hand: which values are chosen, what their two bits mean, what stays, and the
// size.
#include <gtest/gtest.h>

#include "kernels/compressor.h"
#include "tests/kernels/data.h"

namespace syncline {
namespace {

using Given = std::map<std::string, std::string>;

Settings settings(const Given& given) {
  return Settings(Registered<Compressor>::find("chunk-topk").options, given);
}

bool refused(const Given& given, const Message& message, std::size_t elements) {
  std::vector<float> sum(elements);
  try {
    Registered<Compressor>::find("chunk-topk")
        .cpu.decode(settings(given), message, Precision::fp32, {}, sum);
  } catch (const CorruptMessage&) {
    return true;
  }
  return false;
}

// The largest three are -3, 4 and 2, with mean magnitude 3: 4 and 3 are sent as 3.5, 2 as 2.
TEST(ChunkTopK, SendsTheMeansOfTwoLevelsAndKeepsTheRest) {
  const std::vector<float> values{1, -3, 0.5f, 4, 2};
  State state;
  const Sent sent = sent_by("chunk-topk", {{"density", "0.6"}}, values, {}, state);
  EXPECT_EQ(sent.decoded, (std::vector<float>{0, -3.5f, 0, 3.5f, 2}));
  EXPECT_EQ(std::vector<float>(state.residual.begin(), state.residual.end()),
            (std::vector<float>{1, 0.5f, 0.5f, 0.5f, 0}));
  EXPECT_EQ(sent.message.size(), 8u + 5 + 1);  // two levels, 3 x 12 bits, 3 x 2 bits
}

TEST(ChunkTopK, DecayIsTheShareOfTheRestThatStays) {
  State state;
  sent_by("chunk-topk", {{"density", "0.6"}, {"decay", "0.5"}}, {1, -3, 0.5f, 4, 2}, {}, state);
  EXPECT_EQ(std::vector<float>(state.residual.begin(), state.residual.end()),
            (std::vector<float>{0.5f, 0.25f, 0.25f, 0.25f, 0}));
}

// SparseLoCo's sizes: 64 of 4096 in 12 + 2 bits, a 146th of fp32.
TEST(ChunkTopK, SixtyFourOfEachChunkTakeFourteenBits) {
  const std::size_t chunks = 1000, elements = chunks * 4096;
  const WireSize size = Registered<Compressor>::find("chunk-topk")
                            .wire_bytes(settings({}), elements, Precision::fp32);
  EXPECT_EQ(size.bytes, 8.0 + chunks * 64 * 14 / 8);
  EXPECT_GT(4.0 * elements / size.bytes, 146);
}

// All values of the first chunk are larger than all of the second and of the third, which is not
// whole.
TEST(ChunkTopK, EachChunkSendsItsOwnLargest) {
  std::vector<float> values(2 * 256 + 100);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] =
        static_cast<float>((i < 256 ? 1000 : 1) + i * 7 % 256) * (i % 2 == 0 ? 1.0f : -1.0f);
  const Sent sent = sent_by("chunk-topk", {{"density", "0.05"}, {"chunk", "256"}}, values);
  std::vector<std::size_t> of_chunks(3);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t c = i / 256, end = std::min(values.size(), 256 * (c + 1));
    std::size_t larger = 0;
    for (std::size_t j = 256 * c; j < end; ++j)
      larger += std::abs(values[j]) > std::abs(values[i]) ? 1 : 0;
    const std::size_t k = c < 2 ? 12 : 5;
    EXPECT_EQ(sent.decoded[i] != 0, larger < k) << i;
    EXPECT_GE(sent.decoded[i] * values[i], 0) << i;
    of_chunks[c] += sent.decoded[i] != 0 ? 1 : 0;
  }
  EXPECT_EQ(of_chunks, (std::vector<std::size_t>{12, 12, 5}));
}

// Means are computed in double: the sum of two magnitudes near the largest float is not a float.
TEST(ChunkTopK, TheMeanOfLargeMagnitudesIsFinite) {
  const Sent sent = sent_by("chunk-topk", {{"density", "1"}}, {3e38f, -3e38f, 3e38f});
  EXPECT_EQ(sent.decoded, (std::vector<float>{3e38f, -3e38f, 3e38f}));
}

TEST(ChunkTopK, RefusesMessagesThatNoEncoderMakes) {
  const Given given{{"density", "0.6"}};
  const Message good = sent_by("chunk-topk", given, {1, -3, 0.5f, 4, 2}).message;
  EXPECT_FALSE(refused(given, good, 5));
  const auto with = [&](std::size_t byte, unsigned value) {
    Message message = good;
    message[byte] = static_cast<std::byte>(value);
    return message;
  };
  EXPECT_TRUE(refused(given, with(3, 0xc0), 5)) << "a level below zero";
  EXPECT_TRUE(refused(given, with(8, 3), 5)) << "places 3, 3, 4";
  EXPECT_TRUE(refused(given, with(11, 5), 5)) << "a place behind the end";
  EXPECT_TRUE(refused(given, with(12, 0x10), 5)) << "a bit behind the last place";
  EXPECT_TRUE(refused(given, with(13, 0xc2), 5)) << "a bit behind the last code";
}

}  // namespace
}  // namespace syncline
