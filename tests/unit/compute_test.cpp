#include "sim/setup/compute.h"

#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>

#include "sim/catalogue/csv.h"
#include "sim/catalogue/files.h"
#include "sim/schedule.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

// Read from the data file, so that new measurements do not need new tests.
double measured(const std::string& model, const std::string& device, const std::string& precision) {
  const Csv csv = read_csv(data_root() + "/models/throughput.csv");
  double found = 0;
  for (const Csv::Row& row : csv.rows)
    if (row.fields[csv.column("model")] == model && row.fields[csv.column("device")] == device &&
        row.fields[csv.column("precision")] == precision)
      found = std::stod(row.fields[csv.column("throughput")]);
  EXPECT_GT(found, 0) << "no row for " << model << ", " << device << ", " << precision;
  return found;
}

// The part of a scenario that these tests use.
struct Asked {
  int batch = 32;
  Arithmetic arithmetic = Arithmetic::fp32;
  std::optional<double> throughput = {};
  std::string device = "";
  std::optional<double> efficiency = {};
  TimedOptimizer optimizer = {};
  std::optional<double> memory_Bps = {};
  const Schedule* schedule = nullptr;
};

std::vector<double> solo_times(const ComputeTimes& times) {
  std::vector<double> seconds;
  for (int worker = 0; worker < static_cast<int>(times.of_worker.size()); ++worker)
    seconds.push_back(times.solo_s(worker));
  return seconds;
}

ComputeTimes times_of(const Asked& asked, const Model& model, const Cluster& cluster) {
  Scenario scenario;
  scenario.batch = asked.batch;
  scenario.arithmetic = asked.arithmetic;
  scenario.throughput = asked.throughput;
  scenario.device = asked.device;
  scenario.efficiency = asked.efficiency;
  scenario.optimizer = asked.optimizer;
  scenario.memory_Bps = asked.memory_Bps;
  scenario.schedule = asked.schedule;
  return compute_times(scenario, model, cluster);
}

Model model_named(const std::string& name) {
  return {.name = name, .sample = "image", .layers = {{"a", 10, 2e9}, {"b", 10, 1e9}}};
}

struct Host {
  double speed_flops = 1e12;
  std::string device = "";
};

Cluster cluster_of(const std::vector<Host>& hosts) {
  Cluster cluster;
  for (const Host& host : hosts)
    cluster.workers.push_back({.name = "h" + std::to_string(cluster.workers.size()),
                               .node = "",
                               .device = host.device,
                               .role = "",
                               .speed_flops = host.speed_flops});
  cluster.worker_hosts = cluster.workers;
  return cluster;
}

// In fp32, efficiency is a share of the host's speed; in other precisions, of the device's peak.
TEST(ComputeTimes, TakeAnEfficiencyOfTheDevicesPeakForAllButFp32) {
  constexpr double flop = 3 * 3e9 * 32;
  Asked scenario{.batch = 32, .arithmetic = Arithmetic::bf16, .efficiency = 0.5};
  const auto solo_s = [&](const std::vector<Host>& hosts) {
    return solo_times(times_of(scenario, model_named("net"), cluster_of(hosts)));
  };
  EXPECT_DOUBLE_EQ(solo_s({{1e12, "a100"}}).at(0), flop / (0.5 * 312e12));
  // A slower host of the same device takes longer in proportion; another device has its own time.
  const std::vector<double> mixed = solo_s({{2e12, "a100"}, {1e12, "a100"}, {5e12, "h100"}});
  EXPECT_DOUBLE_EQ(mixed.at(1), 2 * flop / (0.5 * 312e12));
  EXPECT_DOUBLE_EQ(mixed.at(2), flop / (0.5 * 989e12));
  scenario.device = "h100-modelled";
  EXPECT_DOUBLE_EQ(solo_s({{1e12, "a100"}}).at(0), flop / (0.5 * 989e12));
  expect_mentions(times_of(scenario, model_named("net"), cluster_of({{1e12, "a100"}})).source,
                  {"option efficiency", "989 TFLOP/s", "bf16 peak of h100"});
  scenario.arithmetic = Arithmetic::tf32;
  EXPECT_DOUBLE_EQ(solo_s({{1e12, ""}}).at(0), flop / (0.5 * 494.5e12));
  scenario.arithmetic = Arithmetic::fp16;
  EXPECT_DOUBLE_EQ(solo_s({{1e12, ""}}).at(0), flop / (0.5 * 989e12));  // equal to the peak of bf16
  scenario.device = "v100";                                             // has no bf16
  EXPECT_DOUBLE_EQ(solo_s({{1e12, ""}}).at(0), flop / (0.5 * 125e12));
  scenario.arithmetic = Arithmetic::fp32;
  EXPECT_DOUBLE_EQ(solo_s({{1e12, "a100"}}).at(0), flop / (0.5 * 1e12));
}

TEST(ComputeTimes, RefuseAPrecisionThatADeviceHasNoPeakFor) {
  const Asked scenario{.arithmetic = Arithmetic::bf16, .efficiency = 0.5};
  for (const char* device : {"v100", "abacus", ""})
    expect_mentions(
        error_of([&] {
          times_of(scenario, model_named("net"), cluster_of({{1e12, "a100"}, {1e12, device}}));
        }),
        {"precision = bf16", "no such peak", "throughput", "a100"});
  expect_mentions(error_of([] {
                    times_of({.arithmetic = Arithmetic::fp16, .efficiency = 0.5},
                             model_named("net"), cluster_of({{1e12, "k80"}}));
                  }),
                  {"precision = fp16", "device k80", "no such peak", "v100"});
}

TEST(ComputeTimes, TakeTheOptionThroughputFirst) {
  const Asked scenario{.batch = 32, .throughput = 16, .device = "v100", .efficiency = 0.5};
  const ComputeTimes times =
      times_of(scenario, model_named("resnet50"), cluster_of({{1e12, "v100"}}));
  EXPECT_DOUBLE_EQ(times.solo_s(0), 2);
  expect_mentions(times.source, {"throughput"});
}

TEST(ComputeTimes, TakeAMeasuredRowBeforeTheEfficiency) {
  const Asked scenario{.batch = 64, .device = "v100", .efficiency = 0.5};
  const ComputeTimes times =
      times_of(scenario, model_named("resnet50"), cluster_of({{1e12, "v100"}}));
  EXPECT_DOUBLE_EQ(times.solo_s(0), 64 / measured("resnet50", "v100", "fp32"));
}

TEST(ComputeTimes, TakeTheRowOfThePrecision) {
  const Asked scenario{.batch = 64, .arithmetic = Arithmetic::fp16, .device = "v100"};
  const ComputeTimes times =
      times_of(scenario, model_named("resnet50"), cluster_of({{1e12, "v100"}}));
  EXPECT_DOUBLE_EQ(times.solo_s(0), 64 / measured("resnet50", "v100", "fp16"));
}

TEST(ComputeTimes, TakeTheEfficiencyLast) {
  // Forward 3 GFLOP per sample, backward twice that: 8 samples at half of 1 TFLOP/s.
  const Asked scenario{.batch = 8, .efficiency = 0.5};
  const ComputeTimes times = times_of(scenario, model_named("mine"), cluster_of({{}, {2e12}}));
  EXPECT_DOUBLE_EQ(times.solo_s(0), 8 * 9e9 / 0.5e12);
  EXPECT_DOUBLE_EQ(times.solo_s(1), 8 * 9e9 / 1e12);
  expect_mentions(times.source, {"efficiency"});
}

TEST(ComputeTimes, OfOtherHostsAreInProportionToTheirSpeed) {
  const ComputeTimes times = times_of({.batch = 32, .throughput = 16}, model_named("mine"),
                                      cluster_of({{1e12}, {2e12}, {0.5e12}}));
  EXPECT_EQ(solo_times(times), (std::vector<double>{4, 2, 8}));  // the fastest has 16 samples/s
  EXPECT_EQ(times.source,
            "option throughput, of the platform's fastest host; workers compute at 0.25 to 1 times "
            "its speed");
}

// A host's seconds depend neither on the order of hosts, which names decide, nor on which others
// take part.
TEST(ComputeTimes, OfAHostDependOnNoOtherHostsName) {
  const std::vector<std::vector<Host>> orders{{{1e12, "v100"}, {3e12, "v100"}, {2e12, "v100"}},
                                              {{3e12, "v100"}, {2e12, "v100"}, {1e12, "v100"}}};
  for (const Asked& scenario :
       {Asked{.batch = 64, .throughput = 32}, Asked{.batch = 64, .device = "v100"},
        Asked{.batch = 64}, Asked{.batch = 64, .throughput = 32, .device = "v100"}})
    for (const std::vector<Host>& order : orders) {
      Cluster cluster = cluster_of(order);
      const ComputeTimes all = times_of(scenario, model_named("resnet50"), cluster);
      for (std::size_t i = 0; i < order.size(); ++i) {
        const double fastest_s =
            64 / (scenario.throughput ? 32 : measured("resnet50", "v100", "fp32"));
        EXPECT_DOUBLE_EQ(all.solo_s(static_cast<int>(i)), fastest_s * 3e12 / order[i].speed_flops);
      }
      cluster.workers.erase(cluster.workers.begin());
      const ComputeTimes some = times_of(scenario, model_named("resnet50"), cluster);
      EXPECT_DOUBLE_EQ(some.solo_s(0), all.solo_s(1));
      EXPECT_DOUBLE_EQ(some.solo_s(1), all.solo_s(2));
    }
}

TEST(ComputeTimes, DeviceRowBelongsToHostsOfThatDevice) {
  const ComputeTimes times =
      times_of({.batch = 64, .device = "v100"}, model_named("resnet50"),
               cluster_of({{3e12, "other"}, {1e12, "v100"}, {1e12, "v100"}}));
  const double solo_s = 64 / measured("resnet50", "v100", "fp32");
  EXPECT_DOUBLE_EQ(times.solo_s(1), solo_s);
  EXPECT_DOUBLE_EQ(times.solo_s(2), solo_s);
  EXPECT_DOUBLE_EQ(times.solo_s(0), solo_s / 3);
}

TEST(ComputeTimes, EachHostUsesItsOwnDevicesRow) {
  const ComputeTimes times =
      times_of({.batch = 64}, model_named("resnet50"), cluster_of({{1e12, "v100"}, {1e12, "k80"}}));
  EXPECT_DOUBLE_EQ(times.solo_s(0), 64 / measured("resnet50", "v100", "fp32"));
  EXPECT_DOUBLE_EQ(times.solo_s(1), 64 / measured("resnet50", "k80", "fp32"));
  expect_mentions(times.source, {"v100", "k80"});
}

TEST(ComputeTimes, ListTheRowsWhenNoSourceIsAvailable) {
  expect_mentions(
      error_of([] { times_of({.device = "tpu"}, model_named("resnet50"), cluster_of({{}})); }),
      {"resnet50", "tpu", "fp32", "throughput", "efficiency", "v100 fp32", "k80 fp32"});
  expect_mentions(error_of([] { times_of({}, model_named("mine"), cluster_of({{}})); }),
                  {"mine", "throughput", "efficiency", "none"});
}

TEST(ComputeTimes, AreNotGuessedWhereOneHostOfManyIsUnknown) {
  EXPECT_THROW(times_of({}, model_named("resnet50"), cluster_of({{1e12, "v100"}, {1e12, "tpu"}})),
               std::runtime_error);
}

// Adam reads and writes seven values of four bytes: 28 bytes for each of 20 parameters.
TEST(ComputeTimes, AddTheOptimizersStepToWhatFlopTake) {
  const Asked scenario{.batch = 8,
                       .efficiency = 0.5,
                       .optimizer = {.name = "adam", .values = 7},
                       .memory_Bps = 56,
                       .schedule = &Registered<Schedule>::find("bsp")};
  const ComputeTimes times = times_of(scenario, model_named("mine"), cluster_of({{}, {5e11}}));
  EXPECT_DOUBLE_EQ(times.step_s(0), 10);
  EXPECT_DOUBLE_EQ(times.solo_s(0), 8 * 9e9 / 0.5e12 + 10);
  EXPECT_NEAR(times.forward_s(0) + times.backward_s(0), 8 * 9e9 / 0.5e12, 1e-12);
  EXPECT_DOUBLE_EQ(times.step_s(1), 20);
  expect_mentions(times.source, {"efficiency", "adam", "10 s", "follows communication"});
}

TEST(Throughputs, AreOfExistingModels) {
  const Csv csv = read_csv(data_root() + "/models/throughput.csv");
  for (const Csv::Row& row : csv.rows) {
    const std::string& model = row.fields[csv.column("model")];
    EXPECT_TRUE(std::filesystem::exists(find_file("model", "models", ".csv", model, "")))
        << csv.where(row);
    EXPECT_FALSE(row.fields[csv.column("source")].empty()) << csv.where(row);
  }
}

TEST(Jitter, IsOneWithoutVariation) {
  EXPECT_EQ(jitter_factor(0, 1, 2, 3), 1);
}

// With a hundred thousand fixed draws, only a wrong generator has a mean off by more than five
// standard errors, or a coefficient of variation off by more than 5 %.
void expect_distribution(double coefficient) {
  double sum = 0;
  double squares = 0;
  const int ranks = 100;
  const int iterations = 1000;
  for (int rank = 0; rank < ranks; ++rank)
    for (int iteration = 0; iteration < iterations; ++iteration) {
      const double factor = jitter_factor(coefficient, 42, rank, iteration);
      ASSERT_GT(factor, 0);
      sum += factor;
      squares += factor * factor;
    }
  const double count = ranks * iterations;
  const double mean = sum / count;
  EXPECT_NEAR(mean, 1, 5 * coefficient / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count - mean * mean) / mean, coefficient, 0.05 * coefficient);
}

TEST(Jitter, HasMeanOneAndTheGivenCoefficient) {
  for (const double coefficient : {0.01, 0.1, 0.3, 1.0})
    expect_distribution(coefficient);
}

TEST(Jitter, DependsOnSeedRankAndIterationOnly) {
  const double factor = jitter_factor(0.2, 1, 2, 3);
  EXPECT_NE(jitter_factor(0.2, 2, 2, 3), factor);
  EXPECT_NE(jitter_factor(0.2, 1, 3, 3), factor);
  EXPECT_NE(jitter_factor(0.2, 1, 2, 4), factor);
  EXPECT_NE(jitter_factor(0.2, std::uint64_t{1} << 32 | 1, 2, 3), factor);  // all 64 bits count
  EXPECT_NE(jitter_factor(0.2, 1, 3, 2), factor);
  EXPECT_EQ(jitter_factor(0.2, 1, 2, 3), factor);  // independent of draws in between
}

}  // namespace
}  // namespace syncline
