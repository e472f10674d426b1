// Law 6 (tests/laws/README.md): the bytes moved are exactly those of the compressor, and the
// seconds of compression exactly those of the cost table.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <tuple>

#include "kernels/compressor.h"
#include "sim/collectives.h"
#include "sim/plan.h"
#include "sim/schedule.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

std::string title(const Options& options) {
  std::string text;
  for (const char* key : {"schedule", "exchange", "compressor", "pull", "precision", "overlap"})
    if (options.contains(key))
      text += options.at(key) + " ";
  return text;
}

// `base` with every schedule and exchange that can carry the compressor.
std::vector<Options> everywhere(const Options& base, const std::string& compressor) {
  std::vector<Options> all;
  for (const auto& [name, schedule] : Registered<Schedule>::all()) {
    if (!takes(schedule, compressor))
      continue;
    Options options = base;
    if (!has_density(Registered<Compressor>::find(compressor)))
      options.erase("density");
    options["schedule"] = name;
    options["compressor"] = compressor;
    if (!schedule.chooses_exchange()) {
      all.push_back(options);
      continue;
    }
    for (const std::string& exchange : exchanges_for(compressor)) {
      options["exchange"] = exchange;
      all.push_back(options);
    }
  }
  return all;
}

std::uint64_t message_bytes(const Options& options, std::size_t elements) {
  const Compressor& compressor = Registered<Compressor>::find(options.at("compressor"));
  const bool half = options.contains("precision") && options.at("precision") == "fp16";
  const WireSize size = compressor.wire_bytes(Settings(compressor.options, options), elements,
                                              half ? Precision::fp16 : Precision::fp32);
  return static_cast<std::uint64_t>(std::llround(size.bytes));
}

// Bytes received in rows of this verb, by rank, bucket and iteration.
std::map<std::tuple<int, int, int>, std::uint64_t> received(const Simulated& run,
                                                            const std::string& verb) {
  std::map<std::tuple<int, int, int>, std::uint64_t> bytes;
  for (const Row& row : run.rows(verb))
    bytes[{row.rank, row.bucket, row.iteration}] += row.bytes_received;
  return bytes;
}

// All transfers of a trace, without their times.
std::vector<std::tuple<Verb, int, int, int, std::uint64_t, std::uint64_t>> transfers(
    const Simulated& run) {
  std::vector<std::tuple<Verb, int, int, int, std::uint64_t, std::uint64_t>> all;
  for (const Row& row : run.trace.rows)
    if (row.bytes_sent + row.bytes_received > 0)
      all.emplace_back(row.verb, row.rank, row.bucket, row.iteration, row.bytes_sent,
                       row.bytes_received);
  std::ranges::sort(all);
  return all;
}

// Four nodes of two workers; buckets of one tensor each, whose messages can be cut evenly.
Options four_nodes_of_two() {
  return {{"platform", star_platform({.nodes = 4, .workers_per_node = 2, .bus_latency_s = 1e-6})},
          {"model", model_of({1'280'000, 2'560'000})},
          {"bucket-bytes", "0"},
          {"density", "0.01"}};
}

TEST(Law6, AllGatherBringsEachWorkerEightBytesPerValueThatAnotherSends) {
  for (const char* algorithm : {"ring", "recursive-doubling"})
    for (const auto& [precision, pair_bytes] : {std::pair("fp32", 8u), {"fp16", 6u}})
      for (const int n : {2, 5, 8}) {
        const Simulated run = simulated({{"platform", star_platform({.nodes = n})},
                                         {"model", model_of({400'000, 900'000, 50, 700'000})},
                                         {"bucket-bytes", "0"},
                                         {"compressor", "topk"},
                                         {"density", "0.01"},
                                         {"algorithm", algorithm},
                                         {"precision", precision}});
        std::map<std::tuple<int, int, int>, std::uint64_t> bytes;
        for (const char* verb : {"all-gather", "fold", "unfold"})
          for (const auto& [where, count] : received(run, verb))
            bytes[where] += count;
        const std::vector<std::uint64_t> k{7000, 1, 9000, 4000};  // in backward order
        ASSERT_EQ(bytes.size(), static_cast<std::size_t>(n) * 4 * 11);
        for (const auto& [where, count] : bytes) {
          const auto [rank, bucket, iteration] = where;
          const std::uint64_t others = static_cast<std::uint64_t>(n) - 1;
          EXPECT_EQ(count, others * pair_bytes * k[static_cast<std::size_t>(bucket)])
              << algorithm << " " << precision << " " << n << " rank " << rank;
        }
      }
}

TEST(Law6, EveryExchangeSendsWhatItsPaperCounts) {
  const double n = 8;
  const double m = 2;
  const double nodes = 4;
  for (const char* compressor : {"topk", "qsgd", "randomk", "powersgd"})
    for (const char* precision : {"fp32", "fp16"}) {
      Options base = four_nodes_of_two();
      base["precision"] = precision;
      for (const Options& options : everywhere(base, compressor)) {
        if (options.at("schedule") != "bsp")
          continue;
        const auto b = static_cast<double>(message_bytes(options, 1'280'000) +
                                           message_bytes(options, 2'560'000));
        const double dense = 3'840'000.0 * (std::string(precision) == "fp16" ? 2 : 4);
        const bool sums = Registered<Compressor>::find(compressor).reducible;
        const std::map<std::string, double> expected{
            {"ring", 2 * (n - 1) / n * b},
            {"halving-doubling", 2 * (n - 1) / n * b},
            {"tree", 2 * (n - 1) / n * b},
            {"allgather", (n - 1) * b},
            {"gtopk", 2 * (n - 1) / n * b},
            {"oktopk", 2 * (n - 1) / n * b},
            {"alltoall", 2 * (n - 1) / n * b},
            {"hitopk", (m - 1) / m * dense + (nodes - 1) * b / m + (m - 1) * nodes * b / m},
            {"hierarchical-compressed", 2 * (m - 1) / m * dense + 2 * (nodes - 1) / nodes * b / m},
            {"hierarchical",
             2 * (m - 1) / m * dense + (sums ? 2 * (nodes - 1) / nodes : nodes - 1) * b / m}};
        if (const auto known = expected.find(options.at("exchange")); known != expected.end()) {
          EXPECT_NEAR(simulated(options).figures.bytes_sent, known->second, 1e-6) << title(options);
        }
      }
    }
}

TEST(Law6, BytesOnEveryLinkAreThosePredicted) {
  Options base = four_nodes_of_two();
  base["model"] = model_of({1'000'003, 70, 33'333});  // nothing divides these
  base["dense-below"] = "100";
  for (const char* compressor : {"topk", "qsgd", "randomk", "efsign"})
    for (const Options& options : everywhere(base, compressor)) {
      if (options.at("schedule") == "inhad")
        continue;  // the number of requests to a node depends on the run
      const std::map<std::string, double> links = predicted(options).link_bytes;
      double carried = 0;
      const Simulated run = simulated(options);
      double iterations = 0;  // 10 after one of warm-up, or more to fill whole rounds
      for (const Row& row : run.rows("forward"))
        iterations = std::max(iterations, row.iteration + 1.0);
      for (const LinkUse& link : run.trace.links) {
        const double bytes = links.contains(link.name) ? links.at(link.name) : 0;
        EXPECT_NEAR(link.bytes / iterations, bytes, 1e-6) << title(options) << link.name;
        carried += bytes;
      }
      EXPECT_GT(carried, 0) << title(options);
    }
}

TEST(Law6, AddableMessagesMoveLikeDenseGradients) {
  // A free compressor that sends half of the values without indices must give, row by row, the
  // transfers of a dense model of half the size.
  const Star star{.nodes = 3, .workers_per_node = 2, .bus_latency_s = 1e-6};
  Options base{{"platform", star_platform(star)},
               {"device", cost_table(0, 0)},
               {"host-memory-bandwidth", "1e15"},  // adding must cost nothing either
               {"jitter", "0.2"},
               {"bucket-bytes", "0"}};
  for (Options options : everywhere(base, "randomk")) {
    if (options["schedule"] == "inhad" || options["exchange"] == "hierarchical-compressed")
      continue;  // copies inside a node are dense
    const Schedule& schedule = Registered<Schedule>::find(options["schedule"]);
    if (schedule.server != nullptr && !schedule.can_pull_compressed())
      continue;  // its answers are dense
    if (schedule.server != nullptr)
      options["pull"] = "compressed";
    else if (options["exchange"] == "hierarchical")
      options["in-node"] = "compressed";
    options["model"] = model_of({2'000'002, 900'000});
    options["density"] = "0.5";
    const Simulated sparse = simulated(options);
    options.erase("density");
    options.erase("in-node");
    options.erase("pull");
    options["model"] = model_of({1'000'001, 450'000});
    options["compressor"] = "none";
    const Simulated dense = simulated(options);
    EXPECT_EQ(transfers(sparse), transfers(dense)) << title(options);
    EXPECT_NEAR(sparse.trace.end_s, dense.trace.end_s, early_end_s) << title(options);
    EXPECT_NEAR(sparse.figures.exposed_communication_s, dense.figures.exposed_communication_s,
                early_end_s)
        << title(options);
  }
}

TEST(Law6, PushesAreMessagesAndPullsAsChosen) {
  for (const char* schedule : {"asp", "ssp"})
    for (const char* compressor : {"topk", "qsgd"})
      for (const char* pull : {"dense", "compressed"}) {
        Options options{{"platform", star_platform({.nodes = 3, .servers = 2})},
                        {"model", model_of({300'001})},
                        {"servers", "2"},
                        {"schedule", schedule},
                        {"compressor", compressor},
                        {"pull", pull}};
        const std::uint64_t message = message_bytes(options, 300'001);
        const std::uint64_t pulled = std::string(pull) == "dense" ? 4 * 300'001u : message;
        const Simulated run = simulated(options);
        ASSERT_EQ(run.rows("push").size(), 33u);
        for (const Row& row : run.rows("push"))
          EXPECT_EQ(row.bytes_sent, message) << title(options);
        for (const Row& row : run.rows("receive"))
          EXPECT_EQ(row.bytes_received, share(message, 2, row.rank - 3)) << title(options);
        for (const auto& [where, bytes] : received(run, "pull"))
          EXPECT_EQ(bytes, pulled) << title(options);
        for (const Row& row : run.rows("reply"))
          EXPECT_EQ(row.bytes_sent, share(pulled, 2, row.rank - 3)) << title(options);
      }
}

TEST(Law6, InhadsSumsAreMessagesAndCopiesInTheNodeAreNot) {
  for (const char* pull : {"dense", "compressed"}) {
    const Options options{
        {"platform", star_platform({.nodes = 3, .workers_per_node = 2, .servers = 2})},
        {"model", model_of({300'000, 100'001})},
        {"servers", "2"},
        {"schedule", "inhad"},
        {"compressor", "topk"},
        {"pull", pull}};
    const Simulated run = simulated(options);
    const std::uint64_t message = message_bytes(options, 400'001);
    const std::uint64_t pulled = std::string(pull) == "dense" ? 4 * 400'001u : message;
    int sums = 0;
    for (const Row& row : run.rows("sum"))
      if (row.bytes_received > 0) {
        EXPECT_EQ(row.bytes_received, share(message, 2, row.rank - 6));
        ++sums;
      }
    EXPECT_GT(sums, 0);
    for (const Row& row : run.rows("parameters"))
      if (row.rank >= 6 && row.rank < 8) {
        EXPECT_EQ(row.bytes_sent, share(pulled, 2, row.rank - 6)) << pull;
      }
    for (const Row& row : run.rows("take"))  // a node's first worker shares the node's host
      EXPECT_TRUE(row.bytes_sent + row.bytes_received == 0 ||
                  row.bytes_sent + row.bytes_received == 4 * 400'001u);
  }
}

TEST(Law6, SmallTensorsAreSentAsTheyAre) {
  Options options{{"platform", star_platform({.nodes = 4})},
                  {"model", model_of({100'000, 999, 1000, 50'000})},
                  {"schedule", "topk-sgd"},
                  {"density", "0.01"},
                  {"dense-below", "1000"}};
  const Simulated some = simulated(options);  // 151,000 values compressed, 999 in a ring
  for (const Row& row : some.rows("all-gather"))
    EXPECT_EQ(row.bytes_received, 3u * 8 * 1510);
  for (const Row& row : some.rows("all-reduce"))
    EXPECT_NEAR(static_cast<double>(row.bytes_received), 2.0 * 3 / 4 * 4 * 999, 2);
  EXPECT_FALSE(some.rows("all-reduce").empty());
  // All tensors are below the limit, so the trace is that of dense gradients.
  options["dense-below"] = "1000000";
  const Simulated all_small = simulated(options);
  const Simulated dense = simulated(
      {{"platform", options["platform"]}, {"model", options["model"]}, {"bucket-bytes", "all"}});
  EXPECT_EQ(trace_text(all_small.trace), trace_text(dense.trace));
}

TEST(Law6, InhadCompressesNothingWhereAllTensorsAreSmall) {
  // Also for servers and aggregators: no row at all, not even one of zero seconds.
  const Options options{{"platform", star_platform({.nodes = 3, .workers_per_node = 2})},
                        {"model", model_of({300'000, 100'001})},
                        {"schedule", "inhad"},
                        {"compressor", "topk"},
                        {"pull", "compressed"},
                        {"dense-below", "1000000"}};
  const Simulated run = simulated(options);
  EXPECT_FALSE(run.rows("parameters").empty());
  EXPECT_TRUE(run.rows("compress").empty());
  EXPECT_TRUE(run.rows("decompress").empty());
}

TEST(Law6, VaryingMessageSizesHaveTheTargetMean) {
  const std::uint64_t n = 5;
  const std::uint64_t elements = 300'000;
  for (const char* compressor : {"gaussiank", "dgc", "sidco"}) {
    const Options options{{"platform", star_platform({.nodes = n})},
                          {"model", model_of({elements})},
                          {"schedule", "topk-sgd"},
                          {"compressor", compressor},
                          {"density", "0.01"},
                          {"iterations", "199"}};
    const Compressor& made = Registered<Compressor>::find(compressor);
    const WireSize size =
        made.wire_bytes(Settings(made.options, options), elements, Precision::fp32);
    const Simulated run = simulated(options);
    std::map<int, std::uint64_t> all;  // received, by iteration: n - 1 times the messages
    for (const auto& [where, bytes] : received(run, "all-gather"))
      all[std::get<2>(where)] += bytes;
    double mean = 0;
    std::set<std::uint64_t> sizes;
    for (const auto& [where, bytes] : received(run, "all-gather")) {
      const std::uint64_t message = all[std::get<2>(where)] / (n - 1) - bytes;
      EXPECT_EQ(message % 8, 0u) << compressor;
      EXPECT_GE(static_cast<double>(message), size.low - 4) << compressor;
      EXPECT_LE(static_cast<double>(message), size.high + 4) << compressor;
      sizes.insert(message);
      mean += static_cast<double>(message) / (200 * n);
    }
    EXPECT_NEAR(mean / size.bytes, 1, 0.02) << compressor;
    EXPECT_GT(sizes.size(), 100u) << compressor;
  }
}

// Compute, encode, n - 1 steps of one message each, decode n messages.
TEST(TopKSgd, TakesTheSumOfItsPartsWithoutOverlap) {
  const double parameters = 8'000'000;
  for (const int n : {2, 3, 8})
    for (const char* fidelity : {"flow", "step"})
      for (const char* overlap : {"on", "off"})
        for (const int cores : {1, 2}) {
          const Simulated run =
              simulated({{"platform", star_platform({.nodes = n, .cores = cores})},
                         {"model", model_of({5'000'000, 2'000'000, 1'000'000})},
                         {"schedule", "topk-sgd"},
                         {"density", "0.01"},
                         {"overlap", overlap},
                         {"fidelity", fidelity}});
          const double gather_s = (n - 1) * (2e-5 + 8 * 0.01 * parameters / 1e9);
          const double decode_s = n * parameters * 1e-10;
          EXPECT_NEAR(run.iteration_s(), 0.1 + parameters * 1e-9 + gather_s + decode_s, 1e-8)
              << n << fidelity << overlap << cores;
          EXPECT_NEAR(run.figures.compute_s, 0.1, 1e-8);
          EXPECT_NEAR(run.figures.compress_s, parameters * 1e-9 + decode_s, 1e-8);
          EXPECT_NEAR(run.figures.exposed_communication_s, gather_s, 1e-8);
          EXPECT_NEAR(run.figures.waiting_s, 0, 1e-8);
        }
}

TEST(Compression, FreeCompressionOnAFreeNetworkChangesOnlyBytes) {
  Options base{{"platform", star_platform({.nodes = 3,
                                           .workers_per_node = 2,
                                           .nic_Bps = 1e18,
                                           .nic_latency_s = 0,
                                           .bus_Bps = 1e18,
                                           .slow_speed = 0.6})},
               {"model", model_of({400'000, 900'000, 100, 700'000})},
               {"device", cost_table(0, 0)},
               {"host-memory-bandwidth", "1e15"},
               {"jitter", "0.2"},
               {"bucket-bytes", "0"}};
  const auto same_but_for_bytes = [](const Simulated& a, const Simulated& b,
                                     const std::string& about) {
    EXPECT_NEAR(a.trace.end_s / b.trace.end_s, 1, early_end_s) << about;
    EXPECT_NEAR(a.figures.throughput_samples_per_s / b.figures.throughput_samples_per_s, 1,
                early_end_s)
        << about;
    EXPECT_EQ(a.figures.updates, b.figures.updates) << about;
    EXPECT_EQ(a.figures.staleness_histogram, b.figures.staleness_histogram) << about;
    EXPECT_NE(a.figures.bytes_sent, b.figures.bytes_sent) << about;
  };
  for (const char* compressor : {"topk", "qsgd", "randomk"})
    for (Options options : everywhere(base, compressor)) {
      const Simulated run = simulated(options);
      const std::string about = title(options);
      options["compressor"] = "none";
      const auto exchange = Registered<Exchange>::all().find(options["exchange"]);
      const bool merges_lists = exchange != Registered<Exchange>::all().end() &&
                                exchange->second.carries == Exchange::Carries::sparse;
      const bool only_sparse = options["schedule"] == "topk-sgd";
      if (only_sparse)
        options["schedule"] = "bsp";
      if (only_sparse || merges_lists)  // these need a compressor
        options["exchange"] = "ring";
      same_but_for_bytes(run, simulated(options), about);
    }
}

}  // namespace
}  // namespace syncline
