// A repository with a base and fourteen pull requests: what `check --against` prints for a reviewer
// of each.
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

#include "kernels/io/text.h"
#include "tests/program/checked_folder.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

class PullRequest : public CheckedRepository {
 protected:
  void SetUp() override {
    CheckedRepository::SetUp();
    if (!IsSkipped())
      git("branch -q base");
  }
  // What a workflow prints for this change and writes to the page of the pull request.
  struct Review {
    Ended ended;
    std::string markdown;
  };
  Review review(const Arguments& more = {}) const {
    Arguments arguments{"--against", "base", "--md", "m.md", "--junit", "j.xml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Review now{.ended = run(arguments), .markdown = {}};
    now.markdown = text_of(folder_.path("m.md"));
    if (std::getenv("SYNCLINE_SHOW_REVIEWS") != nullptr)
      std::printf("%s%s%s\n", now.ended.out.c_str(), now.ended.err.c_str(), now.markdown.c_str());
    return now;
  }
  // The Markdown without its folded parts.
  static std::string causes(std::string markdown) {
    const std::string end = "</details>\n";
    for (std::size_t at = 0; (at = markdown.find("<details>")) != std::string::npos;)
      markdown.erase(at, markdown.find(end, at) + end.size() - at);
    return markdown;
  }
};

struct OnePullRequest {
  std::string name;
  std::string file;
  std::string from, to;
  int code;
  std::vector<std::string> printed;   // on the terminal
  std::vector<std::string> reviewed;  // in Markdown, before the folded parts
};

void PrintTo(const OnePullRequest& request, std::ostream* out) {
  *out << request.name;
}

class PullRequestOf : public PullRequest, public testing::WithParamInterface<OnePullRequest> {};

TEST_P(PullRequestOf, SaysWhatMovedAndWhy) {
  const OnePullRequest& request = GetParam();
  std::string text = text_of(folder_.path("c/" + request.file));
  ASSERT_NE(text.find(request.from), std::string::npos);
  for (std::size_t at = 0; (at = text.find(request.from, at)) != std::string::npos;
       at += request.to.size())
    text.replace(at, request.from.size(), request.to);
  folder_.write("c/" + request.file, text);
  commit(request.name);
  const Review now = review();
  EXPECT_EQ(now.ended.code, request.code) << now.ended.out << now.ended.err;
  expect_mentions(now.ended.out + now.ended.err, request.printed);
  expect_mentions(causes(now.markdown), request.reviewed);
}

INSTANTIATE_TEST_SUITE_P(
    Of, PullRequestOf,
    testing::Values(
        OnePullRequest{
            "Bandwidth",
            "platform.xml",
            "id=\"a-nic\" bandwidth=\"1GBps\"",
            "id=\"a-nic\" bandwidth=\"0.8GBps\"",
            1,
            {"moved by exposed communication", "the busiest link's time for its bytes +25 %"},
            {"| the platform file c/platform.xml | samples/s -", ", worse | exposed",
             "| 2 cells: ring and topk |",
             "Changed, and as expected: the platform file c/platform.xml (1 row)"}},
        OnePullRequest{"LatencyTimesFour",
                       "platform.xml",
                       "latency=\"10us\"",
                       "latency=\"40us\"",
                       1,
                       {"moved by exposed communication"},
                       {"| the platform file c/platform.xml | samples/s -", ", worse | exposed"}},
        OnePullRequest{
            "TableRow",
            "costs.csv",
            "topk,density=0.01,encode,100000000,0.001",
            "topk,density=0.01,encode,100000000,0.01",
            1,
            {"MOVED  topk", "moved by compression"},
            {"| the cost table file c/costs.csv | samples/s -", "| compression | topk |"}},
        OnePullRequest{"Layer",
                       "model.csv",
                       "middle,3000000",
                       "middle,3300000",
                       1,
                       {"bytes sent +6 %"},
                       {"| the model file c/model.csv | samples/s -", "| 3 cells: "}},
        OnePullRequest{"Batch",
                       "ring.cfg",
                       "seed = 1",
                       "seed = 1\nbatch = 64",
                       1,
                       {"MOVED  ring", "samples per iteration +100 %; an iteration ",
                        "the slowest worker's computation +100 %"},
                       {"| option batch 32 -\\> 64 | samples/s +",
                        ", better | samples per iteration | ring |"}},
        // Once, computation that took half as long was blamed for less throughput.
        OnePullRequest{"HalfTheBatch",
                       "ring.cfg",
                       "seed = 1",
                       "seed = 1\nbatch = 16",
                       1,
                       {"MOVED  ring", "samples per iteration -50 %; an iteration "},
                       {"| option batch 32 -\\> 16 | samples/s -",
                        ", worse | samples per iteration | ring |"}},
        // Once, computation that took less was blamed, as samples changed by less than 5 %.
        OnePullRequest{"ASampleLess",
                       "ring.cfg",
                       "seed = 1",
                       "seed = 1\nbatch = 31",
                       1,
                       {"MOVED  ring", "samples per iteration -3.1 %"},
                       {"| option batch 32 -\\> 31 | samples/s -",
                        ", worse | samples per iteration | ring |"}},
        OnePullRequest{"Jitter",
                       "ssp.cfg",
                       "jitter = 0",
                       "jitter = 0.3",
                       1,
                       {"MOVED  ssp"},
                       {"| option jitter 0 -\\> 0.3 | samples/s -", ", worse |", "| ssp |"}},
        OnePullRequest{
            "Seed",
            "ring.cfg",
            "seed = 1",
            "seed = 2",
            0,
            {"3 of 3 as expected", "changed, and as expected: option seed 1 -> 2 (1 row)"},
            {"### c: 3 of 3 as expected", "Changed, and as expected: option seed 1"}},
        OnePullRequest{"Schedule",
                       "ring.cfg",
                       "schedule = bsp",
                       "schedule = asp",
                       1,
                       {"MOVED  ring", "option schedule bsp -> asp"},
                       {"option schedule bsp -\\> asp", "| ring |"}},
        OnePullRequest{"Typo",
                       "ring.cfg",
                       "bucket-bytes = all",
                       "bucket-byte = all",
                       2,
                       {"syncline: c/ring.cfg:7: ", "bucket-byte", "bucket-bytes"},
                       {"### c: 0 of 1 as expected, 1 could not be simulated",
                        "\n| c/ring.cfg:7: unknown option 'bucket-byte': nearest are bucket-bytes, "
                        "first-bucket-bytes or packet-bits |  |  | c |\n"}}),
    [](const auto& info) { return info.param.name; });

// Another version of the program: the base's notes record its results, and the pull request blesses
// those of this program.
TEST_F(PullRequest, OfTheProgramShowsWhatBlessReplaced) {
  // At that time, ring's messages took 10 ms longer.
  std::string old = expected_;
  const std::map<std::string, std::string> then{{"throughput_samples_per_s", "2968"},
                                                {"exposed_communication_s", "0.0401"},
                                                {"iteration_mean_s", "0.0431"}};
  for (const auto& [figure, value] : then) {
    const std::string row = "ring," + figure + ",";
    const std::size_t at = old.find(row) + row.size();
    old.replace(at, old.find(',', at) - at, value);
  }
  folder_.write("c/expected.csv", old);
  commit("as it was");
  git("branch -q -f base");
  expect_mentions(review().ended.out, {"no option and no file changed: the program did"});
  EXPECT_EQ(run({"--bless", "--because", "messages overlap since this release"}).code, 0);
  commit("blessed");
  const Review now = review();
  EXPECT_EQ(now.ended.code, 0);
  expect_mentions(now.ended.out,
                  {"3 of 3 as expected", ": 2 of 3 as in the base", "the program: samples/s ",
                   "expected.csv differs from the base:",
                   "messages overlap since this release: 1 row replaced: samples/s "});
  expect_mentions(now.markdown,
                  {"| the program | samples/s ", "| exposed communication | ring |",
                   "| messages overlap since this release | 1 row replaced: samples/s ",
                   "| ring | throughput\\_samples\\_per\\_s | 2968 +- 0.1 % | "});
}

TEST_F(PullRequest, OfSimGridsVersionSaysWhichWasRecorded) {
  for (const std::string cell : {"ring", "ssp", "topk"}) {
    std::string text = text_of(folder_.path("c/expected.csv"));
    const std::string note = cell + ",simgrid,";
    const std::size_t at = text.find(note) + note.size();
    text.replace(at, text.find(',', at) - at, "3.99");
    folder_.write("c/expected.csv", text);
  }
  commit("SimGrid 3.99");
  const Review now = review();
  EXPECT_EQ(now.ended.code, 0);
  expect_mentions(now.ended.out,
                  {"3 of 3 as expected", "changed, and as expected: SimGrid 3.99 -> "});
  expect_mentions(now.markdown, {"Changed, and as expected: SimGrid 3.99 -\\> "});
}

// A changed default of the program concerns an option that nobody wrote.
TEST_F(PullRequest, OfADefaultSaysWhichOptionItIsOf) {
  std::string text = expected_;
  for (std::size_t at = 0; (at = text.find("optimizer-overhead=0;", at)) != std::string::npos; ++at)
    text.replace(at, 20, "optimizer-overhead=0.01");
  for (const std::string cell : {"ring", "ssp", "topk"}) {
    const std::string row = cell + ",throughput_samples_per_s,";
    const std::size_t at = text.find(row) + row.size();
    text.replace(at, text.find(',', at) - at, "1000");
  }
  folder_.write("c/expected.csv", text);
  commit("as it was");
  git("branch -q -f base");
  const Review now = review();
  EXPECT_EQ(now.ended.code, 1);
  expect_mentions(now.ended.out, {"changed: option optimizer-overhead 0.01 -> 0 (the default)"});
  expect_mentions(causes(now.markdown),
                  {"| option optimizer-overhead 0.01 -\\> 0 (the default) | samples/s +",
                   "| 3 cells: ring, ssp and topk |"});
}

// A row of models/throughput.csv: the repository is the program's own, with its data.
TEST_F(PullRequest, OfAThroughputRowSaysWhoseSecondsMoved) {
  namespace fs = std::filesystem;
  fs::create_directories(folder_.path("build/release"));
  fs::copy_file(SYNCLINE_PROGRAM, folder_.path("build/release/syncline"));
  fs::copy(SYNCLINE_SOURCE_DIR "/models", folder_.path("models"));
  for (const std::string folder : {"platforms", "kernels"})
    fs::create_directory_symlink(SYNCLINE_SOURCE_DIR "/" + folder, folder_.path(folder));
  const std::string measured =
      "platform = pcie-8x4-10gbe\nmodel = resnet50\nbatch = 64\nworkers = 4\niterations = 5\n";
  folder_.write("t/measured.cfg", measured);
  folder_.write("t/given.cfg", measured + "throughput = 250\n");
  const auto check = [&](const Arguments& more) {
    Arguments arguments{"check", "t"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Program(
               arguments, folder_.path(), [] {}, folder_.path("build/release/syncline"))
        .wait();
  };
  const Ended blessed = check({"--bless", "--because", "as measured"});
  ASSERT_EQ(blessed.code, 0) << blessed.err;
  git("add -A t models");
  git("commit -q -m measured");
  git("branch -q -f base");
  std::string table;
  int changed = 0;
  for (std::string line : split(text_of(folder_.path("models/throughput.csv")), '\n')) {
    std::vector<std::string> fields = split(line, ',');
    if (fields.size() > 4 && fields[0] == "resnet50" && number_in(fields[4])) {
      const std::string slower = std::to_string(0.8 * *number_in(fields[4]));
      line = with_change(line, "," + fields[4] + ",", "," + slower + ",");
      ++changed;
    }
    table += line + "\n";
  }
  ASSERT_GT(changed, 0);
  folder_.write("models/throughput.csv", table);
  git("commit -q -a -m slower");
  const Ended ended = check({"--against", "base"});
  EXPECT_EQ(ended.code, 1) << ended.out << ended.err;
  expect_mentions(ended.out, {"ok     given", "MOVED  measured", "moved by computation",
                              "the slowest worker's computation +25 %",
                              "changed: the throughput file models/throughput.csv",
                              "changed, and as expected: the throughput file"});
}

TEST_F(PullRequest, OfANewScenarioFailsUntilItIsBlessed) {
  folder_.write("c/new.cfg", check_settings + "exchange = tree\n");
  commit("a new one");
  const Review before = review();
  EXPECT_EQ(before.ended.code, 1);
  expect_mentions(before.ended.out,
                  {"MOVED  new.cfg", "no row of expected.csv names a cell of it"});
  EXPECT_EQ(run({"--bless", "--because", "we want a tree"}).code, 0);
  const Review now = review();
  EXPECT_EQ(now.ended.code, 0);
  expect_mentions(now.ended.out, {"new cells", "we want a tree: 1 row added"});
  expect_mentions(now.markdown, {"| we want a tree | 1 row added | new |"});
}

// A change that loosens the gate is reported separately, whatever else a pull request does.
TEST_F(PullRequest, ThatLoosensTheGateSaysSo) {
  std::string text = expected_;
  const std::size_t at = text.find(",0.001,", text.find("topk,throughput_samples_per_s,"));
  text.replace(at, 7, ",0.5,");
  for (std::size_t ssp = 0; (ssp = text.find("\nssp,")) != std::string::npos;)
    text.erase(ssp, text.find('\n', ssp + 1) - ssp);
  std::filesystem::remove(folder_.path("c/ssp.cfg"));
  folder_.write("c/expected.csv", text);
  edit("c/topk.cfg", "density = 0.01", "density = 0.02");
  const Review now = review();
  EXPECT_EQ(now.ended.code, 0);
  expect_mentions(now.ended.out, {"allows more: topk, throughput_samples_per_s: ", "+- 50 %",
                                  "allows more: ssp, throughput_samples_per_s: ", " -> no row"});
  expect_mentions(now.markdown, {"The gate allows more than before:\n\n- "});
}

TEST_F(PullRequest, IsComparedWithResultsOfAFolder) {
  for (const std::string name : {"ring", "ssp"})
    ASSERT_EQ(
        run_program({"run", "c/" + name + ".cfg", "--out", "out/" + name}, folder_.path()).code, 0);
  edit("c/ring.cfg", "bucket-bytes = all", "bucket-bytes = 0");
  edit("c/platform.xml", "id=\"s-nic\" bandwidth=\"1GBps\"", "id=\"s-nic\" bandwidth=\"0.5GBps\"");
  const Ended ended = run({"--against", "out"});
  EXPECT_EQ(ended.code, 1);
  expect_mentions(ended.out, {"against out: ", "option bucket-bytes all -> 0, a file that it reads",
                              "    a file that it reads: samples/s -", "        ssp\n", "new cells",
                              "        topk\n"});
  // Also against the expected.csv of another folder.
  folder_.write("old/expected.csv", expected_);
  expect_mentions(run({"--against", "old"}).out, {"against old: 1 of 3 as in the base"});
}

TEST_F(PullRequest, NeedsACommitThatThereIs) {
  const auto refused = [&](const Arguments& arguments, const std::string& folder) {
    const Ended ended = run_program(arguments, folder);
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    return ended.err;
  };
  for (const std::string ref : {"none", "--help", "-x", "base:c", "HEAD~9"})
    expect_mentions(refused({"check", "c", "--against=" + ref}, folder_.path()),
                    {ref, "is no folder, and no commit of this repository"});
  expect_mentions(refused({"check", "c", "--against", ""}, folder_.path()), {"--against is empty"});
  const TemporaryFolder elsewhere;
  std::filesystem::copy(folder_.path("c"), elsewhere.path("c"));
  expect_mentions(refused({"check", "c", "--against", "base"}, elsewhere.path()),
                  {"c: git knows no commits of it", "allowed is a folder of a repository"});
  const auto no_git = [] { setenv("PATH", "/nowhere", 1); };
  const Ended ended = run_program({"check", "c", "--against", "base"}, folder_.path(), no_git);
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, "syncline: git is not installed: allowed is a folder instead of a commit\n");
}

TEST_F(PullRequest, HasNumbersInItsJson) {
  edit("c/ring.cfg", "bucket-bytes = all", "bucket-bytes = 0");
  EXPECT_EQ(run({"--bless", "--because", "small"}).code, 0);
  const auto document =
      nlohmann::ordered_json::parse(run({"--against", "base", "--json"}).out)["against"];
  EXPECT_EQ(document["replaced"].size(), 1U);
  EXPECT_EQ(document["replaced"][0]["what"], "renewed");
  EXPECT_EQ(document["replaced"][0]["because"], "small");
  for (const auto& verdict : document["verdicts"])
    if (verdict["cell"] == "ring") {
      EXPECT_DOUBLE_EQ(document["replaced"][0]["change"], verdict["change"]);
    }
}

}  // namespace
}  // namespace syncline
