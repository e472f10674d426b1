// Compares the formulas behind the modelled cost tables (`traffic` of every compressor) with the
// kernels: launch by launch, what each reads and writes, and that the host never waits.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "kernels/arithmetic/feedback.h"
#include "kernels/arithmetic/keys.h"
#include "kernels/cost_table.h"
#include "kernels/gpu/device.h"
#include "tests/kernels/data.h"
#include "tests/kernels/emulator/emulator.h"
#include "tests/unit/parameter_name.h"

namespace syncline {
namespace {

// Counts the operations of this chain as it is enqueued.
template <class Enqueue>
Enqueue counted(const Enqueue& enqueue, std::vector<emulator::Operation>& operations) {
  return [&operations, enqueue](const auto&... arguments) {
    emulator::count();
    enqueue(arguments...);
    operations = emulator::counted();
  };
}

std::string said(const Amount& amount) {
  const auto whole = [](double value) { return std::to_string(std::llround(value)); };
  return whole(amount.mean) + (amount.spread > 0 ? " +- " + whole(amount.spread) : "");
}

bool agrees(std::size_t counted, const Amount& amount, double slack) {
  return std::abs(static_cast<double>(counted) - amount.mean) <= amount.spread + slack;
}

void expect_counted(const std::vector<emulator::Operation>& counted,
                    const StreamOperations& formula, double slack) {
  for (std::size_t i = 0; i < std::max(counted.size(), formula.size()); ++i) {
    if (i >= counted.size() || i >= formula.size()) {
      ADD_FAILURE() << counted.size() << " operations, the formula has " << formula.size();
      return;
    }
    EXPECT_FALSE(counted[i].waits) << "the host waits before operation " << i;
    EXPECT_TRUE(agrees(counted[i].read, formula[i].read, slack))
        << i << ", " << formula[i].name << ": reads " << counted[i].read << ", the formula has "
        << said(formula[i].read);
    EXPECT_TRUE(agrees(counted[i].written, formula[i].written, slack))
        << i << ", " << formula[i].name << ": writes " << counted[i].written << ", the formula has "
        << said(formula[i].written);
  }
}

// `slack`: the number of bytes by which each may differ.
void expect_traffic(const std::string& name, const Settings& settings, std::size_t elements,
                    double slack = 0) {
  const Compressor& compressor = Registered<Compressor>::find(name);
  const DeviceRuntime& runtime = Registered<DeviceRuntime>::find("cuda");
  std::vector<emulator::Operation> encoding, decoding;
  DeviceCompressor device = Registered<DeviceCompressor>::find(name);
  device.encode = counted(device.encode, encoding);
  device.decode_add = counted(device.decode_add, decoding);
  const std::vector<float> gradient = gauss(elements, elements);
  const Draw draw{7, 100, 3};
  State state;
  Message message;
  runtime.encode(device, settings, std::span<const float>(gradient), draw, state, message);
  SCOPED_TRACE(name + " " + written_settings(compressor, settings) + ", " +
               std::to_string(elements) + " elements");
  {
    SCOPED_TRACE("encode");
    expect_counted(encoding, compressor.traffic.encode(settings, elements), slack);
  }
  if (message.empty())  // nothing reached the threshold
    return;
  std::vector<float> sum(elements);
  runtime.decode_add(device, settings, message, Precision::fp32, draw, sum);
  SCOPED_TRACE("decode");
  expect_counted(decoding, compressor.traffic.decode(settings, elements, 1), slack);
}

// Decoding of three messages with different gradients.
void expect_traffic_of_three(const std::string& name, const Settings& settings,
                             std::size_t elements) {
  const Compressor& compressor = Registered<Compressor>::find(name);
  std::vector<emulator::Operation> decoding;
  DeviceCompressor device = Registered<DeviceCompressor>::find(name);
  device.decode_add = counted(device.decode_add, decoding);
  const Draw draw{7, 100, 3};
  const Mail mail = mail_of(compressor, settings, 3, elements, Precision::fp32, draw);
  std::vector<float> sum(elements);
  Registered<DeviceRuntime>::find("cuda").decode_add(device, settings, mail.all(), Precision::fp32,
                                                     draw, sum);
  SCOPED_TRACE(name + " " + written_settings(compressor, settings) + ", three messages");
  expect_counted(decoding, compressor.traffic.decode(settings, elements, 3), 0);
}

class Traffic : public testing::TestWithParam<std::string> {};

using Given = std::map<std::string, std::string>;

// Settings that change the chain, or the sizes of its parts.
std::vector<Given> variants(const Compressor& compressor) {
  static const std::map<std::string, std::vector<Given>> own = {
      {"adacomp", {{{"bin", "8"}}, {{"bin", "64"}}, {{"bin", "500"}}, {{"bin", "8192"}}}},
      {"cat",
       {{{"rule", "sign"}},
        {{"rule", "stochastic"}},
        {{"cost", "affine"}, {"fixed-cost", "3e6"}},
        {{"cost", "payload"}, {"rule", "sign"}}}},
      {"chunk-topk", {{{"chunk", "256"}}, {{"chunk", "1024"}, {"density", "0.25"}}}},
      {"dct-topk", {{{"chunk", "256"}}, {{"chunk", "1024"}, {"density", "0.25"}}}},
      {"dgc",
       {{{"momentum", "0.9"}},
        {{"clip-norm", "2"}},
        {{"clip-norm", "2"}, {"momentum", "0.9"}},
        {{"sample", "0.1"}}}},
      {"gaussiank", {{{"sides", "one"}}}},
      {"mstopk", {{{"rounds", "5"}}}},
      {"powersgd", {{{"rank", "1"}}, {{"rank", "2"}}, {{"rank", "9"}, {"error-feedback", "off"}}}},
      {"qsgd",
       {{{"bits", "3"}, {"quant-bucket", "16"}},
        {{"bits", "8"}, {"quant-bucket", "8192"}, {"norm", "two"}}}},
      {"sidco",
       {{{"fit", "pareto"}},
        {{"fit", "gamma"}},
        {{"stages", "1"}, {"density", "0.01"}},
        {{"stages", "7"}}}},
      {"terngrad", {{{"clip", "2.5"}}}},
      {"threshold", {{{"cutoff", "1"}}}}};
  std::vector<Given> all;
  if (const auto found = own.find(compressor.name); found != own.end())
    all = found->second;
  if (declares(compressor.options, feedback_name))
    for (const char* word : {"on", "off"})
      all.push_back({{feedback_name, word}});
  if (has_density(compressor))
    for (const char* density : {"0", "0.001", "0.25", "1"})
      all.push_back({{density_name, density}});
  return all;
}

// Square numbers of whole tiles, so that every part of a workspace begins at a sector: of eight
// tiles, and of 32, from which selections use a sample.
TEST_P(Traffic, IsWhatTheFormulasSay) {
  const Compressor& compressor = Registered<Compressor>::find(GetParam());
  ASSERT_TRUE(compressor.traffic.encode && compressor.traffic.decode);
  const Settings usual = settings_at(compressor, has_density(compressor) ? "0.01" : "");
  for (const std::size_t elements : {65536, 262144})
    expect_traffic(GetParam(), usual, elements);
  for (const Given& given : variants(compressor))
    expect_traffic(GetParam(), Settings(compressor.options, given), 65536);
  expect_traffic_of_three(GetParam(), usual, 65536);
}

// If parts do not end at a sector, each launch may move a few sectors more.
TEST_P(Traffic, IsThatButForAFewSectorsAtAnySize) {
  const Compressor& compressor = Registered<Compressor>::find(GetParam());
  for (const std::size_t elements : {1, 31, 70001})
    expect_traffic(GetParam(), settings_at(compressor, has_density(compressor) ? "0.25" : ""),
                   elements, 4 * sector_bytes);
}

// Zeros are never listed, so fewer than k non-zeros cost at most what the formula says.
TEST(TopkTraffic, OfFewerValuesThanKIsNoMoreThanOfMany) {
  const std::size_t elements = 262144;
  const Compressor& topk = Registered<Compressor>::find("topk");
  const Settings settings = settings_at(topk, "0.01");
  const Draw draw{7, 100, 3};
  const std::map<std::string, std::vector<float>> few =
      few_values(elements, wanted(0.01, elements), draw);
  for (const char* name : {"none", "k - 1"}) {
    std::vector<emulator::Operation> operations;
    DeviceCompressor device = Registered<DeviceCompressor>::find("topk");
    device.encode = counted(device.encode, operations);
    State state;
    Message message;
    const std::span<const float> gradient(few.at(name));
    Registered<DeviceRuntime>::find("cuda").encode(device, settings, gradient, draw, state,
                                                   message);
    std::size_t bytes = 0;
    for (const emulator::Operation& operation : operations)
      bytes += operation.read + operation.written;
    EXPECT_LE(static_cast<double>(bytes), 1.02 * bytes_of(topk.traffic.encode(settings, elements)))
        << name;
  }
}

std::vector<std::string> modelled_names() {
  std::vector<std::string> names = Registered<DeviceCompressor>::names();
  std::erase_if(names, [](const std::string& name) {  // the README's recipe has no formulas
    return !Registered<Compressor>::find(name).traffic.encode;
  });
  return names;
}

INSTANTIATE_TEST_SUITE_P(EveryCompressor, Traffic, testing::ValuesIn(modelled_names()),
                         name_of_parameter);

}  // namespace
}  // namespace syncline
