// Laws 5 and 15 (tests/laws/README.md): where servers and aggregators are, what their work costs,
// and what asynchronous workers wait for.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>

#include "tests/laws/awkward.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// 10 MB in one tensor.
std::string ten_megabytes() {
  static const std::string model = model_of({2'500'000});
  return model;
}

double bytes_on(const Simulated& run, const std::string& link) {
  for (const LinkUse& use : run.trace.links)
    if (use.name == link)
      return use.bytes;
  return 0;
}

TEST(Law15, WorkersCopyToTheirNodesMemoryEachOverItsOwnBus) {
  // Once, the server was on worker 0's host: worker 0 copied for free and the others shared its
  // bus, 3 ms.
  const Simulated run =
      simulated({{"platform", star_platform({.nodes = 1, .workers_per_node = 4, .zones = true})},
                 {"model", ten_megabytes()},
                 {"schedule", "inhad"}});
  int copies = 0;
  for (const Row& row : run.rows("hand-over")) {
    EXPECT_NEAR(row.end_s - row.start_s, 1e-3, 1e-9) << row.rank;
    copies += row.rank < 4 ? 1 : 0;
  }
  EXPECT_EQ(copies, 4 * 11);
}

TEST(Law15, TheNodesHostLimitsCopiesByItsOwnLink) {
  // 10 MB at 1 GB/s, one worker after the other, whether the platform has such a host or the
  // program adds a port.
  const Options options{{"model", ten_megabytes()}, {"schedule", "inhad"}};
  Options declared = options;
  declared["platform"] = star_platform({.nodes = 1, .workers_per_node = 4, .host_Bps = 1e9});
  Options added = options;
  added["platform"] = star_platform({.nodes = 1, .workers_per_node = 4, .zones = true});
  added["host-bandwidth"] = "1e9";
  for (const Options& platform : {declared, added})
    for (const Row& row : simulated(platform).rows("hand-over"))
      EXPECT_NEAR(row.end_s - row.start_s, 1e-2, 1e-9) << row.rank;
}

TEST(Law15, AServerOnANodeLoadsNoWorkersBusWithOthersBytes) {
  for (const bool zones : {true, false})
    for (const char* schedule : {"asp", "ssp", "inhad", "bsp"}) {
      Options options{
          {"platform",
           star_platform(
               {.nodes = 2, .workers_per_node = 3, .zones = zones, .host_Bps = zones ? 0 : 48e9})},
          {"model", ten_megabytes()},
          {"schedule", schedule},
          {"exchange", "ps"}};
      if (schedule == std::string("bsp"))
        options["aggregate"] = "off";
      const Simulated run = simulated(options);
      const double own = 11 * 10e6;  // one push or copy per iteration
      for (const char* node : {"node0", "node1"})
        for (const char* gpu : {"-gpu0", "-gpu1", "-gpu2"})
          for (const char* way : {"-bus_UP", "-bus_DOWN"})
            EXPECT_DOUBLE_EQ(bytes_on(run, std::string(node) + gpu + way), own)
                << schedule << " " << node << gpu << way;
    }
}

TEST(Law15, OnAPlainClusterTheLinkIsTheCardAndTheServerStays) {
  // One worker per node: no copy inside a node, so its own shard needs no transfer.
  const Simulated run = simulated(
      {{"platform", star_platform({.nodes = 2})}, {"model", ten_megabytes()}, {"schedule", "asp"}});
  EXPECT_DOUBLE_EQ(bytes_on(run, "node0-nic_UP"), 11 * 10e6);  // half a push, half an answer
}

TEST(Law15, AnUpdateTakesThreeBytesOfMemoryPerByte) {
  // 10 MB as one partition on one server: 3 x 10 MB / 100 GB/s. Momentum moves five values instead
  // of three.
  Options options{{"platform", star_platform({.nodes = 1, .servers = 1})},
                  {"model", ten_megabytes()},
                  {"schedule", "asp"},
                  {"servers", "1"},
                  {"partition-bytes", "1e9"}};
  const auto update_s = [](const Options& of) {
    const std::vector<Row> rows = simulated(of).rows("update");
    EXPECT_EQ(rows.size(), 11u);
    return rows.front().end_s - rows.front().start_s;
  };
  EXPECT_NEAR(update_s(options), 3e-4, 1e-12);
  options["host-memory-bandwidth"] = "50e9";
  EXPECT_NEAR(update_s(options), 6e-4, 1e-12);
}

// Parameters and states stay in fp32 on a server, so adam moves 7 x 4 bytes for each of 2.5 million
// parameters. Once, with gradients in fp16, only half of that was counted.
TEST(Law15, AnUpdateMovesParametersAndStatesInFp32WhateverIsSent) {
  for (const char* precision : {"fp32", "fp16"})
    for (const auto& [optimizer, values] :
         {std::pair("in-throughput", 3), {"sgd", 3}, {"momentum", 5}, {"adam", 7}}) {
      Options options{{"platform", star_platform({.nodes = 2, .servers = 1})},
                      {"model", ten_megabytes()},
                      {"schedule", "asp"},
                      {"servers", "1"},
                      {"partition-bytes", "1e9"},
                      {"precision", precision},
                      {"optimizer", optimizer}};
      if (values != 3 || optimizer == std::string("sgd"))
        options["memory-bandwidth"] = "1e12";
      for (const Row& row : simulated(options).rows("update"))
        EXPECT_NEAR(row.end_s - row.start_s, values * 4 * 2.5e6 / 100e9, 1e-12)
            << precision << optimizer;
    }
}

TEST(Law15, PushesUpdatesAndPullsOfPartitionsOverlap) {
  // Ten partitions of 1 MB at 1 GB/s and 20 us: the last answer arrives after eleven transfers and
  // one update of 30 us. Once, the whole bucket was pushed before anything was answered: 20 ms.
  for (const char* fidelity : {"step", "flow"}) {
    const Simulated run = simulated({{"platform", star_platform({.nodes = 1, .servers = 1})},
                                     {"model", ten_megabytes()},
                                     {"schedule", "asp"},
                                     {"servers", "1"},
                                     {"overlap", "off"},
                                     {"bucket-bytes", "all"},
                                     {"partition-bytes", "1e6"},
                                     {"fidelity", fidelity}});
    for (const Row& row : run.rows("wait"))
      EXPECT_NEAR(row.end_s - row.start_s, 11e-3 + 2 * 2e-5 + 3e-5, 1e-9) << fidelity;
    EXPECT_EQ(run.rows("apply").size(), 11u) << "an update of a bucket is one, in any pieces";
  }
}

// Several workers per node, several buckets, unequal speeds, default partitions.
Options busy_servers(const std::string& schedule) {
  static const std::string platform =
      star_platform({.nodes = 3, .workers_per_node = 2, .slow_speed = 0.6, .zones = true});
  static const std::string model = model_of({4'000'000, 9'000'000, 100, 7'000'000});
  return {{"platform", platform}, {"model", model},      {"schedule", schedule},
          {"jitter", "0.2"},      {"bucket-bytes", "0"}, {"iterations", "12"}};
}

TEST(Law5, SspWithoutStalenessIsBspThroughServersInAnyCase) {
  for (const char* fidelity : {"step", "flow"})
    for (const char* cache : {"on", "off"}) {
      Options options = busy_servers("bsp");
      options["fidelity"] = fidelity;
      options["exchange"] = "ps";
      options["aggregate"] = "off";
      const Simulated bsp = simulated(options);
      options = busy_servers("ssp");
      options["fidelity"] = fidelity;
      options["staleness"] = "0";
      options["cache"] = cache;
      const Simulated ssp = simulated(options);
      EXPECT_NEAR(ssp.iteration_s() / bsp.iteration_s(), 1, 0.03) << fidelity << " " << cache;
      EXPECT_NEAR(ssp.trace.end_s / bsp.trace.end_s, 1, 0.03) << fidelity << " " << cache;
    }
}

TEST(Law5, SspWithLargeStalenessIsAtLeastAsFastAsAsp) {
  const Simulated asp = simulated(busy_servers("asp"));
  Options options = busy_servers("ssp");
  options["staleness"] = "1000000";
  const Simulated ssp = simulated(options);
  EXPECT_LT(ssp.trace.end_s, asp.trace.end_s);
  EXPECT_GT(ssp.figures.throughput_samples_per_s, asp.figures.throughput_samples_per_s);
  EXPECT_LT(ssp.iteration_s(), 0.95 * asp.iteration_s()) << "pushes and pulls hide";
}

TEST(Law5, AReadHasAllUpdatesThatAreOldEnoughAndItsWorkersOwn) {
  for (const char* cache : {"on", "off"})
    for (const int staleness : {0, 1, 3}) {
      Options options = busy_servers("ssp");
      options["cache"] = cache;
      options["staleness"] = std::to_string(staleness);
      const Simulated run = simulated(options);
      std::map<std::pair<int, int>, std::vector<Row>> applied;  // by server and bucket
      for (const Row& row : run.rows("apply"))
        applied[{row.rank, row.bucket}].push_back(row);
      EXPECT_EQ(applied.size(), 12u);
      for (const auto& [place, rows] : applied)
        for (const Row& gradient : rows) {
          // Its parameters had this many updates: all of its worker's earlier ones, and the first
          // of the others'.
          auto others = gradient.read_version - gradient.iteration;
          EXPECT_GE(others, 0);
          for (const Row& update : rows) {
            if (update.worker == gradient.worker)
              continue;
            if (others-- <= 0) {
              EXPECT_GE(update.iteration, gradient.iteration - staleness) << cache << staleness;
            }
          }
        }
    }
}

// 40 workers and eight servers: more than 256 flows at a time.
Options many_flows(const std::string& schedule) {
  static const std::string platform = star_platform({.nodes = 20,
                                                     .workers_per_node = 2,
                                                     .nic_Bps = 3e8,
                                                     .servers = 8,
                                                     .slow_speed = 0.6,
                                                     .server_nic_Bps = 2e8});
  static const std::string model = model_of({2'000'000, 3'000'000});
  return {{"platform", platform}, {"model", model}, {"schedule", schedule},
          {"jitter", "0.2"},      {"servers", "8"}, {"partition-bytes", "1e9"},
          {"bucket-bytes", "0"}};
}

TEST(AlikeServers, AreSimulatedAsOneInTheSameSeconds) {
  for (const char* schedule : {"asp", "ssp", "n-softsync", "easgd"}) {
    Options options = many_flows(schedule);
    options["fidelity"] = "step";  // shows every message
    const Simulated all = simulated(options);
    options["fidelity"] = "flow";
    const Simulated one = simulated(options);
    EXPECT_EQ(all.trace.servers, 8);
    EXPECT_EQ(one.trace.servers, 1);
    EXPECT_LT(one.trace.flows, all.trace.flows / 7);
    EXPECT_NEAR(one.trace.end_s / all.trace.end_s, 1, 1e-6) << schedule;
    EXPECT_NEAR(one.figures.throughput_samples_per_s / all.figures.throughput_samples_per_s, 1,
                1e-3)
        << schedule;
    EXPECT_NEAR(one.figures.staleness_mean, all.figures.staleness_mean, 0.1);
    ASSERT_EQ(one.trace.links.size(), all.trace.links.size());
    for (const LinkUse& link : all.trace.links) {
      const auto same = std::ranges::find(one.trace.links, link.name, &LinkUse::name);
      ASSERT_NE(same, one.trace.links.end()) << link.name;
      EXPECT_DOUBLE_EQ(same->bandwidth.mean_Bps(), link.bandwidth.mean_Bps()) << link.name;
      EXPECT_NEAR(same->bytes / link.bytes, 1, 1e-5) << link.name;
    }
  }
}

// What is drawn: nodes, cards, the slow worker, jitter, buckets, partitions and the schedule's
// rule.
TEST(AlikeServers, AreAsOneWhatTheyAreOneByOneInHundredDrawnCells) {
  int compared = 0;
  for (int cell = 0; cell < 100; ++cell) {
    Draws draws(static_cast<std::uint64_t>(cell) + 4400);
    Star star{.nodes = draws.of<int>({8, 11, 13}),
              .workers_per_node = draws.of<int>({3, 4}),
              .nic_Bps = draws.of<double>({1e8, 3e8, 1e9}),
              .bus_Bps = draws.of<double>({5e8, 1e10}),
              .bus_latency_growth_s = draws.of<double>({0, 1e-5}),
              .servers = draws.of<int>({11, 16}),
              .slow_speed = draws.of<double>({1, 0.6, 0.3}),
              .server_nic_Bps = draws.of<double>({1e8, 4e8, 1e9}),
              .zones = draws.one_in(2)};
    star.slow_worker = draws.below(star.nodes * star.workers_per_node);
    Options options{{"platform", star_platform(star)},
                    {"model", model_of({400'000, 700'001, 900'000, 3})},
                    {"schedule", draws.of<std::string>(
                                     {"asp", "ssp", "dssp", "n-softsync", "easgd", "asp", "ssp"})},
                    {"servers", std::to_string(star.servers)},
                    {"bucket-bytes", draws.of<std::string>({"all", "3e6", "0"})},
                    {"partition-bytes", draws.of<std::string>({"1e9", "4e6"})},
                    {"jitter", draws.of<std::string>({"0", "0.05", "0.3"})},
                    {"server-overhead", draws.of<std::string>({"", "", "2e-5"})},
                    {"iterations", "5"},
                    {"repeats", "1"}};
    if (options["schedule"] == "ssp") {
      options["staleness"] = draws.of<std::string>({"0", "1", "4"});
      options["cache"] = draws.of<std::string>({"on", "off"});
    }
    SCOPED_TRACE(std::to_string(cell) + " " + options["schedule"]);
    options["fidelity"] = "step";  // shows every message
    const Simulated all = simulated(options);
    options["fidelity"] = "flow";
    const Simulated one = simulated(options);
    EXPECT_EQ(all.trace.servers, star.servers);
    if (options["server-overhead"].empty()) {
      EXPECT_EQ(one.trace.servers, 1);
    }
    const auto messages = one.trace.flows * index(star.servers / one.trace.servers);
    if (messages != all.trace.flows)
      continue;  // `flow` sends several partitions as one
    ++compared;
    EXPECT_NEAR(one.figures.throughput_samples_per_s / all.figures.throughput_samples_per_s, 1,
                0.005);
    EXPECT_NEAR(one.figures.staleness_mean, all.figures.staleness_mean,
                0.005 * all.figures.staleness_mean);
  }
  EXPECT_GE(compared, 60);
}

TEST(AlikeServers, AreSimulatedOneByOneWhereAnythingTellsThemApart) {
  const auto servers = [](const Options& changes) {
    Options options = many_flows("asp");
    options["iterations"] = "2";
    for (const auto& [key, value] : changes)
      options[key] = value;
    return simulated(options).trace.servers;
  };
  EXPECT_EQ(servers({}), 1);
  EXPECT_EQ(servers({{"workers", "32"}}), 8) << "few flows";
  EXPECT_EQ(servers({{"compressor", "topk"}}), 8) << "priced by a server's part";
  EXPECT_EQ(servers({{"network", "lv08"}}), 8) << "flows have limits of their own";
  EXPECT_EQ(servers({{"servers", "0"}}), 20) << "on nodes they are only near enough if many";
  EXPECT_EQ(
      servers(
          {{"platform",
            star_platform(
                {.nodes = 20, .workers_per_node = 2, .servers = 8, .profile = "0 1\n10 0.5\n"})}}),
      8)
      << "profiles";
  EXPECT_EQ(servers({{"platform", star_platform({.nodes = 24, .workers_per_node = 2})},
                     {"workers", "40"}}),
            8)
      << "two servers have a card together";
}

TEST(AlikeServers, OnManyNodesAreAsFastAsItsCardsLetThemBe) {
  // 64 nodes of one worker: a push and a pull of M bytes move 63/64 of M over its card each way,
  // and its server receives and sends as much. If no card is full, computation takes the time.
  const std::string model = model_of({4'000'000, 6'000'000});
  for (const char* schedule : {"asp", "ssp", "inhad"})
    for (const double nic_Bps : {1e8, 1e10}) {
      const Simulated run =
          simulated({{"platform", star_platform({.nodes = 64, .nic_Bps = nic_Bps})},
                     {"model", model},
                     {"schedule", schedule},
                     {"iterations", "6"},
                     {"bucket-bytes", "all"},
                     {"partition-bytes", "4e6"},
                     {"jitter", "0.1"}});
      EXPECT_EQ(run.trace.servers, 1) << schedule;
      EXPECT_NEAR(run.figures.bytes_sent / (40e6 * 63 / 64), 1, 0.08) << schedule;
      const double bound = std::min(64 * 10 / (2 * 40e6 * 63 / 64 / nic_Bps), 64 * 100.0);
      EXPECT_LE(run.figures.throughput_samples_per_s, 1.03 * bound)
          << schedule << " at " << nic_Bps;
      EXPECT_GE(run.figures.throughput_samples_per_s, 0.85 * bound)
          << schedule << " at " << nic_Bps;
    }
}

TEST(Law15, MoreMessagesAreUnderWayThanThereCanBeActors) {
  // 200 x 170 pushes, then as many answers, each under way for 10 s. With one actor for each, their
  // stacks exceeded the memory of a process. The profile prevents simulating the servers as one.
  const Simulated run = simulated(
      {{"platform",
        star_platform({.nodes = 200, .nic_latency_s = 5, .servers = 170, .profile = "0 1\n1 1"})},
       {"model", model_of({1700})},
       {"schedule", "asp"},
       {"servers", "170"},
       {"iterations", "1"},
       {"warmup", "0"}});
  int pushes = 0;
  double last_sent_s = 0;
  double first_received_s = 1e9;
  for (const Row& push : run.rows("receive"))
    if (push.iteration == 0) {
      ++pushes;
      last_sent_s = std::max(last_sent_s, push.start_s);
      first_received_s = std::min(first_received_s, push.end_s);
    }
  EXPECT_EQ(pushes, 200 * 170);
  EXPECT_LT(last_sent_s, first_received_s);
  EXPECT_NEAR(run.figures.iteration_p50_s, 0.1 + 20, 0.01);  // counts when it is applied
}

}  // namespace
}  // namespace syncline
