// Modelled tables beside what is known of their devices: the project's predictions, kernels that
// others measured, and the tables of the two GPUs that were measured.
#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "kernels/cost_table.h"
#include "kernels/io/csv.h"
#include "tests/kernels/data.h"

namespace syncline {
namespace {

const std::string profiles = KERNELS_FOLDER "/profiles/";

std::vector<std::vector<std::string>> rows_of(const std::string& path) {
  std::vector<std::vector<std::string>> rows;
  read_csv_lines(path, CsvFields::trimmed, [&](const CsvLine& line) {
    if (line.kind == CsvLine::Kind::row)
      rows.push_back(line.fields);
  });
  return rows;
}

// By name of the device.
const std::map<std::string, CostTable>& modelled_tables() {
  static const std::map<std::string, CostTable> tables = [] {
    std::map<std::string, CostTable> found;
    for (const auto& file : std::filesystem::directory_iterator(profiles)) {
      const std::string stem = file.path().stem().string();
      if (stem.ends_with("-modelled"))
        found[stem.substr(0, stem.rfind('-'))] = read_cost_table(file.path().string());
    }
    return found;
  }();
  return tables;
}

Settings usual(const Compressor& compressor) {
  return settings_at(compressor, has_density(compressor) ? "0.01" : "");
}

// What the ranges do not contain. At most five.
const std::set<std::string> known_misses = {
    // Kernels of Espresso's own, of which we know no traffic: a half, 1.4 and 4.8 times what the
    // operations of the papers' code are estimated to take.
    "measured randomk", "measured dgc", "measured onebit",
    // Thought to reach up to 75 and 25 % of a copy; they compute, and reached 50 and 14.
    "predicted chunk-topk", "predicted dct-topk"};

TEST(Model, RangesContainPredictionsAndWhatOthersMeasured) {
  std::set<std::string> misses;
  const auto expect_inside = [&](const std::string& device, const std::string& what,
                                 const std::string& name, const std::string& operation,
                                 double elements, double fast_s, double slow_s) {
    const Compressor& compressor = Registered<Compressor>::find(name);
    const auto at = [&](double CostRow::*figure) {
      return modelled_tables().at(device).seconds(compressor, usual(compressor), operation,
                                                  elements, figure);
    };
    if (fast_s >= at(&CostRow::p10) && slow_s <= at(&CostRow::p90))
      return;
    misses.insert(what + " " + name);
    EXPECT_TRUE(known_misses.contains(what + " " + name))
        << what << " " << name << " on " << device << ": " << fast_s << " to " << slow_s
        << " s, the table has " << at(&CostRow::p10) << " to " << at(&CostRow::p90);
  };
  for (const auto& row : rows_of(KERNELS_FOLDER "/../tests/kernels/others-measured.csv")) {
    const double seconds = 1e-6 * std::stod(row[4]);
    expect_inside(row[0], "measured", row[1], row[2], std::stod(row[3]), seconds, seconds);
  }
  // The predictions are of an H100. Kernels that compute reach another share elsewhere.
  const std::size_t elements = std::size_t{1} << 28;
  const double copy_Bps = std::stod(modelled_tables().at("h100").about("stream"));
  for (const auto& row : rows_of(KERNELS_FOLDER "/calibrate/predicted.csv")) {
    const Compressor& compressor = Registered<Compressor>::find(row[0]);
    if (!compressor.feedback(usual(compressor)))  // qsgd: tables have it without error feedback
      continue;
    const double bytes = bytes_of(compressor.traffic.encode(usual(compressor), elements));
    expect_inside("h100", "predicted", row[0], "encode", elements,
                  bytes / (std::stod(row[2]) * copy_Bps), bytes / (std::stod(row[1]) * copy_Bps));
  }
  EXPECT_EQ(misses, known_misses);
  EXPECT_LE(misses.size(), 5u);
}

// Ratios of measured to typical seconds, and how many of the measured rows lie in the range.
struct Comparison {
  std::vector<double> ratios;
  std::size_t inside = 0;

  double share() const { return static_cast<double>(inside) / static_cast<double>(ratios.size()); }
  double median() {
    std::nth_element(ratios.begin(),
                     ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2), ratios.end());
    return ratios[ratios.size() / 2];
  }
};

// By operation.
std::map<std::string, Comparison> compared(const std::string& device) {
  const CostTable& modelled = modelled_tables().at(device);
  std::map<CostRow::Key, const CostRow*> rows;
  for (const CostRow& row : modelled.rows)
    rows[row.key()] = &row;
  std::map<std::string, Comparison> all;
  for (const CostRow& measured : read_cost_table(profiles + device + ".csv").rows) {
    if (measured.operation == "encode-as-published" ||
        (measured.compressor == "powersgd" && measured.operation == "encode"))
      continue;  // powersgd: kernels that moved 24.6 bytes per value were measured
    const auto found = rows.find(measured.key());
    if (found == rows.end())
      continue;
    const CostRow& row = *found->second;
    Comparison& mine = all[measured.operation];
    mine.ratios.push_back(measured.seconds / row.seconds);
    mine.inside += row.p10 <= measured.seconds && measured.seconds <= row.p90;
  }
  return all;
}

// The model's terms were fitted to the H100; of the H200 it has the rate of a copy alone.
TEST(Model, RangesContainMostMeasuredRows) {
  for (const auto& [device, operation, share] : {std::tuple("h100", "encode", 0.95),
                                                 {"h100", "decode", 0.94},
                                                 {"h100", further_operation.c_str(), 0.7},
                                                 {"h200", "encode", 0.95},
                                                 {"h200", "decode", 0.94}}) {
    Comparison found = compared(device).at(operation);
    EXPECT_GE(found.share(), share) << device << " " << operation;
    EXPECT_NEAR(found.median(), 1, 0.1) << device << " " << operation;
  }
}

TEST(Model, NoOperationIsFasterThanItsBytes) {
  for (const auto& [device, table] : modelled_tables()) {
    const double stream_Bps = std::stod(table.about("stream"));
    for (const auto& [name, compressor] : Registered<Compressor>::all())
      for (const std::size_t elements : {1u << 8, 1u << 16, 1u << 24, 1u << 28}) {
        if (name == RECIPE)
          continue;
        const Settings settings = usual(compressor);
        for (const auto& [operation, chain] :
             {std::pair("encode", compressor.traffic.encode(settings, elements)),
              {"decode", compressor.traffic.decode(settings, elements, 1)}})
          EXPECT_GE(table.seconds(compressor, settings, operation, static_cast<double>(elements)),
                    bytes_of(chain) / stream_Bps)
              << device << " " << name << " " << operation << " " << elements;
      }
  }
}

}  // namespace
}  // namespace syncline
