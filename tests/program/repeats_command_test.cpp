// Option repeats: several runs of one cell give one result.
#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using Arguments = std::vector<std::string>;
using Json = nlohmann::ordered_json;

// Four workers with random iteration times, and servers.
Ended run_in(const TemporaryFolder& folder, const Arguments& more) {
  Arguments arguments{"run"};
  for (const auto& [flag, value] : {std::pair("--platform", "gbe-32x1"),
                                    {"--workers", "4"},
                                    {"--model", "resnet20"},
                                    {"--throughput", "3000"},
                                    {"--max-iterations", "40"},
                                    {"--jitter", "0.2"}})
    if (std::ranges::find(more, flag) == more.end())
      arguments.insert(arguments.end(), {flag, value});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments, folder.path());
}

Json result_of(const TemporaryFolder& folder, const Arguments& more) {
  Arguments arguments = more;
  arguments.emplace_back("--json");
  const Ended ended = run_in(folder, arguments);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return Json::parse(ended.out)["cells"][0]["result"];
}

TEST(Repeats, AreOneResultWithTheThroughputOfEachRun) {
  const TemporaryFolder folder;
  const Json one = result_of(folder, {"--schedule", "asp", "--repeats", "1"});
  const Json three = result_of(folder, {"--schedule", "asp", "--repeats", "3"});
  const Json& figures = three["figures"];
  EXPECT_EQ(one["figures"]["runs"], 1);
  EXPECT_EQ(one["figures"]["throughput_of_runs"].size(), 1U);
  EXPECT_EQ(figures["runs"], 3);
  ASSERT_EQ(figures["throughput_of_runs"].size(), 3U);
  // Run 0 has the seed itself; the others are different runs.
  EXPECT_EQ(figures["throughput_of_runs"][0], one["figures"]["throughput_samples_per_s"]);
  EXPECT_NE(figures["throughput_of_runs"][0], figures["throughput_of_runs"][1]);
  EXPECT_NE(figures["throughput_of_runs"][1], figures["throughput_of_runs"][2]);
  double sum = 0;
  for (const Json& value : figures["throughput_of_runs"])
    sum += value.get<double>();
  EXPECT_NEAR(figures["throughput_samples_per_s"].get<double>(), sum / 3, 1e-9 * sum);
  EXPECT_EQ(three["timeline"], one["timeline"]);
  EXPECT_EQ(three, result_of(folder, {"--schedule", "asp", "--repeats", "3"}));
}

// Five runs of 1.4 s agreed well, and all were 3 % faster than a run that includes the slow spell
// of each 10 s.
TEST(Repeats, HaveNoIntervalWhereNoneSeesWhatProfilesDo) {
  const TemporaryFolder folder;
  for (const char* schedule : {"bsp", "asp"})
    for (const char* repeats : {"1", "3"})
      for (const auto& [iterations, known] : {std::pair("20", false), {"200", true}}) {
        const Json figures = result_of(
            folder, {"--platform", "straggler-8x1", "--schedule", schedule, "--repeats", repeats,
                     "--max-iterations", iterations, "--throughput", "100"})["figures"];
        EXPECT_EQ(!figures["throughput_interval"].is_null(), known)
            << schedule << ", " << repeats << ", " << iterations << ": " << figures["warnings"];
      }
}

TEST(Repeats, SayWhatTheyHaveOneOf) {
  const TemporaryFolder folder;
  for (const char* repeats : {"1", "3"}) {
    const Ended ended =
        run_program({"run", "--platform", "two-hosts", "--throughput", "1000", "--learn", "softmax",
                     "--iterations", "5", "--jitter", "0.2", "--repeats", repeats, "--json"},
                    folder.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    const std::string warnings =
        Json::parse(ended.out)["cells"][0]["result"]["figures"]["warnings"].dump();
    EXPECT_EQ(warnings.find("are of the first of 3 runs") != std::string::npos, *repeats == '3')
        << warnings;
  }
}

TEST(Repeats, LeaveTheTraceOfTheFirstRunAsItIs) {
  const TemporaryFolder folder;
  for (const char* repeats : {"1", "3"}) {
    const Ended ended = run_in(folder, {"--schedule", "inhad", "--repeats", repeats, "--trace",
                                        "--out", std::string("out") + repeats});
    ASSERT_EQ(ended.code, 0) << ended.err;
  }
  EXPECT_EQ(text_of(folder.path("out1/result.trace.csv")),
            text_of(folder.path("out3/result.trace.csv")));
  const Json first = Json::parse(text_of(folder.path("out3/result.json")));
  EXPECT_EQ(first["scenario"]["repeats"], 3);
  EXPECT_EQ(first["figures"]["runs"], 3);
}

TEST(Repeats, AreOneByDefaultWhereNothingIsRandomOrAllWaitForAll) {
  const TemporaryFolder folder;
  const auto runs_of = [&](const Arguments& more) {
    return result_of(folder, more)["figures"]["runs"].get<int>();
  };
  EXPECT_EQ(runs_of({"--schedule", "asp"}), 5);
  EXPECT_EQ(runs_of({"--schedule", "inhad"}), 5);
  EXPECT_EQ(runs_of({"--schedule", "bsp"}), 1);
  EXPECT_EQ(runs_of({"--schedule", "ssp", "--staleness", "0"}), 1);
  EXPECT_EQ(runs_of({"--schedule", "asp", "--jitter", "0"}), 1);
  EXPECT_EQ(runs_of({"--schedule", "asp", "--workers", "1"}), 1);
  const Ended learned = run_program(
      {"run", "--platform", "gbe-32x1", "--workers", "2", "--throughput", "3000", "--schedule",
       "asp", "--learn", "least-squares", "--jitter", "0.2", "--iterations", "3", "--json"},
      folder.path());
  ASSERT_EQ(learned.code, 0) << learned.err;
  EXPECT_EQ(Json::parse(learned.out)["cells"][0]["result"]["figures"]["runs"], 1);
}

TEST(Repeats, AreSimulatedAgainWhereAnotherNumberIsAskedFor) {
  const TemporaryFolder folder;
  const auto resumed = [&](const char* repeats) {
    const Ended ended =
        run_in(folder, {"--schedule", "asp", "--repeats", repeats, "--out", "out", "--resume"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return Json::parse(text_of(folder.path("out/result.json")))["figures"]["runs"].get<int>();
  };
  EXPECT_EQ(resumed("2"), 2);
  EXPECT_EQ(resumed("3"), 3);
  EXPECT_EQ(resumed("auto"), 5);
}

TEST(Repeats, AreSaidWhereFiguresAre) {
  const TemporaryFolder folder;
  expect_mentions(run_in(folder, {"--schedule", "asp"}).out, {"mean of", "5 runs: "});
  expect_mentions(run_in(folder, {"--schedule", "asp,bsp"}).out,
                  {"simulated as step, 1 run (1 cell); step, 5 runs (1 cell)"});
}

TEST(Repeats, CountInWhatIsAllowed) {
  const TemporaryFolder folder;
  const Ended ended =
      run_in(folder, {"--schedule", "asp", "--repeats", "1000", "--limit-seconds", "1"});
  EXPECT_EQ(ended.code, 2);
  expect_mentions(ended.err, {"--limit-seconds", "repeats = 1 (here 1000)"});
  for (const char* wrong : {"0", "1.5", "some"})
    EXPECT_EQ(run_in(folder, {"--repeats", wrong}).code, 2) << wrong;
}

TEST(Repeats, OfACheckAreThoseThatItWasBlessedWith) {
  const TemporaryFolder folder;
  folder.write("c/asp.cfg",
               "platform = gbe-32x1\nworkers = 4\nmodel = resnet20\nthroughput = 3000\n"
               "max-iterations = 40\njitter = 0.2\nschedule = asp\n");
  const auto check = [&](const Arguments& more) {
    Arguments arguments{"check", "c"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments, folder.path());
  };
  ASSERT_EQ(check({"--bless", "--because", "new"}).code, 0);
  const std::string expected = text_of(folder.path("c/expected.csv"));
  expect_mentions(expected, {"asp,runs,5,"});
  const std::string of_five = check({}).out;
  expect_mentions(of_five, {"1 of 1 as expected"});
  // A file from before this option says nothing about runs: it had one, with another throughput.
  const std::size_t row = expected.find("asp,runs,5,");
  folder.write("c/expected.csv",
               expected.substr(0, row) + expected.substr(expected.find('\n', row) + 1));
  EXPECT_NE(check({}).out, of_five);
}

}  // namespace
}  // namespace syncline
