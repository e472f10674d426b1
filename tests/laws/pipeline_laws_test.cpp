// Laws 2, 8 and 15 (tests/laws/README.md) for buckets that go through servers in partitions:
// latencies hidden behind partitions, and adding during transfers.
#include <gtest/gtest.h>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// Seconds of one exchange of the whole model, without overlap, until the last worker has the sum.
double served_s(Options options) {
  options["exchange"] = "ps";
  options["overlap"] = "off";
  options["iterations"] = "1";
  options["warmup"] = "0";
  return simulated(options).trace.end_s - 0.1;
}

// Four hosts push 3/4 of their gradients and receive 3/4 back, and answer as much as servers: a
// card carries 1.5 b each way, without a pause, because partitions are answered while others are
// pushed. A message arrives one latency after its flow ends, whenever its receiver looks for it, so
// a hundred partitions pay one latency, that of the last.
TEST(LatencyBehindPartitions, IsPaidOnce) {
  for (const char* fidelity : {"step", "flow"})
    for (const double latency_s : {0.0, 1e-3, 1e-2, 5e-2}) {
      const double bytes = 4e8;
      const double seconds =
          served_s({{"platform", star_platform({.nodes = 4, .nic_latency_s = latency_s})},
                    {"model", model_of({100'000'000})},
                    {"bucket-bytes", "all"},
                    {"fidelity", fidelity}});
      // While the first partition is pushed, and the last one pulled, nothing goes the other way.
      const double partition_s = 0.75 * 4'096'000 / 1e9;
      const double expected_s = 1.5 * bytes / 1e9 + 2 * latency_s;
      EXPECT_GE(seconds, expected_s * (1 - 1e-9)) << fidelity << ' ' << latency_s;
      EXPECT_LE(seconds, expected_s + 3 * partition_s) << fidelity << ' ' << latency_s;
    }
}

// The same with different routes: two workers are near the server and two are 40 ms away. Nobody
// can have a partition before the far workers' part of it arrives, so an exchange takes the far way
// in and the near way out or, for the far workers, the far way out: one way to the server and one
// back.
TEST(LatencyBehindPartitions, IsThatOfTheLongestWayInAndOut) {
  const double far_s = 0.02;
  for (const char* fidelity : {"step", "flow"}) {
    const double seconds = served_s({{"platform", star_platform({.nodes = 1,
                                                                 .workers_per_node = 4,
                                                                 .nic_Bps = 1e9,
                                                                 .nic_latency_s = 0,
                                                                 .bus_latency_growth_s = far_s,
                                                                 .servers = 1})},
                                     {"model", model_of({100'000'000})},
                                     {"aggregate", "off"},
                                     {"servers", "1"},
                                     {"host-memory-bandwidth", "1e15"},
                                     {"bucket-bytes", "all"},
                                     {"fidelity", fidelity}});
    const double partition_s = 4 * 4'096'000 / 1e9;
    const double expected_s = 4 * 4e8 / 1e9 + 2 * 3 * far_s;  // the last bus has 60 ms
    EXPECT_GE(seconds, expected_s * (1 - 1e-9)) << fidelity;
    EXPECT_LE(seconds, expected_s + 2 * partition_s) << fidelity;
  }
}

// A server whose memory is slower than its card: buckets of two workers arrive at 10 GB/s and are
// added at 1 GB/s. Each partition is added while the next one arrives, and each bucket while the
// one after it arrives: the total is the time of adding.
TEST(Adding, OfPartitionsGoesOnWhileOthersCome) {
  for (const char* fidelity : {"step", "flow"})
    for (const int buckets : {1, 2, 4}) {
      const std::vector<std::uint64_t> tensors(static_cast<std::size_t>(buckets), 10'000'000);
      const double seconds =
          served_s({{"platform", star_platform({.nodes = 2, .nic_Bps = 1e10, .servers = 1})},
                    {"model", model_of(tensors)},
                    {"servers", "1"},
                    {"bucket-bytes", "0"},
                    {"host-memory-bandwidth", "3e9"},
                    {"fidelity", fidelity}});
      const double adding_s = buckets * 2 * 4e7 / 1e9;
      const double partition_s = 2 * 4e6 / 1e9;
      EXPECT_GE(seconds, adding_s) << fidelity << ' ' << buckets;
      EXPECT_LE(seconds, adding_s + 2 * partition_s) << fidelity << ' ' << buckets;
    }
}

// A server whose memory is slightly slower than half of its card, so that both are about equally
// busy. Once, `flow` took a third too long here.
TEST(Adding, TakesAsLongInFlowsAsInSteps) {
  for (const double memory_Bps : {1e10, 3e10, 6e10, 1e12}) {
    Options options{{"platform", star_platform({.nodes = 8, .nic_Bps = 1e10})},
                    {"model", model_of({5'000'000, 25'000'000, 50'000'000, 1'000'000})},
                    {"bucket-bytes", "0"},
                    {"host-memory-bandwidth", std::to_string(memory_Bps)}};
    options["fidelity"] = "step";
    const double step_s = served_s(options);
    options["fidelity"] = "flow";
    EXPECT_NEAR(served_s(options) / step_s, 1, 0.03) << memory_Bps;
  }
}

}  // namespace
}  // namespace syncline
