// Runs kernels/first-gpu.sh for tests.
#pragma once

#include <filesystem>

#include "tests/kernels/calibrate.h"

namespace syncline {

// A folder for the script, with the programs that come first on its path and those that count as
// built.
class FirstGpu : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "first_gpu_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    for (const char* name : {"/bin", "/build"})
      std::filesystem::create_directories(folder_ + name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Puts a program of this name first on the path.
  void on_the_path(const std::string& name, const std::string& script) {
    write_program("/bin/" + name, script);
  }
  // Adds a program of this name that counts as built.
  void built(const std::string& name, const std::string& script) {
    write_program("/build/" + name, script);
  }

  Ended run(const std::string& seconds, const std::string& environment = "") {
    return calibrate(seconds + " " + folder_ + "/out",
                     std::string("env PATH=") + folder_ + "/bin:$PATH FIRST_GPU_BUILD=" + folder_ +
                         "/build FIRST_GPU_LARGE=2000 FIRST_GPU_SIZES=100 " + environment +
                         " " KERNELS_FOLDER "/first-gpu.sh");
  }

  std::string summary() const { return text_of(folder_ + "/out/summary.txt"); }

  // The summary line of a step, without its seconds.
  std::string step(const std::string& name) const {
    std::ifstream in(folder_ + "/out/summary.txt");
    for (std::string line; std::getline(in, line);)
      if (line.starts_with(name + " ") && line.size() >= 44)
        return line.substr(15, 13) + line.substr(44);
    return "";
  }

  void write_program(const std::string& place, const std::string& script) {
    std::ofstream(folder_ + place) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(folder_ + place, std::filesystem::perms::owner_all);
  }

  std::string folder_;
};

}  // namespace syncline
