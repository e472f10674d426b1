// The gate of `syncline validate`: bounds, and a baseline.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using Arguments = std::vector<std::string>;
using Json = nlohmann::ordered_json;

class ValidationGate : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("v/scenario.cfg",
                  "platform = two-hosts\nmodel = resnet20\nthroughput = 100\niterations = 3\n");
    folder_.write("v/measured.csv",
                  "workers,measured,role,source\n1,100,report,made up\n2,160,report,made up\n");
  }
  Ended run(const Arguments& more) const {
    Arguments arguments{"validate", "v"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments, folder_.path());
  }
  const TemporaryFolder folder_;
};

// Two workers of 100 samples/s each reach nearly 200 where 160 were measured: 25 % off.
TEST_F(ValidationGate, IsClosedByTheWorstRow) {
  EXPECT_EQ(run({}).code, 0);
  const Ended open = run({"--max-error", "0.3", "--min-tau", "0.9"});
  EXPECT_EQ(open.code, 0) << open.out;
  const Ended closed = run({"--max-error", "0.1", "--junit", "j.xml", "--md", "m.md"});
  EXPECT_EQ(closed.code, 1) << closed.err;
  expect_mentions(closed.out,
                  {"too far: v: worst error is 24.", "of row 2; allowed is at most 10.0 %"});
  expect_mentions(text_of(folder_.path("j.xml")),
                  {"failures=\"1\"", "classname=\"syncline validate.v\" name=\"worst error\""});
  expect_mentions(text_of(folder_.path("m.md")), {"0 of 1 as expected, 1 moved"});
}

TEST_F(ValidationGate, NamesAFolderThatIsValidatedFromInside) {
  const Ended closed = run_program({"validate", ".", "--max-error", "0.1"}, folder_.path("v"));
  expect_mentions(closed.out, {"too far: v: worst error is 24."});
}

TEST_F(ValidationGate, IsClosedByAnotherRanking) {
  folder_.write("v/measured.csv",
                "workers,measured,role,source\n1,170,report,made up\n2,160,report,made up\n");
  const Ended closed = run({"--min-tau", "0.9", "--json"});
  EXPECT_EQ(closed.code, 1) << closed.err;
  const Json document = Json::parse(closed.out);
  EXPECT_EQ(document["verdicts"][0]["figure"], "Kendall's tau");
  EXPECT_EQ(document["verdicts"][0]["verdict"], "moved");
  EXPECT_EQ(document["folders"][0]["summary"]["tau"], -1.0);
  EXPECT_EQ(document["folders"][0]["rows"].size(), 2U);
}

TEST_F(ValidationGate, RefusesWhatIsNoNumber) {
  for (const Arguments& bad : {Arguments{"--max-error", "x"},
                               {"--max-error", "-1"},
                               {"--max-median", "-1"},
                               {"--min-tau", "2"},
                               {"--min-tau", "nan"}}) {
    const Ended ended = run(bad);
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, {bad.front(), "allowed are"});
  }
}

// Half of the rows are 0 % off and half 25 %: their median is 12.5 %.
TEST_F(ValidationGate, IsClosedByTheMedianOfAFolderAndOfAll) {
  EXPECT_EQ(run({"--max-median", "0.13"}).code, 0);
  const Ended closed = run({"--max-median", "0.1"});
  EXPECT_EQ(closed.code, 1);
  expect_mentions(closed.out, {"too far: v: median error is 12.", "; allowed is at most 10.0 %"});
  // One of two folders may be close although all rows together are not.
  folder_.write("near/scenario.cfg", text_of(folder_.path("v/scenario.cfg")));
  folder_.write("near/measured.csv", "workers,measured,role,source\n1,100,report,made up\n");
  const Json verdicts = Json::parse(run({"near", "--max-median", "0.1", "--json"}).out)["verdicts"];
  ASSERT_EQ(verdicts.size(), 3U);
  EXPECT_EQ(verdicts[0]["verdict"], "moved");
  EXPECT_EQ(verdicts[1]["verdict"], "met");
  EXPECT_EQ(verdicts[2]["cell"], "all folders");
  EXPECT_LT(verdicts[2]["got"].get<double>(), 1e-6);  // the median of three
}

class ValidationAgainstABaseline : public ValidationGate {
 protected:
  void SetUp() override {
    ValidationGate::SetUp();
    folder_.write("base.json", run({"--json"}).out);
  }
  Ended judged(const Arguments& more = {}) const {
    Arguments arguments{"--baseline", "base.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
};

TEST_F(ValidationAgainstABaseline, IsOpenWhereNothingMoved) {
  const Ended ended = judged({"--json"});
  EXPECT_EQ(ended.code, 0) << ended.out;
  const Json verdicts = Json::parse(ended.out)["verdicts"];
  EXPECT_EQ(verdicts.size(), 4U);  // two rows, their median, and the median of all
}

// Rows that are further off than in the baseline fail the gate even if the median hides them.
TEST_F(ValidationAgainstABaseline, IsClosedByOneRow) {
  folder_.write("v/scenario.cfg", text_of(folder_.path("v/scenario.cfg")) + "overlap = off\n");
  folder_.write("v/measured.csv",
                "workers,measured,role,source\n1,100,report,made up\n2,150,report,made up\n");
  const Ended closed = judged({"--md", "m.md", "--junit", "j.xml"});
  EXPECT_EQ(closed.code, 1);
  expect_mentions(closed.out, {"too far: v: 2 is +3", "; allowed is at most 2"});
  expect_mentions(text_of(folder_.path("m.md")),
                  {"| further off than the baseline |", "the baseline has 2"});
  EXPECT_EQ(judged({"--worse-by", "0.2"}).code, 0);
}

TEST_F(ValidationAgainstABaseline, IsOpenWhereARowIsNearer) {
  folder_.write("v/measured.csv",
                "workers,measured,role,source\n1,100,report,made up\n2,190,report,made up\n");
  EXPECT_EQ(judged().code, 0);
}

TEST_F(ValidationAgainstABaseline, IsClosedByRowsAndFoldersThatComeOrGo) {
  folder_.write("v/measured.csv",
                "workers,throughput,measured,role,source\n1,,100,report,made up\n"
                "2,90,160,report,made up\n");
  expect_mentions(judged().out, {"too far: v: 2 90 is there; allowed is no such row",
                                 "too far: v: 2 is missing; allowed is a row"});
  std::filesystem::rename(folder_.path("v"), folder_.path("w"));
  const Ended gone = run_program({"validate", "w", "--baseline", "base.json"}, folder_.path());
  EXPECT_EQ(gone.code, 1);
  expect_mentions(gone.out, {"too far: v:  is missing; allowed is a folder"});
}

TEST_F(ValidationAgainstABaseline, RefusesWhatIsNone) {
  for (const std::string text :
       {"", "{}", "[1]", "{\"folders\": [{\"folder\": 1}]}", "{\"folders\": []}", "no JSON"}) {
    folder_.write("base.json", text);
    const Ended ended = judged();
    EXPECT_EQ(ended.code, 2) << text;
    EXPECT_EQ(ended.err,
              "syncline: base.json: no baseline: allowed is the document of an earlier validate\n");
  }
  expect_mentions(run({"--baseline", "none.json"}).err, {"none.json: no such file"});
  expect_mentions(run({"--worse-by", "0.1"}).err, {"--worse-by without --baseline FILE"});
  const Ended same = run({"--baseline", "base.json", "--md", "base.json"});
  EXPECT_EQ(same.code, 2);
  expect_mentions(same.err, {"--md base.json: is what this command reads"});
}

// GitHub shows each at its row; a verdict without a file has no `file=`, because GitHub rejects an
// empty path.
TEST_F(ValidationGate, AnnotatesTheRowThatIsTooFarOff) {
  const Ended closed = run({"--max-error", "0.1", "--max-median", "0.1", "--github"});
  EXPECT_EQ(closed.code, 1);
  expect_mentions(closed.err, {"::error file=v/measured.csv,line=3,title=syncline%3A worst error",
                               "::error file=v/measured.csv,title=syncline%3A median error"});
  folder_.write("base.json",
                "{\"folders\": [{\"folder\": \"w\", \"rows\": [{\"row\": \"1\", \"role\": "
                "\"report\", \"error\": 0}]}]}");
  const Ended gone = run({"--baseline", "base.json", "--github"});
  expect_mentions(gone.err, {"::error title=syncline%3A folders of the baseline",
                             "::error file=v/measured.csv,line=2,title=syncline%3A rows that"});
  EXPECT_EQ(run({"--max-error", "x", "--github"}).code, 2);
  EXPECT_EQ(run({"--max-error", "x", "--github"}).err.find("file=,"), std::string::npos);
}

TEST_F(ValidationGate, WritesItsFilesWhereItCouldNotJudge) {
  folder_.write("v/measured.csv", "workers,measured,role\n1,100,report\n");
  EXPECT_EQ(run({"--junit", "j.xml", "--md", "m.md"}).code, 2);
  expect_mentions(text_of(folder_.path("j.xml")), {"errors=\"1\"", "source"});
  expect_mentions(text_of(folder_.path("m.md")), {"1 could not be simulated", "source"});
}

}  // namespace
}  // namespace syncline
