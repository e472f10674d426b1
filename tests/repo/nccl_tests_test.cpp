// platforms/from_nccl_tests.py on published output (tests/repo/fixtures/README.md), and on what is
// broken in it.
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/repo/commands.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

const std::string fixtures = (root / "tests/repo/fixtures/").string();
const std::string importer = "python3 " + (root / "platforms/from_nccl_tests.py").string() + " ";

std::string text_of_fixture(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(fixtures + name).rdbuf();
  return text.str();
}

double after(const std::string& word, const std::string& text) {
  std::smatch found;
  EXPECT_TRUE(std::regex_search(text, found, std::regex(word + "\\s+([\\d.]+)"))) << text;
  return found.empty() ? 0 : std::stod(found[1]);
}

class NcclTests : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c 'import sys' >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "no python3";
  }
};

// Large sizes alone say the bus bandwidth that the file prints for them: 4.00 and 337 GB/s.
TEST_F(NcclTests, LargeSizesGiveTheBusBandwidthOfTheFile) {
  const std::string pcie = succeeds(importer + fixtures + "all-reduce-1x2-rtx2080ti.txt --from 1M");
  EXPECT_NE(pcie.find("2 GPUs of 1 node, 11 of 28 sizes"), std::string::npos) << pcie;
  EXPECT_NEAR(after("bandwidth", pcie), 4.00, 0.02);
  EXPECT_LT(after("off by", pcie), 0.5);
  const std::string nics = succeeds(importer + fixtures + "all-reduce-2x8-h100.txt --from 1G");
  EXPECT_NE(nics.find("16 GPUs of 2 nodes, 4 of 31 sizes"), std::string::npos) << nics;
  EXPECT_NEAR(after("bandwidth", nics), 345, 5);
  EXPECT_NE(nics.find("all cards of a node together"), std::string::npos);
}

// With n = 4, 6 steps of 5 us and 1.5 of the bytes at 12 GB/s: what was put in comes out.
TEST_F(NcclTests, ARingOfKnownLatencyAndRateIsFoundExactly) {
  const TemporaryFolder folder;
  std::ostringstream text;
  for (int rank = 0; rank < 4; ++rank)
    text << "#  Rank  " << rank << " Pid  7 on  node device  " << rank << " [0x00] T4\n";
  text << "#       size         count    type   redop     time   algbw   busbw  error\n";
  for (double bytes = 1024; bytes < 1e9; bytes *= 4) {
    const double us = 6 * 5 + 1.5 * bytes / 12e9 * 1e6;
    text << std::fixed << "[1,0]<stdout>: " << static_cast<long>(bytes) << " "
         << static_cast<long>(bytes / 4) << " float sum " << us << " " << bytes / us / 1e3 << " "
         << 1.5 * bytes / us / 1e3 << " N/A\n";
  }
  folder.write("ring.txt", text.str());
  const std::string said = succeeds(importer + folder.path("ring.txt"));
  EXPECT_NEAR(after("latency", said), 5, 0.001);
  EXPECT_NEAR(after("bandwidth", said), 12, 0.001);
  EXPECT_NE(said.find("bandwidth=\"12GBps\" latency=\"2.5us\""), std::string::npos) << said;
  EXPECT_NE(said.find("off by 0.0 %"), std::string::npos) << said;
}

TEST_F(NcclTests, BrokenFilesAreRefusedWithTheirLine) {
  const std::string good = text_of_fixture("all-reduce-1x2-rtx2080ti.txt");
  struct Case {
    std::string from, to, said;
  };
  const std::vector<Case> cases = {
      {"12.00    0.00    0.00      0", "x12.00    0.00    0.00      0", ":10: time 'x12.00'"},
      {"280.2    3.74    3.74      0", "280.2    3.74", ":27: 11 fields"},
      {"280.2    3.74    3.74      0", "280.2    3.74    3.74      7", ":27: 7 wrong values"},
      {"280.2    3.74    3.74", "280.2    3.74    9.99", ":27: busbw 9.99, but 2 ranks"},
      {"280.2    3.74    3.74", "0    3.74    3.74", ":27: 1048576 bytes in 0 us"},
      {"Rank  1", "Rank  0", ":5: a second rank 0"},
      {"#  Rank  1", "#  rank  1", "one GPU"},
      {"#       size         count", "# bytes count", "no row of sizes and times"},
      {"262144     float     sum", "262144     float    none", ":27: redop none"},
  };
  for (const Case& broken : cases) {
    const TemporaryFolder folder;
    std::string text = good;
    const std::size_t at = text.find(broken.from);
    ASSERT_NE(at, std::string::npos) << broken.from;
    folder.write("broken.txt", text.replace(at, broken.from.size(), broken.to));
    int status = 0;
    const std::string said = output_of(importer + folder.path("broken.txt"), status);
    EXPECT_EQ(WEXITSTATUS(status), 2) << said;
    EXPECT_NE(said.find(broken.said), std::string::npos) << broken.said << "\n" << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  }
  int status = 0;
  for (const std::string& arguments :
       {std::string("none.txt"), fixtures + "all-reduce-2x8-h100.txt --from 99G",
        fixtures + "all-reduce-2x8-h100.txt --from x"}) {
    output_of(importer + arguments, status);
    EXPECT_EQ(WEXITSTATUS(status), 2) << arguments;
  }
}

}  // namespace
}  // namespace syncline
