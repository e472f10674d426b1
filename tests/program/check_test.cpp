// The gate of continuous integration: `syncline check`.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>

#include "sim/gate/answer.h"
#include "tests/program/checked_folder.h"
#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

class Check : public CheckedFolder {};

TEST_F(Check, OfAnUnchangedFolderIsQuietTwice) {
  for (int time = 0; time < 2; ++time) {
    const Ended ended = run({"--junit", "j.xml", "--md", "m.md"});
    EXPECT_EQ(ended.code, 0) << ended.out;
    expect_mentions(ended.out, {"3 of 3 as expected"});
    EXPECT_EQ(text_of(folder_.path("c/expected.csv")), expected_);
    expect_mentions(text_of(folder_.path("j.xml")), {"tests=\"3\" failures=\"0\" errors=\"0\""});
    expect_mentions(text_of(folder_.path("m.md")), {"3 of 3 as expected"});
  }
}

struct Change {
  std::string name;
  std::string file;
  std::string from;
  std::string to;
  std::string cell;  // the cell that it moves
  std::string part;  // the affected part of an iteration
  std::vector<std::string> causes;
};

void PrintTo(const Change& change, std::ostream* out) {
  *out << change.name;
}

class CheckAfter : public Check, public testing::WithParamInterface<Change> {};

TEST_P(CheckAfter, AChangeNamesThePartThatMoved) {
  const Change& change = GetParam();
  edit("c/" + change.file, change.from, change.to);
  const Ended ended = run({"--json", "--junit", "j.xml"});
  EXPECT_EQ(ended.code, 1) << ended.out << ended.err;
  EXPECT_EQ(ended.err, "");
  bool found = false;
  const Json document = Json::parse(ended.out);
  for (const Json& verdict : document["verdicts"]) {
    if (verdict["cell"] != change.cell)
      continue;
    found = true;
    EXPECT_EQ(verdict["verdict"], "moved");
    std::string why;
    for (const Json& sentence : verdict["why"])
      why += sentence.get<std::string>() + "\n";
    expect_mentions(why, {"moved by " + change.part + ","});
    expect_mentions(why, change.causes);
  }
  EXPECT_TRUE(found);
  const std::string junit = text_of(folder_.path("j.xml"));
  expect_mentions(junit, {"c." + change.cell + "\" name=\"throughput_samples_per_s\">",
                          "<failure message=\"", "moved by " + change.part});
}

// Changes one host's line in the platform, so that the other cells stay as they are.
INSTANTIATE_TEST_SUITE_P(
    Of, CheckAfter,
    testing::Values(
        Change{"Bandwidth",
               "platform.xml",
               "id=\"a-nic\" bandwidth=\"1GBps\"",
               "id=\"a-nic\" bandwidth=\"0.95GBps\"",
               "ring",
               "exposed communication",
               {"the busiest link's time for its bytes +5.3 %", "changed: the platform file"}},
        Change{"Latency",
               "platform.xml",
               "latency=\"10us\"",
               "latency=\"2ms\"",
               "ring",
               "exposed communication",
               {"changed: the platform file"}},
        Change{"SpeedOfAHost",
               "platform.xml",
               "speed=\"1Tf\"",
               "speed=\"0.5Tf\"",
               "ring",
               "waiting",
               {"the slowest worker's computation +100 %", "changed: the platform file"}},
        Change{"Density",
               "topk.cfg",
               "density = 0.01",
               "density = 0.05",
               "topk",
               "exposed communication",
               {"bytes sent +400 %", "changed: option density 0.01 -> 0.05"}},
        Change{"RowOfACostTable",
               "costs.csv",
               "topk,density=0.01,encode,100000000,0.001",
               "topk,density=0.01,encode,100000000,0.01",
               "topk",
               "compression",
               {"changed: the cost table file"}},
        Change{"LayerOfTheModel",
               "model.csv",
               "middle,3000000",
               "middle,4000000",
               "ring",
               "exposed communication",
               {"bytes sent +20 %", "changed: the model file"}},
        Change{"Jitter",
               "ring.cfg",
               "jitter = 0",
               "jitter = 0.5",
               "ring",
               "waiting",
               {"changed: option jitter 0 -> 0.5"}},
        Change{"SizeOfBuckets",
               "ring.cfg",
               "bucket-bytes = all",
               "bucket-bytes = 0",
               "ring",
               "exposed communication",
               {"changed: option bucket-bytes all -> 0"}},
        Change{"Staleness",
               "ssp.cfg",
               "staleness = 0",
               "staleness = 2",
               "ssp",
               "exposed communication",
               {"staleness", "changed: option staleness 0 -> 2"}},
        Change{"NumberOfServers",
               "ssp.cfg",
               "servers = 1",
               "servers = 2",
               "ssp",
               "exposed communication",
               {"the busiest link's time for its bytes -50 %", "changed: option servers 1 -> 2"}}),
    [](const auto& info) { return info.param.name; });

TEST_F(Check, BlessKeepsReasonsAndBounds) {
  expect_mentions(expected_,
                  {"ring,throughput_samples_per_s,", ",0.001,,,\"the first, \"\"as is\"\"\"",
                   "ring,exposed_communication_s,", "topk,cost_table_file,"});
  folder_.write("c/expected.csv",
                "# ours\n" + expected_ + "ring,scaling_efficiency,,,0.01,,it scales a little\n");
  edit("c/topk.cfg", "density = 0.01", "density = 0.05");
  EXPECT_EQ(run().code, 1);
  const Ended blessed = run({"--bless", "--because", "denser"});
  EXPECT_EQ(blessed.code, 0) << blessed.out << blessed.err;
  const std::string now = text_of(folder_.path("c/expected.csv"));
  EXPECT_TRUE(now.starts_with("# ours\ncell,figure,"));
  expect_mentions(now, {",0.001,,,denser\n", ",0.001,,,\"the first, \"\"as is\"\"\"",
                        "ring,scaling_efficiency,,,0.01,,it scales a little\n"});
  EXPECT_EQ(run().code, 0);
  EXPECT_EQ(run({"--bless", "--because", "again"}).code, 0);
  EXPECT_EQ(text_of(folder_.path("c/expected.csv")), now);  // nothing had moved
}

// A part of 0 is 0, so a tolerance around 0 is a number. It was shown as a percentage.
TEST_F(Check, ShowsAToleranceAroundZeroAsANumber) {
  folder_.write("c/expected.csv", std::regex_replace(expected_, std::regex("ring,waiting_s,[^\n]*"),
                                                     "ring,waiting_s,0,0.5,,,"));
  const Ended ended = run();
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  expect_mentions(ended.out, {"0 +- 0.5 "});
  EXPECT_EQ(ended.out.find("50 %"), std::string::npos);
}

// Once, every option added since then was reported as changed from (none) to its default.
TEST_F(Check, DoesNotNameDefaultsOfOptionsThatThereWereNotYet) {
  std::string old = expected_;
  for (const std::string option : {"; server-placement=cut", "; jitter=0"})
    for (std::size_t at = 0; (at = old.find(option)) != std::string::npos;)
      old.erase(at, option.size());
  ASSERT_NE(old, expected_);
  folder_.write("c/expected.csv", old);
  edit("c/ring.cfg", "jitter = 0", "jitter = 0.5");
  const Ended ended = run();
  EXPECT_EQ(ended.code, 1);
  expect_mentions(ended.out, {"changed: option jitter (none) -> 0.5"});
  EXPECT_EQ(ended.out.find("server-placement"), std::string::npos) << ended.out;
}

TEST_F(Check, SaysWhyABoundIsThere) {
  folder_.write("c/expected.csv",
                "cell,figure,at_least,because\n"
                "ring,scaling_efficiency,0.99,\"Communication should hide, nearly all of it.\"\n"
                "ssp,staleness_max,0,any will do\n");
  const Ended ended = run();
  EXPECT_EQ(ended.code, 1);
  expect_mentions(ended.out, {"at least 0.99", "    Communication should hide, nearly all of it.\n",
                              "    now: communication:", "1 of 3 as expected"});
  EXPECT_EQ(ended.out.find("any will do"), std::string::npos);
}

// Once, such a scenario was listed but not compared.
TEST_F(Check, FailsForAScenarioWithoutARow) {
  folder_.write("c/new.cfg", text_of(folder_.path("c/ring.cfg")));
  const Ended ended = run({"--junit", "j.xml"});
  EXPECT_EQ(ended.code, 1);
  expect_mentions(ended.out, {"MOVED  new.cfg", "no such file", "--bless --because TEXT adds them",
                              "3 of 4 as expected, 1 moved"});
  expect_mentions(text_of(folder_.path("j.xml")), {"c.new.cfg", "<failure message="});
  EXPECT_EQ(run({"--bless", "--because", "new"}).code, 0);
  expect_mentions(run().out, {"4 of 4 as expected"});
}

TEST_F(Check, SaysWhatIsMissingAndWhatIsTooMuch) {
  edit("c/ring.cfg", "workers = 4", "workers = 2, 4");
  const Ended ended = run();
  EXPECT_EQ(ended.code, 1);
  expect_mentions(ended.out, {"ring/workers-2", "no row of expected.csv", "missing",
                              "there is no such cell: ring/workers-2 or ring/workers-4 are there"});
  std::filesystem::remove(folder_.path("c/ring.cfg"));
  expect_mentions(run().out, {"there is no ring.cfg"});
}

TEST_F(Check, SaysWhatCouldNotBeSimulated) {
  edit("c/costs.csv", "topk,density=0.01,encode,1000,", "topk,density=0.01,encode,10000000,");
  edit("c/ring.cfg", "bucket-bytes = all", "bucket-bytes = 0");
  const Ended ended = run({"--junit", "j.xml"});
  EXPECT_EQ(ended.code, 2);
  expect_mentions(ended.out, {"FAILED", "not simulated", "1 moved, 1 could not be simulated"});
  expect_mentions(text_of(folder_.path("j.xml")),
                  {"failures=\"1\" errors=\"1\"", "<error message="});
  const Ended blessed = run({"--bless", "--because", "it fails"});
  EXPECT_EQ(blessed.code, 2);
  EXPECT_EQ(lines_in(blessed.err), 1U) << blessed.err;
  EXPECT_EQ(text_of(folder_.path("c/expected.csv")), expected_);
}

TEST_F(Check, RefusesInOneLine) {
  const std::string header = "cell,figure,expected,tolerance,at_least,at_most,because\n";
  const std::string row = "ring,throughput_samples_per_s,1,0.1,,,\n";
  const std::vector<std::pair<std::string, std::vector<std::string>>> bad{
      {"", {"no line with column names"}},
      {"cell,figur\n", {"c/expected.csv:1: column 'figur'", "tolerance"}},
      {"cell,expected\n", {"no column 'figure'"}},
      {header + row + row, {"c/expected.csv:3: a second row for ring"}},
      {header + "ring,speed,1,0.1,,,\n", {":2: no figure 'speed'", "scaling_efficiency"}},
      {header + "ring,waiting_s,,,,,\n", {"nothing is expected"}},
      {header + "ring,waiting_s,,0.1,,,\n", {"tolerance without expected"}},
      {header + "ring,waiting_s,x,0.1,,,\n", {"expected = x: allowed are numbers"}},
      {header + "ring,waiting_s,1,-1,,,\n", {"tolerance = -1: allowed are numbers"}},
      {header + "ring,waiting_s,,,2,1,\n", {"at_least must not exceed at_most"}},
      {header + "ring,options,x,0.1,,,\n", {"options is only a note"}},
      {header + ",waiting_s,,,2,,\n", {"no cell"}},
      {header + "ring,waiting_s,\"1,0.1,,,\n", {"a quote without its end"}},
      {header + "ring,waiting_s,1\n", {"3 fields"}}};
  for (const auto& [text, words] : bad) {
    folder_.write("c/expected.csv", text);
    const Ended ended = run();
    EXPECT_EQ(ended.code, 2) << text;
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, words);
  }
  std::filesystem::remove(folder_.path("c/expected.csv"));
  expect_mentions(run().err, {"c/expected.csv: no such file", "--bless"});
  expect_mentions(run({"--bless"}).err, {"--bless and --because TEXT belong together"});
  expect_mentions(run({"--because", "x"}).err, {"--bless and --because TEXT belong together"});
  expect_mentions(run({"--junit", "none/j.xml"}).err, {"none/j.xml"});
  expect_mentions(run({"--workers", "2"}).err, {"check takes one folder"});
  expect_mentions(run_program({"check", "none"}, folder_.path()).err, {"none: no such folder"});
}

TEST(JUnit, HasNoMarkupAndNoControlCharactersOfOthers) {
  const std::vector<Verdict> verdicts{{.kind = Verdict::Kind::moved,
                                       .cell = "<a&\"b\x01",
                                       .figure = "f",
                                       .expected = "]]>",
                                       .now = "\x1b[2J",
                                       .why = {"<script>"}}};
  const std::string xml = junit_xml({.title = "s", .verdicts = verdicts});
  expect_mentions(xml, {"&lt;a&amp;&quot;b\\x01", "]]&gt;", "&lt;script&gt;"});
  for (const char c : xml)
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  const std::string markdown = answer_markdown({.title = "t",
                                                .verdicts = {{.kind = Verdict::Kind::moved,
                                                              .cell = "a|b",
                                                              .figure = "<script>",
                                                              .now = "[x](javascript:1)"}}});
  expect_mentions(markdown, {"a\\|b", "\\<script\\>", "\\[x\\](javascript:1)"});
}

// A line that begins with :: is a workflow command.
TEST(Annotations, HaveNoCommandsOfOthers) {
  Verdict verdict{.kind = Verdict::Kind::moved,
                  .cell = "a\n::stop-commands::x",
                  .figure = "f",
                  .expected = "1,2:3%",
                  .now = "\r::error::y",
                  .why = {"b\n::set-output name=z::1"}};
  verdict.cause.what = "c,line=7::d\n::add-mask::e";
  verdict.file = "f,g:h.csv";
  const std::string text = annotations({.title = "t", .verdicts = {verdict}});
  EXPECT_EQ(lines_in(text), 1U) << text;
  EXPECT_TRUE(text.starts_with("::error file=f%2Cg%3Ah.csv,title=syncline%3A c%2Cline=7%3A%3Ad"))
      << text;
  EXPECT_EQ(text.find('\r'), std::string::npos);
  expect_mentions(text, {"expected 1,2:3%25"});
}

}  // namespace
}  // namespace syncline
