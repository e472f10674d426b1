// Rivals of top-k are timed only if their answer is right: kernels/calibrate/rival.cuh.
#include "kernels/calibrate/rival.cuh"

#include <gtest/gtest.h>

#include "tests/kernels/data.h"

namespace syncline {
namespace {

// A rival that sends these elements, in memory that the host can also access.
DeviceBaseline sending(std::vector<std::size_t> chosen) {
  return {.name = "rival",
          .workspace_bytes = [](std::size_t) { return std::size_t{16}; },
          .run =
              [=](const DeviceInput& input, std::size_t, const DeviceOutput& output, void*, void*) {
                std::copy_n(input.gradient, input.elements, input.residual);
                for (std::size_t i = 0; i < chosen.size(); ++i) {
                  reinterpret_cast<float*>(output.message)[i] = input.gradient[chosen[i]];
                  input.residual[chosen[i]] = 0;
                }
              },
          .check = expect_largest};
}

double seconds_of(const DeviceBaseline& rival) {
  const std::vector<float> gradient = {0.5f, -3, 2, -0.25f, 2.5f};
  return Registered<DeviceRuntime>::find("cuda").baseline_sampler(rival, gradient, 3)();
}

TEST(Rival, MayHaveTheLargestInAnyOrder) {
  EXPECT_GE(seconds_of(sending({1, 2, 4})), 0);
  EXPECT_GE(seconds_of(sending({4, 1, 2})), 0);
}

TEST(Rival, IsNotMeasuredWhereItsAnswerIsWrong) {
  EXPECT_THROW(seconds_of(sending({1, 0, 4})), std::runtime_error);
  EXPECT_THROW(seconds_of(sending({1, 4, 4})), std::runtime_error);
  DeviceBaseline keeping = sending({1, 2, 4});  // leaves what it sent in the residual
  keeping.run = [run = keeping.run](const DeviceInput& input, const auto&... others) {
    run(input, others...);
    input.residual[2] = input.gradient[2];
  };
  EXPECT_THROW(seconds_of(keeping), std::runtime_error);
}

}  // namespace
}  // namespace syncline
