// The lab that is a single page: its stored numbers are simulated by the program, and the numbers
// that the page computes are close to them. SYNCLINE_BLESS=1 writes the stored numbers again.
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/io/text.h"
#include "sim/catalogue/csv.h"
#include "tests/program/program.h"
#include "tests/repo/commands.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

const std::filesystem::path lab = root / "experiments/labs/rings";
const std::string page_path = (lab / "page.html").string();

Json cells_of(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const Ended ended = run_program(arguments, root);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return Json::parse(ended.out)["cells"];
}

double rounded(double value) {
  return std::stod(fmt::format("{:.6g}", value));
}

Json figures_of_lab() {
  Json cells = Json::array();
  for (const Json& one : cells_of({"run", (lab / "rings.cfg").string()})) {
    const Json& cell = one["result"];
    cells.push_back({{"name", cell["scenario"]["name"]},
                     {"workers", cell["scenario"]["workers"]},
                     {"iteration_s", rounded(cell["figures"]["iteration_mean_s"])},
                     {"samples_per_s", rounded(cell["figures"]["throughput_samples_per_s"])}});
  }
  return cells;
}

// A ring of two machines with latencies only, and one with bytes: together they give the link's
// properties.
Json scenario_of_lab() {
  const Json one = cells_of({"explain", (lab / "rings.cfg").string(), "--workers", "2"})[1];
  EXPECT_EQ(one["scenario"]["name"], "ring");
  const double bytes = one["model"]["gradient_bytes"];
  const double fixed_s = one["bounds"]["exchange_fixed_s"];
  const double bytes_s = one["bounds"]["exchange_bytes_s"];
  return {{"bytes", bytes},
          {"bytes_per_s", rounded(bytes / bytes_s)},
          {"latency_s", rounded(fixed_s / 2)},
          {"compute_s", rounded(one["model"]["compute_s"])}};
}

Json exercise_of_lab() {
  const Csv expected = read_csv((lab / "exercise/expected.csv").string());
  const double at_least = std::stod(expected.rows.front().fields[expected.column("at_least")]);
  Json answers = Json::array();
  for (const std::string exchange : {"ring", "tree", "halving-doubling", "alltoall", "ps"}) {
    const Json cell =
        cells_of({"run", (lab / "exercise/answer.cfg").string(), "--exchange", exchange}).front();
    answers.push_back(
        {{"exchange", exchange},
         {"scaling_efficiency", rounded(cell["result"]["figures"]["scaling_efficiency"])}});
  }
  return {{"at_least", at_least}, {"answers", answers}};
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  EXPECT_NE(from, std::string::npos) << begin;
  const std::size_t first = from + begin.size();
  return text.substr(first, text.find(end, first) - first);
}

const std::string results_begin = "<script type=\"application/json\" id=\"results\">\n";
const std::string results_end = "\n</script>";

// Compares numbers to the sixth digit, and reports where they differ.
void expect_same(const Json& page, const Json& now, const std::string& where) {
  ASSERT_EQ(page.is_number(), now.is_number()) << where;
  if (now.is_number()) {
    EXPECT_NEAR(page.get<double>(), now.get<double>(), 1e-5 * std::abs(now.get<double>())) << where;
    return;
  }
  if (!now.is_structured()) {
    EXPECT_EQ(page, now) << where;
    return;
  }
  ASSERT_EQ(page.size(), now.size()) << where;
  for (const auto& [key, value] : now.items())
    expect_same(now.is_array() ? page.at(std::stoul(key)) : page.at(key), value, where + "/" + key);
}

TEST(LabPage, HasWhatTheProgramSimulates) {
  const Json now = {{"batch", 32},
                    {"scenario", scenario_of_lab()},
                    {"cells", figures_of_lab()},
                    {"exercise", exercise_of_lab()}};
  std::string page = text_of(page_path);
  const std::string there = between(page, results_begin, results_end);
  if (std::getenv("SYNCLINE_BLESS") != nullptr) {
    page.replace(page.find(results_begin) + results_begin.size(), there.size(), now.dump(1));
    std::ofstream(page_path) << page;
    return;
  }
  expect_same(Json::parse(there), now, "");
}

TEST(LabPage, WorksOutWhatIsSimulated) {
  int status = 0;
  output_of("command -v node", status);
  if (status != 0)
    GTEST_SKIP() << "Node is not installed";
  const std::string page = text_of(page_path);
  const TemporaryFolder folder;
  folder.write("form.js", between(page, "<script id=\"closed-form\">", "</script>") +
                              "const results = " + between(page, results_begin, results_end) + R"(;
const s = results.scenario;
for (const one of results.cells) {
  const seconds = one.name === "ring" ? ringSeconds : serverSeconds;
  console.log(seconds(one.workers, s.bytes, s.bytes_per_s, s.latency_s, s.compute_s) / one.iteration_s);
})");
  std::istringstream lines(succeeds("node " + folder.path("form.js")));
  int cells = 0;
  for (double factor = 0; lines >> factor; ++cells)
    EXPECT_NEAR(factor, 1, 0.01) << "cell " << cells;
  EXPECT_EQ(cells, 10);
}

// The page opens from a disk or a mail: it loads nothing.
TEST(LabPage, IsOneFile) {
  const std::string page = text_of(page_path);
  for (const char* word : {"http:", "https:", "src=", "href=", "@import", "url("})
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  EXPECT_LT(page.size(), 40'000u);
}

}  // namespace
}  // namespace syncline
