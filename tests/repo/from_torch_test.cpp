// models/from_torch.py, where PyTorch is installed (python3-torch: 0.6 GB, so CI does not), on the
// modules of tests/repo/fixtures/networks.py.
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sim/setup/model.h"
#include "tests/repo/commands.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

const std::string from_torch = "python3 -W ignore " + (root / "models/from_torch.py").string() +
                               " " + (root / "tests/repo/fixtures/networks.py").string();

class FromTorch : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -W ignore -c 'import torch' >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "no PyTorch: apt-get install python3-torch";
  }
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
  // Nearly twice the 11.1 million values that its convolutions make (Radosavovic et al. 2020): what
  // normalisations read, and what convolutions do.
  EXPECT_NEAR(kept, 2 * 21.9e6, 0.1e6);
  succeeds(std::string(SYNCLINE_PROGRAM) +
           " explain --platform two-hosts --throughput 300 --model " + folder.path("mine.csv"));
}

// 16 tokens of 32 features: 4 x 16 x 16 x 32 of attention, behind it; the tied head's work is last.
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
    EXPECT_EQ(rows[1], "embedding_positions,512,0,0,0,0");
    EXPECT_EQ(rows[2], "embedding.weight,3200,0,0,128,0") << "16 words of 8 bytes";
    EXPECT_NE(rows[3].find(",3072,98304,0,"), std::string::npos) << rows[3];
    EXPECT_TRUE(rows[5].starts_with(projection + ".weight,1024,65536,32768,")) << rows[5];
    EXPECT_TRUE(rows[6].starts_with(projection + ".bias,32,102400,0,")) << rows[6];
    double of_attention = 0;
    for (std::size_t i = 1; i < rows.size(); ++i)
      of_attention += std::atof(rows[i].c_str() + rows[i].rfind(',') + 1);
    EXPECT_EQ(of_attention, 2 * 4 * 16 * 16) << "what softmax of 4 heads gave, in 16 bits";
    EXPECT_EQ(lines_of(folder.path("said.txt")),
              std::vector<std::string>{"not known: Attention, 512 parameters: its tensors are "
                                       "counted, of its work only products"});
  }
}

// Six tensors, in the order in which backward comes to them: a trace that is a model.
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

TEST_F(FromTorch, WhatIsWrongIsOneLine) {
  for (const std::string& wrong :
       {std::string(":ResNet50 --input 4x224x224"), std::string(":ResNet50 --input 3x"),
        std::string(":Nothing --input 3"), std::string(":not_a_module --input 3"),
        std::string(":ResNet50 --input 4x32x32 --measure 2"),
        std::string(":ResNet50 --input 3x32x32 --measure 0")}) {
    int status = 0;
    const std::string said = output_of(from_torch + wrong, status);
    EXPECT_EQ(WEXITSTATUS(status), 2) << wrong << "\n" << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  }
}

}  // namespace
}  // namespace syncline
