// Unpacks what gzip packed; refuses anything else.
#include "sim/catalogue/gzip.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <random>

#include "kernels/io/text.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

constexpr std::size_t most = 10'000'000;

std::string packed(const TemporaryFolder& folder, const std::string& text,
                   const std::string& level = "-6") {
  const std::string path = folder.write("file", text);
  EXPECT_EQ(std::system(("gzip -k -f " + level + " '" + path + "'").c_str()), 0);
  return text_of_file(path + ".gz", most);
}

// Bytes with more or less repetition: 1 for all equal, 256 for noise.
std::string bytes_of(std::size_t size, unsigned kinds) {
  std::mt19937 draw(kinds);
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i)
    bytes += static_cast<char>(draw() % kinds * (draw() % 3 == 0 ? 1 : 7));
  return bytes;
}

TEST(Gzip, UnpacksWhatGzipHasPacked) {
  const TemporaryFolder folder;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{300},
                                 std::size_t{70'000}, std::size_t{200'000}})
    for (const unsigned kinds : {1U, 30U, 256U})
      for (const char* level : {"-1", "-9"}) {
        const std::string text = bytes_of(size, kinds);
        EXPECT_TRUE(unpacked("f", packed(folder, text, level), most) == text)
            << size << " " << kinds << level;
      }
  const std::string two = packed(folder, "first ") + packed(folder, "second", "-n");
  EXPECT_EQ(unpacked("f", two, most), "first second");
}

TEST(Gzip, RefusesWhatIsDamagedInOneLine) {
  const TemporaryFolder folder;
  const std::string text = bytes_of(20'000, 30);
  const std::string whole = packed(folder, text);
  std::mt19937 draw(1);
  for (int i = 0; i < 500; ++i) {
    std::string broken = whole;
    if (i % 2 == 0)
      broken.resize(draw() % whole.size());
    else
      broken[draw() % broken.size()] ^= static_cast<char>(1U << draw() % 8);
    std::string got;
    const std::string error = error_of([&] { got = unpacked("f", broken, most); });
    // The checksum covers all but the name, the time and the like.
    EXPECT_TRUE(error.starts_with("f: not a complete gzip file: ") || got == text || broken.empty())
        << i << error;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
  expect_mentions(error_of([&] { unpacked("f", whole, 19'999); }), {"more than 19999 bytes"});
  expect_mentions(error_of([&] { unpacked("f", whole + "x", most); }), {"ends too early"});
  expect_mentions(error_of([&] { unpacked("f", "0123456789abcdef", most); }),
                  {"does not begin like a gzip file"});
}

}  // namespace
}  // namespace syncline
