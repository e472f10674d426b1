// What an interrupted calibration leaves, and how it continues.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

#include "kernels/cost_table.h"
#include "tests/kernels/calibrate.h"
#include "tests/kernels/data.h"

namespace syncline {
namespace {

std::string refusal(const std::string& path) {
  try {
    read_cost_table(path);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

std::string rows_of(const std::string& path) {
  const std::string text = text_of(path);
  return text.substr(text.find("\ncompressor,"));
}

// A complete table of two compressors at two sizes.
const std::string command = "--compressors none,efsign --sizes 64,256 --distributions gauss ";

std::string whole_table(const std::string& name) {
  const std::string path = testing::TempDir() + name;
  EXPECT_EQ(calibrate(command + "--out " + path).code, 0);
  return path;
}

// Makes the table look as if killed after `rows` rows.
void cut(const std::string& path, std::size_t rows, const std::string& unfinished) {
  CostTable table = read_cost_table(path);
  table.rows.resize(rows);
  if (!unfinished.empty())
    table.header.emplace_back(unfinished_key, unfinished);
  write_cost_table(table, path);
}

TEST(GrowingTable, AKilledCalibrationKeepsItsRowsAndCountsAsNoTable) {
  const std::string path = testing::TempDir() + "killed.csv";
  std::filesystem::remove(path);
  const std::string all =
      "--compressors none,efsign,topk --sizes 2^8,2^10,2^12,2^14,2^16,2^18,2^20,2^22 --densities "
      "0.01 --distributions gauss,laplace,student --out ";
  const pid_t child = fork();
  if (child == 0) {
    const std::string shell = "exec " CALIBRATE " " + all + path + " >/dev/null 2>&1";
    execl("/bin/sh", "sh", "-c", shell.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  while (!std::filesystem::exists(path) && waitpid(child, nullptr, WNOHANG) == 0)
    usleep(1000);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const CostTable left = read_cost_table(path, true);
  ASSERT_FALSE(left.rows.empty());
  ASSERT_LT(left.rows.size(), 8u * (3 * 3 * 3 + 3));
  EXPECT_EQ(refusal(path).find(path + ": unfinished, "), 0u) << refusal(path);
  EXPECT_NE(refusal(path).find("to go on: syncline-calibrate --compressors none,efsign,topk"),
            std::string::npos)
      << refusal(path);
}

// Measured rows are not measured again: they stay the same, to the byte.
TEST(GrowingTable, GoesOnWhereItWasEnded) {
  const std::string path = whole_table("resumed.csv");
  const CostTable whole = read_cost_table(path);
  ASSERT_EQ(whole.rows.size(), 2u * (2 * 3 + 3));
  cut(path, 6, "2 of 6 measurements");
  EXPECT_NE(refusal(path), "");
  const std::string before = rows_of(path);
  const Ended ended = calibrate(command + "--resume " + path);
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_EQ(rows_of(path).substr(0, before.size()), before);
  const CostTable table = read_cost_table(path);
  EXPECT_NE(ended.text.find("added 12 rows"), std::string::npos) << ended.text;
  ASSERT_EQ(table.rows.size(), whole.rows.size());
  for (std::size_t i = 0; i < whole.rows.size(); ++i)
    EXPECT_EQ(table.rows[i].key(), whole.rows[i].key());
  EXPECT_EQ(table.about("noisy").substr(table.about("noisy").find(" of ")),
            " of 18 rows: quartiles more than 10 % apart");
  const Ended again = calibrate(command + "--resume " + path);
  EXPECT_NE(again.text.find("added 0 rows"), std::string::npos) << again.text;
}

// A measurement is complete or absent: rows that belong together are measured again together.
TEST(GrowingTable, MeasuresTogetherWhatBelongsTogether) {
  const std::string path = whole_table("half.csv");
  cut(path, 5, "2 of 6 measurements");
  const Ended ended = calibrate(command + "--resume " + path);
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_EQ(read_cost_table(path).rows.size(), 18u);
  EXPECT_NE(ended.text.find("2 of them replacing older ones"), std::string::npos) << ended.text;
}

TEST(GrowingTable, ResumingRefusesATableOfAnotherDeviceCommandOrCommitInOneLine) {
  const std::string path = whole_table("other.csv");
  const std::pair<std::string, std::string> changes[] = {{"device", "a toaster"},
                                                         {"commit", "0123456"}};
  for (const auto& [key, value] : changes) {
    CostTable table = read_cost_table(path);
    for (auto& line : table.header)
      if (line.first == key)
        line.second = value;
    const std::string other = path + "." + key;
    write_cost_table(table, other);
    const std::string before = text_of(other);
    const Ended ended = calibrate(command + "--resume " + other);
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.text.find("its " + key + " is '" + value + "', here it is '"),
              std::string::npos)
        << ended.text;
    EXPECT_EQ(std::ranges::count(ended.text, '\n'), 1) << ended.text;
    EXPECT_EQ(text_of(other), before);
  }
  const Ended ended = calibrate("--compressors none --sizes 64 --resume " + path);
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.text.find("its command is 'syncline-calibrate " +
                            command.substr(0, command.size() - 1) + "'"),
            std::string::npos)
      << ended.text;
  EXPECT_EQ(calibrate("--compressors none --resume " + testing::TempDir() + "none.csv").code, 2);
  EXPECT_EQ(calibrate("--model h100 --resume " + path).code, 2);
}

// When the budget ends, the table is complete and says what it lacks; --resume adds that.
TEST(GrowingTable, NamesWhatTheBudgetDidNotReach) {
  const std::string path = whole_table("budget.csv");
  cut(path, 6, "2 of 6 measurements");
  const Ended ended = calibrate(command + "--budget 0 --resume " + path);
  ASSERT_EQ(ended.code, 0) << ended.text;
  const std::string lacks = "at 64 elements baselines; at 256 elements none, efsign, baselines";
  EXPECT_NE(ended.text.find("not reached within 0 s, 4 of 6 measurements: " + lacks),
            std::string::npos)
      << ended.text;
  EXPECT_EQ(read_cost_table(path).about("not reached"), lacks);
  EXPECT_EQ(read_cost_table(path).rows.size(), 6u);
  ASSERT_EQ(calibrate(command + "--resume " + path).code, 0);
  EXPECT_EQ(read_cost_table(path).rows.size(), 18u);
  EXPECT_THROW(read_cost_table(path).about("not reached"), std::invalid_argument);
  const std::string nothing = testing::TempDir() + "nothing.csv";
  std::filesystem::remove(nothing);
  const Ended none = calibrate(command + "--budget 0 --out " + nothing);
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.text.find("no rows: nothing written to " + nothing +
                           " (none, efsign): no measurement was reached"),
            std::string::npos)
      << none.text;
  EXPECT_FALSE(std::filesystem::exists(nothing));
}

// A run that adds nothing says why, leaves the table as it is, and ends with 1.
TEST(GrowingTable, ThatGetsNothingIsAFailure) {
  const std::string path = whole_table("added.csv");
  const std::string before = text_of(path);
  const Ended late = calibrate("--compressors topk --sizes 64 --budget 0 --append " + path);
  EXPECT_EQ(late.code, 1);
  EXPECT_NE(late.text.find("nothing added to " + path + " (topk): no measurement was reached"),
            std::string::npos)
      << late.text;
  EXPECT_EQ(text_of(path), before);
}

// A pipe gets the table once, without repeated rows.
TEST(GrowingTable, ThatGoesIntoAPipeIsWrittenAtItsEnd) {
  const Ended ended = calibrate(command + "--out /dev/stderr 2>&1 >/dev/null | cat");
  EXPECT_EQ(ended.text.find("unfinished"), std::string::npos) << ended.text;
  const std::string columns = "\ncompressor,parameters,";
  EXPECT_NE(ended.text.find(columns), std::string::npos) << ended.text;
  EXPECT_EQ(ended.text.find(columns), ended.text.rfind(columns)) << ended.text;
}

}  // namespace
}  // namespace syncline
