// `syncline report` as a user sees it: empty, foreign and mixed folders, and files in the way.
#include <gtest/gtest.h>

#include "sim/page/page.h"
#include "sim/page/page_parts.h"
#include "sim/report/result_json.h"
#include "tests/program/program.h"
#include "tests/unit/made_results.h"

namespace syncline {
namespace {

void write_sweep(const TemporaryFolder& folder) {
  int number = 0;
  for (const auto& result : made_sweep())
    folder.write("out/cell-" + std::to_string(++number) + ".json", text_of(result));
}

void expect_refused(const Ended& ended, const std::string& why) {
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(lines_in(ended.err), 1U) << ended.err;
  EXPECT_NE(ended.err.find(why), std::string::npos) << ended.err;
}

TEST(ReportCommand, WritesWhatIsAskedFor) {
  const TemporaryFolder folder;
  write_sweep(folder);
  const Ended ended =
      run_program({"report", "out", "--svg", "figures", "--md", "summary.md"}, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(ended.out.ends_with("figures: 12 in figures\nsummary: summary.md\n")) << ended.out;
  EXPECT_TRUE(text_of(folder.path("summary.md")).starts_with(summary_begin));
  EXPECT_TRUE(text_of(folder.path("figures/throughput-resnet50-batch-32-two-hosts.svg"))
                  .ends_with("</svg>\n"));
  // A report may replace files that a report has written.
  EXPECT_EQ(
      run_program({"report", "out", "--svg", "figures", "--md", "summary.md"}, folder.path()).code,
      0);
}

// Writes the sweep's table again: a folder of shares then has one, too.
TEST(ReportCommand, WritesTheTable) {
  const TemporaryFolder folder;
  write_sweep(folder);
  const Ended ended = run_program({"report", "out", "--csv", "figures.csv"}, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(ended.out.ends_with("table: figures.csv\n")) << ended.out;
  EXPECT_EQ(lines_in(text_of(folder.path("figures.csv"))), 1 + made_sweep().size());
  EXPECT_EQ(run_program({"report", "out", "--csv", "figures.csv"}, folder.path()).code, 0);
  folder.write("grades.csv", "name,grade\nme,1\n");
  expect_refused(run_program({"report", "out", "--csv", "grades.csv"}, folder.path()),
                 "--csv grades.csv");
  expect_refused(run_program({"report", "out", "--csv", "out/results.csv"}, folder.path()),
                 "what this command reads");
}

// Two of four cells are missing: the baselines of those that exist.
TEST(ReportCommand, SaysInTheVerdictWhichCellsAreMissing) {
  const TemporaryFolder folder;
  const std::vector<std::string> sweep{
      "run", "--platform", "two-hosts", "--model",    "resnet20",  "--throughput",
      "100", "--workers",  "1,2",       "--schedule", "bsp,asp",   "--iterations",
      "3",   "--out",      "out",       "--md",       "summary.md"};
  const Ended whole = run_program(sweep, folder.path());
  EXPECT_EQ(whole.code, 0) << whole.err;
  EXPECT_TRUE(text_of(folder.path("summary.md")).starts_with(summary_begin));
  EXPECT_EQ(run_program({"report", "out"}, folder.path()).out.find("Without"), std::string::npos);
  for (const char* workers : {"1", "2"})
    std::filesystem::remove(
        folder.path(std::string("out/workers-") + workers + "_schedule-bsp.json"));
  const std::string said = "Without 2 of 4 cells (ring, bsp, 1 worker; ring, bsp, 2 workers): ";
  const Ended some = run_program({"report", "out", "--md", "some.md"}, folder.path());
  EXPECT_EQ(some.code, 0);
  EXPECT_NE(some.out.find(said), std::string::npos) << some.out;
  EXPECT_NE(text_of(folder.path("some.md")).find("**Without 2 of 4 cells"), std::string::npos);
  const Ended json = run_program({"report", "out", "--json"}, folder.path());
  EXPECT_NE(json.out.find("\"" + said), std::string::npos) << json.out;
}

TEST(ReportCommand, WritesAPage) {
  const TemporaryFolder folder;
  write_sweep(folder);
  const Ended ended = run_program({"report", "out", "--html", "page.html"}, folder.path());
  if (page_parts::chart_js.empty()) {
    expect_refused(ended, "built without Chart.js: install libjs-chart.js");
    GTEST_SKIP() << "built without Chart.js (libjs-chart.js)";
  }
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(text_of(folder.path("page.html")).starts_with(page_begin));
}

TEST(ReportCommand, NamesOnOneLineWhatIsNoResult) {
  const TemporaryFolder folder;
  write_sweep(folder);
  folder.write("out/broken.json", "{\"schema\": 3");
  folder.write("out/foreign.json", "[1, 2]");
  Result later = made_sweep().front();
  later.schema = result_schema + 1;
  folder.write("out/later.json", text_of(later));
  folder.write("out/cell-1.trace.json", "{}");
  folder.write("out/notes.txt", "mine");
  const Ended ended = run_program({"report", "out", "--md", "summary.md"}, folder.path());
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err,
            "syncline: out: 3 files are left out, which hold no whole result of this version: "
            "broken.json, foreign.json, later.json\n");
  EXPECT_NE(text_of(folder.path("summary.md")).find("broken.json, foreign.json, later.json"),
            std::string::npos);
}

TEST(ReportCommand, RefusesFoldersWithoutResults) {
  const TemporaryFolder folder;
  folder.write("foreign/a.json", "{}");
  std::filesystem::create_directory(folder.path("empty"));
  expect_refused(run_program({"report", "empty", "--md", "a.md"}, folder.path()),
                 "empty: holds no result");
  expect_refused(
      run_program({"report", "foreign", "--md", "a.md"}, folder.path()),
      "foreign: 1 file is left out, which holds no whole result of this version: a.json");
  expect_refused(run_program({"report", "absent"}, folder.path()), "absent: no such folder");
  expect_refused(run_program({"report", ""}, folder.path()), "an empty name");
  expect_refused(run_program({"report"}, folder.path()), "report takes the folder");
  EXPECT_FALSE(std::filesystem::exists(folder.path("a.md")));
}

TEST(ReportCommand, ReplacesNoFileOfTheUsers) {
  const TemporaryFolder folder;
  write_sweep(folder);
  folder.write("paper.md", "# My paper\n");
  folder.write("mine.html", "<!doctype html>\n<title>Mine</title>\n");
  folder.write("figures/links-resnet50-batch-32-two-hosts.svg", "<svg/>");
  const auto before = listing_of(folder.path());
  expect_refused(run_program({"report", "out", "--md", "paper.md"}, folder.path()),
                 "--md paper.md: is there and was not written by syncline");
  expect_refused(run_program({"report", "out", "--html", "mine.html"}, folder.path()),
                 "--html mine.html: is there and was not written by syncline");
  expect_refused(run_program({"run", "--platform", "two-hosts", "--model", "resnet20",
                              "--throughput", "100", "--html", "mine.html"},
                             folder.path()),
                 "--html mine.html: is there and was not written by syncline");
  EXPECT_EQ(run_program({"report", "out", "--svg", "figures"}, folder.path()).code, 2);
  expect_refused(run_program({"report", "out", "--svg", "paper.md"}, folder.path()),
                 "--svg paper.md: cannot be made");
  expect_refused(run_program({"report", "out", "--md", "absent/a.md"}, folder.path()), "absent");
  expect_refused(run_program({"report", "out", "--md", ""}, folder.path()), "--md is empty");
  EXPECT_EQ(listing_of(folder.path()), before);
}

}  // namespace
}  // namespace syncline
