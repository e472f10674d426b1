// The calibrator on the emulated device, and with a wrong compressor.
#include "kernels/cost_table.h"
#include "tests/kernels/calibrate.h"

namespace syncline {
namespace {

Ended emulated(const std::string& arguments) {
  return calibrate(arguments, EMULATED_CALIBRATE);
}

TEST(CalibrateCuda, MeasuresEveryCompressorAndSaysHowItsClocksWere) {
  const std::string path = testing::TempDir() + "emulated.csv";
  std::string names;
  for (const std::string& name : cuda_compressors())
    names += (names.empty() ? "" : ",") + name;
  const Ended ended =
      emulated("--device cuda --sizes 300 --densities 0.01 --distributions gauss --compressors " +
               names + " --out " + path);
  ASSERT_EQ(ended.code, 0) << ended.text;
  const CostTable table = read_cost_table(path);
  EXPECT_EQ(table.about("device"), "emulator");
  const std::size_t rows = 3 * cuda_compressors().size() + 1;  // and pass-histogram
  EXPECT_EQ(table.rows.size(), rows);
  EXPECT_NE(table.about("clocks").find(" MHz after each timing, median "), std::string::npos);
  EXPECT_NE(table.about("clocks").find(", " + std::to_string(rows) + " timings; "),
            std::string::npos)
      << table.about("clocks");
  EXPECT_NE(table.about("method").find("four times the L2 read before each"), std::string::npos);
}

TEST(CalibrateCuda, EliasCodesAreRefusedBeforeAnythingIsMeasured) {
  const std::string path = testing::TempDir() + "elias.csv";
  const Ended ended = emulated(
      "--device cuda --sizes 300 --distributions gauss --compressors none,qsgd --set "
      "coding=fixed,coding=sparse --out " +
      path);
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.text,
            "syncline-calibrate: qsgd on a CUDA device: coding = sparse: allowed is fixed, as "
            "Elias codes are made on CPUs only\n");
  EXPECT_FALSE(std::ifstream(path).good());
}

// The others are measured; code 1, a header line and an error line say what was left out.
TEST(CalibrateCuda, AWrongCompressorIsLeftOutWhileOthersGoOn) {
  for (const std::string device : {"cpu", "cuda"}) {
    const std::string path = testing::TempDir() + "wrong_" + device + ".csv";
    const Ended ended = emulated("--device " + device +
                                 " --sizes 300 --distributions gauss --baselines off "
                                 "--compressors none,wrong,efsign --out " +
                                 path);
    EXPECT_EQ(ended.code, 1) << ended.text;
    const CostTable table = read_cost_table(path);
    ASSERT_EQ(table.rows.size(), 6u);
    EXPECT_EQ(table.rows[0].compressor, "none");
    EXPECT_EQ(table.rows[3].compressor, "efsign");
    EXPECT_EQ(table.about("left out").find("wrong, gauss, 300 elements: "), 0u);
    EXPECT_NE(ended.text.find("left out: wrong, gauss, 300 elements: "), std::string::npos)
        << ended.text;
  }
}

}  // namespace
}  // namespace syncline
