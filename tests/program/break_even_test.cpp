// explain's break-even: a range if the ends of the cost table differ, else one number.
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

// Two hosts, 10 us and 1.25 GB/s apart, average 269,722 values as one bucket after backward: a ring
// takes two steps with half of them each, an all-gather of 1 % one step with 2,697 values and
// indices.
constexpr double latency_s = 1e-5;
constexpr double saved_s = (4 * 269722 - 8 * 2697) / 1.25e9;

// Seconds of encoding at any size: p10, median and p90. Decoding takes none.
std::string table_in(const TemporaryFolder& folder, const std::string& name,
                     const std::string& about, const std::array<double, 3>& encode_s) {
  std::ofstream csv(folder.path(name));
  csv << "# device: made up\n" << about;
  csv << "compressor,parameters,operation,elements,seconds,p10,p90,wire_bytes,distribution\n";
  for (const char* elements : {"1", "1e9"})
    csv << fmt::format(
        "topk,,encode,{0},{2},{1},{3},0,none\ntopk,,decode,{0},1e-12,1e-12,1e-12,0,none\n",
        elements, encode_s[0], encode_s[1], encode_s[2]);
  return folder.path(name);
}

std::string explained_with(const std::string& table, bool json) {
  std::vector<std::string> arguments{
      "explain", "--platform", "two-hosts", "--model",        "resnet20", "--throughput",
      "100",     "--overlap",  "off",       "--bucket-bytes", "all",      "--compressor",
      "topk",    "--density",  "0.01",      "--device",       table};
  if (json)
    arguments.emplace_back("--json");
  const Ended ended = run_program(arguments);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return ended.out;
}

nlohmann::json even_with(const std::string& table) {
  return nlohmann::json::parse(explained_with(table, true))["cells"][0]["break_even"];
}

// Compression is faster below this limit, given as a factor of the platform's bandwidth.
void expect_limit(const nlohmann::json& even, double encode_s) {
  ASSERT_EQ(even["faster_without_overlap"].size(), 1U) << even;
  const double limit = even["faster_without_overlap"][0]["to_factor"];
  const double expected = saved_s / (encode_s - latency_s);
  EXPECT_NEAR(limit, expected, 0.01 * expected);
}

const std::string a_range = "# provenance: modelled\n# range: made up\n";
const std::string table_is_a_range = "  the cost table is a range, with a fast and a slow end\n";

TEST(BreakEvenOfARange, IsWhatEachEndOfTheTableComesTo) {
  const TemporaryFolder folder;
  const std::array encode_s{1e-3, 2e-3, 4e-3};
  const std::string table = table_in(folder, "range.csv", a_range, encode_s);
  const nlohmann::json even = even_with(table);
  expect_limit(even["at_fast_end"], encode_s[0]);
  expect_limit(even, encode_s[1]);
  expect_limit(even["at_slow_end"], encode_s[2]);
  // 0.2120 to 0.8544 times 10 Gbit/s, the slow end first.
  const std::string text = explained_with(table, false);
  expect_mentions(text, {"modelled (typical of a range)", table_is_a_range});
  const std::size_t at = text.find("  if nothing overlapped        faster below 0.21");
  ASSERT_NE(at, std::string::npos) << text;
  const std::string line = text.substr(at, text.find('\n', at) - at);
  expect_mentions(line, {" to 0.8", " times this scenario's, 2.1", " to 8.", " Gbit/s on "});
  EXPECT_LT(text.find("  as this scenario overlaps    "), at) << text;
}

TEST(BreakEvenOfARange, SaysEachEndWhereTheyDifferInMoreThanNumbers) {
  const TemporaryFolder folder;
  const std::string text = explained_with(
      table_in(folder, "range.csv", a_range, {latency_s / 2, latency_s / 2, 4e-3}), false);
  expect_mentions(text,
                  {table_is_a_range,
                   "  if compressing is as fast as the table's fast end: faster at any bandwidth\n",
                   "  as slow as its slow end: faster below 0.21"});
}

// Once, a table with one figure per row and a `range` line was still called a range.
TEST(BreakEvenOfARange, IsOneNumberWhereItsEndsAreEqual) {
  const TemporaryFolder folder;
  const std::string text =
      explained_with(table_in(folder, "range.csv", a_range, {2e-3, 2e-3, 2e-3}), false);
  expect_mentions(text, {"\nbreak-even: bandwidths, all links changed alike, at which topk over "
                         "allgather is faster than no "
                         "compressor over ring (same schedule, buckets and overlap)\n",
                         "  if nothing overlapped        faster below 0.42"});
  EXPECT_EQ(text.find(table_is_a_range), std::string::npos) << text;
}

// Once, a limit of 10,940 times the bandwidth was printed as 1.094e+04.
TEST(BreakEven, PrintsLimitsUpToAMillionWithoutAnExponent) {
  const TemporaryFolder folder;
  const double encode_s = latency_s + saved_s / 20'000;
  const std::string text = explained_with(
      table_in(folder, "fast.csv", "# provenance: measured\n", {encode_s, encode_s, encode_s}),
      false);
  static const std::regex limits(
      "faster below [0-9]{5} times this scenario's, [0-9]{6} Gbit/s on ");
  EXPECT_TRUE(std::regex_search(text, limits)) << text;
}

TEST(BreakEvenOfARange, IsOneNumberWhereTheTableWasMeasured) {
  const TemporaryFolder folder;
  const std::string table =
      table_in(folder, "measured.csv", "# provenance: measured\n", {1e-3, 2e-3, 4e-3});
  const nlohmann::json even = even_with(table);
  expect_limit(even, 2e-3);
  EXPECT_TRUE(even["at_fast_end"].is_null() && even["at_slow_end"].is_null()) << even;
  EXPECT_EQ(explained_with(table, false).find("range"), std::string::npos);
}

// The cell in `explain --json`, on two hosts.
nlohmann::json cell_of(const std::string& schedule, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"explain",  "--platform",     "two-hosts", "--model",
                                     "resnet20", "--throughput",   "100",       "--overlap",
                                     "off",      "--bucket-bytes", "all",       "--schedule",
                                     schedule,   "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Ended ended = run_program(arguments);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return nlohmann::json::parse(ended.out)["cells"][0];
}

// The dense line is an iteration of the schedule named in the sentence above it.
TEST(BreakEven, NamesTheScheduleThatItsDenseLineIsOf) {
  const std::vector<std::string> topk{"--compressor", "topk", "--device", "v100-modelled"};
  const std::map<std::string, std::string> rivals{
      {"bsp", "bsp"}, {"local-sgd", "local-sgd"}, {"topk-sgd", "bsp"}};
  for (const auto& [schedule, rival] : rivals) {
    const std::string named = schedule == rival
                                  ? "no compressor over ring (same schedule, buckets and overlap)"
                                  : "bsp with no compressor over ring (same buckets and overlap)";
    std::vector<std::string> arguments{"explain", "--platform", "two-hosts",
                                       "--model", "resnet20",   "--throughput",
                                       "100",     "--schedule", schedule};
    arguments.insert(arguments.end(), topk.begin(), topk.end());
    const Ended ended = run_program(arguments);
    ASSERT_EQ(ended.code, 0) << ended.err;
    expect_mentions(ended.out, {" is faster than " + named + "\n"});
    const nlohmann::json dense = cell_of(rival, {"--exchange", "ring"});
    EXPECT_DOUBLE_EQ(cell_of(schedule, topk)["break_even"]["dense_iteration_s"].get<double>(),
                     dense["bounds"]["bucket_after_bucket_s"].get<double>())
        << schedule;
  }
}

}  // namespace
}  // namespace syncline
