// Cost tables: reading returns what was written, sizes are interpolated linearly in logarithms, and
// every wrong table or question is answered by one line that says what, where and what is allowed.
#include "kernels/cost_table.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

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
  } catch (const std::exception& error) {
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
  // The message advises no command that would not measure it.
  const std::string largest = message("0.01", "encode", 8'030'261'248);
  EXPECT_NE(largest.find("at 8030261248 elements: buckets have at most 4294967295"),
            std::string::npos)
      << largest;
  EXPECT_EQ(largest.find("syncline-calibrate"), std::string::npos) << largest;
  const std::string denser = message("0.5", "encode", 2000);
  EXPECT_NE(denser.find("allowed are densities 0.01 to 0.01; to measure it: syncline-calibrate "
                        "--compressors topk --sizes 2000 --densities 0.5"),
            std::string::npos)
      << denser;
  EXPECT_NE(message("0.01", "decode", 2000).find("not in the table"), std::string::npos);
}

std::string topk_row(const std::string& density, double elements, double seconds,
                     const std::string& distribution = "gauss") {
  std::ostringstream text;
  text << "topk,density=" << density << " error-feedback=on,encode," << elements << "," << seconds
       << ",0,0,8," << distribution << "\n";
  return text.str();
}

std::string error_of(const CostTable& table, const Compressor& compressor, const Settings& settings,
                     double elements) {
  try {
    table.seconds(compressor, settings, "encode", elements);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

// Seconds are 3 n^0.5 d^0.25, which is linear in both logarithms, so interpolation is exact.
TEST(CostTable, InterpolatesBetweenMeasuredDensities) {
  const auto formula = [](double n, double d) { return 3 * std::sqrt(n) * std::pow(d, 0.25); };
  std::string text = head;
  for (const char* density : {"0.1", "0.001", "0.01"})
    for (const double n : {1e5, 1e3})
      text += topk_row(density, n, formula(n, std::stod(density)));
  const CostTable table = read_cost_table(file_with(text));
  for (const char* density : {"0.001", "0.004", "0.0099", "0.03", "0.1"})
    for (const double n : {1e3, 5e3, 1e5}) {
      const double expected = formula(n, std::stod(density));
      EXPECT_NEAR(table.seconds(topk(), settings_at(topk(), density), "encode", n), expected,
                  2e-5 * expected)  // seconds in the table have six digits
          << density << ", " << n;
    }
  for (const char* density : {"0.0009", "0.11", "0"}) {
    const std::string error = error_of(table, topk(), settings_at(topk(), density), 1e4);
    EXPECT_NE(error.find("allowed are densities 0.001 to 0.1; to measure it: syncline-calibrate"),
              std::string::npos)
        << error;
  }
  EXPECT_NE(error_of(table, topk(), settings_at(topk(), "0.05"), 2e5)
                .find("200000 elements: allowed are 1000 to 100000"),
            std::string::npos);
  EXPECT_THROW(table.seconds(topk(), {topk().options, {{"error-feedback", "off"}}}, "encode", 1e4),
               std::invalid_argument);
}

// An additional size at another density, as a calibration adds it, must not lose answers.
TEST(CostTable, InterpolatesBetweenDensitiesMeasuredAtThatSize) {
  const CostTable table = read_cost_table(file_with(
      head + topk_row("0.001", 1000, 1) + topk_row("0.001", 1e6, 1) + topk_row("0.1", 1000, 4) +
      topk_row("0.1", 1e6, 4) + topk_row("0.01", 1e4, 7) + topk_row("0.0316", 1000, 99, "steady") +
      topk_row("0.0316", 1e6, 99, "steady") + topk_row("0", 1000, 99) + topk_row("0", 1e6, 99)));
  const auto seconds = [&](const char* density, double n) {
    return table.seconds(topk(), settings_at(topk(), density), "encode", n);
  };
  EXPECT_EQ(seconds("0.01", 1e4), 7);
  EXPECT_NEAR(seconds("0.01", 1e5), 2, 1e-12);
  EXPECT_NEAR(seconds("0.03162277660168379", 1e4), 4 / std::sqrt(4.0 / 7), 1e-9);
  EXPECT_EQ(seconds("0.0316", 1e5), 99);  // its own distribution
  EXPECT_EQ(seconds("0", 1e5), 99);
  EXPECT_THROW(seconds("0.0001", 1e5), std::invalid_argument);  // zero is no neighbour
}

TEST(CostTable, RowsDoNotNameWhatDoesNotChangeTheCost) {
  const Compressor& cat = Registered<Compressor>::find("cat");
  const std::map<std::string, std::string> given = {{"cost", "affine"}, {"fixed-cost", "7"}};
  EXPECT_EQ(written_settings(cat, {cat.options, given}), "rule=sparsify error-feedback=on");
  const Compressor& threshold = Registered<Compressor>::find("threshold");
  EXPECT_EQ(written_settings(threshold, settings_at(threshold, "")), "cutoff=3 error-feedback=on");
  for (const char* profile : {"cpu", "h100-modelled"}) {
    const CostTable table =
        read_cost_table(std::string(KERNELS_FOLDER) + "/profiles/" + profile + ".csv");
    EXPECT_EQ(table.seconds(cat, {cat.options, given}, "encode", 1 << 20),
              table.seconds(cat, settings_at(cat, ""), "encode", 1 << 20));
  }
}

TEST(CostTable, SettingsAreWrittenSoThatTheyAreFoundAgain) {
  EXPECT_EQ(written_settings(topk(), settings_at(topk(), "0.001")),
            "density=0.001 error-feedback=on");
  EXPECT_EQ(written_settings(topk(), settings_at(topk(), "0.333333333333333314829616256247")),
            "density=0.3333333333333333 error-feedback=on");
}

TEST(CostTable, ReportsAWrongTableInOneLine) {
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
  EXPECT_NE(error_of(head + rows + "topk,,encod,10,1,0,0,0,gauss\n")
                .find(":6: operation 'encod': allowed are encode, decode, or a variant"),
            std::string::npos);
  EXPECT_NE(error_of(head + "topk,,decode-,10,1,0,0,0,gauss\n").find("operation 'decode-'"),
            std::string::npos);
  EXPECT_EQ(error_of(head + "topk,,encode-torch,10,1,0,0,0,gauss\n"), "none");
  EXPECT_NE(error_of(head.substr(15) + rows).find("'# device: ...'"), std::string::npos);
  std::string guessed = head + rows;
  guessed.replace(guessed.find("measured"), 8, "guessed!");
  EXPECT_NE(error_of(guessed).find("measured, published or modelled"), std::string::npos);
  EXPECT_THROW(read_cost_table("/nowhere/x.csv"), std::exception);
}

TEST(CostTable, RefusesWhatStandsTwice) {
  EXPECT_NE(error_of(head + rows + rows).find(":6: a second row"), std::string::npos);
  EXPECT_EQ(error_of("# fit: of a\n# fit: of b\n" + head + rows), "none") << "only a remark";
  for (const char* key : {"device", "provenance", "driver", "model", "range"}) {
    const std::string line = std::string("# ") + key + ": measured\n";
    EXPECT_NE(error_of(line + line + head + rows).find(std::string("a second '# ") + key),
              std::string::npos)
        << key;
  }
}

TEST(CostTable, ARangeHasSecondsBetweenItsEndsAndInterpolatesEach) {
  const std::string made = "# device: made up\n# provenance: modelled\n# range: of guesses\n" +
                           head.substr(head.find("compressor,"));
  const CostTable table = read_cost_table(
      file_with(made + "topk,,encode,1000,2,1,4,80,gauss\ntopk,,encode,100000,8,3,40,80,gauss\n"));
  EXPECT_TRUE(table.is_range());
  EXPECT_FALSE(read_cost_table(file_with(head + rows)).is_range());
  const Settings settings = settings_at(topk(), "0.01");
  const auto at = [&](double elements, double CostRow::*figure) {
    return table.seconds(topk(), settings, "encode", elements, figure);
  };
  EXPECT_EQ(at(1000, &CostRow::p10), 1);
  EXPECT_NEAR(at(10000, &CostRow::p10), std::sqrt(3.0), 1e-9);
  EXPECT_NEAR(at(10000, &CostRow::seconds), 4, 1e-9);
  EXPECT_NEAR(at(10000, &CostRow::p90), std::sqrt(160.0), 1e-9);
  for (const char* row : {"2,0,4", "2,3,4", "2,1,1.9"})
    EXPECT_NE(error_of(made + "topk,,encode,1000," + row + ",80,gauss\n")
                  .find("0 < p10 <= seconds <= p90, unlike encode of topk () at 1000 elements"),
              std::string::npos)
        << row;
  EXPECT_NE(error_of("# range: of runs\n" + head + rows).find("a measured table"),
            std::string::npos);
}

TEST(CostTable, RefusesSettingsThatTheCompressorWouldRefuse) {
  const auto with = [](const std::string& parameters) {
    return error_of(head + "topk," + parameters + ",encode,1000,0.001,0,0,80,gauss\n");
  };
  EXPECT_EQ(with("density=1e-4"), "none");
  for (const char* density : {"nan", "inf", "-inf", "-1", "2", "1e999", "0.1x", "0x1p-7", "+0.1"})
    EXPECT_NE(with(std::string("density=") + density).find(std::string(":4: density = ") + density),
              std::string::npos)
        << density;
  EXPECT_NE(with("density=").find(":4: density"), std::string::npos);
  EXPECT_NE(with("density=0.1 density=0.2").find(":4: parameters: a second density"),
            std::string::npos);
  for (const char* word : {"density", "dens=0.1", "=0.1"})
    EXPECT_NE(with(word).find("'" + std::string(word) + "': allowed for topk are density="),
              std::string::npos)
        << word;
  EXPECT_EQ(error_of(head + "of-tomorrow,x=nan,encode,1000,0.001,0,0,80,gauss\n"), "none");
}

TEST(CostTable, RefusesNumbersThatNoDeviceMakes) {
  const std::vector<std::string> column{"elements", "seconds", "p10", "p90", "wire_bytes"};
  for (std::size_t i = 0; i < column.size(); ++i)
    for (const char* bad : {"nan", "inf", "-1", "1e999", "1e308", "0x10", "+1", " 1", "1 ", ""}) {
      std::string row = "topk,,encode";
      for (std::size_t k = 0; k < column.size(); ++k)
        row += k == i ? std::string(",") + bad : ",1";
      const std::string expected = ":4: " + column[i] + " = '" + bad + "': allowed are numbers";
      EXPECT_NE(error_of(head + row + ",gauss\n").find(expected), std::string::npos) << row;
    }
}

// Below 2.2e-308 numbers are subnormal, for which std::stod throws.
TEST(CostTable, KnowsItsLowestDensityHoweverLow) {
  const CostTable table = read_cost_table(file_with(
      head +
      "topk,density=0.5,encode,1,1,1,1,1,gauss\ntopk,density=1e-308,encode,1,1,1,1,1,gauss\n"));
  EXPECT_EQ(table.lowest_density(Registered<Compressor>::find("topk")), 1e-308);
}

TEST(CostTable, ReadsBackWhatItWrote) {
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

}  // namespace
}  // namespace syncline
