// GPU = CPU to the bit, over the grid. Skipped where there is no device, never passed.
#include "kernels/device.h"

#include <gtest/gtest.h>

#include "tests/kernels/data.h"

namespace syncline {
namespace {

std::string why_no_device() {
  if (Registered<DeviceRuntime>::all().empty())
    return "this build has no CUDA kernels";
  return Registered<DeviceRuntime>::find("cuda").absence();
}

class Device : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string reason = why_no_device();
    if (!reason.empty())
      GTEST_SKIP() << "no GPU test: " << reason;
  }
};

TEST_P(Device, GivesTheBytesOfTheReference) {
  const DeviceRuntime& runtime = Registered<DeviceRuntime>::find("cuda");
  const DeviceCompressor& device = Registered<DeviceCompressor>::find(GetParam());
  const Compressor& compressor = Registered<Compressor>::find(GetParam());
  for (const std::size_t n : {1u, 2u, 31u, 1000u, 4097u, 200000u, 3000001u})
    for (const Distribution& distribution : distributions())
      for (const char* density : {"0", "0.001", "0.01", "0.5", "1"}) {
        SCOPED_TRACE(distribution.name + ", " + std::to_string(n) + " elements, " + density);
        const Settings settings = settings_at(compressor, density);
        const std::vector<float> values = distribution.values(n, n + 1);
        State plain, fast;
        for (std::uint32_t step = 0; step < 2; ++step) {
          Message expected, got;
          compressor.reference.encode(settings, std::span<const float>(values), {7, step, 3}, plain,
                                      expected);
          runtime.encode(device, settings, values, {7, step, 3}, fast, got);
          ASSERT_TRUE(expected == got) << "messages differ";
          ASSERT_TRUE(bits_of(residual(plain)) == bits_of(residual(fast))) << "residuals differ";
          std::vector<float> a(n, 1.0f), b(n, 1.0f);
          compressor.reference.decode(settings, got, Precision::fp32, {7, step, 3}, a);
          runtime.decode_add(device, settings, got, b);
          ASSERT_TRUE(bits_of(a) == bits_of(b)) << "decoders differ";
        }
      }
}

// Without CUDA in the build there is nothing to name, and one skipped test says so.
std::vector<std::string> device_names() {
  const std::vector<std::string> names = Registered<DeviceCompressor>::names();
  return names.empty() ? std::vector<std::string>{"none"} : names;
}

INSTANTIATE_TEST_SUITE_P(EveryCudaCompressor, Device, testing::ValuesIn(device_names()),
                         [](const auto& info) { return info.param; });

// Every .cu that registers a compressor answers to the name of a compressor there is.
TEST(DeviceRegistry, EveryCudaVersionIsOfACompressor) {
  for (const std::string& name : Registered<DeviceCompressor>::names())
    EXPECT_NO_THROW(Registered<Compressor>::find(name)) << name;
}

}  // namespace
}  // namespace syncline
