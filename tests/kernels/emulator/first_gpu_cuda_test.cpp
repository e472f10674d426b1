// kernels/first-gpu.sh with the emulated device and a stand-in for compute-sanitizer.
#include "kernels/cost_table.h"
#include "tests/kernels/first_gpu.h"

namespace syncline {
namespace {

// This test's calibrator has a wrong compressor, which no table may contain.
TEST_F(FirstGpu, MeasuresOnTheEmulatedDeviceAndComparesWithTheFloors) {
  on_the_path("compute-sanitizer",
              "case \"$*\" in *synccheck*) ;; *) exit 0 ;; esac\n"  // there is time for one
              "while [ \"${1#--}\" != \"$1\" ]; do shift 2; done\nexec \"$@\"\n");
  on_the_path("ncu", "echo gpu__time_duration.sum\n");
  std::filesystem::create_symlink(EMULATED_CALIBRATE, folder_ + "/build/syncline-calibrate");
  built(
      "kernels_test",
      "case $1 in\n"
      "--gtest_list_tests) printf 'EveryCudaCompressor/Device.\\n  CanBeMeasured/none  # of none\\n"
      "DeviceStress.\\n  TopkIsIdenticalAThousandTimes\\nDeviceBaselines.\\n  Fails\\n' ;;\n"
      "*Fails) exit 1 ;;\n*) exec " EMULATED_TEST " \"$@\" ;;\nesac\n");
  const Ended ended = run("600");
  EXPECT_EQ(ended.code, 1) << ended.text;
  EXPECT_EQ(step("build"), "done         both programs run") << ended.text;
  EXPECT_EQ(step("large"), "done         8 of 8 at 2000");
  EXPECT_EQ(step("sizes").find("FAILED"), 0u);
  EXPECT_NE(step("sizes").find(" rows; left out: wrong, gauss, 100 elements"), std::string::npos)
      << step("sizes");
  EXPECT_EQ(step("tests"),
            "FAILED       1 of 2 passed, 1 wrong, 0 skipped, 0 out of time, 0 never begun");
  EXPECT_EQ(step("counters"), "done         6 launches");
  const std::string all = std::to_string(cuda_compressors().size());
  EXPECT_EQ(step("sanitizer"),
            "FAILED       memcheck clean (0 compressors); racecheck clean (0 "
            "compressors); synccheck code 1 (" +
                all + " compressors);");
  EXPECT_EQ(step("stress"),
            "done         1 of 1 passed, 0 wrong, 0 skipped, 0 out of time, 0 never begun");
  using Files = std::filesystem::directory_iterator;
  EXPECT_EQ(std::distance(Files(folder_ + "/out"), Files()), 6);
  for (const char* name : {"sizes", "rivals"})
    EXPECT_FALSE(read_cost_table(folder_ + "/out/" + name + ".csv").rows.empty()) << name;
  // On the emulator every sample takes a millisecond, those of copies too, so this line is known.
  const std::string line = "topk                     density=0.01 error-feedback=on ";
  const std::size_t at = summary().find(line);
  ASSERT_NE(at, std::string::npos) << summary();
  EXPECT_NE(summary().substr(at, 140).find("2000 50000.000  12.50 "), std::string::npos)
      << summary();
}

}  // namespace
}  // namespace syncline
