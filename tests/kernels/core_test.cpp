// The arithmetic under every compressor.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>

#include "kernels/arithmetic/elias.h"
#include "kernels/arithmetic/keys.h"
#include "kernels/arithmetic/moments.h"
#include "kernels/arithmetic/normal.h"
#include "kernels/arithmetic/packing.h"
#include "kernels/arithmetic/permutation.h"
#include "kernels/arithmetic/quantise.h"
#include "kernels/cpu/select.h"
#include "kernels/philox.h"
#include "tests/kernels/data.h"

namespace syncline {
namespace {

// Known answers for philox4x32-10 from the authors' Random123 library.
TEST(Philox, KnownAnswers) {
  const PhiloxWords zeros = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
  const PhiloxWords ones = {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu};
  const PhiloxWords pi = {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u};
  EXPECT_EQ(philox({0, 0, 0, 0}, 0, 0), zeros);
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, ~0u, ~0u), ones);
  EXPECT_EQ(philox({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, 0xa4093822u, 0x299f31d0u),
            pi);
}

TEST(Philox, ATileDrawsWhatItsElementsDraw) {
  const Draw draw{0x123456789abcdefull, 5, 7};
  std::vector<std::uint32_t> words(tile_elements / 2);
  const std::vector<float> values(tile_elements);
  random_words_of_tile(draw, 3 * tile_elements, tile_elements, values.data(), words.data());
  for (std::size_t i = 0; i < tile_elements; ++i)
    ASSERT_EQ(random16_in(words.data(), i), random16(draw, 3 * tile_elements + i)) << i;
}

TEST(Philox, NoTwoElementsShareTheirBits) {
  std::set<std::pair<std::uint64_t, std::uint32_t>> seen;
  for (std::uint64_t i = 0; i < 2048; ++i)
    EXPECT_TRUE(seen.insert({i / random_block * 32 + i % 32, i / 32 % 8}).second);
}

TEST(Half, EveryHalfSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const float value = to_float(half);
    if (std::isnan(value))
      ASSERT_EQ(to_half(value).bits, 0x7e00u);
    else
      ASSERT_EQ(to_half(value).bits, bits);
  }
}

TEST(Half, RoundsToTheNearestAndSaturates) {
  EXPECT_EQ(to_half(1.0f + 0x1p-11f).bits, to_half(1.0f).bits);          // a tie, to even
  EXPECT_EQ(to_half(1.0f + 3 * 0x1p-11f).bits, to_half(1.0f).bits + 2);  // a tie, to even
  EXPECT_EQ(to_half(1.0f + 0x1.2p-11f).bits, to_half(1.0f).bits + 1);
  EXPECT_EQ(to_float(to_half(1e6f)), 65504.0f);
  EXPECT_EQ(to_float(to_half(-70000.0f)), -65504.0f);
  EXPECT_TRUE(std::isinf(to_float(to_half(std::numeric_limits<float>::infinity()))));
  EXPECT_EQ(to_float(to_half(0x1p-24f)), 0x1p-24f);  // the smallest subnormal
  EXPECT_EQ(to_float(to_half(0x1p-26f)), 0.0f);
}

TEST(Keys, OrderLikeMagnitudes) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float ascending[] = {0.0f, 1e-45f, 1e-38f, 1e-3f, 1.0f, 3e38f, infinity, std::nanf("")};
  for (std::size_t i = 1; i < std::size(ascending); ++i) {
    EXPECT_LT(magnitude_key(ascending[i - 1]), magnitude_key(ascending[i]));
    EXPECT_LE(bin_of(magnitude_key(ascending[i - 1])), bin_of(magnitude_key(ascending[i])));
  }
  EXPECT_EQ(magnitude_key(-0.0f), magnitude_key(0.0f));
  for (const std::uint32_t bits : {0x7f800001u, 0x7fffffffu, 0xffc00000u})  // a GPU's, x86's
    EXPECT_EQ(magnitude_key(std::bit_cast<float>(bits)), magnitude_key(std::nanf("")));
  EXPECT_EQ(key_from(std::nan("")), no_key);
  EXPECT_EQ(key_from(0.1), magnitude_key(0.1f));  // 0.1f is above 0.1
  EXPECT_EQ(key_from(0.3), magnitude_key(0.3f));
  EXPECT_EQ(key_from(0.7), magnitude_key(0.7f) + 1);  // 0.7f is below 0.7
  EXPECT_EQ(key_above(1.0), magnitude_key(1.0f) + 1);
  EXPECT_EQ(key_above(-1.0), 0u);
  EXPECT_EQ(key_above(-1e-60), 1u);  // a float's -0; key 1 is the first above zero
  EXPECT_EQ(key_above(std::nan("")), no_key);
  EXPECT_EQ(wanted(0.001, 10), 1u);
  EXPECT_EQ(wanted(0, 10), 0u);
  EXPECT_EQ(wanted(1, 10), 10u);
}

TEST(Moments, VectorsAndThePlainLoopAgreeToTheBit) {
  for (const Distribution& distribution : distributions())
    for (const std::size_t n : {0u, 1u, 31u, 32u, 33u, 1000u, 8192u}) {
      const std::vector<float> x = distribution.values(n, 3);
      const Moments a = tile_moments(x.data(), n), b = tile_moments_plainly(x.data(), n);
      if (distribution.finite) {
        EXPECT_EQ(std::bit_cast<std::uint64_t>(a.sum), std::bit_cast<std::uint64_t>(b.sum));
        EXPECT_EQ(std::bit_cast<std::uint64_t>(a.squares), std::bit_cast<std::uint64_t>(b.squares));
      }
      EXPECT_EQ(a.top, b.top);
    }
}

// With one float sum over 2^24 elements, a threshold selected 13 % too many.
TEST(Moments, StayExactOverManyElements) {
  const std::size_t n = std::size_t{1} << 22;
  std::vector<float> x = gauss(n, 1);
  double sum = 0, squares = 0;
  for (float& value : x) {
    value += 3;
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const Moments moments = moments_of(x);
  EXPECT_NEAR(moments.sum / sum, 1, 1e-6);
  EXPECT_NEAR(moments.squares / squares, 1, 1e-6);
}

TEST(NormalQuantile, PublishedValues) {
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(1 - 0.0005), 3.290526731491926,
              1e-11);  // Gaussian_k at density 0.001
  EXPECT_NEAR(normal_quantile(0.999), 3.090232306167813, 1e-12);
  for (const double p : {1e-12, 1e-6, 0.01, 0.3, 0.9})
    EXPECT_NEAR(std::erfc(-normal_quantile(p) / std::sqrt(2.0)) / 2 / p, 1, 1e-12) << p;
}

TEST(Scratch, CanBeUsedAgainAfterAMove) {
  State state;
  state.scratch.words(8);
  const State moved = std::move(state);
  state = moved;
  EXPECT_NE(state.scratch.words(8), nullptr);
}

TEST(Elias, CodesOfThePaper) {
  const auto written = [](std::uint32_t k) {
    Message bytes;
    BitWriter out(bytes);
    out.put(elias(k));
    std::string bits;
    BitReader in(bytes);
    for (unsigned i = 0; i < elias(k).count; ++i)
      bits += in.get(1) != 0 ? '1' : '0';
    return bits;
  };
  EXPECT_EQ(written(1), "0");
  EXPECT_EQ(written(2), "100");
  EXPECT_EQ(written(3), "110");
  EXPECT_EQ(written(4), "101000");
  EXPECT_EQ(written(16), "10100100000");
}

TEST(Elias, ReadsBackWhatItWrote) {
  Message bytes;
  BitWriter out(bytes);
  for (std::uint32_t k = 1; k < 70000; k += 1 + k / 50)
    out.put(elias(k));
  BitReader in(bytes);
  for (std::uint32_t k = 1; k < 70000; k += 1 + k / 50)
    ASSERT_EQ(in.get_elias(), k);
  in.align();
  EXPECT_TRUE(in.at_end());
}

TEST(Packing, FastAndPlainAgree) {
  for (unsigned width = 1; width <= 8; ++width) {
    std::vector<std::uint8_t> codes(1003), back(1003);
    for (std::size_t i = 0; i < codes.size(); ++i)
      codes[i] = static_cast<std::uint8_t>((i * 37 + i / 7) & ((1u << width) - 1));
    std::vector<std::byte> packed(packed_bytes(codes.size(), width));
    std::vector<std::byte> plain(packed.size());
    pack(codes.data(), codes.size(), width, packed.data());
    unpack(packed.data(), codes.size(), width, back.data());
    for (std::size_t i = 0; i < codes.size(); ++i) {
      put_number(codes[i], i, width, plain.data());
      EXPECT_EQ(get_number(packed.data(), i, width), codes[i]);
    }
    EXPECT_EQ(codes, back);
    EXPECT_TRUE(packed == plain);
  }
}

TEST(Permutation, HoldsEveryNumberOnce) {
  for (const std::uint64_t n : {1u, 2u, 3u, 31u, 1000u, 4097u}) {
    const Permutation p = permutation({n, 1, 2}, n);
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < n; ++i)
      seen.insert(permuted(p, i));
    EXPECT_EQ(seen.size(), n);
    EXPECT_EQ(*seen.rbegin(), n - 1);
  }
}

TEST(Select, AMisleadingSampleStillGivesTheExactTop) {
  // All large values are where the sample does not read, by sampled_element.
  const std::size_t n = std::size_t{1} << 18, k = 2000;
  const Draw draw{3, 1, 4};
  std::vector<float> values(n, 0.0f);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = static_cast<float>(i % 1000) * 1e-6f;
  for (std::size_t i = 0; i < k; ++i)
    values[i * 100] = 1.0f + static_cast<float>(i);
  State state;
  const Picks picks = add_and_pick_largest(std::span<const float>(values), true, k, draw, state);
  std::vector<std::uint32_t> got;
  for (std::size_t t = 0; t < picks.counts.size(); ++t)
    got.insert(got.end(), picks.tile(t).begin(), picks.tile(t).end());
  EXPECT_EQ(got, largest_plainly(values, k));
}

}  // namespace
}  // namespace syncline
