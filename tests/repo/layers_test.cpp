// The table of who may include whom (README, "Where things are"), read off the #include lines; and
// that what registers itself is called as its file.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <regex>
#include <set>

#include "kernels/compressor.h"
#include "sim/plan.h"
#include "sim/schedule.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

const fs::path root = SYNCLINE_SOURCE_DIR;

std::vector<fs::path> sources_in(const std::string& folder) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".h" || extension == ".cpp" || extension == ".cu" || extension == ".cuh")
      found.push_back(fs::relative(entry.path(), root));
  }
  return found;
}

std::vector<std::string> includes_of(const fs::path& file) {
  static const std::regex include(R"(^\s*#\s*include\s*["<]([^">]+)[">].*)");
  std::ifstream in(root / file);
  std::vector<std::string> found;
  std::smatch match;
  for (std::string line; std::getline(in, line);)
    if (std::regex_match(line, match, include))
      found.push_back(match[1]);
  return found;
}

bool is(const std::string& include, const std::string& pattern) {
  return std::regex_match(include, std::regex(pattern));
}

// What a file may include, by its folder: of ours, by a pattern on its path; of others, nothing but
// what has no folder (the standard library's), and these. The first folder that a path begins with
// counts. README, "Where things are", says the same in words.
struct Rule {
  std::string folder;
  std::string ours;
  std::string others = "";
};
const std::string kernels = "kernels/(compressor|gradient|registry|cost_table|philox)[.]h";
const std::string contracts = "sim/[a-z]+[.]h|" + kernels;
const std::string simgrid = "(simgrid|xbt)/.*", cuda = "(cuda|cub|thrust|nv)[^/]*(/.*)?|cublas.*";
const std::string posix = "sys/.*|nlohmann/.*|boost/.*";
const std::vector<Rule> rules{
    {"sim/schedules/", "sim/(schedule|worker|server|aggregator)[.]h|" + kernels},
    {"sim/exchanges/", "sim/plan[.]h|" + kernels},
    {"sim/engine/", "sim/engine/.*|sim/setup/.*|" + contracts, simgrid},
    {"sim/setup/platform.cpp", "sim/setup/.*|" + contracts, simgrid},
    {"sim/setup/", "sim/setup/.*|" + contracts},
    {"sim/options/", "sim/options/.*|sim/setup/(files|csv|network)[.]h|" + contracts, posix},
    {"sim/report/", "sim/report/.*|" + contracts, posix},
    {"sim/commands/", "sim/.*|" + kernels, posix},
    {"sim/main.cpp", "sim/.*|" + kernels},
    {"sim/", contracts},
    {"kernels/arithmetic/", "kernels/arithmetic/.*|" + kernels},
    {"kernels/gpu/", "kernels/(gpu|arithmetic)/.*|" + kernels, cuda},
    {"kernels/", "kernels/.*", "sys/.*"}};

TEST(Layers, EveryFileIncludesOnlyWhatItsFolderMay) {
  std::map<std::string, int> files;  // by folder of a rule
  for (const fs::path& file : sources_in("sim", "kernels"))
    for (const std::string& include : includes_of(file)) {
      const auto rule = std::ranges::find_if(
          rules, [&](const Rule& r) { return file.string().starts_with(r.folder); });
      ++files[rule->folder];
      const bool ours = include.starts_with("sim/") || include.starts_with("kernels/");
      EXPECT_TRUE(include.find('/') == std::string::npos
                      ? !is(include, cuda) || is(include, rule->others)
                      : is(include, ours ? rule->ours : rule->others))
          << file << " includes " << include;
    }
  EXPECT_EQ(files.size(), rules.size()) << "a rule is about no file";
}

template <class T>
void check_stems(const std::string& folder, const std::string& marker) {
  std::set<std::string> stems;
  for (const fs::path& file : sources_in(folder)) {
    std::ifstream in(root / file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (file.extension() == ".cpp" && text.find(marker) != std::string::npos)
      stems.insert(file.stem().string());
  }
  const std::vector<std::string> names = Registered<T>::names();
  EXPECT_EQ(stems, std::set<std::string>(names.begin(), names.end()));
  for (const auto& [name, entry] : Registered<T>::all())
    EXPECT_FALSE(entry.sentence.empty()) << name;
}

TEST(Names, EverySchedulesFileAnswersToItsOwnName) {
  check_stems<Schedule>("sim/schedules", "Registered<Schedule> ");
}
TEST(Names, EveryExchangesFileAnswersToItsOwnName) {
  check_stems<Exchange>("sim/exchanges", "Registered<Exchange> ");
}
TEST(Names, EveryCompressorsFileAnswersToItsOwnName) {
  check_stems<Compressor>("kernels", "Registered<Compressor> ");
}

TEST(Budgets, NoSourceFileHasMoreThan420Lines) {
  for (const char* folder : {"sim", "kernels", "tests"})
    for (const fs::path& file : sources_in(folder)) {
      std::ifstream in(root / file);
      EXPECT_LE(std::count(std::istreambuf_iterator<char>(in), {}, '\n'), 420) << file;
    }
}

}  // namespace
}  // namespace syncline
