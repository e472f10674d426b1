// Laws 4 and 11 (tests/laws/README.md) with compression: on which core its seconds are spent, how
// message sizes change between iterations, and that closed forms and simulation agree on when
// compression saves time.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "kernels/compressor.h"
#include "sim/plan.h"
#include "sim/schedule.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

struct CodedTime {
  std::string exchange;
  std::string compressor;
};

// Every exchange, with compressors whose messages it accepts.
std::vector<CodedTime> exchanges() {
  std::vector<CodedTime> all;
  for (const char* compressor : {"topk", "qsgd", "randomk"})
    for (const std::string& exchange : exchanges_for(compressor))
      all.push_back({exchange, compressor});
  return all;
}

Options four_buckets(const CodedTime& compressed, int cores, double encode_s, double decode_s,
                     int workers_per_node = 1) {
  return {{"platform", star_platform({.nodes = 4,
                                      .workers_per_node = workers_per_node,
                                      .bus_latency_s = 1e-6,
                                      .cores = cores})},
          {"model", model_of({4'000'000, 3'000'000, 2'000'000, 6'000'000})},
          {"device", cost_table(encode_s, decode_s)},
          {"bucket-bytes", "0"},
          {"exchange", compressed.exchange},
          {"compressor", compressed.compressor}};
}

// Seconds of worker 0's rows of a verb on a stream, in iteration 1.
double seconds_of(const Simulated& run, const std::string& verb, Stream stream) {
  double seconds = 0;
  for (const Row& row : run.rows(verb))
    if (row.rank == 0 && row.iteration == 1 && row.stream == stream)
      seconds += row.end_s - row.start_s;
  return seconds;
}

TEST(OneCore, CompressionDelaysBackward) {
  const Simulated run = simulated(four_buckets({"allgather", "topk"}, 1, 1e-9, 1e-10));
  std::vector<Row> own;
  for (const Row& row : run.trace.rows)
    if (row.rank == 0 && row.iteration == 1 && row.stream == Stream::compute)
      own.push_back(row);
  std::ranges::sort(own, {}, &Row::start_s);
  ASSERT_GE(own.size(), 9u);
  const std::vector<double> encode_s{6e-3, 2e-3, 3e-3, 4e-3};
  double now_s = own[0].end_s;
  for (std::size_t bucket = 0; bucket < 4; ++bucket) {
    EXPECT_EQ(own[1 + 2 * bucket].verb, Verb::backward);
    EXPECT_NEAR(own[1 + 2 * bucket].start_s, now_s, early_end_s);
    EXPECT_EQ(own[2 + 2 * bucket].verb, Verb::compress);
    now_s += 0.2 / 3 / 4 + encode_s[bucket];
    EXPECT_NEAR(own[2 + 2 * bucket].end_s, now_s, early_end_s);
  }
  EXPECT_NEAR(run.figures.compress_s, 15e-3 + 4 * 1.5e-3, early_end_s);
  EXPECT_TRUE(run.rows("compress").front().stream == Stream::compute);
}

TEST(TwoCores, CompressionDelaysNothingAndIsNeverSlower) {
  for (const CodedTime& compressed : exchanges()) {
    const Simulated one = simulated(four_buckets(compressed, 1, 1e-9, 1e-10, 2));
    const Simulated two = simulated(four_buckets(compressed, 2, 1e-9, 1e-10, 2));
    EXPECT_LE(two.iteration_s(), one.iteration_s() + early_end_s)
        << compressed.exchange << " " << compressed.compressor;
    EXPECT_EQ(seconds_of(two, "compress", Stream::compute), 0) << compressed.exchange;
    EXPECT_EQ(seconds_of(two, "decompress", Stream::compute), 0) << compressed.exchange;
    EXPECT_EQ(seconds_of(one, "compress", Stream::compression), 0) << compressed.exchange;
  }
  const Simulated two = simulated(four_buckets({"allgather", "topk"}, 2, 1e-9, 1e-10));
  EXPECT_NEAR(seconds_of(two, "compress", Stream::compression), 15e-3, early_end_s);
  for (const Row& row : two.rows("backward"))
    if (row.rank == 0 && row.bucket == 3 && row.iteration == 0) {
      EXPECT_NEAR(row.end_s, 0.1, early_end_s) << "compression has delayed backward";
    }
}

TEST(Law4, CompressedOverlapIsNeverSlowerThanNone) {
  for (const CodedTime& compressed : exchanges())
    for (const int cores : {1, 2}) {
      Options options = four_buckets(compressed, cores, 1e-9, 1e-10, 2);
      const double with_s = simulated(options).iteration_s();
      options["overlap"] = "off";
      EXPECT_LE(with_s, simulated(options).iteration_s() + early_end_s)
          << compressed.exchange << " " << compressed.compressor << " on " << cores;
    }
}

TEST(Law11, PartsOfACompressedIterationAddUpToIt) {
  std::vector<Options> all;
  for (const auto& [name, schedule] : Registered<Schedule>::all())
    for (const char* compressor : {"topk", "qsgd", "powersgd"})
      for (const int cores : {1, 2}) {
        if (!takes(schedule, compressor))
          continue;
        for (const std::string& exchange : schedule.chooses_exchange()
                                               ? exchanges_for(compressor)
                                               : std::vector{schedule.default_exchange()}) {
          all.push_back(four_buckets({exchange, compressor}, cores, 3e-9, 1e-9, 2));
          all.back()["schedule"] = name;
          if (schedule.can_pull_compressed())
            all.back()["pull"] = "compressed";
        }
      }
  for (Options& options : all) {
    options["jitter"] = "0.2";
    options["iterations"] = "4";
    const Simulated run = simulated(options);
    const Figures& figures = run.figures;
    const std::string about =
        options["schedule"] + " " + options["exchange"] + " " + options["compressor"];
    EXPECT_NEAR(figures.compute_s + figures.compress_s + figures.exposed_communication_s +
                    figures.waiting_s,
                figures.iteration_mean_s, 1e-9)
        << about;
    EXPECT_GE(figures.compress_s, 0) << about;
    EXPECT_GE(figures.exposed_communication_s, 0) << about;
    EXPECT_GE(figures.waiting_s, 0) << about;
    EXPECT_FALSE(run.below_its_bound()) << about;
    EXPECT_FALSE(run.rows("compress").empty()) << about;
    EXPECT_FALSE(run.rows("decompress").empty()) << about;
  }
}

TEST(Law11, WorkInsideAnExchangeIsNotCountedAsComputation) {
  // With one core, merging during an exchange competes with backward for the device.
  for (const char* exchange : {"gtopk", "oktopk", "alltoall", "hitopk", "hierarchical"}) {
    const Figures figures = simulated(four_buckets({exchange, "topk"}, 1, 3e-9, 3e-9, 2)).figures;
    EXPECT_NEAR(figures.compute_s, 0.1, 1e-6) << exchange;
  }
}

// Bytes received by a rank in rows of this verb, by iteration.
std::map<int, std::uint64_t> received_by(const Simulated& run, int rank, const std::string& verb) {
  std::map<int, std::uint64_t> bytes;
  for (const Row& row : run.rows(verb))
    if (row.rank == rank)
      bytes[row.iteration] += row.bytes_received;
  return bytes;
}

TEST(WarmUpDensities, FollowTheEpochs) {
  Options options{{"platform", star_platform({.nodes = 2})},
                  {"model", model_of({1'024'000})},
                  {"schedule", "topk-sgd"},
                  {"epoch-iterations", "3"},
                  {"warmup", "2"},
                  {"iterations", "13"}};
  for (const char* compressor : {"topk", "mstopk"}) {
    options["compressor"] = compressor;
    for (const auto& [word, densities] :
         std::map<std::string, std::vector<double>>{{"none", {}},
                                                    {"gaussiank", {0.015625, 0.004}},
                                                    {"dgc", {0.25, 0.0625, 0.015625, 0.004}}}) {
      options["warm-up-densities"] = word;
      const auto bytes = received_by(simulated(options), 0, "all-gather");
      ASSERT_EQ(bytes.size(), 15u);
      for (const auto& [iteration, count] : bytes) {
        const auto epoch = static_cast<std::size_t>(iteration / 3);
        const double density = epoch < densities.size() ? densities[epoch] : 0.001;
        EXPECT_EQ(count, 8 * static_cast<std::uint64_t>(density * 1'024'000))
            << compressor << " " << word << " in iteration " << iteration;
      }
    }
  }
}

TEST(WarmUpDensities, AreNeverBelowWhatTheyWarmUpTo) {
  Options options{{"platform", star_platform({.nodes = 2})},
                  {"model", model_of({1'024'000})},
                  {"schedule", "topk-sgd"},
                  {"density", "0.1"},
                  {"warm-up-densities", "dgc"},
                  {"iterations", "6"}};
  std::vector<std::uint64_t> values;
  for (const auto& [iteration, bytes] : received_by(simulated(options), 0, "all-gather"))
    values.push_back(bytes / 8);
  EXPECT_EQ(values, (std::vector<std::uint64_t>{256'000, 102'400, 102'400, 102'400, 102'400,
                                                102'400, 102'400}));
}

Options cat(double latency_s) {
  return {{"platform", star_platform({.nodes = 4, .nic_latency_s = latency_s})},
          {"model", model_of({1'000'000})},
          {"schedule", "topk-sgd"},
          {"compressor", "cat"}};
}

TEST(Cat, SendsMoreAtATimeWithHigherLatency) {
  std::uint64_t before = 0;
  std::set<std::uint64_t> sizes;
  for (const double latency_s : {0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2}) {
    const std::uint64_t bytes = received_by(simulated(cat(latency_s)), 0, "all-gather").at(0);
    EXPECT_GE(bytes, before) << latency_s;
    sizes.insert(before = bytes);
  }
  EXPECT_GE(sizes.size(), 4u) << "its message size does not depend on the network";
}

TEST(Cat, UsesTheCostsItIsGiven) {
  std::set<std::uint64_t> sizes;
  for (const double latency_s : {0.0, 1e-5, 1e-2}) {
    Options options = cat(latency_s);
    options["cost"] = "affine";
    options["packet-bits"] = "8";
    options["packet-cost"] = "1";
    options["fixed-cost"] = "5000";
    sizes.insert(received_by(simulated(options), 0, "all-gather").at(0));
  }
  EXPECT_EQ(sizes.size(), 1u);
}

TEST(Cat, RunsWithOneWorker) {
  Options options = cat(1e-5);
  options["workers"] = "1";
  EXPECT_NEAR(simulated(options).iteration_s(), 0.1, early_end_s);
}

// Three networks: a card per worker; four workers per card; slow and with high latency.
std::vector<std::pair<std::string, std::string>> three_platforms() {
  return {
      {"one a node", star_platform({.nodes = 8})},
      {"four a node", star_platform({.nodes = 4, .workers_per_node = 4, .bus_latency_s = 2e-6})},
      {"slow", star_platform({.nodes = 8,
                              .workers_per_node = 2,
                              .nic_Bps = 1.25e8,
                              .nic_latency_s = 2e-4,
                              .bus_Bps = 1.2e10,
                              .bus_latency_s = 3e-6})}};
}

// The user's alternative without compression: the same exchange if it adds dense gradients.
Options rival_of(Options options) {
  for (const char* own : {"density", "compressor"})
    options.erase(own);
  if (std::set<std::string>{"allgather", "gtopk", "oktopk", "hitopk"}.contains(options["exchange"]))
    options["exchange"] = "ring";
  options["schedule"] = "bsp";
  return options;
}

// HiTopK compresses inside its exchange and decompresses much after it. With several buckets, the
// decompression of one bucket and the compression of the next share the core, which the closed form
// does not model.
bool outside_closed_form(const std::string& exchange) {
  return exchange == "hitopk";
}

TEST(BreakEven, IsWhereTheSimulatedRunsTakeTheSameTime) {
  for (const auto& [platform, path] : three_platforms())
    for (const char* exchange :
         {"allgather", "gtopk", "oktopk", "hitopk", "hierarchical", "alltoall"})
      for (const char* overlap : {"off", "on"}) {
        const bool overlaps = std::string(overlap) == "on";
        if (overlaps && outside_closed_form(exchange))
          continue;
        const std::string about = platform + " " + exchange + " overlap " + overlap;
        // Compression must cost something, otherwise it pays at any bandwidth.
        Options options{{"platform", path},
                        {"fidelity", "step"},
                        {"model", model_of({8'000'000, 6'000'000, 9'000'000})},
                        {"device", cost_table(3e-9, 2e-10)},
                        {"compressor", "topk"},
                        {"density", "0.01"},
                        {"exchange", exchange},
                        {"overlap", overlap},
                        {"bucket-bytes", overlaps ? "0" : "all"}};
        const Predicted closed = predicted(options);
        if (overlaps && !closed.even_known)
          continue;
        const auto even = overlaps ? closed.with_overlap : closed.without_overlap;
        ASSERT_EQ(even.size(), 1u) << about;
        ASSERT_EQ(even.front().from, 0) << about;
        ASSERT_GT(even.front().to, 0) << about;
        for (const double factor : {0.95, 1.05}) {
          Options at = options;
          at["bandwidth-factor"] = std::to_string(even.front().to * factor);
          const double compressed_s = simulated(at).iteration_s();
          const double dense_s = simulated(rival_of(at)).iteration_s();
          EXPECT_EQ(compressed_s < dense_s, factor < 1) << about << " at " << factor;
        }
      }
}

TEST(BreakEven, CompressionCanPayAboveABandwidth) {
  // An all-gather of 32 quantised messages has more bytes than a dense ring, but half the steps.
  Options options{{"platform", star_platform({.nodes = 32, .nic_latency_s = 1e-3})},
                  {"model", model_of({300'000})},
                  {"compressor", "qsgd"},
                  {"overlap", "off"},
                  {"bucket-bytes", "all"}};
  const Predicted closed = predicted(options);
  for (const auto& even : {closed.without_overlap, closed.with_overlap}) {
    ASSERT_EQ(even.size(), 1u);
    ASSERT_EQ(even.front().to, 0);
    for (const double factor : {0.9, 1.1}) {
      Options at = options;
      at["bandwidth-factor"] = std::to_string(even.front().from * factor);
      const double compressed_s = simulated(at).iteration_s();
      const double dense_s = simulated(rival_of(at)).iteration_s();
      EXPECT_EQ((compressed_s < dense_s), (factor > 1)) << even.front().from * factor;
    }
  }
}

// Once, `explain` said "slower at any bandwidth" where only the lowest and the highest are, because
// it looked only at these two. Gathered messages have more bytes than a ring (decides at the low
// end), fewer steps (decides in between), and are decoded at the end (decides at the high end).
TEST(BreakEven, CompressionCanPayBetweenTwoBandwidths) {
  Options options{{"platform", star_platform({.nodes = 16, .nic_latency_s = 2e-4})},
                  {"model", model_of({16'000'000, 8'000'000, 8'000'000, 16'000'000})},
                  {"device", cost_table(1e-10, 6e-11)},
                  {"compressor", "qsgd"},
                  {"overlap", "on"},
                  {"bucket-bytes", "0"}};
  const Predicted closed = predicted(options);
  ASSERT_EQ(closed.with_overlap.size(), 1u);
  const auto [from, to] = closed.with_overlap.front();
  ASSERT_GT(from, 0);
  ASSERT_GT(to, from * 2);
  for (const auto& [bandwidth, pays] : std::map<double, bool>{
           {from * 0.7, false}, {from * 1.3, true}, {to * 0.7, true}, {to * 1.3, false}}) {
    Options at = options;
    at["bandwidth-factor"] = std::to_string(bandwidth);
    const double compressed_s = simulated(at).iteration_s();
    const double dense_s = simulated(rival_of(at)).iteration_s();
    EXPECT_EQ(compressed_s < dense_s, pays) << bandwidth << " of " << from << " to " << to;
  }
}

std::string about(const Options& options) {
  return options.at("exchange") + " " + options.at("compressor") + " overlap " +
         options.at("overlap");
}

TEST(ClosedForms, AreWithinFivePercentWithoutOverlap) {
  for (const auto& [platform, path] : three_platforms())
    for (const CodedTime& compressed : exchanges())
      for (const std::uint64_t parameters : {50'000ul, 8'000'000ul}) {
        const Options options{{"platform", path},
                              {"fidelity", "step"},
                              {"model", model_of({parameters, parameters / 2, parameters})},
                              {"device", cost_table(3e-9, 2e-10)},
                              {"throughput", parameters > 1'000'000 ? "100" : "5000"},
                              {"compressor", compressed.compressor},
                              {"exchange", compressed.exchange},
                              {"overlap", "off"},
                              {"bucket-bytes", "all"}};
        const double ratio = predicted(options).iteration_s / simulated(options).iteration_s();
        // Ranks of a tree wait for each other, so the tree takes more latencies than any one rank
        // pays.
        EXPECT_GT(ratio, compressed.exchange == "tree" ? 0.6 : 0.95)
            << platform << " " << about(options) << " of " << parameters;
        EXPECT_LT(ratio, 1.05) << platform << " " << about(options) << " of " << parameters;
      }
}

TEST(ClosedForms, AreWithinFivePercentOfCompressedAndDenseIterations) {
  for (const auto& [platform, path] : three_platforms())
    for (const CodedTime& compressed : exchanges())
      for (const char* overlap : {"off", "on"}) {
        const Options options{{"platform", path},
                              {"fidelity", "step"},
                              {"model", model_of({8'000'000, 4'000'000, 8'000'000})},
                              {"device", cost_table(3e-9, 2e-10)},
                              {"compressor", compressed.compressor},
                              {"exchange", compressed.exchange},
                              {"overlap", overlap},
                              {"bucket-bytes", "0"}};
        if (outside_closed_form(compressed.exchange))
          continue;
        const Predicted closed = predicted(options);
        EXPECT_NEAR(closed.iteration_s / simulated(options).iteration_s(), 1, 0.05)
            << platform << " " << about(options);
        if (compressed.exchange == "allgather") {
          EXPECT_NEAR(closed.rival_s / simulated(rival_of(options)).iteration_s(), 1, 0.05)
              << platform << " " << about(options);
        }
      }
}

}  // namespace
}  // namespace syncline
