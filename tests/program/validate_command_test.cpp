// A validation folder outside the project: its own platform and model, options as columns.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>

#include "kernels/io/text.h"
#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

const std::string platform_text =
    "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
    "<platform version=\"4.1\"><zone id=\"world\" routing=\"Full\">\n"
    "<cluster id=\"c\" prefix=\"m\" suffix=\"\" radical=\"1-6\" speed=\"2Tf\" bw=\"1GBps\" "
    "lat=\"20us\"/>\n</zone></platform>\n";
const std::string model_text =
    "# sample: row\nlayer,parameters,forward_flop\na,1000000,1e9\nb,500,2e9\n";
const std::string scenario_text =
    "model = net.csv  # beside this file\nbatch = 16\niterations = 3\n";
const std::string measured =
    "# mine\ncase,workers,schedule,staleness,throughput,measured,role,source\n"
    "one,1,bsp,,100,99,fit,my notes\ntwo,2,bsp,,100,190,report,my notes\n"
    "four,4,ssp,2,100,360,report,my notes\nsix,6,asp,,100,500,report,my notes\n";

// Writes folder `name`, with these texts in place of the valid ones.
void write_folder(const TemporaryFolder& folder, const std::string& name,
                  const std::map<std::string, std::string>& instead = {}) {
  std::map<std::string, std::string> texts{{"platform.xml", platform_text},
                                           {"net.csv", model_text},
                                           {"scenario.cfg", scenario_text},
                                           {"measured.csv", measured}};
  for (const auto& [file, text] : instead)
    texts[file] = text;
  for (const auto& [file, text] : texts)
    folder.write(name + "/" + file, text);
}

std::string last_line(const std::string& text) {
  const std::vector<std::string> lines = split(trimmed(text), '\n');
  return lines.back();
}

const std::regex summary(R"(rows \d+ median [\d.]+% worst [\d.]+% tau -?[\d.]+)");

TEST(Validate, AcceptsAFolderOutsideTheProject) {
  const TemporaryFolder folder;
  write_folder(folder, "theirs");
  const Ended ended = run_program({"validate", "theirs"}, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.err, "");
  EXPECT_TRUE(std::regex_match(last_line(ended.out), summary)) << last_line(ended.out);
  expect_mentions(last_line(ended.out), {"rows 3 "});  // without the fit row
  expect_mentions(ended.out, {"one", "two", "four", "six", "fit", "worst"});
}

TEST(Validate, WorksFromAnyWorkingDirectory) {
  const TemporaryFolder folder;
  write_folder(folder, "theirs");
  const Ended here = run_program({"validate", "."}, folder.path("theirs"));
  const Ended there = run_program({"validate", folder.path("theirs")}, "/");
  EXPECT_EQ(here.code, 0) << here.err;
  EXPECT_EQ(last_line(here.out), last_line(there.out));
}

TEST(Validate, FindsNoErrorWhereMeasuredEqualsSimulated) {
  const TemporaryFolder folder;
  // One worker exchanges nothing: 16 samples in 16 / throughput seconds.
  write_folder(folder, "theirs",
               {{"measured.csv",
                 "workers,throughput,measured,role,source\n1,50,50,report,x\n1,70,70,report,x\n"}});
  const Ended ended = run_program({"validate", "theirs"}, folder.path());
  EXPECT_EQ(last_line(ended.out), "rows 2 median 0.0% worst 0.0% tau 1.000");
}

// One worker exchanges nothing, so perfect scaling equals the simulation: 50 and 60, where 40 and
// 60 were measured, 25 and 0 % off.
TEST(Validate, SaysWhatPerfectScalingAloneScores) {
  const TemporaryFolder folder;
  write_folder(folder, "theirs",
               {{"measured.csv",
                 "workers,throughput,measured,role,source\n1,50,40,report,x\n1,60,60,report,x\n"}});
  const Ended ended = run_program({"validate", "theirs"}, folder.path());
  EXPECT_NE(ended.out.find("perfect scaling alone: median 12.5%\nrows 2 "), std::string::npos)
      << ended.out;
}

// adam's step takes half of the 0.16 s that a worker alone needs for 16 samples: 28 bytes for each
// of 1,000,500 parameters. Each of two workers takes half of the step: 32 samples in 0.12 s.
TEST(Validate, LetsPerfectScalingShardTheOptimizersStepToo) {
  const TemporaryFolder folder;
  write_folder(folder, "theirs",
               {{"measured.csv",
                 "workers,throughput,schedule,optimizer,memory-bandwidth,measured,role,source\n"
                 "2,100,fsdp,adam,350175000,266.666667,report,x\n"}});
  const Ended ended = run_program({"validate", "theirs"}, folder.path());
  EXPECT_NE(ended.out.find("perfect scaling alone: median 0.0%\n"), std::string::npos)
      << ended.out << ended.err;
}

TEST(Validate, SummarisesEachFolderAndAllTogether) {
  const TemporaryFolder folder;
  write_folder(folder, "both/first");
  write_folder(folder, "both/second");
  const Ended ended = run_program({"validate", "both"}, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  const std::vector<std::string> lines = split(trimmed(ended.out), '\n');
  ASSERT_GE(lines.size(), 3U);
  EXPECT_EQ(lines[lines.size() - 3].rfind("first: rows 3 ", 0), 0U) << lines[lines.size() - 3];
  EXPECT_EQ(lines[lines.size() - 2].rfind("second: rows 3 ", 0), 0U) << lines[lines.size() - 2];
  EXPECT_TRUE(std::regex_match(lines.back(), summary)) << lines.back();
  expect_mentions(lines.back(), {"rows 6 "});
}

// nominal.cfg replaces options of scenario.cfg and of rows: 50 instead of 25 samples/s, one worker.
TEST(Validate, SimulatesWithoutFittedNumbersWhereNominalIsGiven) {
  const TemporaryFolder folder;
  write_folder(folder, "all/theirs",
               {{"scenario.cfg", scenario_text + "throughput = 20\n"},
                {"measured.csv",
                 "workers,throughput,measured,role,source\n1,25,50,report,x\n1,,50,report,x\n"},
                {"nominal.cfg", "throughput = 50  # the data sheet's\n"},
                {"typical.cfg", "throughput = 40\n"}});
  write_folder(folder, "all/unknown");
  const Ended fitted = run_program({"validate", "all/theirs"}, folder.path());
  expect_mentions(last_line(fitted.out), {"rows 2 median 55.0% worst 60.0%"});
  const Ended nominal = run_program({"validate", "--nominal", "all"}, folder.path());
  EXPECT_EQ(nominal.code, 0) << nominal.err;
  EXPECT_EQ(last_line(nominal.out), "rows 2 median 0.0% worst 0.0% tau 0.000");
  EXPECT_EQ(nominal.err, "left out: all/unknown has no nominal.cfg\n");
  const Ended typical = run_program({"validate", "--typical", "all"}, folder.path());
  EXPECT_EQ(last_line(typical.out), "rows 2 median 20.0% worst 20.0% tau 0.000");
  EXPECT_EQ(typical.err, nominal.err);
  const Ended both = run_program({"validate", "--nominal", "--typical", "all"}, folder.path());
  EXPECT_EQ(both.code, 2);
  expect_mentions(both.err, {"allowed is one of both"});
  const Ended unknown = run_program({"validate", "--nominal", "all/unknown"}, folder.path());
  EXPECT_EQ(unknown.code, 2);
  expect_mentions(unknown.err, {"all/unknown/nominal.cfg"});
}

// The table behind the prediction interval is what the program simulates today.
void expect_published_rows(const std::string& reality) {
  const std::string validation = SYNCLINE_SOURCE_DIR "/experiments/validation/";
  const std::string table = text_of(validation + reality + ".csv");
  for (const std::string name : {"bert-large-40gbe", "mstopk-25gbe", "powersgd-10gbe"}) {
    const Ended ended = run_program({"validate", "--" + reality, "--json", validation + name});
    EXPECT_EQ(ended.code, 0) << ended.err;
    int rows = 0;
    const auto document = nlohmann::json::parse(ended.out);
    for (const auto& row : document["folders"][0]["rows"])
      if (row["role"] == "report") {
        ++rows;
        const std::string line =
            fmt::format("\n{},{},{:.6g},{:.6g},{:.6g}\n", name, row["row"].get<std::string>(),
                        row["measured"].get<double>(), row["simulated"].get<double>(),
                        row["perfect"].get<double>());
        EXPECT_NE(table.find(line), std::string::npos) << line;
      }
    EXPECT_GE(rows, 5) << name;
  }
}

TEST(Validate, SimulatesThePublishedRows) {
  expect_published_rows("nominal");
  expect_published_rows("typical");
}

TEST(Validate, NamesAFolderThatIsGivenWithASlash) {
  const TemporaryFolder folder;
  write_folder(folder, "first");
  write_folder(folder, "second");
  const Ended plain = run_program({"validate", "first", "second"}, folder.path());
  const Ended slash = run_program({"validate", "first/", "second//"}, folder.path());
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(slash.out, plain.out);
  expect_mentions(slash.out, {"\nfirst: rows 3 ", "\nsecond: rows 3 "});
}

// The error for a folder with these texts.
std::string folder_error(const std::map<std::string, std::string>& instead) {
  const TemporaryFolder folder;
  write_folder(folder, "theirs", instead);
  const Ended ended = run_program({"validate", "theirs"}, folder.path());
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
  return ended.err;
}

std::string rows(const std::string& text) {
  return folder_error({{"measured.csv", "workers,throughput,measured,role,source\n" + text}});
}

TEST(Validate, NamesFileAndLineOfABadRow) {
  expect_mentions(rows("1,9,9,report,x\n0,9,9,report,x\n"), {"measured.csv:3", "workers = 0"});
  expect_mentions(rows("1,9,fast,report,x\n"), {"measured.csv:2", "measured = fast"});
  expect_mentions(rows("1,9,0,report,x\n"), {"measured.csv:2", "measured = 0"});
  expect_mentions(rows("1,9,9,repot,x\n"), {"measured.csv:2", "repot", "fit", "report"});
  expect_mentions(rows("1,9,9,report\n"), {"measured.csv:2"});
  expect_mentions(rows("7,9,9,report,x\n"), {"workers = 7", "6"});
}

TEST(Validate, NamesAnUnknownColumn) {
  expect_mentions(folder_error({{"measured.csv", "wokers,measured,role,source\n1,9,report,x\n"}}),
                  {"measured.csv", "wokers", "workers"});
}

TEST(Validate, NamesAMissingColumn) {
  for (const char* column : {"measured", "role", "source"}) {
    std::string title;
    std::string fields;
    for (const std::string other : {"throughput", "measured", "role", "source"})
      if (other != column) {
        title += (title.empty() ? "" : ",") + other;
        fields += std::string(fields.empty() ? "" : ",") + (other == "role" ? "report" : "9");
      }
    expect_mentions(folder_error({{"measured.csv", title + "\n" + fields + "\n"}}),
                    {"measured.csv", column});
  }
}

TEST(Validate, RefusesMoreRowsThanASweepHasCells) {
  std::string text;
  for (int i = 0; i < 10'001; ++i)
    text += "1,9,9,report,x\n";
  expect_mentions(rows(text), {"measured.csv: 10001 rows: allowed are up to 10000"});
}

TEST(Validate, NamesTheLineOfABadScenario) {
  expect_mentions(folder_error({{"scenario.cfg", "model = net.csv\nwokers = 3\n"}}),
                  {"scenario.cfg:2", "wokers"});
}

TEST(Validate, RefusesAFolderWithNothingToReport) {
  expect_mentions(rows("1,9,9,fit,x\n"), {"measured.csv", "report"});
}

TEST(Validate, RefusesMissingFolder) {
  const TemporaryFolder folder;
  folder.write("file", "");
  std::filesystem::create_symlink("round", folder.path("round"));
  for (const std::string& path : {folder.path(), folder.path("nowhere"), folder.path("file"),
                                  folder.path("file/"), folder.path("round")}) {
    const Ended ended = run_program({"validate", path});
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
    expect_mentions(ended.err, {path});
  }
  expect_mentions(run_program({"validate", ""}).err, {"an empty name: allowed are folders"});
}

}  // namespace
}  // namespace syncline
