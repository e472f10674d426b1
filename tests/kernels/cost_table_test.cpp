// Cost tables: what is read is what was written, between sizes a straight line in logarithms, and
// every wrong table or question is one line that says what, where and what is allowed.
#include "kernels/cost_table.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/kernels/data.h"

namespace syncline {
namespace {

const std::string head =
    "# device: test\n# provenance: measured\n"
    "compressor,parameters,operation,elements,seconds,p10,p90,wire_bytes,distribution\n";
const std::string rows =
    "topk,density=0.01 error-feedback=on,encode,1000,0.001,0.0009,0.0011,80,gauss\n"
    "topk,density=0.01 error-feedback=on,encode,100000,0.01,0.009,0.011,8000,gauss\n";

std::string file_with(const std::string& text) {
  const std::string path = testing::TempDir() + "cost_table_" +
                           testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv";
  std::ofstream(path) << text;
  return path;
}

std::string error_of(const std::string& text) {
  try {
    read_cost_table(file_with(text));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

const Compressor& topk() {
  return Registered<Compressor>::find("topk");
}

TEST(CostTable, InterpolatesBetweenMeasuredSizes) {
  const CostTable table = read_cost_table(file_with(head + rows));
  const Settings settings = settings_at(topk(), "0.01");
  EXPECT_EQ(table.seconds(topk(), settings, "encode", 1000), 0.001);
  EXPECT_EQ(table.seconds(topk(), settings, "encode", 100000), 0.01);
  EXPECT_NEAR(table.seconds(topk(), settings, "encode", 10000), std::sqrt(0.001 * 0.01), 1e-12);
}

TEST(CostTable, OutsideItsRangeSaysWhatThereIsAndHowToMeasureMore) {
  const CostTable table = read_cost_table(file_with(head + rows));
  const auto message = [&](const std::string& density, const std::string& operation, double n) {
    try {
      table.seconds(topk(), settings_at(topk(), density), operation, n);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  const std::string beyond = message("0.01", "encode", 200000);
  EXPECT_NE(beyond.find("allowed are 1000 to 100000"), std::string::npos) << beyond;
  EXPECT_NE(beyond.find("syncline-calibrate --compressors topk --sizes 200000 --densities 0.01"),
            std::string::npos)
      << beyond;
  EXPECT_EQ(beyond.find('\n'), std::string::npos);
  EXPECT_NE(message("0.5", "encode", 2000).find("not in the table"), std::string::npos);
  EXPECT_NE(message("0.01", "decode", 2000).find("not in the table"), std::string::npos);
}

TEST(CostTable, WrongTablesAreOneClearLine) {
  EXPECT_NE(error_of(head).find("no rows"), std::string::npos);
  EXPECT_NE(error_of("").find("no rows"), std::string::npos);
  EXPECT_NE(error_of("a,b\n" + rows).find(":1: wrong columns"), std::string::npos);
  EXPECT_NE(error_of(head + "topk,x,encode\n").find(":4: 3 columns"), std::string::npos);
  EXPECT_NE(error_of(head + rows.substr(0, rows.size() - 9)).find("truncated"), std::string::npos);
  EXPECT_NE(error_of(head + "topk,,encode,10,-1,0,0,0,gauss\n").find("seconds = '-1'"),
            std::string::npos);
  EXPECT_NE(error_of(head + "topk,,encode,10,nan,0,0,0,gauss\n").find("seconds = 'nan'"),
            std::string::npos);
  EXPECT_NE(error_of(head + "topk,,encode,1x,1,0,0,0,gauss\n").find("elements = '1x'"),
            std::string::npos);
  EXPECT_NE(error_of(head.substr(15) + rows).find("'# device: ...'"), std::string::npos);
  std::string guessed = head + rows;
  guessed.replace(guessed.find("measured"), 8, "guessed!");
  EXPECT_NE(error_of(guessed).find("measured, published or modelled"), std::string::npos);
  EXPECT_THROW(read_cost_table("/nowhere/x.csv"), std::invalid_argument);
}

TEST(CostTable, WhatIsWrittenIsRead) {
  const CostTable table = read_cost_table(file_with(head + rows));
  const std::string copy = testing::TempDir() + "cost_table_copy.csv";
  write_cost_table(table, copy);
  std::ifstream in(copy);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_EQ(text, head + rows);
}

TEST(CostTable, EveryShippedProfileIsReadable) {
  std::size_t profiles = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(std::string(KERNELS_FOLDER) + "/profiles")) {
    const CostTable table = read_cost_table(file.path());
    for (const CostRow& row : table.rows)
      EXPECT_GT(row.seconds, 0) << file.path();
    ++profiles;
  }
  EXPECT_GE(profiles, 5u);
}

struct Ended {
  int code = 0;
  std::string text;
};

Ended calibrate(const std::string& arguments) {
  const std::string output =  // of this test: others may run at the same time
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + ".txt";
  const int status =
      std::system((std::string(CALIBRATE) + " " + arguments + " >" + output + " 2>&1").c_str());
  std::ifstream in(output);
  return {WEXITSTATUS(status),
          {(std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>()}};
}

TEST(Calibrate, MeasuresAndWritesATableThatReads) {
  const std::string path = testing::TempDir() + "calibrated.csv";
  const Ended ended =
      calibrate("--sizes 2^12,2^14 --densities 0.01 --distributions gauss --out " + path);
  ASSERT_EQ(ended.code, 0) << ended.text;
  const CostTable table = read_cost_table(path);
  EXPECT_EQ(table.about("provenance"), "measured");
  for (const auto& [name, compressor] : Registered<Compressor>::all()) {
    if (name == RECIPE)  // compiled into these tests only
      continue;
    EXPECT_GT(table.seconds(compressor, settings_at(compressor, "0.01"), "encode", 10000), 0);
  }
  const Ended more = calibrate(
      "--compressors none --sizes 2^15 --distributions gauss "
      "--baselines off --append " +
      path);
  ASSERT_EQ(more.code, 0) << more.text;
  EXPECT_EQ(read_cost_table(path).rows.size(), table.rows.size() + 2);
}

TEST(Calibrate, RefusesWhatItDoesNotKnowInOneLineWithCode2) {
  const std::string table = file_with("not a table\n");
  for (const std::string& arguments :
       {std::string("--out x.csv --sizes 2^40"), std::string("--out x.csv --sizes 0"),
        std::string("--out x.csv --densities 2"), std::string("--out x.csv --densities a"),
        std::string("--out x.csv --bits 99"), std::string("--out x.csv --compressors zip"),
        std::string("--out x.csv --device tpu"), std::string("--out x.csv --threads 0"),
        std::string("--out x.csv --distributions cauchy"), std::string("--what 1"),
        std::string("--out"), std::string("--threads 2"),
        "--compressors none --sizes 64 --baselines off --append " + table}) {
    const Ended ended = calibrate(arguments);
    EXPECT_EQ(ended.code, 2) << arguments << ": " << ended.text;
    EXPECT_NE(ended.text.find(arguments.ends_with(table) ? "wrong columns" : "syncline-calibrate"),
              std::string::npos)
        << ended.text;
  }
}

}  // namespace
}  // namespace syncline
