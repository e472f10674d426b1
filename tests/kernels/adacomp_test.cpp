// AdaComp by hand: which values are sent, as what, what stays, and the size.
#include <cmath>
#include <gtest/gtest.h>

#include "kernels/compressor.h"
#include "tests/kernels/data.h"

namespace syncline {
namespace {

using Given = std::map<std::string, std::string>;

const Compressor& adacomp() {
  return Registered<Compressor>::find("adacomp");
}

Settings settings(const Given& given) {
  return Settings(adacomp().options, given);
}

std::vector<float> left(const State& state) {
  return {state.residual.begin(), state.residual.end()};
}

// In a first message u = g, so everything from half of its bin's largest on is sent, as the mean of
// the bins' largest, (8 + 4) / 2.
TEST(AdaComp, SendsTheSignsOfWhatAnotherGradientWouldMakeTheLargest) {
  const std::vector<float> values{8, -4, 3.9f, 0, 0, 0, 0, -7, 1, 2, -4};
  State state;
  const Sent sent = sent_by("adacomp", {{"bin", "8"}}, values, {}, state);
  EXPECT_EQ(sent.decoded, (std::vector<float>{6, -6, 0, 0, 0, 0, 0, -6, 0, 6, -6}));
  EXPECT_EQ(left(state), (std::vector<float>{2, 2, 3.9f, 0, 0, 0, 0, -1, 1, -4, 2}));
  EXPECT_EQ(sent.message.size(), 4u + 4 + 5);  // scale, one begin, five codes
}

// u = (8, 8, ...) with g = (4, 1, ...) and (-1, ...): only what grows reaches the largest.
TEST(AdaComp, NeedsTheGradientBesideTheResidual) {
  State state;
  state.residual = {4, 7, 9, 0, 0, 0, 0, 0};
  const Sent sent = sent_by("adacomp", {{"bin", "8"}}, {4, 1, -1, 3.9f, 0, 0, 0, 0}, {}, state);
  EXPECT_EQ(sent.decoded, (std::vector<float>{8, 8, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(left(state), (std::vector<float>{0, 0, 8, 3.9f, 0, 0, 0, 0}));
}

// The whole tensor lets a bin of zeros count in the mean, but sends nothing of it; nor does one
// whose largest has shrunk.
TEST(AdaComp, ABinMaySendNothing) {
  State state;
  const Sent zeros = sent_by("adacomp", {{"bin", "8"}}, std::vector<float>(16), {}, state);
  EXPECT_EQ(zeros.decoded, std::vector<float>(16));
  EXPECT_EQ(zeros.message.size(), 4u + 4 + 2);
  state.residual = {8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3};
  std::vector<float> values(16);
  values[0] = -1;
  values[15] = 1;
  const Sent sent = sent_by("adacomp", {{"bin", "8"}}, values, {}, state);
  std::vector<float> expected(16);
  expected[15] = 5.5f;  // (7 + 4) / 2
  EXPECT_EQ(sent.decoded, expected);
  EXPECT_EQ(state.residual[0], 7);
  EXPECT_EQ(state.residual[15], -1.5f);
}

TEST(AdaComp, AHugeValueIsAllThatItsBinSendsAndNaNReachesWhatIsSent) {
  std::vector<float> values(24, 1.0f);
  values[3] = -1e38f;
  const Sent huge = sent_by("adacomp", {{"bin", "8"}}, values);
  EXPECT_EQ(std::ranges::count_if(huge.decoded, [](float value) { return value != 0; }), 17);
  EXPECT_LT(huge.decoded[3], -3e37f);
  values[3] = std::nanf("");
  State state;
  const Sent nan = sent_by("adacomp", {{"bin", "8"}}, values, {}, state);
  EXPECT_EQ(std::ranges::count_if(nan.decoded, [](float value) { return std::isnan(value); }), 17);
  EXPECT_EQ(state.residual[3], 0);
  EXPECT_EQ(state.residual[4], 1);
}

// Means over elements that are not a whole number of bins, after the residual has grown: as the
// predicted size says, and for bins of 50 and 500 near 5 and 6 values, 40 and some 160 times less
// than fp32.
TEST(AdaComp, SizesAreThosePredictedOnceResidualsHaveGrown) {
  const std::size_t elements = 100003;
  for (const auto& [bin, least_ratio, steps] : {std::tuple{"8", 11.0, 30u},
                                                {"50", 37.0, 60u},
                                                {"63", 45.0, 60u},
                                                {"64", 23.0, 60u},
                                                {"500", 150.0, 300u}}) {
    State state;
    double bytes = 0;
    for (std::uint32_t step = 0; step < steps + 10; ++step) {
      const Sent sent = sent_by("adacomp", {{"bin", bin}}, gauss(elements, step), {}, state);
      bytes += step < steps ? 0 : static_cast<double>(sent.message.size()) / 10;
    }
    const WireSize size = adacomp().wire_bytes(settings({{"bin", bin}}), elements, Precision::fp32);
    EXPECT_NEAR(size.bytes, bytes, 0.03 * bytes) << bin;
    EXPECT_GT(4.0 * elements / bytes, least_ratio) << bin;
    EXPECT_FALSE(size.exact);
  }
}

bool refused(const Message& message, std::size_t elements) {
  std::vector<float> sum(elements);
  try {
    adacomp().cpu.decode(settings({{"bin", "8"}}), message, Precision::fp32, {}, sum);
  } catch (const CorruptMessage&) {
    return true;
  }
  return false;
}

// Codes: 6 bits of a place, the sign (64), the bin's last (128); 63 | 128: nothing of this bin.
TEST(AdaComp, RefusesWhatNoEncoderWrites) {
  const auto message = [](const std::vector<int>& codes, int begin = 0) {
    Message made(8);
    made[4] = static_cast<std::byte>(begin);
    for (const int code : codes)
      made.push_back(static_cast<std::byte>(code));
    return made;
  };
  EXPECT_FALSE(refused(message({1, 2 | 64, 3 | 128, 63 | 128}), 16));
  EXPECT_FALSE(refused(message({7 | 128, 1 | 128}), 10));
  EXPECT_TRUE(refused(message({7 | 128, 2 | 128}), 10));           // past the end
  EXPECT_TRUE(refused(message({8 | 128, 1 | 128}), 16));           // past its bin
  EXPECT_TRUE(refused(message({2, 1 | 128, 1 | 128}), 16));        // descend
  EXPECT_TRUE(refused(message({1, 1 | 128, 1 | 128}), 16));        // twice
  EXPECT_TRUE(refused(message({1, 63 | 128, 1 | 128}), 16));       // something and nothing
  EXPECT_TRUE(refused(message({63 | 64 | 128, 1 | 128}), 16));     // nothing, with a sign
  EXPECT_TRUE(refused(message({63, 1 | 128}), 16));                // nothing, and not the last
  EXPECT_TRUE(refused(message({1 | 128}), 16));                    // a bin is missing
  EXPECT_TRUE(refused(message({1 | 128, 1 | 128, 1 | 128}), 16));  // one too many
  EXPECT_TRUE(refused(message({1 | 128, 1}), 16));                 // does not end
  EXPECT_TRUE(refused(message({1 | 128, 1 | 128}, 1), 16));        // begins late
  EXPECT_TRUE(refused(Message(7), 16));
  EXPECT_TRUE(refused(Message(5), 0));
}

}  // namespace
}  // namespace syncline
