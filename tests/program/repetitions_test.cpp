// A list of seeds is a sweep in files, and repetitions in comparisons: the same numbers follow by
// hand from the files.
#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using Arguments = std::vector<std::string>;
using Json = nlohmann::ordered_json;

Arguments with(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// Four workers that learn, with random iteration times.
const Arguments learning{"run",          "--platform", "gbe-32x1",   "--workers", "4",
                         "--throughput", "300",        "--jitter",   "0.3",       "--learn",
                         "softmax",      "--until",    "loss:0.6",   "--jobs",    "2",
                         "--iterations", "60",         "--schedule", "asp,bsp"};
// The same for time alone: asp has five runs for each seed.
const Arguments timing{"run",  "--platform", "gbe-32x1", "--workers",        "4",   "--throughput",
                       "3000", "--model",    "resnet20", "--jitter",         "0.2", "--jobs",
                       "2",    "--schedule", "asp,bsp",  "--max-iterations", "40"};

double median_by_hand(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// The values of the cells with these options, run by run; a missing value is infinite.
std::vector<double> values_by_hand(const Json& document, const std::string& figure,
                                   const std::string& option, const Json& value) {
  std::vector<double> values;
  for (const Json& cell : document["cells"]) {
    if (cell["result"]["scenario"][option] != value)
      continue;
    const Json& figures = cell["result"]["figures"];
    const Json own = figure == "throughput_samples_per_s" ? figures["throughput_of_runs"]
                                                          : Json::array({figures[figure]});
    for (const Json& number : own)
      values.push_back(number.is_null() ? std::numeric_limits<double>::infinity()
                                        : number.get<double>());
  }
  return values;
}

Json document_of(const TemporaryFolder& folder, const Arguments& arguments) {
  const Ended ended = run_program(with(arguments, {"--json"}), folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  return Json::parse(ended.out);
}

const Json& pooled_with(const Json& document, const std::string& part_of_name) {
  for (const Json& one : document["ranking"]["pooled"])
    if (one["cells"][0].get<std::string>().find(part_of_name) != std::string::npos)
      return one;
  throw std::runtime_error("no pooled " + part_of_name);
}

TEST(Repetitions, AreMediansAndBandsByHandFromTheFiles) {
  const TemporaryFolder folder;
  for (const Arguments& sweep : {learning, timing}) {
    const Json document = document_of(folder, with(sweep, {"--seed", "4,1,9"}));
    ASSERT_EQ(document["cells"].size(), 6U);
    ASSERT_EQ(document["ranking"]["pooled"].size(), 2U);
    for (const std::string schedule : {"asp", "bsp"})
      for (const std::string figure :
           {"throughput_samples_per_s", "scaling_efficiency", "iteration_mean_s", "bytes_sent",
            "staleness_mean", "loss", "accuracy", "target_s"}) {
        if (!document["cells"][0]["result"]["figures"].contains(figure))
          continue;
        const std::vector<double> values = values_by_hand(document, figure, "schedule", schedule);
        const Json& pooled = pooled_with(document, "schedule-" + schedule);
        EXPECT_DOUBLE_EQ(pooled["figures"][figure].get<double>(), median_by_hand(values))
            << schedule << " " << figure;
        const auto [least, most] = std::ranges::minmax(values);
        if (least == most)
          continue;
        EXPECT_DOUBLE_EQ(pooled["least"][figure].get<double>(), least) << schedule << figure;
        EXPECT_DOUBLE_EQ(pooled["most"][figure].get<double>(), most) << schedule << figure;
      }
  }
}

TEST(Repetitions, HaveFilesOfTheirOwnAndOneRow) {
  const TemporaryFolder folder;
  const Ended run = run_program(with(learning, {"--seed", "1,2,3", "--out", "out"}), folder.path());
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* seed : {"1", "2", "3"})
    EXPECT_FALSE(
        text_of(folder.path(std::string("out/schedule-bsp_seed-") + seed + ".json")).empty());
  const std::string csv = text_of(folder.path("out/results.csv"));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 7);
  EXPECT_EQ(run.out.find("seed "), run.out.find("seed s"));
  expect_mentions(run.out, {"\nasp ", "\nbsp ",
                            "\neach is the median of 3 seeds (1, 2 and 3); in brackets the least "
                            "and the most\n",
                            "(median of 3 seeds"});
  EXPECT_EQ(run.out.find("\nasp "), run.out.rfind("\nasp "));
  // The report of these files agrees.
  const Ended report = run_program({"report", "out", "--md", "r.md"}, folder.path());
  ASSERT_EQ(report.code, 0) << report.err;
  for (const char* line : {"each is the median", "reached loss 0.6 first"}) {
    const std::size_t at = run.out.find(line);
    ASSERT_NE(at, std::string::npos) << run.out;
    expect_mentions(report.out, {run.out.substr(at, run.out.find('\n', at) - at)});
  }
  expect_mentions(text_of(folder.path("r.md")), {"each is the median of 3 seeds"});
}

TEST(Repetitions, DoNotAskForTheOrderOfSeeds) {
  const TemporaryFolder folder;
  const std::string one = run_program(with(learning, {"--seed", "1,2,3"}), folder.path()).out;
  for (const char* seeds : {"3,2,1", "2,3,1"}) {
    const Ended other = run_program(with(learning, {"--seed", seeds}), folder.path());
    const auto without_warnings = [](std::string text) {  // they name the first cell that has them
      return std::regex_replace(text, std::regex("warning [^\n]*\n"), "");
    };
    EXPECT_EQ(without_warnings(other.out), without_warnings(one));
  }
}

TEST(BestOf, ChoosesOnTheFirstSeedsListedAndReportsTheOthers) {
  const TemporaryFolder folder;
  for (const std::string seeds : {"8,1,2", "1,8,2"}) {
    const Json document =
        document_of(folder, with(learning, {"--seed", seeds, "--learning-rate", "0.05,0.2,0.8",
                                            "--best-of", "learning-rate"}));
    ASSERT_EQ(document["cells"].size(), 18U);
    ASSERT_EQ(document["ranking"]["pooled"].size(), 2U);
    const std::string choosing = seeds.substr(0, 1);
    for (const std::string schedule : {"asp", "bsp"}) {
      double best = std::numeric_limits<double>::infinity();
      Json rate;
      for (const Json& cell : document["cells"]) {
        const Json& scenario = cell["result"]["scenario"];
        const Json& target = cell["result"]["figures"]["target_s"];
        if (scenario["schedule"] == schedule && scenario["seed"].dump() == choosing &&
            !target.is_null() && target.get<double>() < best) {
          best = target.get<double>();
          rate = scenario["learning-rate"];
        }
      }
      const Json& pooled = pooled_with(document, "schedule-" + schedule);
      ASSERT_EQ(pooled["cells"].size(), 2U);
      for (const Json& name : pooled["cells"]) {
        expect_mentions(name.get<std::string>(), {"learning-rate-" + rate.dump()});
        EXPECT_EQ(name.get<std::string>().find("seed-" + choosing), std::string::npos);
      }
    }
    expect_mentions(
        document["ranking"]["notes"][0].get<std::string>(),
        {"best-of = learning-rate: of 3 each has the first to reach loss 0.6 with seed " +
         choosing + ", which is not reported"});
  }
}

// Seven contestants at five learning rates with three seeds, one of which chooses.
TEST(BestOf, Of105CellsMakesSevenRowsAndCurves) {
  const TemporaryFolder folder;
  std::string config =
      "platform = straggler-8x1\nworkers = 2\nthroughput = 300\nlearn = softmax\n"
      "jitter = 0.2\nuntil = loss:0.7\niterations = 24\nbest-of = learning-rate\n"
      "learning-rate = 0.05, 0.1, 0.2, 0.4, 0.8\nseed = 5, 1, 2\n[bsp]\n";
  for (const char* schedule : {"asp", "ssp", "inhad", "local-sgd"})
    config += std::string("[") + schedule + "]\nschedule = " + schedule + "\n";
  for (const char* schedule : {"bsp", "asp"})
    config += std::string("[") + schedule + "-topk]\nschedule = " + schedule +
              "\ncompressor = topk\ndensity = 0.1\ndevice = v100-modelled\n";
  folder.write("c.cfg", config);
  const Ended run = run_program({"run", "c.cfg", "--out", "out", "--jobs", "2", "--html", "p.html"},
                                folder.path());
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string table = run.out.substr(0, run.out.find("simulated as"));
  EXPECT_EQ(std::ranges::count(table, '\n'), 8) << table;
  EXPECT_EQ(std::ranges::count(text_of(folder.path("out/results.csv")), '\n'), 106);
  const Json document = document_of(folder, {"report", "out"});
  ASSERT_EQ(document["cells"].size(), 105U);
  ASSERT_EQ(document["ranking"]["pooled"].size(), 7U);
  const double infinite = std::numeric_limits<double>::infinity();
  for (const Json& pooled : document["ranking"]["pooled"]) {
    // By hand: the learning rate at which seed 5 is first, or has the least loss; then the other
    // seeds.
    const auto figure_of = [&](const Json& cell, const char* figure) {
      const Json& number = cell["result"]["figures"][figure];
      return number.is_null() ? infinite : number.get<double>();
    };
    std::string name = pooled["cells"][0];
    name = name.substr(5, name.find('_') - 5);  // the name of its section
    std::pair<double, double> least(infinite, infinite);
    Json rate;
    for (const Json& cell : document["cells"])
      if (cell["result"]["scenario"]["name"] == name && cell["result"]["scenario"]["seed"] == 5)
        if (const std::pair place(figure_of(cell, "target_s"), figure_of(cell, "loss"));
            rate.is_null() || place < least) {
          least = place;
          rate = cell["result"]["scenario"]["learning-rate"];
        }
    for (const char* figure : {"throughput_samples_per_s", "loss", "target_s", "waiting_s"}) {
      std::vector<double> values;
      for (const Json& cell : document["cells"])
        if (const Json& scenario = cell["result"]["scenario"];
            scenario["name"] == name && scenario["learning-rate"] == rate && scenario["seed"] != 5)
          values.push_back(figure_of(cell, figure));
      ASSERT_EQ(values.size(), 2U) << name;
      const Json& own = pooled["figures"][figure];
      const double expected = median_by_hand(values);
      if (std::string(figure) == "waiting_s")
        EXPECT_NEAR(own.get<double>(), expected,
                    0.02 * pooled["figures"]["iteration_mean_s"].get<double>());
      else
        EXPECT_EQ(own.is_null() ? infinite : own.get<double>(), expected) << name << figure;
    }
  }
  const Ended report = run_program({"report", "out", "--svg", "figures"}, folder.path());
  ASSERT_EQ(report.code, 0) << report.err;
  std::string svg;
  for (const auto& file : std::filesystem::directory_iterator(folder.path("figures")))
    if (file.path().filename().string().starts_with("loss-"))
      svg = text_of(file.path().string());
  const auto count_of = [&](const std::string& part) {
    int count = 0;
    for (std::size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(count_of("fill-opacity=\"0.15\""), 7);
  EXPECT_EQ(count_of("fill=\"none\""), 8);  // seven curves and the target
  for (const std::string& text : {svg, text_of(folder.path("p.html"))})
    EXPECT_EQ(text.find("best of"), std::string::npos);  // nothing was left out
}

TEST(BestOf, OfAReportIsAskedAgainWithoutSimulating) {
  const TemporaryFolder folder;
  const Arguments sweep =
      with(learning, {"--seed", "1,2", "--learning-rate", "0.05,0.8", "--out", "out"});
  ASSERT_EQ(run_program(sweep, folder.path()).code, 0);
  const Ended chosen = run_program({"report", "out", "--best-of", "learning-rate"}, folder.path());
  ASSERT_EQ(chosen.code, 0) << chosen.err;
  const Ended simulated = run_program(with(sweep, {"--best-of", "learning-rate"}), folder.path());
  for (const char* line : {"best-of = learning-rate", "reached loss 0.6 first"}) {
    const std::size_t at = simulated.out.find(line);
    ASSERT_NE(at, std::string::npos) << simulated.out;
    expect_mentions(chosen.out, {simulated.out.substr(at, simulated.out.find('\n', at) - at)});
  }
  expect_mentions(
      run_program({"report", "out", "--best-of", "learning-rate", "--best-of-seeds", "2"},
                  folder.path())
          .out,
      {"with seeds 1 and 2, which are also what is reported"});
  EXPECT_EQ(run_program({"report", "out", "--best-of-seeds", "2"}, folder.path()).code, 2);
  EXPECT_EQ(run_program({"report", "out", "--batch", "32"}, folder.path()).code, 2);
}

TEST(BestOf, TakesOptionsThatOneMayChoose) {
  const TemporaryFolder folder;
  const auto refused = [&](const Arguments& more, const std::vector<std::string>& words) {
    const Ended ended = run_program(with(learning, more), folder.path());
    EXPECT_EQ(ended.code, 2);
    expect_mentions(ended.err, words);
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
  };
  refused({"--best-of", "seed"}, {"--best-of", "nobody may choose seed", "allowed"});
  refused({"--best-of", "workers"}, {"--best-of", "nobody may choose workers"});
  refused({"--best-of", "learning-speed"}, {"--best-of", "learning-speed"});
  refused({"--best-of-seeds", "2"}, {"--best-of-seeds", "means nothing without best-of"});
  refused({"--best-of", "batch", "--best-of-seeds", "0"}, {"--best-of-seeds"});
}

// A list of several options is one value: the best combination of rate and batch.
TEST(BestOf, OfSeveralOptionsIsTheBestCombination) {
  const TemporaryFolder folder;
  const Json document =
      document_of(folder, with(learning, {"--learning-rate", "0.05,0.8", "--batch", "16,32",
                                          "--seed", "1,2", "--best-of", "learning-rate, batch"}));
  ASSERT_EQ(document["cells"].size(), 16U);
  ASSERT_EQ(document["ranking"]["pooled"].size(), 2U);
  expect_mentions(document["ranking"]["notes"][0].get<std::string>(),
                  {"best-of = learning-rate, batch: of 4 each"});
}

}  // namespace
}  // namespace syncline
