// kernels/first-gpu.sh with the emulated device, and with what stands for compute-sanitizer.
#include "kernels/cost_table.h"
#include "tests/kernels/first_gpu.h"

namespace syncline {
namespace {

// The calibrator of this test knows a wrong compressor, which none of its tables may hold.
TEST_F(FirstGpu, MeasuresOnTheEmulatedDeviceAndComparesWithTheFloors) {
  on_the_path("compute-sanitizer",
              "case \"$*\" in *synccheck*) ;; *) exit 0 ;; esac\n"  // time is enough for one
              "while [ \"${1#--}\" != \"$1\" ]; do shift 2; done\nexec \"$@\"\n");
  std::filesystem::create_symlink(EMULATED_CALIBRATE, folder_ + "/build/syncline-calibrate");
  std::ofstream tests(folder_ + "/build/CTestTestfile.cmake");
  for (const std::string name : {"EveryCudaCompressor/Device.CanBeMeasured/none",
                                 "DeviceStress.TopkIsIdenticalAThousandTimes"})
    tests << "add_test(" << name << " " EMULATED_TEST " --gtest_filter=" << name << ")\n";
  tests << "add_test(DeviceBaselines.Fails false)\n";
  tests.close();
  const Ended ended = run("600");
  EXPECT_EQ(ended.code, 1) << ended.text;
  EXPECT_EQ(step("build").find("done"), 0u) << ended.text;
  const std::string all = std::to_string(cuda_compressors().size());
  EXPECT_EQ(step("sanitizer"), "done         memcheck: " + all + " of " + all +
                                   " clean; racecheck clean; synccheck clean; initcheck clean");
  EXPECT_EQ(step("device-tests"),
            "FAILED       1 passed, 0 skipped, not passed: DeviceBaselines.Fails ");
  EXPECT_EQ(step("calibrate-large"), "done         6 of 6 at 2000");
  EXPECT_EQ(step("calibrate-sizes").find("FAILED"), 0u);
  EXPECT_NE(step("calibrate-sizes").find(" rows; left out: wrong, gauss, 100 elements"),
            std::string::npos)
      << step("calibrate-sizes");
  EXPECT_EQ(step("stress"), "done         1 passed, 0 skipped");
  for (const char* name : {"large-topk", "large-powersgd", "sizes", "baselines"})
    EXPECT_FALSE(read_cost_table(folder_ + "/out/" + name + ".csv").rows.empty()) << name;
  // A sample takes a millisecond on the emulator, whose copies move as fast as its copies do.
  const std::string line = "topk                     density=0.01 error-feedback=on ";
  const std::size_t at = summary().find(line);
  ASSERT_NE(at, std::string::npos) << summary();
  EXPECT_NE(summary().substr(at, 140).find("2000 50000.000  12.50 "), std::string::npos)
      << summary();
}

}  // namespace
}  // namespace syncline
