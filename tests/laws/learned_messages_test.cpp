// Sizes of real messages: the bytes in a trace are those of the messages that compressors made of
// real gradients.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

constexpr int six_workers = 6;

Options lesson_in_nodes(const std::string& schedule, const std::string& compressor) {
  Options options{
      {"learn", "mlp"},
      {"hidden", "16"},
      {"data", "generated"},
      {"samples", "300"},
      {"features", "30"},
      {"classes", "3"},
      {"batch", "4"},
      {"learning-rate", "0.1"},
      {"schedule", schedule},
      {"bucket-bytes", "all"},
      {"iterations", "20"},
      {"compressor", compressor},
      {"momentum", "0"},
      {"platform",
       star_platform({.nodes = six_workers, .nic_Bps = 1e8, .servers = 2, .slow_speed = 0.8})}};
  if (schedule == "asp" || schedule == "ssp")
    options["servers"] = "2";
  return options;
}

double sent(const Simulated& run, const std::string& verb) {
  double bytes = 0;
  for (const Row& row : run.rows(verb))
    bytes += static_cast<double>(row.bytes_sent);
  return bytes;
}

// Every compressor, to servers and among workers.
TEST(LearnedMessages, AreAsLongInTheTraceAsTheyWereMade) {
  for (const auto& [name, compressor] : Registered<Compressor>::all()) {
    const Simulated asp = simulated(lesson_in_nodes("asp", name));
    const Learned& learned = *asp.trace.learned;
    const auto parameters = static_cast<double>(learned.parameters_at_end.size());
    const double pushes = six_workers * 21;
    const double byte = 8 / parameters;  // rounding loses at most one byte
    const double bits = 8 * sent(asp, "push") / pushes / parameters;
    if (name == "none") {
      EXPECT_EQ(bits, 32);
      continue;
    }
    EXPECT_EQ(learned.compressed.messages, pushes) << name;
    EXPECT_NEAR(bits, learned.compressed.bits_per_value, byte) << name;
    EXPECT_LT(learned.curve.back().loss, learned.curve.front().loss) << name;

    const Simulated bsp = simulated(lesson_in_nodes("bsp", name));
    EXPECT_EQ(bsp.trace.learned->compressed.messages, pushes) << name;
    EXPECT_LT(bsp.trace.learned->curve.back().loss, learned.curve.front().loss) << name;
    if (compressor.reducible)
      continue;  // these send parts of sums
    // Each message is passed on round the ring.
    const double gathered = 8 * sent(bsp, "all-gather") / (six_workers - 1) / pushes / parameters;
    EXPECT_NEAR(gathered, bsp.trace.learned->compressed.bits_per_value, byte) << name;
  }
}

TEST(LearnedMessages, OfCompressedAnswersAreAsLongAsWhatTheyHold) {
  for (const char* compressor : {"topk", "qsgd"}) {
    Options options = lesson_in_nodes("asp", compressor);
    const Simulated dense = simulated(options);
    options["pull"] = "compressed";
    const Simulated pulled = simulated(options);
    EXPECT_NEAR(sent(pulled, "reply"), sent(pulled, "push"), 0.02 * sent(pulled, "push"))
        << compressor;
    EXPECT_LT(sent(pulled, "reply"), 0.3 * sent(dense, "reply")) << compressor;
    EXPECT_LT(pulled.trace.learned->curve.back().loss, pulled.trace.learned->curve.front().loss);
  }
}

// Tensors too small to compress keep their size, whatever the size of the message next to them.
TEST(LearnedMessages, OfCompressedAnswersLeaveSmallTensorsAsTheyAre) {
  for (const std::string schedule : {"asp", "inhad"}) {
    Options options = lesson_in_nodes(schedule, "gaussiank");
    options["pull"] = "compressed";
    options["model"] = model_of({2'000'000, 300'000});
    options["bucket-bytes"] = "all";
    options["dense-below"] = "400000";
    options["servers"] = "2";
    const double small = 4 * 300'000 / 2;
    std::set<std::uint64_t> sizes;
    for (const Row& row : simulated(options).rows(schedule == "asp" ? "reply" : "parameters"))
      if (row.bytes_sent > 0)  // else it is the receiver's row
        sizes.insert(row.bytes_sent);
    EXPECT_GT(sizes.size(), 5U) << schedule;
    EXPECT_GE(static_cast<double>(*sizes.begin()), small) << schedule;
    EXPECT_LT(static_cast<double>(*sizes.rbegin()), small + 4e6) << schedule;
  }
}

// With one worker per node, all three exchanges move the same messages round the same ring.
TEST(LearnedMessages, WeighAsMuchInAGridOfSingleWorkersAsInAGather) {
  for (const char* compressor : {"gaussiank", "dgc", "sidco"}) {
    Options options = lesson_in_nodes("bsp", compressor);
    const Simulated gathered = simulated(options);
    for (const char* exchange : {"hitopk", "hierarchical"}) {
      options["exchange"] = exchange;
      const Simulated grid = simulated(options);
      EXPECT_EQ(grid.trace.learned->parameters_at_end, gathered.trace.learned->parameters_at_end)
          << exchange << compressor;
      EXPECT_NEAR(grid.trace.learned->curve.back().bytes,
                  gathered.trace.learned->curve.back().bytes,
                  six_workers * 21 * six_workers)  // a byte for each message in each step
          << exchange << compressor;
    }
  }
}

// Messages down the tree, and the gather over regions, carry the list of k; messages up the tree,
// or to the regions' workers, carry what was selected, which may be several times as much.
TEST(LearnedMessages, OfMergedListsAreAsLongAsTheLists) {
  Options options = lesson_in_nodes("bsp", "gaussiank");
  options["density"] = "0.01";
  const double list = 8 * std::round(0.01 * 547);  // 30 x 16 + 16 + 16 x 3 + 3 parameters
  options["exchange"] = "gtopk";
  const Simulated tree = simulated(options);
  ASSERT_EQ(tree.trace.learned->parameters_at_end.size(), 547U);
  const double ups = 2 + 3, downs = 5;
  EXPECT_NEAR(sent(tree, "broadcast") + sent(tree, "unfold"), 21 * downs * list, 21 * downs);
  EXPECT_GT(sent(tree, "fold") + sent(tree, "reduce"), 1.2 * 21 * ups * list);
  options["exchange"] = "oktopk";
  options["balance"] = "on";
  const Simulated regions = simulated(options);
  EXPECT_NEAR(sent(regions, "all-gather"), 21 * (six_workers - 1) * list,
              21 * six_workers * six_workers);
  EXPECT_NEAR(sent(regions, "balance"), 21 * (six_workers - 1) * list,
              21 * six_workers * six_workers);
  EXPECT_GT(sent(regions, "split"), 1.2 * 21 * (six_workers - 1) * list);
}

// Steps and flows move the same messages, and therefore learn the same.
TEST(LearnedMessages, AreTheSameInStepsAndFlows) {
  for (const char* compressor : {"none", "topk", "gaussiank", "qsgd", "powersgd", "onebit"})
    for (const std::string& exchange : exchanges_for(compressor)) {
      Options options = lesson_in_nodes("bsp", compressor);
      options["exchange"] = exchange;
      options["bucket-bytes"] = "0";
      const Simulated flow = simulated(options);
      options["fidelity"] = "step";
      const Simulated step = simulated(options);
      const std::string what = exchange + " " + compressor;
      EXPECT_EQ(flow.trace.learned->parameters_at_end, step.trace.learned->parameters_at_end)
          << what;
      EXPECT_EQ(flow.trace.learned->compressed.bits_per_value,
                step.trace.learned->compressed.bits_per_value)
          << what;
      const double bytes = step.trace.learned->curve.back().bytes;
      EXPECT_NEAR(flow.trace.learned->curve.back().bytes, bytes, 0.01 * bytes) << what;
    }
}

}  // namespace
}  // namespace syncline
