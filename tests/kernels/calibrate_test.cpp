// The calibrator: its tables can be read back, the command in an error measures what was missing,
// and modelled tables follow their formula.
#include "tests/kernels/calibrate.h"

#include <cmath>
#include <gtest/gtest.h>

#include "kernels/cost_table.h"
#include "tests/kernels/data.h"

namespace syncline {
namespace {

const Compressor& topk() {
  return Registered<Compressor>::find("topk");
}

TEST(Calibrate, WritesATableThatCanBeReadBack) {
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

// The command of the error about these settings, without the program's name.
std::string advised(const std::string& path, const Compressor& compressor, const Settings& settings,
                    double elements) {
  const std::string error =
      read_cost_table(path).lacking({{&compressor, settings, "encode", elements}});
  const std::string before = "to measure it: syncline-calibrate ";
  const std::size_t at = error.find(before);
  EXPECT_NE(at, std::string::npos) << error;
  return at == std::string::npos ? "" : error.substr(at + before.size());
}

TEST(Calibrate, TheCommandInAnErrorMeasuresWhatWasMissing) {
  const std::string measured = testing::TempDir() + "advised.csv";
  const std::string modelled = testing::TempDir() + "advised_modelled.csv";
  ASSERT_EQ(calibrate("--compressors none --sizes 64 --baselines off --out " + measured).code, 0);
  ASSERT_EQ(calibrate("--compressors none --model a100 --out " + modelled).code, 0);
  const std::pair<const char*, std::map<std::string, std::string>> questions[] = {
      {"qsgd", {{"bits", "2"}, {"quant-bucket", "128"}}},
      {"qsgd", {{"norm", "two"}, {"error-feedback", "on"}}},
      {"powersgd", {{"rank", "3"}}},
      {"topk", {{"density", "0.3333333333333333"}}},
      {"cat", {{"rule", "sign"}, {"cost", "payload"}}}};
  for (const auto& [name, given] : questions)
    for (const std::string& path : {measured, modelled}) {
      const Compressor& compressor = Registered<Compressor>::find(name);
      const Settings settings(compressor.options, given);
      const std::string command = advised(path, compressor, settings, 3000);
      const Ended ended = calibrate(command);
      ASSERT_EQ(ended.code, 0) << command << ": " << ended.text;
      const CostTable table = read_cost_table(path);
      for (const char* operation : {"encode", "decode"})
        EXPECT_GT(table.seconds(compressor, settings, operation, 3000), 0) << command;
    }
  const Compressor& qsgd = Registered<Compressor>::find("qsgd");
  EXPECT_EQ(advised(measured, qsgd, {qsgd.options, {{"bits", "3"}, {"quant-bucket", "128"}}}, 9),
            "--compressors qsgd --sizes 9 --bits 3 --set quant-bucket=128 --append " + measured);
}

// Of several compressors, settings and sizes at once, and where rows of an unusual distribution
// must go on.
TEST(Calibrate, OneCommandMeasuresAllThatIsMissing) {
  const std::string path = testing::TempDir() + "all_missing.csv";
  ASSERT_EQ(calibrate("--compressors topk --sizes 64,256 --densities 0.01,0.1 --distributions "
                      "laplace --baselines off --out " +
                      path)
                .code,
            0);
  const Compressor& qsgd = Registered<Compressor>::find("qsgd");
  std::vector<CostQuestion> questions;
  for (const char* operation : {"encode", "decode"}) {
    for (const double elements : {32.0, 100.0, 300.0, 1000.0})
      for (const char* density : {"0.01", "0.05", "0.25"})
        questions.push_back({&topk(), settings_at(topk(), density), operation, elements});
    for (const char* bits : {"3", "5"})
      questions.push_back(
          {&qsgd, {qsgd.options, {{"bits", bits}, {"norm", "two"}}}, operation, 77});
  }
  const std::string error = read_cost_table(path).lacking(questions);
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  // All but 100 elements at 0.01 and 0.05, which are between what was measured.
  const std::string before = ", and 23 more; to measure all: syncline-calibrate ";
  ASSERT_NE(error.find(before), std::string::npos) << error;
  const std::string command = error.substr(error.find(before) + before.size());
  EXPECT_EQ(command,
            "--compressors topk,qsgd --sizes 32,77,100,300,1000 --densities 0.01,0.05,0.25 "
            "--bits 3,5 --set norm=two --distributions laplace --append " +
                path);
  const Ended ended = calibrate(command);
  ASSERT_EQ(ended.code, 0) << ended.text;
  EXPECT_EQ(read_cost_table(path).lacking(questions), "");
}

// A table that replaces another one needs what that one has, too.
TEST(Calibrate, TheCommandOfAPublishedTableMeasuresEverythingThatIsAskedFor) {
  const std::string published = std::string(KERNELS_FOLDER) + "/profiles/v100-published.csv";
  const Settings settings = settings_at(topk(), "0.001");
  const std::string error =
      read_cost_table(published).lacking({{&topk(), settings, "encode", 1e6},
                                          {&topk(), settings, "encode", 100},
                                          {&topk(), settings, "decode", 200}});
  EXPECT_NE(error.find("--sizes 100,200,1000000 --densities 0.001 --device cuda --out"),
            std::string::npos)
      << error;
}

// What a device takes has to be measured on that device, and not added to what others published.
TEST(Calibrate, TheCommandInAGpusTableAsksForAGpu) {
  const std::string published = std::string(KERNELS_FOLDER) + "/profiles/v100-published.csv";
  EXPECT_EQ(advised(published, topk(), settings_at(topk(), "0.01"), 1e6),
            "--compressors topk --sizes 1000000 --densities 0.01 --device cuda --out measured.csv");
}

TEST(Calibrate, ModelledProfilesAreWhatTheProgramWrites) {
  for (const std::string& device :
       {std::string("h100"), std::string("a100"), std::string("v100")}) {
    const std::string path = testing::TempDir() + device + "_modelled.csv";
    ASSERT_EQ(calibrate("--model " + device + " --out " + path).code, 0);
    EXPECT_TRUE(text_of(path) ==
                text_of(std::string(KERNELS_FOLDER) + "/profiles/" + device + "-modelled.csv"))
        << "run: syncline-calibrate --model " << device << " --out kernels/profiles/" << device
        << "-modelled.csv";
  }
}

// Decoding adds into a sum that is there: 72 bytes for each element that was sent, nothing for the
// others.
TEST(Calibrate, ModelledDecodingFollowsItsFormula) {
  const CostTable table =
      read_cost_table(std::string(KERNELS_FOLDER) + "/profiles/h100-modelled.csv");
  const double n = 1 << 20, bandwidth = 3e12, launch = 3e-6;
  const auto bytes = [&](const char* name, const char* density) {
    const Compressor& compressor = Registered<Compressor>::find(name);
    return (table.seconds(compressor, settings_at(compressor, density), "decode", n) - launch) *
           bandwidth;
  };
  for (const char* name : {"topk", "gaussiank", "dgc", "mstopk", "sidco"})
    for (const char* density : {"0.0001", "0.001", "0.01", "0.1"})
      EXPECT_NEAR(bytes(name, density), 72 * std::floor(std::stod(density) * n), 100) << name;
  EXPECT_NEAR(bytes("randomk", "0.01"), 68 * std::floor(0.01 * n), 100);
  EXPECT_NEAR(bytes("topk", "1"), (8 + 8) * n, 100);  // the whole sum, read and written, is enough
  EXPECT_NEAR(bytes("cat", ""),
              72 *
                  Registered<Compressor>::find("cat")
                      .wire_bytes(settings_at(Registered<Compressor>::find("cat"), ""), 1 << 20,
                                  Precision::fp32)
                      .bytes /
                  8,
              100);
  EXPECT_NEAR(bytes("none", ""), 12 * n, 100);
  EXPECT_NEAR(bytes("qsgd", ""), 8.5 * n + 4 * n / 512, 100);
}

TEST(Calibrate, WhatIsModelledInThePublishedTableFollowsTheSameFormula) {
  const std::string profiles = std::string(KERNELS_FOLDER) + "/profiles/";
  const CostTable table = read_cost_table(profiles + "v100-published.csv");
  const double n = 138357544;  // VGG-16
  for (const char* name : {"topk", "dgc", "mstopk", "gaussiank"}) {
    const Compressor& compressor = Registered<Compressor>::find(name);
    const Settings settings = settings_at(compressor, "0.001");
    EXPECT_NEAR(table.seconds(compressor, settings, "decode", 1e6), 3e-6 + 72e3 / 0.8e12, 1e-12);
    EXPECT_GT(table.seconds(compressor, settings, "encode", n), 0) << name;
    EXPECT_GT(table.seconds(compressor, settings, "decode", n), 0) << name;
  }
  const Compressor& gaussiank = Registered<Compressor>::find("gaussiank");
  const double modelled =
      read_cost_table(profiles + "v100-modelled.csv")
          .seconds(gaussiank, settings_at(gaussiank, "0.001"), "encode-as-published", 1 << 20);
  EXPECT_NEAR(table.seconds(gaussiank, settings_at(gaussiank, "0.001"), "encode", 1 << 20),
              modelled, 0.01 * modelled);
}

TEST(Calibrate, TheSetOptionTakesAnyOtherParameter) {
  const std::string path = testing::TempDir() + "set.csv";
  const Ended ended = calibrate(
      "--compressors powersgd,qsgd --sizes 256 --bits 2,3 --set rank=1,rank=2,quant-bucket=64 "
      "--distributions gauss --baselines off --out " +
      path);
  ASSERT_EQ(ended.code, 0) << ended.text;
  const CostTable table = read_cost_table(path);
  EXPECT_EQ(table.rows.size(), 2u * (2 + 2));
  EXPECT_EQ(table.rows[2].settings, "rank=2 error-feedback=on");
  EXPECT_EQ(table.rows[6].settings,
            "bits=3 quant-bucket=64 norm=max coding=fixed error-feedback=off");
}

TEST(Calibrate, RefusesWhatItDoesNotKnowInOneLineWithCode2) {
  const std::string table = testing::TempDir() + "not_a_table.csv";
  std::ofstream(table) << "not a table\n";
  for (const std::string& arguments :
       {std::string("--out x.csv --sizes 2^40"),
        std::string("--out x.csv --sizes 0"),
        std::string("--out x.csv --densities 2"),
        std::string("--out x.csv --densities a"),
        std::string("--out x.csv --bits 99"),
        std::string("--out x.csv --compressors zip"),
        std::string("--out x.csv --device tpu"),
        std::string("--out x.csv --device cpu,cuda"),  // once it took the first in silence
        std::string("--out x.csv --threads 0"),
        std::string("--out x.csv --distributions cauchy"),
        std::string("--what 1"),
        std::string("--out"),
        std::string("--threads 2"),
        std::string("--out x.csv --set rank"),
        std::string("--out x.csv --set rank=0"),
        std::string("--out x.csv --set rank="),
        std::string("--out x.csv --set quant-bucket=100"),
        std::string("--out x.csv --set bits=4"),
        std::string("--out x.csv --compressors topk --set rank=2"),
        std::string("--out x.csv --compressors none --set rank=2"),
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
