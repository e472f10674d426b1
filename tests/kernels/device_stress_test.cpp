// The look-back under stress on a GPU: more tiles than run at once, repeatedly. (On the emulator
// blocks run one after the other, so there this only tries out the tests themselves.)
#include <algorithm>
#include <gtest/gtest.h>

#include "tests/kernels/data.h"
#include "tests/kernels/device.h"

namespace syncline {
namespace {

class DeviceStress : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_no_device(); !reason.empty())
      GTEST_SKIP() << "no GPU test: " << reason;
  }
};

struct Encoded {
  Message message;
  State state;
};

Encoded encoded_on_device(const std::string& name, const Settings& settings,
                          const std::vector<float>& values, const Draw& draw) {
  Encoded result;
  Registered<DeviceRuntime>::find("cuda").encode(Registered<DeviceCompressor>::find(name), settings,
                                                 std::span<const float>(values), draw, result.state,
                                                 result.message);
  return result;
}

// 2,048 tiles, of which some 264 run at once.
TEST_F(DeviceStress, CatStochasticIsTheCpusEveryTime) {
  const std::vector<float> values = gauss(emulated() ? 140000 : std::size_t{1} << 24, 1);
  const Compressor& cat = Registered<Compressor>::find("cat");
  const Settings settings(cat.options, {{"rule", "stochastic"}});
  for (std::uint32_t step = 0; step < (emulated() ? 1u : 20u); ++step) {
    const Draw draw{7, step, 3};
    Encoded expected;
    cat.cpu.encode(settings, std::span<const float>(values), draw, expected.state,
                   expected.message);
    const Encoded got = encoded_on_device("cat", settings, values, draw);
    ASSERT_TRUE(expected.message == got.message) << "step " << step;
    ASSERT_TRUE(same_residual(expected.state, got.state)) << "step " << step;
  }
}

TEST_F(DeviceStress, TopkIsIdenticalAThousandTimes) {
  const std::vector<float> values = gauss(emulated() ? 140000 : std::size_t{1} << 22, 2);
  const Settings settings = settings_at(Registered<Compressor>::find("topk"), "0.01");
  const Encoded first = encoded_on_device("topk", settings, values, {});
  EXPECT_EQ(first.message.size(), 8 * (values.size() / 100));
  for (int time = 1; time < (emulated() ? 3 : 1000); ++time) {
    const Encoded again = encoded_on_device("topk", settings, values, {});
    ASSERT_TRUE(first.message == again.message) << time;
    ASSERT_TRUE(same_residual(first.state, again.state)) << time;
  }
}

// Alternates lists that a block keeps with lists that it must wait for, and ends with a tile of
// three elements.
TEST_F(DeviceStress, ListsOfAllLengthsAreTheCpusEveryTime) {
  constexpr std::size_t tile = 8192, lengths[] = {0, 80, 2047, 2048, 2049, tile};
  const std::size_t tiles = emulated() ? 23 : 2048;
  std::vector<float> values(tiles * tile + 3, 0.5f);
  for (std::size_t t = 0; t < tiles; ++t)
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(t * tile),
                lengths[t * 2654435761u / 7 % std::size(lengths)], 2.0f);
  values.back() = 2.0f;
  const Compressor& threshold = Registered<Compressor>::find("threshold");
  const Settings settings(threshold.options, {{"cutoff", "1"}});
  Encoded expected;
  threshold.cpu.encode(settings, std::span<const float>(values), {}, expected.state,
                       expected.message);
  for (int time = 0; time < (emulated() ? 2 : 200); ++time) {
    const Encoded got = encoded_on_device("threshold", settings, values, {});
    ASSERT_TRUE(expected.message == got.message) << time;
    ASSERT_TRUE(same_residual(expected.state, got.state)) << time;
  }
}

}  // namespace
}  // namespace syncline
