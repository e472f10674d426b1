// Helpers with files and shells for tests of READMEs and packages.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace syncline {

inline const std::filesystem::path root = SYNCLINE_SOURCE_DIR;

inline std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  return lines;
}

// A command's output, including errors.
inline std::string output_of(const std::string& command, int& status) {
  std::string text;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe))
    text.append(buffer, count);
  status = pclose(pipe);
  return text;
}

inline std::string succeeds(const std::string& command) {
  int status = 0;
  const std::string text = output_of(command, status);
  EXPECT_EQ(status, 0) << command << "\n" << text;
  return text;
}

// Python 3 itself, not a wrapper that may come first on PATH and takes a second to start; empty if
// there is none.
inline const std::string& python3() {
  static const std::string path = [] {
    int status = 0;
    const std::string said = output_of("python3 -c 'import sys; print(sys.executable)'", status);
    return status == 0 ? said.substr(0, said.find('\n')) : "";
  }();
  return path;
}

}  // namespace syncline
