// CUDA versions give the bytes of the reference, over the grid. Without a device the tests are
// skipped; they never pass there.
#include "tests/kernels/device.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "kernels/arithmetic/keys.h"
#include "kernels/cost_table.h"
#include "tests/kernels/data.h"
#include "tests/unit/parameter_name.h"

namespace syncline {
namespace {

class Device : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string reason = why_no_device();
    if (!reason.empty())
      GTEST_SKIP() << "no GPU test: " << reason;
  }
};

// Two steps, so that the second one begins with what the first remembered.
void expect_the_reference(const std::string& name, const Settings& settings,
                          const Gradient& gradient) {
  const DeviceRuntime& runtime = Registered<DeviceRuntime>::find("cuda");
  const DeviceCompressor& device = Registered<DeviceCompressor>::find(name);
  const Compressor& compressor = Registered<Compressor>::find(name);
  State plain, fast;
  for (std::uint32_t step = 0; step < 2; ++step) {
    const Draw draw{7, step, 3};
    Message expected, got;
    compressor.reference.encode(settings, gradient, draw, plain, expected);
    runtime.encode(device, settings, gradient, draw, fast, got);
    ASSERT_TRUE(expected == got) << "messages differ";
    ASSERT_TRUE(same_residual(plain, fast)) << "residuals differ";
    const auto expected_memory = memory_bits_of(plain);
    auto got_memory = memory_bits_of(fast);
    if (name == "powersgd" && expected_memory.size() < got_memory.size())
      got_memory.resize(expected_memory.size());  // a reference drops a diverged step's start
    ASSERT_TRUE(expected_memory.empty() || expected_memory == got_memory) << "memories differ";
    std::vector<float> a(gradient.elements(), 1.0f), b(gradient.elements(), 1.0f);
    compressor.reference.decode(settings, got, gradient.precision(), draw, a);
    runtime.decode_add(device, settings, got, gradient.precision(), draw, b);
    ASSERT_TRUE(bits_of(a) == bits_of(b)) << "decoders differ";
  }
}

// In fp32 and, if supported, in fp16; otherwise fp16 must be refused. (Not at sizes for which
// references take seconds.)
void expect_the_reference_in_both(const std::string& name, const Settings& settings,
                                  const std::vector<float>& values) {
  expect_the_reference(name, settings, std::span<const float>(values));
  if (values.size() > 1000000)
    return;
  const std::vector<Half> half_values = halves(values);
  const std::span<const Half> gradient(half_values);
  SCOPED_TRACE("fp16");
  if (Registered<DeviceCompressor>::find(name).halves) {
    expect_the_reference(name, settings, gradient);
    return;
  }
  State state;
  Message message;
  EXPECT_THROW(
      Registered<DeviceRuntime>::find("cuda").encode(Registered<DeviceCompressor>::find(name),
                                                     settings, gradient, {}, state, message),
      std::invalid_argument);
}

// The emulator runs part of the grid: all distributions at two tiles, two distributions where the
// chains do everything that they do for large tensors, and the other densities where that takes
// little time.
std::vector<std::size_t> sizes() {
  if (emulated())
    return {0, 1, 31, 9001, 140000};
  return {0, 1, 2, 31, 1000, 4097, 200000, 3000001};
}

bool in_grid(std::size_t n, const std::string& distribution, bool usual_density) {
  if (!emulated())
    return true;
  if (!usual_density)
    return n < 10000 && distribution == "gauss";
  return n == 9001 || distribution == "gauss" || distribution == "any-bits";
}

TEST_P(Device, GivesTheBytesOfTheReference) {
  const Compressor& compressor = Registered<Compressor>::find(GetParam());
  const bool sparse = has_density(compressor);
  for (const std::size_t n : sizes())
    for (const Distribution& distribution : distributions())
      for (const std::string density : {"0", "0.001", "0.01", "0.5", "1"}) {
        if (density != "0" && !sparse)
          continue;
        if (!in_grid(n, distribution.name, !sparse || density == "0.01"))
          continue;
        SCOPED_TRACE(distribution.name + ", " + std::to_string(n) + " elements, " + density);
        expect_the_reference_in_both(GetParam(), settings_at(compressor, density),
                                     distribution.values(n, n + 1));
      }
}

// Every other word of each parameter with words, and numbers that take other branches; and longer
// walks, for every rule of cat.
std::vector<std::map<std::string, std::string>> variants(const Compressor& compressor) {
  const std::map<std::string, std::vector<std::string>> numbers = {
      {"momentum", {"0.9"}},
      {"clip", {"2.5"}},
      {"clip-norm", {"0.5"}},
      {"rank", {"1", "2", "9", "64"}},
      {"sample", {"0.5"}},
      {"stages", {"1", "7"}},
      {"rounds", {"5"}},
      {"warm-up", {"4"}},
      {"fixed-cost", {"1e12"}},
      {"bits", {"2", "3", "8"}},
      {"bin", {"8", "63", "64", "500", "8192"}}};
  std::vector<std::map<std::string, std::string>> all;
  for (const OwnOption& parameter : compressor.options) {
    for (const std::string& word : parameter.choices)
      if (word != parameter.fallback)
        all.push_back({{parameter.name, word}});
    if (numbers.contains(parameter.name))
      for (const std::string& number : numbers.at(parameter.name))
        all.push_back({{parameter.name, number}});
    if (parameter.name == "clip-norm")
      all.push_back({{"clip-norm", "2"}, {"momentum", "0.9"}});
    if (parameter.name == "rule")
      for (const std::string& word : parameter.choices)
        for (const char* fixed : {"3e4", "3e6", "1e10"})
          all.push_back({{"rule", word}, {"cost", "affine"}, {"fixed-cost", fixed}});
  }
  std::erase_if(all, [&](const auto& given) {
    return refuses(Registered<DeviceCompressor>::find(compressor.name),
                   Settings(compressor.options, given));
  });
  return all;
}

// Nothing but QSGD's Elias codes, which no call makes in silence.
TEST_P(Device, HasEverySettingButEliasCodes) {
  const Compressor& compressor = Registered<Compressor>::find(GetParam());
  const DeviceRuntime& runtime = Registered<DeviceRuntime>::find("cuda");
  const DeviceCompressor& device = Registered<DeviceCompressor>::find(GetParam());
  for (const OwnOption& parameter : compressor.options)
    for (const std::string& word : parameter.choices) {
      const Settings settings(compressor.options, {{parameter.name, word}});
      const bool is_elias = parameter.name == "coding" && word != "fixed";
      EXPECT_EQ(refuses(device, settings), is_elias) << parameter.name << " = " << word;
      if (!is_elias)
        continue;
      State state;
      Message message;
      std::vector<float> values(100, 1.0f);
      EXPECT_THROW(
          runtime.encode(device, settings, std::span<const float>(values), {}, state, message),
          std::invalid_argument);
      compressor.cpu.encode(settings, std::span<const float>(values), {}, state, message);
      EXPECT_THROW(runtime.decode_add(device, settings, message, Precision::fp32, {}, values),
                   std::invalid_argument);
      EXPECT_THROW(runtime.sampler(device, settings, values, State{}, 0), std::invalid_argument);
    }
}

TEST_P(Device, GivesTheBytesOfTheReferenceWithOtherSettings) {
  const Compressor& compressor = Registered<Compressor>::find(GetParam());
  const std::vector<std::size_t> other_sizes =
      emulated() ? std::vector<std::size_t>{31, 70000} : std::vector<std::size_t>{31, 4097, 200000};
  for (const auto& given : variants(compressor)) {
    const Settings settings(compressor.options, given);
    std::string written;
    for (const auto& [parameter, value] : given)
      written += parameter + " = " + value + " ";
    for (const std::size_t n : other_sizes)
      for (const Distribution& distribution : distributions()) {
        if (!in_grid(n, distribution.name, true) ||
            (emulated() && n > 31 && distribution.name != "gauss"))
          continue;
        SCOPED_TRACE(distribution.name + ", " + std::to_string(n) + " elements, " + written);
        expect_the_reference_in_both(GetParam(), settings, distribution.values(n, n + 1));
      }
  }
}

// Covers one warp's part of a sum, several parts, and parts without an element in any message.
void expect_the_reference_of_many(const std::string& name, const Settings& settings,
                                  std::size_t elements, std::size_t count) {
  const Compressor& compressor = Registered<Compressor>::find(name);
  const DeviceCompressor& device = Registered<DeviceCompressor>::find(name);
  const Draw draw{7, 1, 3};
  for (const Precision precision : {Precision::fp32, Precision::fp16}) {
    if (precision == Precision::fp16 && !device.halves)
      continue;
    const Mail mail = mail_of(compressor, settings, count, elements, precision, draw);
    std::vector<float> sum(elements, 1.0f);
    Registered<DeviceRuntime>::find("cuda").decode_add(device, settings, mail.all(), precision,
                                                       draw, sum);
    ASSERT_TRUE(bits_of(mail.expected) == bits_of(sum))
        << count << " messages of " << elements << " elements, "
        << written_settings(compressor, settings);
  }
}

TEST_P(Device, AddsMessagesAtOnceAsTheReferenceDoesOneByOne) {
  const Compressor& compressor = Registered<Compressor>::find(GetParam());
  const std::size_t large = emulated() ? 20001 : 1000003;
  for (const std::string density : {"0", "0.001", "0.1", "1"}) {
    if (density != "0.1" && !has_density(compressor))
      continue;
    const Settings settings = settings_at(compressor, has_density(compressor) ? density : "");
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{4097}})
      for (const std::size_t count : counts_of_messages)
        expect_the_reference_of_many(GetParam(), settings, n, count);
    expect_the_reference_of_many(GetParam(), settings, large, emulated() ? 3 : 64);
  }
  for (const auto& given : variants(compressor))
    expect_the_reference_of_many(GetParam(), Settings(compressor.options, given), 4097, 3);
}

// Below and above the size from which it samples; the second step has another draw.
TEST(DeviceTopk, OfFewValuesGivesTheBytesOfTheReference) {
  if (const std::string reason = why_no_device(); !reason.empty())
    GTEST_SKIP() << "no GPU test: " << reason;
  const Compressor& topk = Registered<Compressor>::find("topk");
  for (const std::size_t n : {100u, 9001u, 150001u})
    for (const auto& [name, values] : few_values(n, wanted(0.02, n), {7, 0, 3})) {
      SCOPED_TRACE(name + ", " + std::to_string(n) + " elements");
      expect_the_reference_in_both("topk", settings_at(topk, "0.02"), values);
    }
}

// Every sample reuses the memory of the one before.
TEST_P(Device, CanBeMeasured) {
  const Compressor& compressor = Registered<Compressor>::find(GetParam());
  const DeviceRuntime& runtime = Registered<DeviceRuntime>::find("cuda");
  const DeviceCompressor& device = Registered<DeviceCompressor>::find(GetParam());
  const std::vector<float> gradient = gauss(9001, 1);
  for (const std::size_t decoded_messages : {0U, 1U, 17U, 65U}) {
    const std::function<double()> sample =
        runtime.sampler(device, settings_at(compressor, ""), gradient, State{}, decoded_messages);
    for (int i = 0; i < 3; ++i)
      EXPECT_GT(sample(), 0.0);
  }
}

TEST(DeviceBaselines, CanBeMeasured) {
  if (const std::string reason = why_no_device(); !reason.empty())
    GTEST_SKIP() << "no GPU test: " << reason;
  const std::vector<float> gradient = gauss(9001, 1);
  for (const auto& [name, baseline] : Registered<DeviceBaseline>::all()) {
    SCOPED_TRACE(name);
    const std::function<double()> sample =
        Registered<DeviceRuntime>::find("cuda").baseline_sampler(baseline, gradient, 3);
    EXPECT_GT(sample(), 0.0);
  }
}

// Sizes at which every kernel of powersgd handles full batches and a rest.
TEST(DevicePowersgd, GivesTheBytesOfTheReferenceOfLongColumns) {
  if (const std::string reason = why_no_device(); !reason.empty())
    GTEST_SKIP() << "no GPU test: " << reason;
  const std::vector<float> gradient = gauss(1100000, 1);
  expect_the_reference("powersgd", settings_at(Registered<Compressor>::find("powersgd"), ""),
                       std::span<const float>(gradient));
}

// In a build without CUDA there are no names, and one skipped test says so.
std::vector<std::string> device_names() {
  const std::vector<std::string> names = Registered<DeviceCompressor>::names();
  return names.empty() ? std::vector<std::string>{"none"} : names;
}

INSTANTIATE_TEST_SUITE_P(EveryCudaCompressor, Device, testing::ValuesIn(device_names()),
                         name_of_parameter);

// Every .cu that registers a compressor has the name of an existing compressor.
TEST(DeviceRegistry, EveryCudaVersionIsOfACompressor) {
  const std::vector<std::string> of_cuda = Registered<DeviceCompressor>::names();
  if (of_cuda.empty())
    GTEST_SKIP() << "built without CUDA";
  const std::vector<std::string> all = Registered<Compressor>::names();
  for (const std::string& name : of_cuda)
    EXPECT_EQ(std::ranges::count(all, name), 1) << name;
}

}  // namespace
}  // namespace syncline
