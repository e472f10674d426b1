// Laws of what a learning run measures of its messages and its staleness: the bounds of papers, and
// figures that follow from other figures.
#include <cmath>
#include <gtest/gtest.h>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// Several workers per node, several buckets, and nodes of unequal speed.
Options compressed_lesson(const std::string& schedule, const std::string& compressor) {
  Options options{
      {"platform",
       star_platform({.nodes = 3, .workers_per_node = 2, .nic_Bps = 2e6, .slow_speed = 0.6})},
      {"learn", "mlp"},
      {"hidden", "24"},
      {"hidden-layers", "2"},
      {"data", "generated"},
      {"samples", "300"},
      {"features", "20"},
      {"batch", "4"},
      {"bucket-bytes", "0"},
      {"iterations", "40"},
      {"schedule", schedule},
      {"compressor", compressor}};
  if (compressor != "none" && schedule == "bsp")
    options["exchange"] = "allgather";
  return options;
}

Learned learned(Options options, const Options& more) {
  for (const auto& [key, value] : more)
    options[key] = value;
  return *simulated(options).trace.learned;
}

TEST(Measured, ContractionOfTheLargestIsAtMostItsBoundInEveryIteration) {
  for (const char* schedule : {"bsp", "topk-sgd", "asp", "ssp", "inhad"})
    for (const char* density : {"0.02", "0.3", "1"}) {
      const Learned run = learned(compressed_lesson(schedule, "topk"), {{"density", density}});
      ASSERT_GE(run.each_compressed.size(), 20U) << schedule;
      for (const Compressed& row : run.each_compressed) {
        ASSERT_TRUE(row.left_out_bound && row.target_values) << schedule;
        EXPECT_LE(row.left_out, *row.left_out_bound + 1e-12)
            << schedule << density << row.iteration;
        EXPECT_LE(row.sent_values, *row.target_values) << schedule << density << row.iteration;
        EXPECT_LE(row.left_out, 1);
      }
      if (std::string(density) == "1") {
        EXPECT_EQ(run.compressed.left_out, 0) << schedule;
      } else {
        EXPECT_GT(run.compressed.left_out, 0) << schedule;
      }
    }
}

TEST(Measured, MeansOfAllAreThoseOfTheIterations) {
  for (const char* schedule : {"bsp", "asp", "inhad", "local-sgd"}) {
    const Learned run =
        learned(compressed_lesson(schedule, "gaussiank"),
                {{"density", "0.05"},
                 {"exchange", schedule == std::string("local-sgd") ? "allgather" : ""}});
    Compressed sums{.target_values = 0, .left_out_bound = 0, .left_out_bound_squared = 0};
    int last = -1;
    for (const Compressed& row : run.each_compressed) {
      EXPECT_GT(row.iteration, last);
      last = row.iteration;
      const auto count = static_cast<double>(row.messages);
      sums.messages += row.messages;
      sums.values += count * row.values;
      sums.sent_values += count * row.sent_values;
      sums.left_out += count * row.left_out;
      sums.bits_per_value += count * row.bits_per_value;
      *sums.target_values += count * *row.target_values;
      *sums.left_out_bound += count * *row.left_out_bound;
      *sums.left_out_bound_squared += count * *row.left_out_bound_squared;
    }
    const Compressed& all = run.compressed;
    const auto count = static_cast<double>(all.messages);
    EXPECT_EQ(all.messages, sums.messages) << schedule;
    const auto same = [&](double mean, double sum) {
      EXPECT_NEAR(mean, sum / count, 1e-9 * mean) << schedule;
    };
    same(all.values, sums.values);
    same(all.sent_values, sums.sent_values);
    same(all.left_out, sums.left_out);
    same(all.bits_per_value, sums.bits_per_value);
    same(*all.target_values, *sums.target_values);
    same(*all.left_out_bound, *sums.left_out_bound);
    same(*all.left_out_bound_squared, *sums.left_out_bound_squared);
    EXPECT_FALSE(all.bits_bound);
  }
}

// 6 workers, three buckets and their biases, 40 iterations; all workers have the same draws.
TEST(Measured, ContractionOfRandomChoiceIsItsBoundInTheMean) {
  for (const char* density : {"0.1", "0.5"}) {
    const Learned run = learned(compressed_lesson("bsp", "randomk"), {{"density", density},
                                                                      {"exchange", "ring"},
                                                                      {"bucket-bytes", "all"},
                                                                      {"iterations", "400"}});
    ASSERT_TRUE(run.compressed.left_out_bound);
    EXPECT_NEAR(run.compressed.left_out, *run.compressed.left_out_bound, 0.02) << density;
    EXPECT_FALSE(run.compressed.left_out_bound_squared);
  }
}

TEST(Measured, VarianceOfQsgdIsBelowItsBound) {
  for (const char* norm : {"two", "max"})
    for (const char* bits : {"2", "4", "8"})
      for (const char* bucket : {"64", "512"})
        for (const char* coding : {"sparse", "dense"}) {
          const Learned run = learned(compressed_lesson("bsp", "qsgd"), {{"norm", norm},
                                                                         {"bits", bits},
                                                                         {"quant-bucket", bucket},
                                                                         {"coding", coding},
                                                                         {"bucket-bytes", "all"}});
          const Compressed& all = run.compressed;
          ASSERT_TRUE(all.left_out_bound);
          EXPECT_LT(all.left_out, *all.left_out_bound) << norm << bits << bucket;
          EXPECT_GT(all.left_out, 0);
          EXPECT_FALSE(all.left_out_bound_squared || all.target_values);
          const bool few_levels = std::string(bits) == "2";
          if (std::string(norm) == "max") {
            EXPECT_FALSE(all.bits_bound);
          } else if (few_levels || std::string(bits) == "4") {
            // Within s = sqrt(n) the terms that the paper neglects are small.
            const bool holds =
                few_levels || std::string(bucket) == "512" || std::string(coding) == "dense";
            EXPECT_EQ(all.bits_bound.has_value(), holds) << bits << bucket << coding;
            EXPECT_LT(all.bits_per_value, all.bits_bound.value_or(99)) << bits << bucket << coding;
          }
        }
}

TEST(Measured, HistogramsAddUpToOneAndFollowTheRun) {
  for (const char* schedule : {"bsp", "asp", "inhad"}) {
    const Learned run = learned(compressed_lesson(schedule, "topk"), {{"density", "0.05"}});
    std::map<int, std::vector<HistogramBin>> histograms;
    for (const HistogramBin& bin : run.histogram)
      histograms[bin.iteration].push_back(bin);
    std::vector<int> iterations;
    for (const auto& [iteration, bins] : histograms) {
      iterations.push_back(iteration);
      double share = 0, squares = 0, normal = 0, normal_squares = 0;
      std::optional<double> last;
      for (const HistogramBin& bin : bins) {
        EXPECT_EQ(bin.from, last);
        last = bin.to;
        share += bin.share;
        squares += bin.square_share;
        normal += bin.normal_share;
        normal_squares += bin.normal_square_share;
      }
      EXPECT_FALSE(last);
      for (const double sum : {share, squares, normal, normal_squares})
        EXPECT_NEAR(sum, 1, 1e-9) << schedule << iteration;
    }
    ASSERT_GE(iterations.size(), 5U) << schedule;
    if (schedule != std::string("inhad")) {  // there, nodes count their gradients
      EXPECT_EQ(std::vector(iterations.begin(), iterations.begin() + 5),
                (std::vector<int>{0, 1, 2, 4, 8}))
          << schedule;
    }
  }
}

TEST(Measured, IsNothingWhereNothingIsCompressed) {
  const Learned run = learned(compressed_lesson("asp", "none"), {});
  EXPECT_EQ(run.compressed.messages, 0);
  EXPECT_TRUE(run.each_compressed.empty());
  EXPECT_TRUE(run.histogram.empty());
}

// The learner's staleness equals that in the rows of the trace, with each part of a gradient
// weighted by its number of values.
TEST(Measured, StalenessIsThatOfTheTrace) {
  for (const char* schedule : {"asp", "ssp", "inhad"})
    for (const char* compressor : {"none", "topk"}) {
      Options options = compressed_lesson(schedule, compressor);
      options["bucket-bytes"] = "all";
      options["partition-bytes"] = "1e9";
      options["density"] = compressor == std::string("topk") ? "0.05" : "";
      options["servers"] = "1";
      options["platform"] = star_platform(
          {.nodes = 3, .workers_per_node = 2, .nic_Bps = 2e6, .servers = 1, .slow_speed = 0.6});
      if (schedule == std::string("inhad"))
        options.erase("partition-bytes"), options.erase("bucket-bytes");
      const Simulated run = simulated(options);
      double staleness = 0;
      const std::vector<Row> rows = run.rows("apply");
      for (const Row& row : rows)
        staleness += static_cast<double>(row.version - 1 - row.read_version);
      EXPECT_NEAR(run.trace.learned->effective_staleness,
                  staleness / static_cast<double>(rows.size()), 1e-9)
          << schedule << compressor;
      EXPECT_GT(staleness, 0) << schedule;
    }
}

TEST(Measured, StalenessOfWhoAveragesIsNone) {
  for (const char* schedule : {"bsp", "topk-sgd", "local-sgd"}) {
    Options options =
        compressed_lesson(schedule, schedule == std::string("topk-sgd") ? "topk" : "none");
    EXPECT_EQ(simulated(options).trace.learned->effective_staleness, 0) << schedule;
  }
}

// Workers take turns: between reading and applying, every other worker makes one update.
TEST(Measured, StalenessOfAlikeAspWorkersIsThatOfTheOthers) {
  Options options = compressed_lesson("asp", "none");
  options["platform"] = star_platform({.nodes = 4, .servers = 2});
  options["servers"] = "2";
  options["iterations"] = "200";
  EXPECT_NEAR(simulated(options).trace.learned->effective_staleness, 3, 0.05);
}

}  // namespace
}  // namespace syncline
