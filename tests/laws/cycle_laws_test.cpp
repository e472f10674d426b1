// Law 34 (tests/laws/README.md): with fusion-cycle a gradient is sent at the end of the cycle in
// which it is made.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "sim/learned.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// Backward takes 2/30 s after 1/30 s of forward, and makes 4 MB every 1/60 s. Two hosts average b
// bytes in 2 (L + b / 2B).
constexpr double forward_s = 0.1 / 3;

double exchange_s(int tensors) {
  return 2 * (2e-5 + tensors * 4e6 / 2 / 1e9);
}

Options cycles_of(const std::string& seconds) {
  static const std::string model = model_of({1'000'000, 1'000'000, 1'000'000, 1'000'000});
  return {{"platform", star_platform({})},
          {"model", model},
          {"bucket-bytes", "1e9"},
          {"fusion-cycle", seconds},
          {"fidelity", "step"}};
}

TEST(Law34, TheLastGradientWaitsForTheEndOfItsCycle) {
  struct {
    std::string cycle;
    std::size_t buckets;
    double sent_s;  // when the last one is sent, from the start of backward
    int tensors;    // tensors in it
  } const cases[] = {{"0.02", 4, 0.08, 1}, {"0.03", 3, 0.09, 1}, {"0.034", 2, 0.068, 2},
                     {"0.05", 2, 0.1, 1},  {"0.07", 1, 0.07, 4}, {"1", 1, 1, 4}};
  for (const auto& [cycle, buckets, sent_s, tensors] : cases)
    for (const char* fidelity : {"step", "flow"}) {
      Options options = cycles_of(cycle);
      options["fidelity"] = fidelity;
      const Simulated run = simulated(options);
      std::set<int> last;  // last tensors of groups
      for (const Row& row : run.trace.rows)
        if (row.stream == Stream::communication)
          last.insert(row.bucket);
      EXPECT_EQ(last.size(), buckets) << cycle;
      EXPECT_NEAR(run.iteration_s(), forward_s + sent_s + exchange_s(tensors), 1e-6) << cycle;
      EXPECT_NEAR(predicted(options).iteration_s, run.iteration_s(), 1e-6) << cycle;
    }
}

// Without overlap all gradients exist when backward has ended.
TEST(Law34, WithoutOverlapOneCycleTakesAll) {
  Options options = cycles_of("0.02");
  options["overlap"] = "off";
  const Simulated run = simulated(options);
  EXPECT_NEAR(run.iteration_s(), forward_s + 0.08 + exchange_s(4), 1e-6);
  EXPECT_NEAR(predicted(options).iteration_s, run.iteration_s(), 1e-6);
}

// Buckets of one cycle keep their order, without gaps in the network between them.
TEST(Law34, BucketsOfOneCycleFollowEachOther) {
  Options options = cycles_of("0.07");
  options["bucket-bytes"] = "4e6";
  const Simulated run = simulated(options);
  EXPECT_NEAR(run.iteration_s(), forward_s + 0.07 + 4 * exchange_s(1), 1e-6);
  EXPECT_NEAR(predicted(options).iteration_s, run.iteration_s(), 1e-6);
}

// A cycle delays by at most its own length, and no cycle delays nothing.
TEST(Law34, ACycleDelaysByLessThanItself) {
  const double none_s = simulated(cycles_of("0")).iteration_s();
  const double one_s = forward_s + 0.2 / 3 + exchange_s(4);  // all bytes after backward
  EXPECT_LT(none_s, one_s + 1e-6);
  for (const char* cycle : {"1e-4", "1e-3", "5e-3", "0.011"}) {
    const double seconds = simulated(cycles_of(cycle)).iteration_s();
    const double hidden_s = forward_s + 0.2 / 3 + exchange_s(1);  // hides all but the last tensor
    EXPECT_GE(seconds, hidden_s - 1e-6) << cycle;
    EXPECT_LE(seconds, hidden_s + std::stod(cycle) + 1e-6) << cycle;
  }
}

// A worker alone has nobody to agree with, so the framework's cycle makes no difference.
TEST(Law34, NoCycleHoldsAWorkerThatIsAlone) {
  for (const char* framework : {"none", "horovod-0.15", "horovod", "pytorch-ddp", "pytorch-fsdp"})
    for (const char* exchange : {"", "ring", "hierarchical"}) {
      Options options = cycles_of("");
      options["bucket-bytes"] = "";
      options["framework"] = framework;
      options["workers"] = "1";
      if (std::string(framework) != "pytorch-fsdp")
        options["exchange"] = exchange;
      const Simulated run = simulated(options);
      EXPECT_NEAR(run.iteration_s(), 0.1, 1e-9) << framework;
      EXPECT_NEAR(run.figures.scaling_efficiency, 1, 1e-9) << framework;
      EXPECT_EQ(run.rows("wait").size(), 0U) << framework;
      EXPECT_NEAR(predicted(options).iteration_s, 0.1, 1e-9) << framework;
    }
}

// n workers agree in log2(n) rounds, rounded up, of one latency each, and a cycle lasts at least
// that long. More is made in a long cycle, so few groups pay the latency of an exchange.
TEST(Law34, OverSlowWaysACycleLastsAsLongAsAgreeing) {
  struct {
    int nodes, workers_per_node;
    double agreeing_s;
    const char* cycle;
    double ends_s;  // end of the cycle in which all is made, from the start of backward
  } const cases[] = {{2, 1, 0.1, "1e-3", 0.1},
                     {3, 1, 0.2, "1e-3", 0.2},
                     {4, 1, 0.2, "0.15", 0.2},
                     {5, 1, 0.3, "1e-3", 0.3},
                     {2, 2, 0.2, "1e-3", 0.2},  // each round has pairs on
                                                // different nodes
                     {2, 1, 0.1, "0.5", 0.5}};
  for (const auto& [nodes, workers_per_node, agreeing_s, cycle, ends_s] : cases) {
    Options options = cycles_of(cycle);
    options["platform"] = star_platform(
        {.nodes = nodes, .workers_per_node = workers_per_node, .nic_latency_s = 0.05});
    const int n = nodes * workers_per_node;
    const double bytes = 4 * 4e6;
    const Simulated run = simulated(options);
    EXPECT_EQ(run.rows("backward").size(), 4 * run.rows("forward").size());
    if (workers_per_node == 1) {
      EXPECT_NEAR(run.iteration_s(), forward_s + ends_s + 2 * (n - 1) * (0.1 + bytes / n / 1e9),
                  1e-6)
          << n;
    }
    EXPECT_NEAR(predicted(options).iteration_s, run.iteration_s(), 1e-6) << n;
    EXPECT_LT(agreeing_s, ends_s + 1e-9);
    // The software overhead of a step is also paid in each round.
    options["step-overhead"] = "0.01";
    const double rounds = std::ceil(std::log2(n));
    const double ends_with_s = std::max(std::stod(cycle), agreeing_s + 0.01 * rounds);
    if (workers_per_node == 1) {
      EXPECT_NEAR(simulated(options).iteration_s(),
                  forward_s + ends_with_s + 2 * (n - 1) * (0.11 + bytes / n / 1e9), 1e-6)
          << n;
    }
  }
}

// For each iteration: when each worker began backward, and when it had made each tensor.
struct Made {
  std::map<int, double> began_s;               // by worker
  std::map<std::pair<int, int>, double> at_s;  // by worker and tensor
};

std::map<int, Made> made_in(const Simulated& run) {
  std::map<int, Made> all;
  for (const Row& row : run.rows("backward")) {
    Made& made = all[row.iteration];
    made.at_s[{row.rank, row.bucket}] = row.end_s;
    const auto [began, first] = made.began_s.emplace(row.rank, row.start_s);
    began->second = std::min(began->second, row.start_s);
  }
  return all;
}

// With workers that vary, a straggler, or collectives that slow backward down: in each iteration,
// groups consist of what all workers have made by the end of a cycle, and together of everything.
TEST(Law34, GroupsAreOfWhatAllWorkersHaveMade) {
  const std::vector<Options> more{{{"jitter", "0.3"}},
                                  {{"platform", star_platform({.nodes = 3, .slow_speed = 0.5})}},
                                  {{"overlap-slowdown", "0.4"}, {"bucket-bytes", "4.1e6"}},
                                  {{"jitter", "0.3"}, {"exchange", "ps"}},
                                  {{"jitter", "0.2"}, {"exchange", "auto"}, {"workers", "3"}}};
  for (Options options : more) {
    options.insert(
        {{"platform", star_platform({.nodes = 3, .workers_per_node = 2})}, {"iterations", "6"}});
    options.merge(cycles_of("0.01"));
    const Simulated run = simulated(options);
    std::map<int, std::map<int, double>> sent_s;  // by iteration and last tensor: when first sent
    std::map<int, double> bytes;                  // sent and received, by iteration
    for (const Row& row : run.trace.rows)
      if (row.stream == Stream::communication && row.verb != Verb::wait && row.bytes_sent > 0) {
        const auto [began, first] = sent_s[row.iteration].emplace(row.bucket, row.start_s);
        began->second = std::min(began->second, row.start_s);
        bytes[row.iteration] += static_cast<double>(row.bytes_sent);
      }
    for (const auto& [iteration, made] : made_in(run)) {
      double origin_s = 0;
      for (const auto& worker : made.began_s)
        origin_s = std::max(origin_s, worker.second);
      ASSERT_EQ(sent_s[iteration].rbegin()->first, 3) << "the last tensor goes";
      EXPECT_NEAR(bytes[iteration], bytes.begin()->second, 1e-3 * bytes[iteration]);
      int first = 0;
      for (const auto& [last, began_s] : sent_s[iteration]) {
        double made_s = 0;  // when all workers had made the whole group
        for (const auto& [place, at_s] : made.at_s)
          if (place.second >= first && place.second <= last)
            made_s = std::max(made_s, at_s);
        const double end_s = origin_s + std::ceil((made_s - origin_s) / 0.01 - 1e-6) * 0.01;
        EXPECT_GE(began_s, end_s - 1e-6) << iteration << " tensor " << last;
        first = last + 1;
      }
    }
  }
}

// With real gradients: the same bytes for every worker and the same result as without cycles.
TEST(Law34, GroupsLearnWhatBucketsLearn) {
  const auto loss = [](const std::string& cycle, const Options& more) {
    Options options = small_data();
    options.merge(Options{{"learn", "softmax"},
                          {"platform", star_platform({.nodes = 3})},
                          {"bucket-bytes", "1e9"},
                          {"fusion-cycle", cycle},
                          {"iterations", "5"}});
    options.insert(more.begin(), more.end());
    const Simulated run = simulated(options);
    return run.trace.learned.value().curve.back().loss;
  };
  EXPECT_NEAR(loss("0.01", {}), loss("0", {}), 1e-6);
  EXPECT_NEAR(loss("0.01", {{"compressor", "topk"}, {"density", "1"}}), loss("0", {}), 1e-5);
}

// Compressed messages are made before they wait for the cycle.
TEST(Law34, ClosedFormsKnowTheWaitOfCompressedMessages) {
  Options options = cycles_of("0.03");
  options["compressor"] = "topk";
  options["density"] = "0.01";
  for (const int cores : {1, 2}) {
    options["platform"] = star_platform({.cores = cores});
    const Simulated run = simulated(options);
    EXPECT_NEAR(predicted(options).iteration_s / run.iteration_s(), 1, 0.01) << cores;
  }
}

// A compressor that takes the same time for messages of any length.
std::string table_of_launches(double encode_s, double decode_s) {
  std::string csv =
      "# device: made up for a law\n# provenance: modelled\n"
      "compressor,parameters,operation,elements,seconds,p10,p90,wire_bytes,distribution\n";
  for (const auto& [operation, seconds] : {std::pair("encode", encode_s), {"decode", decode_s}})
    for (const char* elements : {"1", "4294967296"})
      csv += fmt::format("topk,,{},{},{},0,0,0,none\n", operation, elements, seconds);
  return written_model(csv);
}

// Each tensor is compressed by itself, and the group is decoded once. Until November 2026 closed
// forms compressed the group at once, so that a model of many small tensors was up to 41 % too
// fast.
TEST(Law34, ClosedFormsCompressTheTensorsOfAGroupOneByOne) {
  constexpr double encode_s = 1e-3, decode_s = 2e-3;
  Options options = cycles_of("0.5");
  options["compressor"] = "topk";
  options["device"] = table_of_launches(encode_s, decode_s);
  options["density"] = "0.0000105";  // 10.5 of each million: rounded tensor by tensor
  for (const int cores : {1, 2})
    for (const char* overlap : {"on", "off"})
      for (const char* cycle : {"0.5", "0.034", "0.018"}) {
        options["platform"] = star_platform({.nodes = 3, .cores = cores});
        options["overlap"] = overlap;
        options["fusion-cycle"] = cycle;
        options["fidelity"] = "step";
        const std::string about = fmt::format("{} cores, overlap {}, {}", cores, overlap, cycle);
        const Simulated run = simulated(options);
        if (std::string(cycle) == "0.5" && cores == 1) {  // one group, three messages
          EXPECT_NEAR(run.figures.compress_s, 4 * encode_s + 3 * decode_s, 1e-9) << about;
        }
        EXPECT_NEAR(predicted(options).iteration_s, run.iteration_s(), 1e-6) << about;
        options["fidelity"] = "analytic";
        const Simulated arithmetic = simulated(options);
        EXPECT_NEAR(arithmetic.iteration_s(), run.iteration_s(), 1e-6) << about;
        EXPECT_NEAR(arithmetic.figures.compress_s, run.figures.compress_s, 1e-9) << about;
        EXPECT_EQ(arithmetic.figures.bytes_sent, run.figures.bytes_sent) << about;
      }
}

// Break-even under cycles: the rival waits for no compression, and its cycles make its own groups.
TEST(Law34, BreakEvenComparesWithARunThatCompressesNothing) {
  for (const int cores : {1, 2})
    for (const char* cycle : {"0.034", "0.02"}) {
      Options options = cycles_of(cycle);
      options["platform"] = star_platform({.nodes = 3, .cores = cores});
      options["compressor"] = "topk";
      options["device"] = table_of_launches(5e-3, 2e-3);
      const Predicted closed = predicted(options);
      Options dense = options;
      dense.erase("compressor");
      EXPECT_NEAR(closed.rival_s, simulated(dense).iteration_s(), 1e-6) << cores << " " << cycle;
    }
}

}  // namespace
}  // namespace syncline
