// Law 32 (tests/laws/README.md): bytes of messages follow from the precision on the wire, in
// whatever precision products are computed and by whichever rule buckets are closed.
#include <gtest/gtest.h>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

double link_bytes_of(const Simulated& run) {
  double bytes = 0;
  for (const LinkUse& link : run.trace.links)
    bytes += link.measured_bytes;
  return bytes;
}

// Four tensors of a million values; each tensor is sent through a ring of three workers.
Options three_workers() {
  static const std::string model = model_of({1'000'000, 1'000'000, 1'000'000, 1'000'000});
  return {{"platform", star_platform({.nodes = 3})},
          {"model", model},
          {"bucket-bytes", "0"},
          {"fidelity", "step"}};
}

TEST(Law32, BytesAreThoseOfValuesOnTheWireAndSecondsThoseOfComputing) {
  const Simulated fp32 = simulated(three_workers());
  const double all_bytes = link_bytes_of(fp32);
  const std::map<std::string, double> kept{{"fp32", 4}, {"tf32", 4}, {"bf16", 2}, {"fp16", 2}};
  for (const auto& [precision, own_bytes] : kept)
    for (const auto& [wire, wire_bytes] :
         std::map<std::string, double>{{"", own_bytes}, {"fp32", 4}, {"bf16", 2}, {"fp16", 2}}) {
      Options options = three_workers();
      options["precision"] = precision;
      options["wire-precision"] = wire;
      const Simulated run = simulated(options);
      EXPECT_NEAR(link_bytes_of(run) / all_bytes, wire_bytes / 4, 1e-6) << precision << wire;
      EXPECT_NEAR(run.figures.compute_s, fp32.figures.compute_s, precise) << precision << wire;
      EXPECT_NEAR(run.figures.bytes_sent, fp32.figures.bytes_sent * wire_bytes / 4, 4);
    }
}

// Efficiency is a share of the device's peak: 30 values of flop at half of 312 TFLOP/s.
TEST(Law32, SecondsOfAnEfficiencyAreThoseOfTheDevicesPeak) {
  Options options = three_workers();
  options["throughput"] = "";
  options["efficiency"] = "0.5";
  options["device"] = "a100";
  options["precision"] = "bf16";
  const double bf16 = simulated(options).figures.compute_s;
  options["precision"] = "tf32";
  EXPECT_NEAR(simulated(options).figures.compute_s / bf16, 2, 1e-6);  // 156 and 312 TFLOP/s
  options["device"] = "h100";
  options["precision"] = "bf16";
  EXPECT_NEAR(bf16 / simulated(options).figures.compute_s, 989.0 / 312, 1e-6);
  options["precision"] = "fp16";
  EXPECT_NEAR(bf16 / simulated(options).figures.compute_s, 989.0 / 312, 1e-6);
  options["device"] = "v100";
  EXPECT_NEAR(bf16 / simulated(options).figures.compute_s, 125.0 / 312, 1e-6);
}

// 4 MB each: a bucket of at most 6 MB holds one tensor; one that closes after 6 MB holds two.
TEST(Law32, ARuleOfBucketsDecidesHowManyAndNoBytes) {
  struct {
    std::string closes, first;
    std::size_t buckets;
  } const rules[] = {
      {"before", "", 4}, {"after", "", 2}, {"after", "1e6", 3}, {"before", "9e6", 3}};
  double bytes = 0;
  for (const auto& [closes, first, buckets] : rules) {
    Options options = three_workers();
    options["bucket-bytes"] = "6e6";
    options["bucket-closes"] = closes;
    options["first-bucket-bytes"] = first;
    const Simulated run = simulated(options);
    EXPECT_EQ(run.rows("backward").size(), buckets * run.rows("forward").size()) << closes << first;
    bytes = bytes == 0 ? link_bytes_of(run) : bytes;
    EXPECT_NEAR(link_bytes_of(run), bytes, 1);
  }
}

}  // namespace
}  // namespace syncline
