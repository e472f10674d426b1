// What compressors move: parts of the formulas by hand, and the README's table.
// emulator/traffic_test.cpp compares them with the kernels.
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>

#include "tests/kernels/data.h"

namespace syncline {
namespace {

TEST(Traffic, BytesMoveInSectors) {
  EXPECT_EQ(sectors(0).mean, 0);
  EXPECT_EQ(sectors(1).mean, 32);
  EXPECT_EQ(sectors(64).mean, 64);
  EXPECT_EQ(sectors({100, 8}).spread, 8 + 32);
}

TEST(Traffic, ScatteredWordsShareSectors) {
  EXPECT_EQ(scattered(0, 800).mean, 0);
  EXPECT_EQ(scattered(800, 800).mean, 3200);
  EXPECT_EQ(scattered(800, 800).spread, 0);
  // A sector of eight holds at least one with probability 1 - 0.99^8.
  EXPECT_NEAR(scattered(1e6, 1e8).mean, 32 * 1.25e7 * 0.0772553, 200);
  EXPECT_NEAR(scattered(1, 1e8).mean, 32, 0.01);
  // The other three sectors of its line hold none with probability 0.99^24.
  EXPECT_NEAR(scattered(1e6, 1e8).alone, 32 * 1.25e7 * 0.0772553 * 0.785678, 200);
}

TEST(Traffic, IsWhatTheReadmeSays) {
  std::ifstream in(std::string(KERNELS_FOLDER) + "/README.md");
  const std::string readme((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::size_t elements = std::size_t{1} << 24;
  for (const auto& [name, compressor] : Registered<Compressor>::all()) {
    if (name == RECIPE)
      continue;
    const Settings settings = settings_at(compressor, has_density(compressor) ? "0.01" : "");
    const StreamOperations encode = compressor.traffic.encode(settings, elements);
    char moved[64];
    std::snprintf(moved, sizeof moved, " | %.2f in %zu | ",
                  bytes_of(encode) / static_cast<double>(elements), encode.size());
    const std::size_t begin = readme.find("\n| `" + name + "` |");
    ASSERT_NE(begin, std::string::npos) << name;
    const std::string row = readme.substr(begin + 1, readme.find('\n', begin + 1) - begin - 1);
    EXPECT_NE(row.find(moved), std::string::npos) << row << "\nis to say" << moved;
    EXPECT_GE(bytes_of(encode), compressor.traffic.floor * static_cast<double>(elements) * 0.999);
  }
}

// The ranges of large tensors are narrow, but for adacomp's, whose range contains its first
// message: nobody sets how many values it sends, and the first message has more than twice those of
// others.
TEST(Traffic, OfLargeTensorsIsLittleMovedByTheData) {
  for (const auto& [name, compressor] : Registered<Compressor>::all()) {
    if (name == RECIPE)
      continue;
    const Settings settings = settings_at(compressor, has_density(compressor) ? "0.01" : "");
    double spread = 0;
    const StreamOperations encode = compressor.traffic.encode(settings, std::size_t{1} << 24);
    for (const StreamOperation& operation : encode)
      spread += operation.read.spread + operation.written.spread;
    EXPECT_LT(spread, (name == "adacomp" ? 0.5 : 0.03) * bytes_of(encode)) << name;
  }
}

}  // namespace
}  // namespace syncline
