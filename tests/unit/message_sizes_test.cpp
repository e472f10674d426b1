// Lists of message sizes, and what they refuse.
#include <gtest/gtest.h>

#include "sim/options/sizes.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using ByteSizes = std::vector<std::uint64_t>;

ByteSizes sizes(const std::string& text) {
  return message_sizes({text, "--sizes"});
}

TEST(MessageSizes, HaveUnitsOfNcclTestsAndOfOptions) {
  EXPECT_EQ(sizes("8"), ByteSizes{8});
  EXPECT_EQ(sizes("4K, 1M,2G,1T"), (ByteSizes{4096, 1 << 20, 1ULL << 31, 1ULL << 40}));
  EXPECT_EQ(sizes("1kB,1KiB,0.5MiB,1.5M"), (ByteSizes{1000, 1024, 1 << 19, 3 << 19}));
}

TEST(MessageSizes, DoubleBetweenTheEndsOfARange) {
  EXPECT_EQ(sizes("8,...,64"), (ByteSizes{8, 16, 32, 64}));
  EXPECT_EQ(sizes("8,\u2026,64"), (ByteSizes{8, 16, 32, 64}));
  EXPECT_EQ(sizes("4,12,...,100,1K"), (ByteSizes{4, 12, 24, 48, 96, 100, 1024}));
  EXPECT_EQ(sizes("8,...,16G").size(), 32U);
  EXPECT_EQ(sizes("8,...,16G").back(), 1ULL << 34);
  EXPECT_EQ(sizes("8,...,32,...,128"), (ByteSizes{8, 16, 32, 64, 128}));
}

TEST(MessageSizes, SayWhatIsAllowed) {
  for (const char* text : {"", "0", "3", "10", "-8", "8x", "nan", "1.1", "2T", "1e300", "8,,16"})
    expect_mentions(error_of([&] { sizes(text); }), {"--sizes: size '", "multiples of 4 bytes"});
  for (const char* text : {"...", "8,...", "...,8", "8,...,...,64"})
    expect_mentions(error_of([&] { sizes(text); }), {"--sizes: '...' stands between two sizes"});
  expect_mentions(error_of([] { sizes("64,...,8"); }), {"64,...,8: allowed is a larger size"});
  expect_mentions(error_of([] { sizes("8,...,64,32"); }), {"size 32 is given twice"});
}

}  // namespace
}  // namespace syncline
