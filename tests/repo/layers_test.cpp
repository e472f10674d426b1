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

const std::string simgrid = R"((simgrid|xbt)/.*)";
const std::string cuda = R"((cuda|cub/|curand|nv).*)";
const std::string thrust = R"(thrust/.*)";

// Every include of every file for which `concerns` holds must satisfy `allowed`.
void check(const std::string& folder, const std::function<bool(const fs::path&)>& concerns,
           const std::function<bool(const std::string&)>& allowed) {
  int files = 0;
  for (const fs::path& file : sources_in(folder)) {
    if (!concerns(file))
      continue;
    ++files;
    for (const std::string& include : includes_of(file))
      EXPECT_TRUE(allowed(include)) << file << " includes " << include;
  }
  EXPECT_GT(files, 0) << folder;
}

TEST(Layers, KernelsKnowNeitherSimGridNorTheSimulator) {
  check(
      "kernels", [](const fs::path&) { return true; },
      [](const std::string& include) { return !is(include, simgrid) && !is(include, "sim/.*"); });
}

TEST(Layers, HostKernelsKnowNoCuda) {
  check(
      "kernels",
      [](const fs::path& file) { return file.extension() != ".cu" && file.extension() != ".cuh"; },
      [](const std::string& include) { return !is(include, cuda); });
}

TEST(Layers, SchedulesKnowOnlyTheVerbs) {
  const std::set<std::string> ours{"sim/schedule.h", "sim/worker.h", "sim/server.h",
                                   "sim/aggregator.h"};
  check(
      "sim/schedules", [](const fs::path&) { return true; },
      [&](const std::string& include) {
        return ours.contains(include) || include.find('/') == std::string::npos;
      });
}

TEST(Layers, ExchangesKnowOnlyPlans) {
  check(
      "sim/exchanges", [](const fs::path&) { return true; },
      [](const std::string& include) {
        return include == "sim/plan.h" || include.find('/') == std::string::npos;
      });
}

TEST(Layers, OnlyTheEngineFilesKnowSimGrid) {
  const std::set<std::string> engine{"engine", "platform", "run",        "stream",
                                     "worker", "server",   "aggregator", "simulation"};
  check(
      "sim",
      [&](const fs::path& file) {
        return !engine.contains(file.stem().string()) ||
               (file.extension() == ".h" && file.stem() != "engine");
      },
      [&](const std::string& include) { return !is(include, simgrid) || include.empty(); });
}

TEST(Layers, TheSimulatorKnowsOnlyTheContractOfKernels) {
  const std::set<std::string> contract{"kernels/compressor.h", "kernels/registry.h",
                                       "kernels/philox.h", "kernels/cost_table.h"};
  check(
      "sim", [](const fs::path&) { return true; },
      [&](const std::string& include) {
        return !is(include, cuda) && !is(include, thrust) &&
               (!is(include, "kernels/.*") || contract.contains(include));
      });
}

TEST(Layers, TheReportKnowsOnlyTheTrace) {
  check(
      "sim", [](const fs::path& file) { return file.stem() == "report"; },
      [](const std::string& include) {
        return include.find('/') == std::string::npos || include == "sim/report.h" ||
               include == "sim/trace.h";
      });
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
