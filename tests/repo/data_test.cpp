// Every data file loads: a new model, platform or scenario is tested without an edit here.
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

#include "kernels/cost_table.h"
#include "sim/catalogue/csv.h"
#include "sim/catalogue/devices.h"
#include "sim/catalogue/files.h"
#include "sim/options/expand.h"
#include "sim/problem.h"
#include "sim/setup/model.h"
#include "tests/program/program_path.h"
#include "tests/repo/commands.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

int status_of(const std::string& arguments) {
  return std::system((program_path() + " " + arguments + " >/dev/null").c_str());
}

TEST(Data, EveryModelSumsToItsDeclaredTotal) {
  const std::vector<std::string> names = names_in("models", ".csv");
  EXPECT_GE(names.size(), 16u);
  for (const std::string& name : names) {
    // read_model compares with the header if there is one; this test checks that there is one.
    const std::string path = (root / "models" / (name + ".csv")).string();
    EXPECT_GT(read_model(path).parameters(), 0u) << name;
    EXPECT_EQ(std::system(("grep -q '^# parameters: ' " + path).c_str()), 0) << name;
    EXPECT_EQ(std::system(("grep -q '^# source: ' " + path).c_str()), 0) << name;
  }
}

// 4 s^2 d for each block, with s tokens and queries d wide: scores and their weighted sum.
TEST(Data, AttentionIsAPartOfTheRowsOfATransformer) {
  const auto attention_of = [](const std::string& model) {
    const Csv csv = read_csv((root / "models" / (model + ".csv")).string());
    const std::size_t flop = csv.column("forward_flop");
    const std::size_t attention = csv.column("attention_flop");
    double sum = 0;
    csv.for_each_row([&](const Csv::Row& row) {
      EXPECT_LE(std::stod(row.fields[attention]), std::stod(row.fields[flop])) << model;
      sum += std::stod(row.fields[attention]);
    });
    return sum;
  };
  EXPECT_EQ(attention_of("gpt-1.3b"), 24 * 4.0 * 2048 * 2048 * 2048);
  EXPECT_EQ(attention_of("mpt-7b"), 32 * 4.0 * 2048 * 2048 * 4096);
  EXPECT_EQ(attention_of("llama-3-8b"), 32 * 4.0 * 8192 * 8192 * 4096);  // its keys are narrower
}

// The script knows the sizes of the formats that `data` reads, and lists what a folder has.
TEST(Data, TheScriptSaysWhereImagesAreAndWhichAreThere) {
  const std::string script = "python3 " + (root / "models/data/images.py").string();
  const std::string said = succeeds(script);
  for (const char* bytes : {"47,040,016", "7,840,016", "60,008", "10,008", "30,730,000"})
    EXPECT_NE(said.find(bytes), std::string::npos) << bytes;
  EXPECT_EQ(16 + 60000 * 28 * 28, 47040016);
  EXPECT_EQ(10000 * (1 + 3 * 32 * 32), 30730000);
  const TemporaryFolder folder;
  folder.write("train-labels-idx1-ubyte", std::string(60008, '0'));
  folder.write("test_batch.bin", "0");
  int status = 0;
  const std::string looked = output_of(script + " " + folder.path(), status);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  for (const char* words : {"missing", "different: 1 bytes", "different SHA-256"})
    EXPECT_NE(looked.find(words), std::string::npos) << looked;
  EXPECT_EQ(looked.find("right"), std::string::npos) << looked;
  output_of(script + " " + folder.path("none"), status);
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST(Data, EveryPlatformRunsEverySchedule) {
  const std::vector<std::string> names = names_in("platforms", ".xml");
  EXPECT_GE(names.size(), 9u);
  for (const std::string& name : names) {
    const std::string common = " --platform " + name + " --model resnet20 --throughput 1000 ";
    EXPECT_EQ(status_of("explain" + common), 0) << name;
    const std::string workers = name == "fat-tree-1024" ? "--workers 8 " : "";
    EXPECT_EQ(status_of("run" + common + workers + "--schedule bsp,asp,ssp,inhad --iterations 2"),
              0)
        << name;
  }
}

TEST(Data, EveryScenarioExplains) {
  int scenarios = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "experiments")) {
    if (entry.path().extension() != ".cfg" ||
        fs::exists(entry.path().parent_path() / "measured.csv"))
      continue;
    ++scenarios;
    EXPECT_FALSE(expand(parse_sections(entry.path().string())).cells.empty()) << entry.path();
  }
  EXPECT_GT(scenarios, 3);
}

TEST(Data, EveryCostTableLoadsAndHasTheProvenanceOfItsName) {
  const std::vector<std::string> names = names_in("kernels/profiles", ".csv");
  EXPECT_GE(names.size(), 5u);
  for (const std::string& name : names) {
    const CostTable table = read_cost_table((root / "kernels/profiles" / (name + ".csv")).string());
    const std::string provenance = table.about("provenance");
    EXPECT_EQ(provenance, name.ends_with("-modelled")    ? "modelled"
                          : name.ends_with("-published") ? "published"
                                                         : "measured")
        << name;
  }
}

// A fused multiply-add is two operations of the peak and one slot. V100s and A100s can issue for
// twice as many lanes as multiply.
TEST(Data, ModelledCostTablesAndDevicesHaveOnePeak) {
  for (const std::string& name : names_in("kernels/profiles", ".csv")) {
    if (!name.ends_with("-modelled"))
      continue;
    const std::string slots =
        read_cost_table((root / "kernels/profiles" / (name + ".csv")).string()).about("slots");
    const double issued = name.starts_with("v100") || name.starts_with("a100") ? 1 : 2;
    EXPECT_EQ(issued * std::stod(slots), known_device(name)->peak_flops.at(Arithmetic::fp32))
        << name;
  }
}

// Both use what triad, or a copy, reaches on devices where it was measured.
TEST(Data, ModelledCostTablesAndDevicesHaveOneStream) {
  int streams = 0;
  for (const std::string& name : names_in("kernels/profiles", ".csv")) {
    const Device* device = known_device(name);
    if (!name.ends_with("-modelled") || device == nullptr || !device->stream_Bps)
      continue;
    ++streams;
    const std::string stream =
        read_cost_table((root / "kernels/profiles" / (name + ".csv")).string()).about("stream");
    EXPECT_EQ(std::stod(stream), *device->stream_Bps) << name;
  }
  EXPECT_EQ(streams, 7);
}

TEST(Data, GeneratorsWriteTheFilesOfTheRepository) {
  if (std::system("python3 -c 'import sys' >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "no python3";
  for (const char* folder : {"models", "platforms"})
    EXPECT_EQ(
        std::system(("python3 " + (root / folder / "generate.py").string() + " --check").c_str()),
        0);
  EXPECT_EQ(std::system(("python3 " + root.string() +
                         "/experiments/does-compression-pay/kernels.py --check")
                            .c_str()),
            0);
  EXPECT_EQ(
      std::system(
          ("python3 " + root.string() + "/experiments/validation/prediction.py --check").c_str()),
      0);
  for (const fs::directory_entry& folder : fs::directory_iterator(root / "experiments/validation"))
    if (const fs::path script = folder.path() / "platforms.py"; fs::exists(script)) {
      EXPECT_EQ(std::system(("python3 " + script.string() + " --check").c_str()), 0) << script;
    }
}

// sim/problems/README.md has a row for each registered problem.
TEST(Data, DefaultsOfEveryProblemAreInTheTable) {
  const std::string readme = text_of((root / "sim/problems/README.md").string());
  for (const auto& [name, problem] : Registered<Problem>::all()) {
    std::string own, learning;
    for (const OwnOption& parameter : problem.options)
      own += (own.empty() ? "`" : ", `") + parameter.name + "` " + parameter.fallback;
    for (const auto& [option, value] : problem.defaults)
      learning += (learning.empty() ? "`" : ", `") + option + "` " + value;
    const std::size_t row = readme.find("| `" + name + "` |");
    ASSERT_NE(row, std::string::npos) << "sim/problems/README.md has no row for " << name;
    EXPECT_PRED_FORMAT2(testing::IsSubstring, "| " + own + " | " + learning + " |",
                        readme.substr(row, readme.find('\n', row) - row));
  }
}

}  // namespace
}  // namespace syncline
