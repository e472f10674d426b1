// Traces of small scenarios, stored as text next to them, and the curves of those that learn: their
// losses in full show that the parameters have the same bits on this machine, too. Traces are
// stored with six digits of each second and without message numbers, so that one message more
// changes one line; TraceCsv tests these parts of the program's output. The files show that nothing
// has changed, not that it is right: the laws do that. After an intended change, `cmake --build
// --preset dev --target bless` writes them again; the commit says why.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "tests/program/program_path.h"
#include "tests/unit/parameter_name.h"

namespace {

namespace fs = std::filesystem;

const fs::path scenarios = fs::path(SYNCLINE_SOURCE_DIR) / "tests/golden/scenarios";

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The columns start_s and end_s come first, message comes last.
std::string kept_of_trace(const std::string& trace) {
  std::istringstream lines(trace);
  std::string kept, line;
  while (std::getline(lines, line)) {
    double start_s = 0, end_s = 0;
    int read = 0;
    char seconds[64] = "";
    if (std::sscanf(line.c_str(), "%lf,%lf%n", &start_s, &end_s, &read) == 2)
      std::snprintf(seconds, sizeof seconds, "%.6g,%.6g", start_s, end_s);
    const std::size_t end = line.rfind(',');
    kept += seconds + line.substr(read, end - read) + '\n';
  }
  return kept;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, TraceAndCurveAreUnchanged) {
  const fs::path out = fs::path(testing::TempDir()) / ("syncline-golden-" + GetParam());
  const std::string command = syncline::program_path() + " run " +
                              (scenarios / (GetParam() + ".cfg")).string() + " --trace --out " +
                              out.string() + " >/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  EXPECT_EQ(fs::exists(out / "result.curve.csv"), GetParam().starts_with("learn-"));
  for (const std::string kind : {".trace.csv", ".curve.csv"}) {
    if (!fs::exists(out / ("result" + kind)))
      continue;
    const fs::path golden = scenarios / (GetParam() + kind);
    std::string now = text_of(out / ("result" + kind));
    if (kind == ".trace.csv")
      now = kept_of_trace(now);
    if (std::getenv("SYNCLINE_BLESS") != nullptr)
      std::ofstream(golden) << now;
    EXPECT_EQ(now, text_of(golden)) << "if intended, bless it (see the top of this file)";
  }
  fs::remove_all(out);
}

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(scenarios))
    if (entry.path().extension() == ".cfg")
      found.push_back(entry.path().stem().string());
  std::ranges::sort(found);
  return found;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Golden, testing::ValuesIn(names()),
                         syncline::name_of_parameter);

}  // namespace
