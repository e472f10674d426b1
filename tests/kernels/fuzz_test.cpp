// The deterministic corpus, which runs everywhere, with or without a fuzzer.
#include "tests/kernels/fuzz.h"

#include <gtest/gtest.h>
#include <random>

#include "kernels/compressor.h"
#include "tests/kernels/data.h"

namespace syncline {
namespace {

TEST(Fuzz, ArbitraryBytesAreAnErrorAndNeverAWriteOutOfRange) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::uint8_t> input(8 + random() % 600);
    for (std::uint8_t& byte : input)
      byte = static_cast<std::uint8_t>(i % 3 == 0 ? random() % 3 : random());
    fuzz_once(input);
  }
}

// Valid messages with a few changed bytes get further into the decoders than random ones.
TEST(Fuzz, DamagedMessagesAreAnErrorOrAnotherGradient) {
  std::mt19937 random(2);
  std::size_t refused = 0, taken = 0;
  for (const auto& [name, compressor] : Registered<Compressor>::all()) {
    for (const char* coding : {"fixed", "sparse", "dense"}) {
      const Settings settings(compressor.options, {{"density", "0.1"}, {"coding", coding}});
      const std::vector<float> values = gauss(700, 3);
      State state;
      Message good;
      compressor.cpu.encode(settings, std::span<const float>(values), {}, state, good);
      for (int i = 0; i < 500 && !good.empty(); ++i) {
        Message bad = good;
        for (std::uint32_t change = 0; change <= random() % 3; ++change)
          bad[random() % bad.size()] = static_cast<std::byte>(random());
        if (random() % 4 == 0)
          bad.resize(random() % (bad.size() + 9));
        std::vector<float> room(716, 1.0f);
        try {
          compressor.cpu.decode(settings, bad, Precision::fp32, {},
                                std::span<float>(room).subspan(8, 700));
          ++taken;
        } catch (const CorruptMessage&) {
          ++refused;
        }
        for (std::size_t j = 0; j < 8; ++j) {
          ASSERT_EQ(room[j], 1.0f) << name;
          ASSERT_EQ(room[708 + j], 1.0f) << name;
        }
      }
    }
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(taken, 1000u);
}

}  // namespace
}  // namespace syncline
