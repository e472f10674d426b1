// Helpers for tests of the calibrator: run it, and read what it wrote.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <vector>

namespace syncline {

struct Ended {
  int code = 0;
  std::string text;  // standard output and errors
};

inline std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {(std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>()};
}

inline Ended calibrate(const std::string& arguments, const std::string& program = CALIBRATE) {
  const std::string output =  // of this test: others may run at the same time
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + ".txt";
  const int status = std::system((program + " " + arguments + " >" + output + " 2>&1").c_str());
  return {WEXITSTATUS(status), text_of(output)};
}

// The names of compressors with a CUDA version: each is one file.
inline std::vector<std::string> cuda_compressors() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(KERNELS_FOLDER "/compressors"))
    if (file.path().extension() == ".cu")
      names.push_back(file.path().stem().string());
  return names;
}

}  // namespace syncline
