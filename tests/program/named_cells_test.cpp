// Several cells in one file: [name] sections with shared lists, flags and lines.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/options/expand.h"
#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using Arguments = std::vector<std::string>;
using Json = nlohmann::ordered_json;
using Strings = std::vector<std::string>;

const std::string shared = "platform = two-hosts\nmodel = resnet50\nthroughput = 100\n";

Sweep sweep_of(const std::string& text, const Arguments& flags = {}) {
  const TemporaryFolder folder;
  Arguments arguments{folder.write("x.cfg", text)};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return expand(merged_with_file(parse_command_line(arguments, {})));
}

std::string cells_error(const std::string& text, const Arguments& flags = {}) {
  return error_of([&] { sweep_of(text, flags); });
}

// "name option-value ..." of each cell.
Strings cells_with(const Sweep& sweep, const Strings& options) {
  Strings cells;
  for (const Scenario& scenario : sweep.cells) {
    std::string cell = scenario.written.at("name");
    for (const std::string& option : options)
      cell += " " + scenario.written.at(option);
    cells.push_back(cell);
  }
  return cells;
}

TEST(Sections, OverrideTheLinesAboveThem) {
  const Sweep sweep = sweep_of(shared +
                               "batch = 8\n[baseline]\n\n[large] # not so small\nbatch = 64\n"
                               "[asynchronous]\nschedule = asp\n");
  EXPECT_EQ(cells_with(sweep, {"batch", "schedule"}),
            (Strings{"baseline 8 bsp", "large 64 bsp", "asynchronous 8 asp"}));
  EXPECT_EQ(sweep.swept, Strings{"name"});
}

TEST(Sections, AreOverriddenByFlags) {
  const Sweep sweep = sweep_of(shared + "[a]\nbatch = 1\n[b]\nbatch = 2\n", {"--batch", "3"});
  EXPECT_EQ(cells_with(sweep, {"batch"}), (Strings{"a 3", "b 3"}));  // names distinguish them
}

TEST(Sections, MultiplyTheirListsAndSharedOnes) {
  const Sweep sweep = sweep_of(shared + "seed = 1, 2\n[a]\nbatch = 8, 16\n[b]\nseed = 7\n[c]\n");
  EXPECT_EQ(cells_with(sweep, {"batch", "seed"}),
            (Strings{"a 8 1", "a 8 2", "a 16 1", "a 16 2", "b 32 7", "c 32 1", "c 32 2"}));
  EXPECT_EQ(sweep.swept, (Strings{"name", "batch", "seed"}));
  const Sweep by_flag = sweep_of(shared + "[a]\n[b]\nbatch = 8\n", {"--workers", "1,2"});
  EXPECT_EQ(cells_with(by_flag, {"workers"}), (Strings{"a 1", "a 2", "b 1", "b 2"}));
}

TEST(Sections, UseOfTheSharedLinesWhatMeansSomethingToThem) {
  const std::string text = shared + "staleness = 2\n[tight]\n[loose]\nschedule = ssp\n";
  const Sweep sweep = sweep_of(text);
  ASSERT_EQ(sweep.cells.size(), 2U);
  EXPECT_FALSE(sweep.cells[0].written.contains("staleness"));
  EXPECT_EQ(sweep.cells[1].written.at("staleness"), "2");
  expect_mentions(cells_error(text, {"--schedule", "asp", "--threshold", "2"}),
                  {"--threshold: ", "means nothing to schedule asp"});
  expect_mentions(cells_error(shared + "[a]\n[b]\nstaleness = 2\n[c]\nschedule = ssp\n"),
                  {"x.cfg:6: ", "staleness means nothing to schedule bsp"});
}

TEST(Sections, HaveAtLeastOneCellEach) {
  expect_mentions(cells_error(shared + "exchange = ring\n[a]\n[b]\nschedule = asp\n"),
                  {"x.cfg:6: [b]: exchange = ring: schedule asp allows only ps"});
  const Sweep sweep = sweep_of(shared + "exchange = ring, ps\n[a]\n[b]\nschedule = asp\n");
  EXPECT_EQ(cells_with(sweep, {"exchange"}), (Strings{"a ring", "a ps", "b ps"}));
  EXPECT_EQ(sweep.left_out, Strings{"exchange = ring: schedule asp allows only ps"});
}

TEST(Sections, ErrorsOfTheirsNameTheLineOrTheSection) {
  expect_mentions(cells_error("[a]\nmodel = resnet50\nplatform = two-hosts\n[b]\n"
                              "platform = two-hosts\n"),
                  {"x.cfg:4: [b]: model is not given"});
  expect_mentions(cells_error(shared + "[a]\n[b]\nbatch = many\n"), {"x.cfg:6: ", "many"});
  expect_mentions(cells_error(shared + "[a]\nbatch = 1\nbatch = 2\n"),
                  {"x.cfg:6: batch is given twice"});
}

TEST(Sections, NamesAreOfAnyScriptAndDiffer) {
  const Sweep sweep = sweep_of("\xef\xbb\xbf" + shared + "[ r\xc3\xa4schka / 100% ]\r\n[a.b]\r\n");
  EXPECT_EQ(cells_with(sweep, {}), (Strings{"r\xc3\xa4schka / 100%", "a.b"}));
  expect_mentions(cells_error(shared + "[a]\n[b]\n[ a ]\n"),
                  {"x.cfg:6: [a] is also in line 4: allowed are names that differ"});
  for (const std::string bad : {"[]", "[ ]", "[a", "[", "[a] b", "[a # b]", "[a\x1b[2J]", "[a,b]",
                                "[a\\,b]", "[a=b]", "[[a]]", "[\"a\"]",
                                "[\xe2\x80\xae"
                                "a]"}) {
    const std::string why = cells_error(shared + bad + "\n");
    expect_mentions(why, {"x.cfg:4: ", "allowed is [name]"});
    EXPECT_EQ(lines_in(why), 1U);
  }
  EXPECT_EQ(cells_with(sweep_of(shared + "[" + std::string(60, 'n') + "]\n"), {}),
            Strings{std::string(60, 'n')});
  expect_mentions(cells_error(shared + "[" + std::string(61, 'n') + "]\n"), {"60 bytes"});
}

TEST(Sections, HaveACommaInAValueBehindABackslash) {
  const TemporaryFolder folder;
  folder.write("a,b.csv", "layer,parameters,forward_flop\na,1,1\n");
  const std::string path = folder.write(
      "x.cfg",
      "platform = two-hosts\nthroughput = 1\n[a]\nmodel = a\\,b.csv\n[b]\nmodel = vgg16\n");
  EXPECT_EQ(cells_with(expand(parse_sections(path)), {"model"}), (Strings{"a a,b.csv", "b vgg16"}));
}

TEST(Sections, TogetherHaveNoMoreCellsThanASweep) {
  std::string text = shared;
  std::string seeds = "1";
  for (int seed = 2; seed <= 4000; ++seed)
    seeds += "," + std::to_string(seed);
  for (const char* name : {"a", "b", "c"})
    text += "[" + std::string(name) + "]\nseed = " + seeds + "\n";
  expect_mentions(cells_error(text), {"12000 combinations", "seed (4000)", "10000"});
  std::string many;
  for (int i = 0; i <= most_cells; ++i)
    many += "[" + std::to_string(i) + "]\n";
  expect_mentions(cells_error(many), {"x.cfg:10001: ", "10000"});
}

// As a user sees names: a column, file names, the first key of `scenario`; and again in kept
// results.
TEST(NamedCells, AreInEveryTableAndFile) {
  const TemporaryFolder folder;
  folder.write("x.cfg", shared + "iterations = 3\n[two cards]\n[one]\nworkers = 1\n");
  const Arguments arguments{"run", "x.cfg", "--out", "out"};
  const Ended ended = run_program(arguments, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_mentions(ended.out, {"name ", "\ntwo cards ", "\none "});
  const std::string text = text_of(folder.path("out/name-two%20cards.json"));
  const Json scenario = Json::parse(text)["scenario"];
  EXPECT_EQ(scenario.begin().key(), "name");
  EXPECT_EQ(scenario.begin().value(), "two cards");
  expect_mentions(text_of(folder.path("out/results.csv")), {"name", "two cards"});
  const auto files = listing_of(folder.path("out"));
  EXPECT_EQ(files.size(), 3U);

  const auto written = std::filesystem::last_write_time(folder.path("out/name-one.json"));
  EXPECT_EQ(run_program({"run", "x.cfg", "--out", "out", "--resume"}, folder.path()).out,
            ended.out);
  EXPECT_EQ(std::filesystem::last_write_time(folder.path("out/name-one.json")), written);
  EXPECT_EQ(listing_of(folder.path("out")), files);

  const Ended explained = run_program({"explain", "x.cfg"}, folder.path());
  expect_mentions(explained.out, {"name                 two cards", "name                 one"});
}

TEST(NamedCells, MeanNothingInAValidationFolder) {
  const TemporaryFolder folder;
  folder.write("v/scenario.cfg", shared + "[a]\n");
  folder.write("v/measured.csv", "workers,measured,role,source\n1,100,report,mine\n");
  const Ended ended = run_program({"validate", "v"}, folder.path());
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(lines_in(ended.err), 1U);
  expect_mentions(ended.err, {"v/scenario.cfg:4: [a]: ", "allowed are lines"});
}

}  // namespace
}  // namespace syncline
