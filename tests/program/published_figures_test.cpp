// Tables of experiments have the figures of this program. A whole experiment takes many minutes, so
// some of its cells are simulated again; where one differs, experiments/run.sh is to be run.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/io/csv.h"
#include "tests/program/program.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

const fs::path experiment = fs::path(SYNCLINE_SOURCE_DIR) / "experiments/time-to-accuracy";

// The row of figure.csv, by column.
std::map<std::string, std::string> published(const std::string& cluster,
                                             const std::string& schedule,
                                             const std::string& compressor) {
  std::vector<std::string> columns;
  std::map<std::string, std::string> found;
  read_csv_lines((experiment / "figure.csv").string(), CsvFields::quoted, [&](const CsvLine& line) {
    if (line.kind == CsvLine::Kind::columns)
      columns = line.fields;
    if (line.kind != CsvLine::Kind::row || line.fields.at(0) != cluster ||
        line.fields.at(1) != schedule || line.fields.at(2) != compressor)
      return;
    for (std::size_t i = 0; i < columns.size(); ++i)
      found[columns[i]] = line.fields.at(i);
  });
  return found;
}

// Figures of the cells of one section of time-to-accuracy.cfg, with these seeds.
std::vector<nlohmann::json> simulated_again(const std::string& section, const std::string& seeds) {
  const TemporaryFolder folder;
  std::ifstream all(experiment / "time-to-accuracy.cfg");
  std::ofstream some(folder.path("some.cfg"));
  bool is_wanted = true;  // also of lines above all sections
  for (std::string line; std::getline(all, line);) {
    if (line.starts_with("["))
      is_wanted = line == "[" + section + "]";
    const std::string platform = "platform = ";
    if (line.starts_with(platform))
      line = platform + (experiment / line.substr(platform.size())).string();
    if (line.starts_with("seed = "))
      line = "seed = " + seeds;
    if (is_wanted)
      some << line << '\n';
  }
  some.close();
  const Ended ended = run_program({"run", folder.path("some.cfg"), "--json", "--jobs", "1"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::vector<nlohmann::json> figures;
  const auto document = nlohmann::json::parse(ended.out);
  for (const auto& cell : document["cells"])
    figures.push_back(cell["result"]["figures"]);
  return figures;
}

std::string samples_per_s(const nlohmann::json& figures) {
  return fmt::format("{:.0f}", figures["throughput_samples_per_s"].get<double>());
}

TEST(PublishedFigures, OfTimeToAccuracyAreThoseOfThisProgram) {
  const auto of_bsp = published("all alike", "bsp", "topk");
  std::vector<double> seconds;
  const auto all = simulated_again("bsp topk all alike", "1, 2, 3, 4, 5");
  for (const nlohmann::json& figures : all)
    seconds.push_back(figures["target_s"].is_null() ? std::numeric_limits<double>::infinity()
                                                    : figures["target_s"].get<double>());
  ASSERT_EQ(seconds.size(), 5U);
  std::ranges::sort(seconds);
  EXPECT_EQ(fmt::format("{:.1f}", seconds[2]), of_bsp.at("seconds"));
  EXPECT_EQ(fmt::format("{:.1f}", seconds.front()), of_bsp.at("seconds_least"));
  EXPECT_EQ(samples_per_s(all.front()), of_bsp.at("samples_per_s"));
  // Servers, whose messages moved most figures that had not been renewed until November 2026.
  for (const char* compressor : {"topk", "gaussiank"})
    EXPECT_EQ(
        samples_per_s(simulated_again(fmt::format("asp {} all alike", compressor), "1").at(0)),
        published("all alike", "asp", compressor).at("samples_per_s"))
        << compressor;
}

}  // namespace
}  // namespace syncline
