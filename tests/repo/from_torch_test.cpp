// models/from_torch.py, if PyTorch is installed (python3-torch: 0.6 GB, so not in CI), on the
// modules of tests/repo/fixtures/networks.py.
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "sim/setup/model.h"
#include "tests/repo/commands.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

// The interpreter that has PyTorch: Debian's may not be first on PATH.
std::string interpreter() {
  for (const std::string& python : {python3(), std::string("/usr/bin/python3")})
    if (std::system((python + " -W ignore -c 'import torch' >/dev/null 2>&1").c_str()) == 0)
      return python;
  return "";
}

const std::string script = " -W ignore " + (root / "models/from_torch.py").string() + " ";
const std::string networks = (root / "tests/repo/fixtures/networks.py").string();

class FromTorch : public testing::Test {
 protected:
  void SetUp() override {
    static const std::string python = interpreter();
    if (python.empty())
      GTEST_SKIP() << "no PyTorch: apt-get install python3-torch";
    from_torch = python + script + networks;
    from_file = python + script;
  }
  // Header and rows of a model of networks.py, or of a file and a function in it; messages go to
  // said.txt.
  std::vector<std::string> table(const std::string& function, const std::string& input = "16x64") {
    succeeds("(" + (function.find(':') > 0 ? from_file : from_torch) + function + " --input " +
             input + " > " + folder_.path("mine.csv") + " 2> " + folder_.path("said.txt") + ")");
    return lines_of(folder_.path("mine.csv"));
  }
  std::vector<std::string> said() const { return lines_of(folder_.path("said.txt")); }
  const TemporaryFolder folder_;
  std::string from_torch, from_file;
};

std::vector<std::string> rows_of(const std::vector<std::string>& lines) {
  std::vector<std::string> rows;
  for (const std::string& line : lines)
    if (!line.starts_with("#"))
      rows.push_back(line);
  return rows;
}

std::string without_last_field(const std::string& row) {
  return row.substr(0, row.rfind(','));
}

TEST_F(FromTorch, ResNet50IsThatOfModelsRowByRow) {
  const TemporaryFolder folder;
  succeeds(from_torch + ":ResNet50 --input 3x224x224 > " + folder.path("mine.csv"));
  std::vector<std::string> rows = rows_of(lines_of(folder.path("mine.csv")));
  double kept = 0;
  for (std::string& row : rows) {
    kept += std::atof(row.c_str() + row.rfind(',') + 1);
    row = without_last_field(row);
  }
  EXPECT_EQ(rows, rows_of(lines_of(root / "models/resnet50.csv")));
  // Nearly twice the 11.1 million values that its convolutions make (Radosavovic et al. 2020):
  // inputs of normalisations and of convolutions.
  EXPECT_NEAR(kept, 2 * 21.9e6, 0.1e6);
  succeeds(std::string(SYNCLINE_PROGRAM) +
           " explain --platform two-hosts --throughput 300 --model " + folder.path("mine.csv"));
}

// 16 tokens of 32 features: 4 x 16 x 16 x 32 of attention, counted with the tensor after it; the
// work of the tied head is last.
TEST_F(FromTorch, AttentionIsCountedWrittenOutAndAsPyTorchsModule) {
  for (const auto& [function, projection] : std::map<std::string, std::string>{
           {"written_out", "out"}, {"own_module", "attention.out_proj"}}) {
    const TemporaryFolder folder;
    succeeds("(" + from_torch + ":" + function + " --input 16:int > " + folder.path("mine.csv") +
             " 2> " + folder.path("said.txt") + ")");
    const std::vector<std::string> rows = rows_of(lines_of(folder.path("mine.csv")));
    ASSERT_EQ(rows.size(), 7u) << function;
    EXPECT_EQ(rows[0],
              "layer,parameters,forward_flop,attention_flop,activation_bytes,attention_bytes");
    EXPECT_EQ(rows[1], "embedding.weight,3200,0,0,128,0") << "16 words of 8 bytes";
    EXPECT_EQ(rows[2], "embedding_positions,512,0,0,0,0") << "added to what was looked up";
    EXPECT_NE(rows[3].find(",3072,98304,0,"), std::string::npos) << rows[3];
    EXPECT_TRUE(rows[5].starts_with(projection + ".weight,1024,65536,32768,")) << rows[5];
    EXPECT_TRUE(rows[6].starts_with(projection + ".bias,32,102400,0,")) << rows[6];
    double of_attention = 0;
    for (std::size_t i = 1; i < rows.size(); ++i)
      of_attention += std::atof(rows[i].c_str() + rows[i].rfind(',') + 1);
    EXPECT_EQ(of_attention, 2 * 4 * 16 * 16) << "what softmax of 4 heads gave, in 16 bits";
    EXPECT_EQ(lines_of(folder.path("said.txt")),
              std::vector<std::string>{"not known: Attention, 512 parameters: its tensors are "
                                       "counted, but only products of its work"});
  }
}

// Six tensors, in the order in which backward reaches them: a trace that can be read as a model.
TEST_F(FromTorch, WhatItMeasuresIsAModel) {
  const TemporaryFolder folder;
  succeeds("(" + from_torch + ":written_out --input 16:int --measure 4 > " +
           folder.path("mine.json") + " 2> " + folder.path("said.txt") + ")");
  EXPECT_EQ(lines_of(folder.path("said.txt")).size(), 1u);
  EXPECT_TRUE(lines_of(folder.path("said.txt"))[0].ends_with("simulate it with --batch 4"));
  const Model model = read_model(folder.path("mine.json"));
  ASSERT_EQ(model.layers.size(), 6u);
  EXPECT_EQ(model.layers.back().name, "out.bias");
  EXPECT_EQ(model.parameters(), 512u + 3200 + 3072 + 96 + 1024 + 32);
  EXPECT_GT(model.times->forward_s, 0);
  EXPECT_GT(model.times->backward_s, 0);
}

// 16 tokens of 64 features: 2 x 16 x (12,288 + 512) and two products of 16 x 64 x 16, 2 x 16,384
// each.
TEST_F(FromTorch, WeightsThatAFunctionIsCalledWithAreUsed) {
  const std::vector<std::string> lines = table(":Functional");
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines[2], "# parameters: 13000");
  EXPECT_EQ(lines[3], "# flop: 475136");
  EXPECT_EQ(without_last_field(without_last_field(lines[6])), "qkv.weight,12288,393216,0");
  EXPECT_TRUE(lines[7].starts_with("qkv.bias,192,0,"));
  EXPECT_TRUE(lines[8].starts_with("out.weight,512,81920,65536,"));
  EXPECT_TRUE(said().empty()) << said()[0];
}

// 2 x 16 x 64 x 64 of the linear map, however its matrix is made: by a mask, a norm and a
// direction, or a sum with a product of rank 4 (2 x 64 x 4 x 64 more; the frozen matrix has no
// row).
TEST_F(FromTorch, WeightsMadeOfOthersAreFollowed) {
  const std::map<std::string, std::pair<std::string, std::string>> networks{
      {":Masked", {"4160", "131072"}},
      {":with_weight_norm", {"4224", "131072"}},
      {":LowRank", {"576", "163840"}}};
  for (const auto& [function, sums] : networks) {
    const std::vector<std::string> lines = table(function);
    EXPECT_EQ(lines[2], "# parameters: " + sums.first) << function;
    EXPECT_EQ(lines[3], "# flop: " + sums.second) << function;
  }
}

// 16 steps of a cell: 16 x 2 x (8,192 + 4,096), on its two matrices. Written with einsum: 2 x 16 x
// 64 x 64, and 2 x 4 x 16 x 16 x 16 twice, then 2 x 16 x 64 x 8.
TEST_F(FromTorch, StepsOfACellAndSumsByIndexAreCounted) {
  std::vector<std::string> rows = rows_of(table(":Cell"));
  EXPECT_EQ(without_last_field(rows[1]), "cell.weight_ih,8192,262144");
  EXPECT_EQ(without_last_field(rows[2]), "cell.weight_hh,4096,131072");
  rows = rows_of(table(":ByIndex"));
  EXPECT_TRUE(rows[1].starts_with("inside,4096,131072,0,")) << rows[1];
  EXPECT_TRUE(rows[2].starts_with("out,512,81920,65536,")) << rows[2];
}

// Projections 2 x 16 x 16,384, and 4 x 16 x 16 x 64 for pairs, however attention is called.
TEST_F(FromTorch, AttentionIsCountedByKeywordAndByItsFunction) {
  for (const char* function : {":ByKeyword", ":ByFunction"}) {
    const std::vector<std::string> lines = table(function);
    EXPECT_EQ(lines[2], "# parameters: 16640") << function;
    EXPECT_EQ(lines[3], "# flop: 589824") << function;
  }
}

TEST_F(FromTorch, LazyModulesGetTheirShapes) {
  const std::vector<std::string> rows = rows_of(table(":lazy"));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(without_last_field(rows[1]), "weight,4096,131072");
  EXPECT_EQ(without_last_field(rows[2]), "bias,64,0");
}

// Printed by Python, by C, and by another process.
TEST_F(FromTorch, WhatAModulePrintsIsNotInTheTable) {
  const std::vector<std::string> lines = table(":Talking");
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_EQ(lines[0], "# model: Talking");
  EXPECT_EQ(said().size(), 6u);
  succeeds(std::string(SYNCLINE_PROGRAM) +
           " explain --platform two-hosts --throughput 300 --model " + folder_.path("mine.csv"));
}

// Autograd tells: a parameter that only contributes to discarded values has no gradient. Operations
// inside TorchScript are not seen, but the parameters that they use are.
TEST_F(FromTorch, WhatHasNoGradientIsSaidWithItsSize) {
  EXPECT_EQ(table(":ThrowsAway")[2], "# parameters: 520");
  EXPECT_EQ(said(),
            std::vector<std::string>{"left out, because no output depends on them: 520 of 1040 "
                                     "parameters: unused.weight, unused.bias"});
  const std::vector<std::string> rows = rows_of(table(":Scripted"));
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_TRUE(rows[3].starts_with("scripted.weight,4096,0,")) << rows[3];
  ASSERT_EQ(said().size(), 1u);
  EXPECT_NE(said()[0].find("TorchScript, say), 4160 parameters"), std::string::npos) << said()[0];
}

TEST_F(FromTorch, WhatIsWrongIsOneLine) {
  for (const std::string& wrong :
       {std::string(":ResNet50 --input 4x224x224"), std::string(":ResNet50 --input 3x"),
        std::string(":Nothing --input 3"), std::string(":not_a_module --input 3"),
        std::string(":ResNet50 --input 4x32x32 --measure 2"),
        std::string(":ResNet50 --input 3x32x32 --measure 0"), std::string(":fails --input 3"),
        std::string(":fails --input 3 --measure 2"), std::string(":leaves --input 3"),
        std::string(":Masked.none --input 3"), std::string(":Attention --input 3"),
        std::string(":NoGradient --input 16x64"),
        std::string(":NoGradient --input 16x64 --measure 2"), std::string("x:f --input 3")}) {
    int status = 0;
    const std::string said = output_of(from_torch + wrong, status);
    EXPECT_EQ(WEXITSTATUS(status), 2) << wrong << "\n" << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
    EXPECT_EQ(said.find('\33'), std::string::npos) << wrong;
  }
  ASSERT_EQ(mkfifo(folder_.path("pipe.py").c_str(), 0600), 0);
  folder_.write("broken.py", "def f(:\n");
  int status = 0;
  for (const char* file : {"pipe.py", "broken.py"}) {
    const std::string said =
        output_of("timeout 60 " + from_file + folder_.path(file) + ":f --input 3", status);
    EXPECT_EQ(WEXITSTATUS(status), 2) << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  }
}

}  // namespace
}  // namespace syncline
