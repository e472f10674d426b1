// kernels/calibrate/baseline_torch.py prints rows of a cost table, and reports in one line what it
// cannot do. Measures only if PyTorch is installed; refusals are tested without it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/wait.h>

#include "kernels/cost_table.h"
#include "tests/kernels/data.h"

namespace syncline {
namespace {

const std::string script = std::string(KERNELS_FOLDER) + "/calibrate/baseline_torch.py";

bool succeeds(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

class BaselineTorch : public testing::Test {
 protected:
  void SetUp() override {
    if (!succeeds("python3 -c ''"))
      GTEST_SKIP() << "no python3";
    folder_ = testing::TempDir() + "torch_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Exit code and all output, with a module `torch` of these lines.
  std::pair<int, std::string> run_with(const std::string& torch, const std::string& arguments) {
    std::ofstream(folder_ + "/torch.py") << torch;
    const std::string output = folder_ + "/output";
    const int status =
        std::system(("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=" + folder_ + " python3 " + script +
                     " " + arguments + " >" + output + " 2>&1")
                        .c_str());
    std::ifstream in(output);
    return {WEXITSTATUS(status),
            {(std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>()}};
  }

  void expect_refusal(const std::string& torch, const std::string& arguments,
                      const std::string& reason) {
    const auto [code, text] = run_with(torch, arguments);
    EXPECT_EQ(code, 2) << text;
    EXPECT_NE(text.find(reason), std::string::npos) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  }

  std::string folder_;
};

const std::string fake =
    "def get_num_threads(): return 2\n"
    "def set_num_threads(count): pass\n"
    "class cuda:\n"
    "  def is_available(): return False\n";

TEST_F(BaselineTorch, RefusesInOneLineWithCode2) {
  expect_refusal("raise ImportError('not installed')", "", "has no PyTorch: not installed");
  expect_refusal(fake, "--device cuda", "PyTorch finds no CUDA device; use cpu");
  for (const char* size : {"0", "1e5", "2^31", "2^-1", "2^x", "x", "4096,"})
    expect_refusal(fake, std::string("--sizes ") + size,
                   "allowed are whole numbers from 1 to 2^31 - 1");
  for (const char* density : {"-1", "2", "nan", "x"})
    expect_refusal(fake, std::string("--densities=") + density, "allowed are numbers from 0 to 1");
  expect_refusal(fake, "--published topk,adacomp",
                 "--published adacomp: allowed are topk, randomk,");
  expect_refusal(fake, "--unknown 1", "--unknown");
  expect_refusal(fake, "--append " + folder_ + "/none.csv", "No such file");
  const std::string other = folder_ + "/other.csv";
  std::ofstream(other) << "# device: another, 2 threads\n";
  expect_refusal(fake, "--append " + other, "not a table that syncline-calibrate wrote for");
}

// Rows of published encoders stand beside those of the compressors they belong to.
TEST_F(BaselineTorch, PublishedEncodersHaveTheSettingsAndBytesOfTheirCompressors) {
  const auto [code, text] = run_with(
      "import sys\n"
      "sys.path.insert(0, '" KERNELS_FOLDER
      "/calibrate')\n"
      "import baseline_torch\n"
      "for name, (settings, _, bytes_of) in baseline_torch.PUBLISHED.items():\n"
      "  print(name, bytes_of(70001) if bytes_of else 0, settings.replace('%.12g', '0.01'))\n"
      "sys.exit()\n",
      "");
  ASSERT_EQ(code, 0) << text;
  std::istringstream lines(text);
  std::size_t count = 0;
  std::string name, settings;
  for (double bytes = 0; lines >> name >> bytes && std::getline(lines >> std::ws, settings);
       ++count) {
    const Compressor& compressor = Registered<Compressor>::find(name);
    const Settings usual = settings_at(compressor, has_density(compressor) ? "0.01" : "");
    EXPECT_EQ(settings, written_settings(compressor, usual)) << name;
    if (bytes > 0) {
      EXPECT_EQ(bytes, compressor.wire_bytes(usual, 70001, Precision::fp32).bytes) << name;
    }
  }
  EXPECT_EQ(count, 13u);
}

TEST_F(BaselineTorch, AddsRowsToTheTableOfThisMachine) {
  std::string python;  // Debian's PyTorch belongs to the system's Python
  for (const char* candidate : {"python3", "/usr/bin/python3"})
    if (python.empty() && succeeds(std::string(candidate) + " -c 'import torch'"))
      python = candidate;
  if (python.empty())
    GTEST_SKIP() << "no PyTorch";
  const std::string path = folder_ + "/table.csv";
  ASSERT_TRUE(succeeds(
      CALIBRATE " --compressors none --sizes 64 --baselines off --threads 2 --out " + path));
  const std::size_t before = read_cost_table(path).rows.size();
  ASSERT_TRUE(succeeds(python + " " + script +
                       " --sizes 2^12,100 --densities 0.01,0 --threads 2 --append " + path));
  const CostTable table = read_cost_table(path);
  ASSERT_EQ(table.rows.size(), before + 4);
  ASSERT_TRUE(succeeds(python + " " + script + " --sizes 1000 --threads 2 --published " +
                       "topk,randomk,threshold,gaussiank,dgc,mstopk,sidco,cat,efsign,onebit,"
                       "terngrad,qsgd,powersgd --append " +
                       path));
  const CostTable more = read_cost_table(path);
  ASSERT_EQ(more.rows.size(), before + 4 + 1 + 13);
  for (std::size_t i = before + 5; i < more.rows.size(); ++i)
    EXPECT_EQ(more.rows[i].operation, "encode-as-published");
  const double bytes[] = {320, 0, 8, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    const CostRow& row = table.rows[before + i];
    EXPECT_EQ(row.compressor, "baseline-torch-topk");
    EXPECT_EQ(row.settings, i % 2 == 0 ? "density=0.01" : "density=0");
    EXPECT_EQ(row.operation, "encode");
    EXPECT_EQ(row.elements, i < 2 ? 4096 : 100);
    EXPECT_EQ(row.wire_bytes, bytes[i]);
    EXPECT_LE(row.p10, row.seconds);
    EXPECT_LE(row.seconds, row.p90);
  }
}

}  // namespace
}  // namespace syncline
