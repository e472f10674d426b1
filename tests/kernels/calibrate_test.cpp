// The calibrator: its tables can be read back, the command in an error measures what was missing,
// and modelled tables follow their formula.
#include "tests/kernels/calibrate.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
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
    if (name == RECIPE)  // only compiled into these tests
      continue;
    EXPECT_GT(table.seconds(compressor, settings_at(compressor, "0.01"), "encode", 10000), 0);
  }
  const Ended more = calibrate(
      "--compressors none --sizes 2^15 --distributions gauss "
      "--baselines off --append " +
      path);
  ASSERT_EQ(more.code, 0) << more.text;
  EXPECT_EQ(read_cost_table(path).rows.size(), table.rows.size() + 3);
}

// The command in the error about these settings, without the program's name.
std::string advised(const std::string& path, const Compressor& compressor, const Settings& settings,
                    double elements) {
  const std::string error =
      read_cost_table(path).lacking({{&compressor, settings, "encode", elements}});
  const std::string before = path.ends_with("modelled.csv")
                                 ? "; the table is modelled, and needs no device; to add it: "
                                   "syncline-calibrate "
                                 : "; to measure it: syncline-calibrate ";
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

// For several compressors, settings and sizes at once, and with an unusual distribution that new
// rows must continue.
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
  // Everything but 100 elements at 0.01 and 0.05, which lie between measured rows.
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

// A table that replaces another one must also hold that table's rows.
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

// A device's seconds must be measured on that device, and not added to published ones.
TEST(Calibrate, TheCommandInAGpusTableAsksForAGpu) {
  const std::string published = std::string(KERNELS_FOLDER) + "/profiles/v100-published.csv";
  EXPECT_EQ(advised(published, topk(), settings_at(topk(), "0.01"), 1e6),
            "--compressors topk --sizes 1000000 --densities 0.01 --device cuda --out measured.csv");
}

TEST(Calibrate, ModelledProfilesAreWhatTheProgramWrites) {
  int tables = 0;
  for (const auto& file : std::filesystem::directory_iterator(KERNELS_FOLDER "/profiles")) {
    const std::string name = file.path().filename().string();
    if (!name.ends_with("-modelled.csv"))
      continue;
    ++tables;
    const std::string device = name.substr(0, name.rfind("-modelled"));
    const std::string path = testing::TempDir() + device + "_modelled.csv";
    ASSERT_EQ(calibrate("--model " + device + " --out " + path).code, 0);
    EXPECT_TRUE(text_of(path) == text_of(file.path().string()))
        << "run: syncline-calibrate --model " << device << " --out kernels/profiles/" << name;
  }
  EXPECT_EQ(tables, 8);
}

// A copy: a launch, the waits of a chain, and 8 bytes per value at the rate of an H100 PCIe's
// triad.
TEST(Calibrate, ModelledSecondsAreALaunchWaitsAndBytesAndTheEndsMultiplesOfThem) {
  const CostTable table =
      read_cost_table(std::string(KERNELS_FOLDER) + "/profiles/h100-pcie-modelled.csv");
  ASSERT_TRUE(table.is_range());
  const Compressor& none = Registered<Compressor>::find("none");
  for (const double elements : {0x1p20, 0x1p28})
    for (const auto& [figure, times] :
         {std::pair(&CostRow::seconds, 1.0), {&CostRow::p10, 0.75}, {&CostRow::p90, 1.33}}) {
      const double seconds = 3.2e-6 + 2 * 0.5e-6 + 8 * elements / 1.832e12;
      EXPECT_NEAR(table.seconds(none, settings_at(none, ""), "encode", elements, figure),
                  times * seconds, 1e-5 * seconds);
    }
}

// One coefficient of each of 4096 chunks: two products of 64 x 64 with the basis, one row back, and
// 64 columns of one row down; an H100 PCIe has 25.5e12 slots per second, and a chunk's block waits
// 33 times.
TEST(Calibrate, ModelledTransformsTakeTheTimeOfTheirArithmetic) {
  const CostTable table =
      read_cost_table(std::string(KERNELS_FOLDER) + "/profiles/h100-pcie-modelled.csv");
  const Compressor& transform = Registered<Compressor>::find("dct-topk");
  const double flops = 4096.0 * (4 * 64 * 4096 + 2 * 64 + 2 * 4096), written = 4096 * 13.5;
  EXPECT_NEAR(table.seconds(transform, settings_at(transform, "0.0001"), "encode", 1 << 24),
              2 * 3.2e-6 + 35 * 0.5e-6 + 2.83 * flops / 25.5e12 + written / 1.832e12, 1e-9);
}

// A further message: a sixteenth of what seventeen messages of 2^24 values take longer than one.
// 17 slots, or 20, per value and message of an H100's 33.5e12 per second, and a wait.
TEST(Calibrate, ModelledFurtherMessagesTakeTheirSlotsAndAWait) {
  const CostTable table =
      read_cost_table(std::string(KERNELS_FOLDER) + "/profiles/h100-modelled.csv");
  const double n = 1 << 24;
  for (const auto& [name, message_bytes, slots] : {std::tuple("efsign", n / 8 + 4, 17.0),
                                                   {"terngrad", n / 4 + 4, 17.0},
                                                   {"qsgd", n / 2 + 4 * n / 512, 20.0}}) {
    const Compressor& compressor = Registered<Compressor>::find(name);
    const Settings settings = settings_at(compressor, "");
    const auto at = [&](double elements, double CostRow::*figure = &CostRow::seconds) {
      return table.seconds(compressor, settings, further_operation, elements, figure);
    };
    const double many_s = 17 * slots * n / 33.5e12, one_s = (8 * n + message_bytes) / 3.074e12;
    EXPECT_NEAR(at(n), 0.5e-6 + (many_s - one_s) / 16, 1e-9) << name;
    EXPECT_NEAR(at(1), 0.5e-6, 1e-8) << name;
    EXPECT_NEAR(at(n, &CostRow::p90) / at(n, &CostRow::p10), 4, 1e-4) << name;
  }
}

TEST(Calibrate, ModelledTablesHaveNoCodesThatNoKernelMakes) {
  const Ended ended =
      calibrate("--model v100 --compressors qsgd --sizes 1 --set coding=sparse --out " +
                testing::TempDir() + "elias_model.csv");
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.text,
            "syncline-calibrate: qsgd on a CUDA device: coding = sparse: allowed is fixed, as "
            "Elias codes are made on CPUs only\n");
}

TEST(Calibrate, ModelledSecondsAreNumbersWhereNoL2IsKnown) {
  const std::string path = testing::TempDir() + "no_l2.csv";
  ASSERT_EQ(calibrate("--model v100 --compressors qsgd --sizes 1 --out " + path).code, 0);
  EXPECT_GT(read_cost_table(path).rows.size(), 1u);  // passes all checks of a range
}

// By hand: decoding adds into an existing sum, so of n elements it reads and writes the sectors of
// eight that hold a sent one, and reads the message; encoding is a chain.
TEST(Calibrate, ModelledTrafficIsThatOfTheKernels) {
  const std::size_t elements = 1 << 20;
  const double n = static_cast<double>(elements);
  const auto bytes = [&](const std::string& name, const std::string& density,
                         const std::string& operation, std::size_t launches) {
    const Compressor& compressor = Registered<Compressor>::find(name);
    const Settings settings = settings_at(compressor, density);
    const StreamOperations chain = operation == "encode"
                                       ? compressor.traffic.encode(settings, elements)
                                       : compressor.traffic.decode(settings, elements, 1);
    EXPECT_EQ(chain.size(), launches) << name;
    return bytes_of(chain);
  };
  for (const char* name : {"topk", "mstopk", "gaussiank", "randomk"})
    for (const char* density : {"0.0001", "0.001", "0.01", "0.1", "1"}) {
      const double share = std::stod(density), pair = std::string(name) == "randomk" ? 4 : 8;
      const double expected = pair * share * n + 8 * n * (1 - std::pow(1 - share, 8));
      EXPECT_NEAR(bytes(name, density, "decode", 1), expected, 0.03 * expected + 200) << name;
    }
  EXPECT_NEAR(bytes("none", "", "decode", 1), 12 * n, 100);
  EXPECT_NEAR(bytes("qsgd", "", "decode", 1), 8.5 * n + 4 * n / 512, 100);
  // g and e are read, u is written; one sign each, and 32 bytes for each of 128 tiles, which are
  // read again as a group.
  EXPECT_NEAR(bytes("efsign", "", "encode", 3), 12.125 * n + 2 * 32 * 128, 500);
  // Sums, then two passes over u, then the list: 20.4 bytes, and writing what is left at the places
  // of the list.
  EXPECT_NEAR(bytes("gaussiank", "0.01", "encode", 9) / n, 20 + 0.24 + 0.31, 0.02);
}

TEST(Calibrate, PublishedProfilesAreWhatTheirScriptWrites) {
  if (std::system("python3 -c 'import sys' >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "no python3";
  const std::string kernels = KERNELS_FOLDER;
  const std::string script = "python3 " + kernels + "/calibrate/published.py " CALIBRATE;
  ASSERT_EQ(std::system((script + " " + testing::TempDir()).c_str()), 0);
  for (const std::string name : {"v100-published.csv", "cpu-published.csv"})
    EXPECT_TRUE(text_of(testing::TempDir() + name) == text_of(kernels + "/profiles/" + name))
        << "run: python3 kernels/calibrate/published.py syncline-calibrate";
}

// At 2^20 values: Espresso's constants, and MSTopK's figure, with 2.15 ms at 1,000,000 values.
TEST(Calibrate, PublishedOperatorsAreARangeWhereTwoDiffer) {
  const CostTable table =
      read_cost_table(std::string(KERNELS_FOLDER) + "/profiles/v100-published.csv");
  ASSERT_TRUE(table.is_range());
  const auto at = [&](const char* name, const char* operation, double CostRow::*figure) {
    const Compressor& compressor = Registered<Compressor>::find(name);
    return table.seconds(compressor, settings_at(compressor, "0.01"), operation, 1 << 20, figure);
  };
  EXPECT_NEAR(at("dgc", "encode", &CostRow::p10), 356e-6, 3e-5);  // between two sizes
  EXPECT_NEAR(at("dgc", "encode", &CostRow::p90), 2.22e-3, 0.03e-3);
  EXPECT_NEAR(at("dgc", "encode", &CostRow::seconds),
              std::sqrt(at("dgc", "encode", &CostRow::p10) * at("dgc", "encode", &CostRow::p90)),
              1e-8);
  for (const auto& [name, encode_us, decode_us] :
       {std::tuple("randomk", 54, 34), {"efsign", 130, 140}, {"onebit", 450, 170}})
    for (double CostRow::*figure : {&CostRow::p10, &CostRow::seconds, &CostRow::p90}) {
      EXPECT_NEAR(at(name, "encode", figure), 1e-6 * encode_us, 1e-12) << name;
      EXPECT_NEAR(at(name, "decode", figure), 1e-6 * decode_us, 1e-12) << name;
    }
  const double n = 138357544;  // VGG-16
  for (const char* name : {"topk", "dgc", "mstopk", "gaussiank"})
    for (const char* operation : {"encode", "decode"}) {
      const Compressor& compressor = Registered<Compressor>::find(name);
      EXPECT_GT(table.seconds(compressor, settings_at(compressor, "0.001"), operation, n), 0);
    }
}

TEST(Calibrate, TheSetOptionTakesAnyOtherParameter) {
  const std::string path = testing::TempDir() + "set.csv";
  const Ended ended = calibrate(
      "--compressors powersgd,qsgd --sizes 256 --bits 2,3 --set rank=1,rank=2,quant-bucket=64 "
      "--distributions gauss --baselines off --out " +
      path);
  ASSERT_EQ(ended.code, 0) << ended.text;
  const CostTable table = read_cost_table(path);
  EXPECT_EQ(table.rows.size(), 3u * (2 + 2));
  EXPECT_EQ(table.rows[3].settings, "rank=2 error-feedback=on");
  EXPECT_EQ(table.rows[9].settings,
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
        std::string("--out x.csv --device cpu,cuda"),  // once, the first was taken silently
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
