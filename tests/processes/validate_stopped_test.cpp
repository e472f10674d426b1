// `syncline validate`, stopped before all rows are simulated.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

// The first row takes no time, the second takes minutes.
void write_folder(const TemporaryFolder& folder) {
  folder.write("theirs/scenario.cfg",
               "platform = gbe-32x1\nmodel = resnet50\nthroughput = 100\nfidelity = step\n");
  folder.write("theirs/measured.csv",
               "workers,iterations,measured,role,source\n1,3,100,report,mine\n"
               "32,3000,2000,report,mine\n");
}

// The result of stopping during the second row: its process has computed for a while, which those
// before never do.
Ended stopped(const TemporaryFolder& folder, std::vector<std::string> more) {
  more.insert(more.begin(), {"validate", "theirs", "--jobs", "1"});
  const Program program(more, folder.path());
  program.wait_for_busy_child();
  program.interrupt(false);
  return program.wait();
}

TEST(StoppedValidate, PrintsTheRowsThatAreFinished) {
  const TemporaryFolder folder;
  write_folder(folder);
  const Ended ended = stopped(folder, {"--junit", "junit.xml", "--max-error", "0.5"});
  EXPECT_EQ(ended.code, 130);
  expect_mentions(ended.out, {"theirs\n", "1 3  report     100.0        100.0"});
  EXPECT_EQ(ended.out.find("median"), std::string::npos) << ended.out;  // of half of the rows
  expect_mentions(ended.err, {"syncline: interrupted: 1 of 2 rows are missing\n"});
  expect_mentions(text_of(folder.path("junit.xml")), {"not judged", "1 of 2 rows are missing"});
}

TEST(StoppedValidate, IsNoBaseline) {
  const TemporaryFolder folder;
  write_folder(folder);
  const Ended ended = stopped(folder, {"--json"});
  EXPECT_EQ(ended.code, 130);
  const auto document = nlohmann::json::parse(ended.out);
  EXPECT_EQ(document["folders"][0]["rows"].size(), 1U);
  EXPECT_TRUE(document["summary"].is_null());
  EXPECT_EQ(document["missing"][0], "interrupted: 1 of 2 rows are missing");
  folder.write("base.json", ended.out);
  const Ended refused =
      run_program({"validate", "theirs", "--baseline", "base.json"}, folder.path());
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err,
            "syncline: base.json: rows are missing, because validate was interrupted: allowed is "
            "the document of one that ended\n");
}

}  // namespace
}  // namespace syncline
