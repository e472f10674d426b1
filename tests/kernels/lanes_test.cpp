// Compares the vector functions of lanes.h with one element at a time. Compiled for this machine
// and for narrower ones, because some functions have a version for each.
#include "kernels/arithmetic/lanes.h"

#include <gtest/gtest.h>
#include <vector>

#include "kernels/arithmetic/keys.h"
#include "kernels/arithmetic/packing.h"
#include "kernels/arithmetic/quantise.h"
#include "kernels/philox.h"

namespace syncline {
namespace {

Draw draw_of(std::uint32_t step) {
  return {0x123456789abcdefu, step, 7};
}

// Random bits: numbers of every size, infinities and NaNs among them.
std::vector<float> any_floats(std::size_t count, std::uint32_t step) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(std::bit_cast<float>(random_words(draw_of(step), i)[0]));
  return values;
}

TEST(Lanes, AComparisonGivesOneBitPerLane) {
  for (std::uint32_t pattern = 0; pattern < 0x10000u; pattern += 77) {
    Masks masks;
    for (std::uint32_t lane = 0; lane < lane_width; ++lane)
      masks[lane] = (pattern >> lane & 1u) != 0 ? -1 : 0;
    ASSERT_EQ(bits_of(masks), pattern);
  }
}

TEST(Lanes, AreStoredInTheirOrder) {
  Words words;
  for (std::uint32_t lane = 0; lane < lane_width; ++lane)
    words[lane] = 100 + lane;
  for (std::uint32_t pattern = 0; pattern < 0x10000u; pattern += 77) {
    std::uint32_t got[lane_width + 1] = {};
    got[lane_width] = 5;
    store_set(words, pattern, got);
    std::size_t next = 0;
    for (std::uint32_t lane = 0; lane < lane_width; ++lane)
      if ((pattern >> lane & 1u) != 0) {
        ASSERT_EQ(got[next++], 100 + lane);
      }
    ASSERT_EQ(got[lane_width], 5u);
  }
}

TEST(Lanes, MultiplyLowerHalves) {
  Longs words;
  for (std::size_t i = 0; i < long_width; ++i)
    words[i] = std::uint64_t{random_words(draw_of(1), i)[0]} << 32 | random_words(draw_of(2), i)[0];
  for (const std::uint32_t factor : {1u, 0xD2511F53u, 0xffffffffu}) {
    const Longs got = products(words, factor);
    for (std::size_t i = 0; i < long_width; ++i)
      EXPECT_EQ(got[i], (words[i] & 0xffffffffu) * factor);
  }
}

TEST(Lanes, ReachAThresholdAsOneWordDoes) {
  Words words = {};
  for (std::size_t i = 0; i < lane_width; ++i)
    words[i] = random_words(draw_of(6), i)[0];
  words[3] = 0;
  words[7] = 0x80000000u;
  words[11] = 0xffffffffu;
  for (const std::uint32_t threshold : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xffffffffu})
    for (std::size_t i = 0; i < lane_width; ++i)
      EXPECT_EQ(reaching(words, threshold) >> i & 1u, words[i] >= threshold ? 1u : 0u);
}

TEST(Lanes, DrawTheBitsThatOneElementDraws) {
  for (const std::uint64_t block : {std::uint64_t{0}, std::uint64_t{9}, std::uint64_t{1} << 31}) {
    std::uint32_t words[block_words];
    random_words_of_block(draw_of(3), block, words);
    for (std::size_t i = 0; i < random_block; ++i) {
      const std::uint32_t expected = random16(draw_of(3), block * random_block + i);
      ASSERT_EQ(random16_in(words, i), expected);
      const Masks sixteen = sixteen_random16_in(words, i / lane_width * lane_width);
      ASSERT_EQ(static_cast<std::uint32_t>(sixteen[i % lane_width]), expected);
    }
  }
}

TEST(Lanes, RoundAsOneElementDoes) {
  const std::vector<float> values = any_floats(1024, 4);
  std::uint32_t random[512];
  random_words_of_tile(draw_of(5), 0, 1024, values.data(), random);
  for (const int levels : {1, 7, 127})
    for (const float scale : {0.0f, 1e-3f, 1.0f, 1e30f, INFINITY}) {
      const float inverse = inverse_unit(scale, levels);
      for (std::size_t i = 0; i < values.size(); i += lane_width) {
        const Masks got =
            level_of(load(&values[i]), inverse, levels, sixteen_random16_in(random, i));
        const Floats back = from_level(got, load(&values[i]) < Floats{}, scale);
        for (std::size_t lane = 0; lane < lane_width; ++lane) {
          const float v = values[i + lane];
          const std::uint32_t level = level_of(v, inverse, levels, random16_in(random, i + lane));
          ASSERT_EQ(static_cast<std::uint32_t>(got[lane]), level) << v;
          const float plain = from_level(level, v < 0, scale);
          ASSERT_TRUE(plain != plain ? back[lane] != back[lane]
                                     : std::bit_cast<std::uint32_t>(plain) ==
                                           std::bit_cast<std::uint32_t>(float{back[lane]}));
        }
      }
    }
}

TEST(Lanes, NarrowAndWiden) {
  std::uint8_t bytes[lane_width], back[lane_width];
  for (std::uint8_t i = 0; i < lane_width; ++i)
    bytes[i] = static_cast<std::uint8_t>(17 * i);
  narrow(widened(bytes), back);
  for (std::size_t i = 0; i < lane_width; ++i)
    EXPECT_EQ(bytes[i], back[i]);
}

}  // namespace
}  // namespace syncline
