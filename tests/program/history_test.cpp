// Figures over commits: `check --history` records them, `report` draws them.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/io/text.h"
#include "tests/program/checked_folder.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

class HistoryOf : public CheckedRepository {
 protected:
  Ended keep() const { return run({"--history", "history.csv"}); }
  Json drawn() const {
    const Ended ended = run_program({"report", "history.csv", "--json"}, folder_.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    return Json::parse(ended.out);
  }
};

TEST_F(HistoryOf, ThreeCommitsIsARowForEachFigureAndALineForEachCell) {
  EXPECT_EQ(keep().code, 0);
  edit("c/platform.xml", "id=\"a-nic\" bandwidth=\"1GBps\"", "id=\"a-nic\" bandwidth=\"0.5GBps\"");
  commit("slower");
  EXPECT_EQ(keep().code, 1);  // the history is written anyway
  edit("c/platform.xml", "bandwidth=\"0.5GBps\"", "bandwidth=\"1GBps\"");
  commit("as before");
  EXPECT_EQ(keep().code, 0);
  const std::string text = text_of(folder_.path("history.csv"));
  EXPECT_TRUE(text.starts_with("commit,cell,figure,value\n"));
  EXPECT_EQ(lines_in(text), 1U + 3 * 3);
  const Json json = drawn();
  EXPECT_EQ(json["commits"].size(), 3U);
  for (const Json& line : json["lines"]) {
    EXPECT_EQ(line["at"], Json({1, 2, 3}));
    EXPECT_EQ(line["values"][0], line["values"][2]);
    if (line["cell"] == "ring") {
      EXPECT_LT(line["values"][1], line["values"][0]);
    }
  }
  const Ended printed = run_program({"report", "history.csv", "--svg", "figures"}, folder_.path());
  expect_mentions(printed.out, {"ring", "throughput_samples_per_s",
                                "samples/s over commits: ", "figures: 1 in figures"});
  const std::string svg = text_of(folder_.path("figures/history-throughput_samples_per_s.svg"));
  expect_mentions(svg, {"<!-- syncline figure -->", "ring", "ssp", "topk", "commits, from "});
}

TEST_F(HistoryOf, ACommitHasItsRowsOnceAndSaysWhereFilesDiffer) {
  EXPECT_EQ(keep().code, 0);
  const std::string once = text_of(folder_.path("history.csv"));
  EXPECT_EQ(keep().code, 0);
  EXPECT_EQ(text_of(folder_.path("history.csv")), once);
  edit("c/ring.cfg", "seed = 1", "seed = 2");
  EXPECT_EQ(keep().code, 0);
  const std::string twice = text_of(folder_.path("history.csv"));
  EXPECT_TRUE(twice.starts_with(once));
  expect_mentions(twice.substr(once.size()), {"-dirty,ring,throughput_samples_per_s,"});
}

// Both read the file and write it again: once, one of them lost the other's rows.
TEST_F(HistoryOf, TwoAtOnceHasTheRowsOfBoth) {
  folder_.write("history.csv", "commit,cell,figure,value\n000000000000,old,runs,1\n");
  for (const std::string other : {"d", "e"}) {
    std::filesystem::copy(folder_.path("c"), folder_.path(other));
    for (const char* file : {"ring.cfg", "topk.cfg", "expected.csv"})
      std::filesystem::remove(folder_.path(other + "/" + file));
    std::filesystem::rename(folder_.path(other + "/ssp.cfg"),
                            folder_.path(other + "/ssp-" + other + ".cfg"));
    EXPECT_EQ(run_program({"check", other, "--bless", "--because", "x"}, folder_.path()).code, 0);
  }
  const Program one({"check", "d", "--history", "history.csv"}, folder_.path());
  const Program two({"check", "e", "--history", "history.csv"}, folder_.path());
  EXPECT_EQ(keep().code, 0);
  EXPECT_EQ(one.wait().code, 0);
  EXPECT_EQ(two.wait().code, 0);
  const std::string text = text_of(folder_.path("history.csv"));
  EXPECT_EQ(lines_in(text), 2U + 3 + 1 + 1) << text;
  expect_mentions(text,
                  {"000000000000,old,runs,1\n", ",ring,", ",topk,", ",ssp,", ",ssp-d,", ",ssp-e,"});
}

TEST_F(HistoryOf, IsNoOtherFileAndNeedsARepository) {
  const auto refused = [&](const Ended& ended) {
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    return ended.err;
  };
  folder_.write("history.csv", "mine\n");
  expect_mentions(refused(keep()), {"--history history.csv: is there and was not written by"});
  EXPECT_EQ(text_of(folder_.path("history.csv")), "mine\n");
  expect_mentions(refused(run_program({"report", "history.csv"}, folder_.path())),
                  {"history.csv:1: not a file of check --history"});
  folder_.write("history.csv", "commit,cell,figure,value\na,b,c,x\n");
  expect_mentions(refused(keep()), {"history.csv:2: value = x: allowed are numbers"});
  folder_.write("history.csv", "commit,cell,figure,value\n");
  expect_mentions(refused(run_program({"report", "history.csv"}, folder_.path())),
                  {"history.csv: holds no commit"});
  expect_mentions(
      refused(run_program({"report", "history.csv", "--html", "h.html"}, folder_.path())),
      {"--html with history.csv: allowed"});
  const Ended same = run({"--history", "c/expected.csv"});
  expect_mentions(refused(same), {"--history c/expected.csv: is what this command reads"});
  const TemporaryFolder elsewhere;
  std::filesystem::copy(folder_.path("c"), elsewhere.path("c"));
  expect_mentions(refused(run_program({"check", "c", "--history", "h.csv"}, elsewhere.path())),
                  {"c: git knows no commits of it"});
  EXPECT_FALSE(std::filesystem::exists(elsewhere.path("h.csv")));
}

}  // namespace
}  // namespace syncline
