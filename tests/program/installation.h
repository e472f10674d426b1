// A copy of the program with its own data, which a test may change.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/catalogue/files.h"
#include "tests/program/program.h"

namespace syncline {

class Installation {
 public:
  Installation() {
    namespace fs = std::filesystem;
    for (const char* part : {"models", "platforms", "kernels/profiles"}) {
      fs::create_directories(data(part));
      fs::copy(fs::path(data_root()) / part, data(part), fs::copy_options::recursive);
    }
    fs::create_directory(folder_.path("bin"));
    fs::copy_file(SYNCLINE_PROGRAM, folder_.path("bin/syncline"));
  }
  std::string data(const std::string& name) const { return folder_.path("share/syncline/" + name); }
  void write(const std::string& name, const std::string& text) const {
    folder_.write("share/syncline/" + name, text);
  }
  Ended run(const std::vector<std::string>& arguments, const std::string& folder) const {
    return Program(
               arguments, folder, [] {}, folder_.path("bin/syncline"))
        .wait();
  }

 private:
  const TemporaryFolder folder_;
};

}  // namespace syncline
