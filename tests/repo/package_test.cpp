// The .deb made by CPack: its metadata, its content, and that its program works.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>

#include "tests/program/program.h"
#include "tests/repo/commands.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

// Why no .deb can be made here; empty if one can.
std::string why_not() {
  for (const char* tool : {"cpack", "dpkg", "dpkg-deb", "dpkg-shlibdeps", "file"}) {
    int status = 0;
    output_of("command -v " + std::string(tool), status);
    if (status != 0)
      return std::string(tool) + " is not installed";
  }
  int status = 0;
  const std::string libraries = output_of("ldd " SYNCLINE_PROGRAM, status);
  std::smatch simgrid;
  if (!std::regex_search(libraries, simgrid, std::regex("libsimgrid\\S* => (\\S+)")))
    return "the program is linked with no shared libsimgrid";
  output_of("dpkg -S \"$(realpath " + simgrid[1].str() + ")\"", status);
  return status == 0 ? "" : "SimGrid is of no Debian package: " + simgrid[1].str();
}

TEST(Package, IsInstalledAndWorksFromAnotherFolder) {
  if (const std::string reason = why_not(); !reason.empty())
    GTEST_SKIP() << reason;
  const TemporaryFolder folder;
  const std::string build = fs::path(SYNCLINE_PROGRAM).parent_path().string();
  succeeds("cpack --config " + build +
           "/CPackConfig.cmake -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip -B " + folder.path());
  std::string deb;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    if (entry.path().extension() == ".deb")
      deb = entry.path().string();
  ASSERT_NE(deb, "");
  const std::string version = run_program({"--version"}, folder.path()).out;  // "syncline 0.3.0"
  const std::string number = version.substr(9, version.size() - 10);
  EXPECT_TRUE(fs::path(deb).filename().string().starts_with("syncline_" + number + "_")) << deb;
  expect_mentions(text_of(SYNCLINE_SOURCE_DIR "/CHANGELOG.md"), {"\n## [" + number + "] - "});

  const std::string fields = succeeds("dpkg-deb -f " + deb);
  expect_mentions(fields,
                  {"Package: syncline\n", "Version: " + number + "\n", "Section: science",
                   "Depends: ", "libsimgrid", "libboost-program-options", "libexpat1", "zlib1g",
                   "libc6 (>= ", "Description: Simulates distributed deep-learning"});

  const std::string root = folder.path("root");
  succeeds("dpkg-deb -x " + deb + " " + root);
  for (const char* file :
       {"bin/syncline-calibrate", "share/syncline/models/throughput.csv",
        "share/syncline/platforms/two-hosts.xml", "share/syncline/experiments/quickstart.cfg",
        "share/syncline/kernels/profiles/v100-modelled.csv", "share/doc/syncline/README.md",
        "share/doc/syncline/CHANGELOG.md", "share/doc/syncline/copyright"})
    EXPECT_TRUE(fs::is_regular_file(root + "/usr/" + file)) << file;

  // It uses its own data, not the checkout's.
  std::ofstream(root + "/usr/share/syncline/models/mine.csv") << "layer,parameters,forward_flop\n"
                                                                 "a,1000,1e9\n";
  fs::create_directory(folder.path("elsewhere"));
  const auto run = [&](const std::vector<std::string>& arguments) {
    const Ended ended = Program(
                            arguments, folder.path("elsewhere"), [] {}, root + "/usr/bin/syncline")
                            .wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  };
  expect_mentions(run({"list", "models"}), {"\n  mine ", "\n  resnet50 "});
  expect_mentions(run({"run", "--platform", "two-hosts", "--model", "mine", "--throughput", "100",
                       "--out", "results"}),
                  {"throughput", "samples/s"});
  EXPECT_TRUE(fs::is_regular_file(folder.path("elsewhere/results/result.json")));
}

}  // namespace
}  // namespace syncline
