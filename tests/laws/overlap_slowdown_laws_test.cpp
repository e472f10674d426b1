// Law 35 (tests/laws/README.md): with overlap-slowdown = s a worker computes at 1 / (1 + s) of its
// rate while it has a collective in flight, and at its full rate otherwise.
#include <gtest/gtest.h>
#include <map>
#include <tuple>

#include "sim/report/intervals.h"
#include "tests/laws/every_schedule.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

bool compresses(const Row& row) {
  return is_compression(row.verb);
}

bool computes(const Row& row) {
  return (row.stream == Stream::compute && row.verb != Verb::wait) || compresses(row);
}

// When each worker has a collective in flight, including waits for others in it.
std::vector<std::vector<Interval>> in_flight(const Trace& trace) {
  std::vector<std::vector<Interval>> all(static_cast<std::size_t>(trace.workers));
  for (const Row& row : trace.rows)
    if (row.stream == Stream::communication && !compresses(row) && row.rank < trace.workers)
      all[static_cast<std::size_t>(row.rank)].push_back({row.start_s, row.end_s});
  for (std::vector<Interval>& of_worker : all)
    of_worker = merged(std::move(of_worker));
  return all;
}

// The seconds that the computation of each row takes alone.
using Alone = std::map<std::tuple<int, int, Verb, int, Stream>, std::vector<double>>;

Alone alone(const Trace& trace, double slowdown) {
  const auto flights = in_flight(trace);
  Alone seconds;
  for (const Row& row : trace.rows) {
    if (!computes(row) || row.rank >= trace.workers)
      continue;
    const double beside_s =
        overlap_s({{row.start_s, row.end_s}}, flights[static_cast<std::size_t>(row.rank)]);
    seconds[{row.rank, row.iteration, row.verb, row.bucket, row.stream}].push_back(
        row.end_s - row.start_s - beside_s * slowdown / (1 + slowdown));
  }
  return seconds;
}

// Rows that share the only core with computation have no rate of their own.
bool shares_a_core(const Trace& trace) {
  for (const Row& row : trace.rows)
    if (compresses(row) && row.stream != Stream::compute)
      return true;
  return false;
}

bool runs_collectives(const Options& options) {
  const Schedule& schedule = Registered<Schedule>::find(options.at("schedule"));
  const auto exchange = options.find("exchange");
  return schedule.server == nullptr && schedule.neighbours == nullptr &&
         (exchange == options.end() || exchange->second != "ps");
}

TEST(Law35, EveryRowProgressesAtTheRateOfWhatIsInFlight) {
  int rows = 0;
  int slowed = 0;
  for (const Case& one : every_schedule()) {
    Options options = one.options;
    if (!runs_collectives(options))
      continue;
    const Simulated off = simulated(options);
    if (shares_a_core(off.trace))
      continue;
    const Alone expected = alone(off.trace, 0);
    for (const double slowdown : {0.189, 1.5}) {
      options["overlap-slowdown"] = std::to_string(slowdown);
      const Simulated on = simulated(options);
      const Alone got = alone(on.trace, slowdown);
      ASSERT_EQ(got.size(), expected.size()) << one.name;
      for (const auto& [key, seconds] : expected) {
        const std::vector<double>& others = got.at(key);
        ASSERT_EQ(others.size(), seconds.size()) << one.name;
        for (std::size_t i = 0; i < seconds.size(); ++i) {
          EXPECT_NEAR(others[i], seconds[i], early_end_s) << one.name << slowdown;
          ++rows;
        }
      }
      slowed += on.figures.compute_s > off.figures.compute_s + 1e-4 ? 1 : 0;
      EXPECT_GE(on.iteration_s(), off.iteration_s() - early_end_s) << one.name;
      EXPECT_LE(on.iteration_s(), off.iteration_s() * (1 + slowdown) + early_end_s) << one.name;
    }
  }
  EXPECT_GT(rows, 10'000);
  EXPECT_GT(slowed, 20);
}

// Splitting computation into pieces loses nothing.
TEST(Law35, NearlyNoSlowdownIsNone) {
  for (const Case& one : every_schedule()) {
    Options options = one.options;
    if (!runs_collectives(options))
      continue;
    const double off_s = simulated(options).iteration_s();
    options["overlap-slowdown"] = "1e-12";
    EXPECT_NEAR(simulated(options).iteration_s(), off_s, early_end_s) << one.name;
  }
}

// Two tensors of 4e7 bytes; cards of 5e8 B/s. Forward takes a third of 0.1 s, and so does backward
// of each bucket. The slow worker takes twice as long.
constexpr double third_s = 0.1 / 3;

Options two_buckets(const Star& star, const Options& more) {
  Options options{{"platform", star_platform(star)},
                  {"model", model_of({10'000'000, 10'000'000})},
                  {"schedule", "bsp"},
                  {"bucket-bytes", "0"},
                  {"iterations", "5"}};
  for (const auto& [key, value] : more)
    options[key] = value;
  return options;
}

struct ByHand {
  std::string name;
  Options options;
  double iteration_s;
  double compute_s;  // of worker 0
};

std::vector<ByHand> by_hand() {
  const Star pair{.nodes = 2, .nic_Bps = 5e8, .nic_latency_s = 0};
  Star fast = pair;
  fast.nic_Bps = 4e9;
  // A ring of two moves a whole bucket each way: 80 ms, longer than the backward of a bucket, which
  // takes 50 ms beside it; on the fast network 10 ms, during which 20/3 ms of backward are done.
  const double hidden_s = 0.01 / 3;
  // Four workers on two nodes, one node slow: a card carries 1.5 times the bucket, 120 ms. Backward
  // of the slow workers' second bucket takes 100 ms beside it. Others launch their collective and
  // wait, and their backward takes half as long.
  const Star unequal{
      .nodes = 2, .workers_per_node = 2, .nic_Bps = 5e8, .nic_latency_s = 0, .slow_speed = 0.5};
  const Options s{{"overlap-slowdown", "0.5"}};
  const auto with = [&s](Options more) {
    more.insert(s.begin(), s.end());
    return more;
  };
  return {
      {"communication is longer", two_buckets(pair, s), 2 * third_s + 0.16, 3.5 * third_s},
      {"communication is shorter", two_buckets(fast, s), 0.1 + hidden_s + 0.01, 0.1 + hidden_s},
      {"unequal", two_buckets(unequal, s), 4 * third_s + 0.24, 3.5 * third_s},
      {"accumulation", two_buckets(pair, with({{"accumulation", "3"}})), 0.2 + 2 * third_s + 0.16,
       0.2 + 3.5 * third_s},
      {"one bucket", two_buckets(pair, with({{"bucket-bytes", "all"}})), 0.1 + 0.16, 0.1},
      {"no overlap", two_buckets(pair, with({{"overlap", "off"}})), 0.1 + 0.16, 0.1},
      // The law of shards has the seconds without slowdown. Forward of the first unit, 50/3 ms,
      // takes half as long again beside the gather of the second; backward of each unit, 100/3 ms,
      // does 80/3 ms of its work beside 40 ms of gather and of reduce-scatter.
      {"shards",
       two_buckets(pair, with({{"schedule", "fsdp"}, {"units", "2"}, {"bucket-bytes", ""}})),
       0.08 + 0.05 / 3 + 2 * (0.04 + 0.02 / 3) + 0.04, 0.025 + 0.05 / 3 + 2 * (0.04 + 0.02 / 3)}};
}

TEST(Law35, TwoBucketsTakeWhatArithmeticSays) {
  for (const ByHand& one : by_hand())
    for (const char* fidelity : {"step", "flow"}) {
      Options options = one.options;
      options["fidelity"] = fidelity;
      const Simulated run = simulated(options);
      EXPECT_NEAR(run.iteration_s(), one.iteration_s, 1e-6) << one.name << fidelity;
      double compute_s = 0;
      for (const Row& row : run.trace.rows)
        if (row.rank == 0 && row.iteration == 3 && computes(row))
          compute_s += row.end_s - row.start_s;
      EXPECT_NEAR(compute_s, one.compute_s, 1e-6) << one.name << fidelity;
      EXPECT_NEAR(predicted(options).iteration_s, one.iteration_s, 1e-6) << one.name;
    }
}

// An average that is applied one iteration later slows that iteration while it is in flight.
TEST(Law35, IterationsBesideADelayedAverageAreSlower) {
  for (const double nic_Bps : {4e8, 4e9}) {
    const Options options = two_buckets({.nodes = 2, .nic_Bps = nic_Bps, .nic_latency_s = 0},
                                        {{"schedule", "local-sgd"},
                                         {"local-steps", "4"},
                                         {"average-delay", "1"},
                                         {"iterations", "8"},
                                         {"overlap-slowdown", "0.5"}});
    const double average_s = 8e7 / nic_Bps;  // 0.2 s, or 0.02 s
    const double beside_s = average_s > 0.15 ? 0.05 : average_s / 3;
    const double exposed_s = average_s > 0.15 ? average_s - 0.15 : 0;
    const double expected_s = 0.1 + (beside_s + exposed_s) / 4;
    EXPECT_NEAR(simulated(options).iteration_s(), expected_s, 1e-6) << nic_Bps;
    EXPECT_NEAR(predicted(options).iteration_s, expected_s, 1e-6) << nic_Bps;
  }
}

struct Exact {
  std::string name;
  Options options;
};

std::vector<Exact> exchanges_and_shards() {
  std::vector<Exact> all;
  for (const char* exchange : {"ring", "tree", "halving-doubling", "hierarchical", "allgather"})
    all.push_back({exchange, {{"schedule", "bsp"}, {"exchange", exchange}}});
  for (const char* zero : {"1", "2", "3"})
    for (const char* shard : {"all", "node"})
      for (const char* steps : {"1", "3"})
        all.push_back({std::string("zero ") + zero + " shard " + shard + " k " + steps,
                       {{"schedule", "fsdp"},
                        {"units", "100000"},
                        {"zero", zero},
                        {"shard", shard},
                        {"accumulation", steps}}});
  for (const char* cores : {"1", "2"})
    all.push_back({std::string("topk on cores ") + cores,
                   {{"schedule", "bsp"}, {"compressor", "topk"}, {"cores", cores}}});
  all.push_back(
      {"groups of nodes", {{"schedule", "local-sgd"}, {"replica", "node"}, {"local-steps", "2"}}});
  return all;
}

TEST(Law35, ClosedFormsAndFlowsTakeWhatEveryStepTakes) {
  for (Exact& one : exchanges_and_shards())
    for (const double nic_Bps : {1e8, 4e8, 2e9}) {
      Star star{.nodes = 4, .workers_per_node = 2, .nic_Bps = nic_Bps, .bus_latency_s = 1e-6};
      Options options = one.options;
      if (options.contains("cores")) {
        star.cores = std::stoi(options.at("cores"));
        options.erase("cores");
      }
      options.insert({{"platform", star_platform(star)},
                      {"model", model_of({700'001, 3, 900'000, 400'007, 2'000'000})},
                      {"iterations", "4"},
                      {"fidelity", "step"},
                      {"overlap-slowdown", "0.4"}});
      if (options.at("schedule") != "fsdp")
        options.insert({"bucket-bytes", "0"});
      const double steps_s = simulated(options).iteration_s();
      EXPECT_NEAR(predicted(options).iteration_s / steps_s, 1, 0.01) << one.name << " " << nic_Bps;
      options["fidelity"] = "flow";
      EXPECT_NEAR(simulated(options).iteration_s() / steps_s, 1, 0.03) << one.name << nic_Bps;
    }
}

// A worker alone has no collectives to run.
TEST(Law35, AWorkerAloneIsAsFast) {
  for (const char* schedule : {"bsp", "fsdp", "local-sgd"}) {
    Options options{{"platform", star_platform({.nodes = 1})},
                    {"model", model_of({400'000, 900'000})},
                    {"schedule", schedule}};
    const double off_s = simulated(options).iteration_s();
    options["overlap-slowdown"] = "1";
    EXPECT_NEAR(simulated(options).iteration_s(), off_s, precise) << schedule;
  }
}

// Channels form one collective: what runs in several channels is in flight once.
TEST(Law35, ChannelsAreOneCollective) {
  Options options = two_buckets({.nodes = 3, .workers_per_node = 4, .nic_Bps = 1e9},
                                {{"channels", "4"}, {"overlap-slowdown", "0.5"}});
  const Simulated run = simulated(options);
  const auto flights = in_flight(run.trace);
  int rows = 0;
  for (const Row& row : run.rows("backward")) {
    const double beside_s =
        overlap_s({{row.start_s, row.end_s}}, flights[static_cast<std::size_t>(row.rank)]);
    EXPECT_NEAR(row.end_s - row.start_s - beside_s / 3, third_s, early_end_s);
    rows += beside_s > 1e-3 ? 1 : 0;
  }
  EXPECT_GT(rows, 12);
}

}  // namespace
}  // namespace syncline
