// A run takes the memory and disk space that were estimated, and limits are checked beforehand.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using Arguments = std::vector<std::string>;

Arguments with(Arguments all, const Arguments& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

nlohmann::json estimated(const Arguments& scenario) {
  const Ended ended = run_program(with({"explain", "--json"}, scenario));
  EXPECT_EQ(ended.code, 0) << ended.err;
  return nlohmann::json::parse(ended.out)["cells"][0]["estimate"]["most"];
}

// Of all children of this process so far, and of theirs.
double most_bytes_of_children() {
  rusage use{};
  getrusage(RUSAGE_CHILDREN, &use);
  return static_cast<double>(use.ru_maxrss) * 1024;
}

// Must run first: only the maximum over all children is known.
void expect_memory_as_estimated(const Arguments& scenario) {
  const Ended ended = run_program(with({"run", "--limit-memory", "8e9"}, scenario));
  EXPECT_EQ(ended.code, 0) << ended.err;
  const double taken = most_bytes_of_children();
  const double factor = estimated(scenario)["memory_bytes"].get<double>() / taken;
  EXPECT_GT(factor, 1.0 / 1.5) << taken;
  EXPECT_LT(factor, 2.5) << taken;
}

Arguments learning(const Arguments& more) {
  return with({"--platform", "pcie-8x4-10gbe", "--throughput", "1000", "--learn", "mlp"}, more);
}

TEST(Estimates, OfMemoryKnowTheSamplesOfABatch) {
  expect_memory_as_estimated(
      {"--platform",       "two-hosts", "--throughput", "1e12",     "--learn",      "least-squares",
       "--data",           "generated", "--samples",    "100",      "--features",   "1",
       "--classes",        "2",         "--batch",      "20000000", "--iterations", "2",
       "--evaluate-every", "1e15"});
}

TEST(Estimates, OfMemoryKnowDataThatAreMade) {
  expect_memory_as_estimated(
      learning({"--data", "generated", "--samples", "200000", "--features", "400", "--hidden", "8",
                "--iterations", "2", "--workers", "2", "--evaluate-every", "1e9"}));
}

TEST(Estimates, OfMemoryKnowWhatReplicasKeep) {
  expect_memory_as_estimated(learning(
      {"--hidden", "60000", "--schedule", "local-sgd", "--local-steps", "4", "--workers", "8",
       "--replica", "node", "--iterations", "8", "--batch", "4", "--evaluate-every", "1e9"}));
}

TEST(Estimates, OfMemoryKnowWhatAverageDelayKeeps) {
  expect_memory_as_estimated(learning(
      {"--hidden", "60000", "--schedule", "local-sgd", "--local-steps", "2", "--average-delay", "1",
       "--workers", "8", "--iterations", "6", "--batch", "4", "--evaluate-every", "1e9"}));
}

TEST(Limits, DataAreAskedForBeforeTheyAreMade) {
  const TemporaryFolder folder;
  // It would take 4 GB, and a quarter of a minute.
  const Arguments large = learning(
      {"--data", "generated", "--samples", "1000000", "--features", "1000", "--out", "results"});
  for (const Arguments& limit : {Arguments{"--limit-memory", "2e9"}, {"--limit-seconds", "5"}}) {
    const Ended ended = run_program(with(with({"run"}, large), limit), folder.path(), [] {
      const rlimit memory{300'000'000, 300'000'000};
      setrlimit(RLIMIT_DATA, &memory);
      const rlimit seconds{10, 10};
      setrlimit(RLIMIT_CPU, &seconds);
    });
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(lines_in(ended.err), 1) << ended.err;
    expect_mentions(ended.err,
                    {"data = generated takes about", "GB", limit.front(), "fewer samples"});
    EXPECT_TRUE(listing_of(folder.path()).empty());
  }
}

// Loading would take some two seconds.
TEST(Limits, APlatformIsAskedForBeforeItIsLoaded) {
  const TemporaryFolder folder;
  const Ended ended = run_program(
      {"run", "--platform", "dgx:nodes=700", "--workers", "8", "--model", "resnet20",
       "--throughput", "9", "--iterations", "1", "--limit-seconds", "1", "--out", "results"},
      folder.path());
  EXPECT_EQ(ended.code, 2) << ended.out;
  EXPECT_EQ(lines_in(ended.err), 1) << ended.err;
  expect_mentions(ended.err, {"platform dgx:nodes=700: loading it takes about", "allowed are 1 s",
                              "--limit-seconds", "fewer nodes"});
  EXPECT_TRUE(listing_of(folder.path()).empty());
}

// Ten times as many buckets take ten times as long; 25 times are allowed here. A run in which each
// bucket walks through all others would take more: a hundred times as many steps.
TEST(Estimates, ARunTakesAsManyTimesLongerAsItHasBuckets) {
  const TemporaryFolder folder;
  const auto seconds_of = [&](int tensors) {
    std::string model =
        "# model: m\n# sample: image\n# source: made up\n"
        "layer,parameters,forward_flop\n";
    for (int i = 1; i <= tensors; ++i)
      model += "t" + std::to_string(i) + "," + std::to_string(i) + ",1000\n";
    folder.write("m.csv", model);
    const auto so_far = [] {
      rusage use{};
      getrusage(RUSAGE_CHILDREN, &use);
      return static_cast<double>(use.ru_utime.tv_sec) +
             1e-6 * static_cast<double>(use.ru_utime.tv_usec);
    };
    const double before = so_far();
    const Ended ended = run_program(
        {"run", "--platform", "two-hosts", "--model", "m.csv", "--throughput", "100",
         "--bucket-bytes", "0", "--iterations", "1", "--warmup", "0", "--exchange", "ring"},
        folder.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    return so_far() - before;
  };
  const double of_few = seconds_of(6'000);
  EXPECT_LT(seconds_of(60'000), 25 * of_few) << of_few;
}

Arguments traced(const std::string& iterations) {
  return {"--platform",     "pcie-8x4-10gbe",
          "--model",        "resnet50",
          "--throughput",   "253",
          "--iterations",   iterations,
          "--schedule",     "ssp",
          "--staleness",    "3",
          "--workers",      "8",
          "--bucket-bytes", "0"};
}

TEST(Estimates, OfATraceAreWithinAFactorOfTwo) {
  for (const Arguments& more :
       {Arguments{},
        {"--schedule", "bsp", "--exchange", "ring"},
        {"--schedule", "inhad"},
        {"--schedule", "asp", "--partition-bytes", "100000", "--fidelity", "step"}}) {
    const TemporaryFolder folder;
    Arguments scenario = traced("5");
    for (std::size_t i = 0; i + 1 < more.size(); i += 2)
      if (const auto at = std::ranges::find(scenario, more[i]); at != scenario.end())
        *(at + 1) = more[i + 1];
      else
        scenario.insert(scenario.end(), {more[i], more[i + 1]});
    if (!more.empty())  // it is SSP's
      scenario.erase(std::ranges::find(scenario, "--staleness"),
                     std::ranges::find(scenario, "--staleness") + 2);
    const double bytes = estimated(scenario)["trace_bytes"].get<double>();
    const Ended ended =
        run_program(with(with({"run"}, scenario), {"--out", "results", "--trace"}), folder.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    double written = 0;
    for (const auto& [name, text] : files_of(folder.path()))
      written += name.find(".trace.") != std::string::npos ? static_cast<double>(text.size()) : 0;
    EXPECT_GT(bytes / written, 0.5) << written;
    EXPECT_LT(bytes / written, 2) << written << scenario.back();
  }
}

TEST(Limits, ATraceIsAskedForBeforeItIsSimulated) {
  const TemporaryFolder folder;
  const auto refused = [&](const Arguments& more) {
    const Ended ended = run_program(with(with({"run"}, traced("40")), more), folder.path());
    EXPECT_EQ(ended.code, 2) << ended.out;
    EXPECT_EQ(lines_in(ended.err), 1) << ended.err;
    EXPECT_TRUE(listing_of(folder.path()).empty());
    expect_mentions(ended.err, {"--trace would write about", "--limit-trace"});
  };
  refused({"--out", "results", "--trace", "--limit-trace", "1e6"});
  refused({"--trace=one.json", "--limit-trace", "1e6"});
  EXPECT_EQ(run_program(with(with({"run"}, traced("40")), {"--limit-trace", "1e6"})).code, 0);
}

// The length is not known beforehand: by default there is 1 GB.
TEST(Limits, ARunThatDecidesHowLongItIsLeavesNoTraceBeyondThem) {
  const TemporaryFolder folder;
  const Arguments run = with(with({"run"}, traced("auto")), {"--jitter", "0.3"});
  const double least = nlohmann::json::parse(
      run_program(with({"explain", "--json"}, with(traced("auto"), {"--jitter", "0.3"})))
          .out)["cells"][0]["estimate"]["least"]["trace_bytes"];
  const Ended ended = run_program(
      with(run, {"--trace=one.json", "--limit-trace", std::to_string(1.2 * least)}), folder.path());
  EXPECT_EQ(ended.code, 2);
  expect_mentions(ended.err, {"--trace would write about", "--limit-trace"});
  EXPECT_TRUE(listing_of(folder.path()).empty());
}

}  // namespace
}  // namespace syncline
