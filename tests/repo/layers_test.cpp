// Which folder may include which (explained in CONTRIBUTING), from the #include lines; and that
// registered things have the name of their file.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "kernels/compressor.h"
#include "sim/plan.h"
#include "sim/problem.h"
#include "sim/schedule.h"
#include "tests/repo/commands.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

template <class... Folders>
std::vector<fs::path> sources_in(Folders... folders) {
  std::vector<fs::path> found;
  for (const char* folder : {folders...})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".h" || extension == ".cpp" || extension == ".cu" || extension == ".cuh")
        found.push_back(fs::relative(entry.path(), root));
    }
  return found;
}

std::vector<std::string> includes_of(const fs::path& file) {
  static const std::regex include(R"(^\s*#\s*include\s*["<]([^">]+)[">].*)");
  std::vector<std::string> found;
  std::smatch match;
  for (const std::string& line : lines_of(root / file))
    if (std::regex_match(line, match, include))
      found.push_back(match[1]);
  return found;
}

bool is(const std::string& include, const std::string& pattern) {
  return std::regex_match(include, std::regex(pattern));
}

const std::string offered =  // what kernels/ offers to all other code
    "kernels/((compressor|gradient|registry|cost_table|philox|elementary|traffic|product)|io/"
    "[a-z_]+).h";
const std::string contracts = "sim/(?!simulate)[a-z]+.h|" + offered;
const std::string cuda = "(cuda|cublas|nv).*|(cub|thrust)/.*";
const std::string expat = "expat.h", zlib = "zlib.h";  // have no folder either
const std::string eigen = "Eigen/.*";
const std::string simgrid = "(simgrid|xbt)/.*";

// A rule: files whose path matches the first pattern may include our headers that match the second,
// and libraries' headers that match the third. The first matching rule counts. Headers of the
// standard library have no folder, and every file may include them.
TEST(Layers, EveryFileIncludesOnlyWhatItsFolderMay) {
  const std::vector<std::array<std::string, 3>> rules{
      {"sim/schedules/.*", "sim/(schedule|worker|server|aggregator).h"},
      {"sim/exchanges/.*", "sim/(plan|collectives).h"},
      {"sim/problems/.*", "sim/(problem|minibatch).h|" + offered, eigen},
      {"sim/minibatch.(h|cpp)", contracts, eigen},
      {"sim/options/.*",
       "sim/(options/.*|catalogue/(data|files|frameworks|network|reality|refuse|server_software).h|"
       "platform/platform_(file|words).h)|" +
           contracts,
       "boost/.*"},
      {"sim/catalogue/gzip.cpp", "sim/catalogue/.*|" + contracts, zlib},
      {"sim/catalogue/.*", "sim/catalogue/.*|" + contracts},
      {"sim/import/chakra(_et)?.cpp", "sim/(import|catalogue)/.*|" + contracts, "nlohmann/.*"},
      {"sim/import/.*", "sim/(import|catalogue)/.*|" + contracts},
      {"sim/platform/platform.cpp", "sim/(platform|import|catalogue)/.*|" + contracts, simgrid},
      {"sim/platform/platform_xml.cpp", "sim/(platform|import|catalogue)/.*|" + contracts, expat},
      {"sim/platform/.*", "sim/(platform|import|catalogue)/.*|" + contracts},
      {"sim/traffic/.*", "sim/(traffic|platform|catalogue)/.*|" + contracts},
      {"sim/setup/.*", "sim/(setup|traffic|platform|import|catalogue)/.*|" + contracts},
      {"sim/clock/.*", "sim/(clock|setup|traffic|platform|catalogue)/.*|" + contracts},
      {"sim/learning/.*",
       "sim/(learning|setup|traffic|platform|catalogue)/.*|kernels/cpu/tiles.h|" + contracts},
      {"sim/engine/.*",
       "sim/(engine|clock|learning|setup|traffic|platform|catalogue)/.*|" + contracts, simgrid},
      {"sim/report/result_(json|file).*", "sim/report/.*|" + contracts, "nlohmann/.*"},
      {"sim/report/.*", "sim/report/.*|" + contracts},
      {"sim/traces/(perfetto|chakra).cpp", "sim/(traces|report)/.*|" + contracts, "nlohmann/.*"},
      {"sim/traces/.*", "sim/(traces|report)/.*|" + contracts},
      {"sim/study/.*", "sim/(study|report)/.*|sim/options/options.h|" + contracts},
      {"sim/page/page_(data|json|tables).*", "sim/(page|study|report)/.*|" + contracts,
       "nlohmann/.*"},
      {"sim/page/.*", "sim/(page|study|report)/.*|" + contracts},
      {"sim/(sweep/.*|simulate.(h|cpp))",
       "sim/(sweep|traces|report|options|engine|clock|setup|traffic|platform|import|catalogue)/.*|"
       "sim/simulate.h|" +
           contracts,
       "sys/.*"},
      {"sim/gate/(answer|validation).*",
       "sim/(gate|sweep|study|report|options|platform|catalogue)/.*|" + contracts, "nlohmann/.*"},
      {"sim/gate/.*", "sim/(gate|sweep|study|report|options|platform|catalogue)/.*|" + contracts,
       "sys/.*"},
      {"sim/(commands/.*|main.cpp)", "sim/.*|" + offered, "nlohmann/.*"},
      {"sim/.*", contracts},
      {"kernels/arithmetic/.*", "kernels/arithmetic/.*|" + offered},
      {"kernels/cpu/.*", "kernels/(cpu|arithmetic)/.*|kernels/gpu/selection_traffic.h|" + offered,
       "(thrust|tbb|sys)/.*"},
      {"kernels/(gpu|compressors)/.*cuh?", "kernels/(gpu|compressors|arithmetic)/.*|" + offered,
       cuda},
      {"kernels/gpu/.*", "kernels/(gpu|arithmetic)/.*|" + offered},
      {"kernels/compressors/.*",
       "kernels/(compressors|cpu|arithmetic)/.*|kernels/gpu/selection_traffic.h|" + offered},
      {"kernels/calibrate/.*cuh?", "kernels/.*", cuda},
      {"kernels/calibrate/.*", "kernels/.*", "sys/.*"},
      {"kernels/io/.*", "kernels/io/.*", "sys/.*"},
      {"kernels/.*", offered}};
  for (const fs::path& file : sources_in("sim", "kernels"))
    for (const std::string& include : includes_of(file)) {
      const auto& [files, ours, others] = *std::ranges::find_if(
          rules, [&](const auto& rule) { return is(file.string(), rule[0]); });
      const bool is_ours = is(include, "(sim|kernels)/.*"), is_standard = is(include, "[^/]*");
      const bool is_library = is(include, cuda + "|" + expat + "|" + zlib);
      if (is(file.string(), "sim/.*") && include == "fmt/format.h")
        continue;
      EXPECT_TRUE(is(include, is_ours ? ours : others) || (is_standard && !is_library))
          << file << " includes " << include;
    }
}

// The standard library's regular expressions recurse for each character: a text of 30,000 bytes
// crashes them.
TEST(Layers, NoFileOfTheProductHasRegularExpressions) {
  for (const fs::path& file : sources_in("sim", "kernels"))
    for (const std::string& include : includes_of(file))
      EXPECT_NE(include, "regex") << file
                                  << ": find, starts_with and a loop read text of any length";
}

// Everything that a file includes, also indirectly through our headers; `known` caches results.
const std::set<std::string>& all_includes_of(const std::string& file,
                                             std::map<std::string, std::set<std::string>>& known) {
  const auto [found, is_new] = known.emplace(file, std::set<std::string>());
  if (is_new)
    for (const std::string& include : includes_of(file)) {
      found->second.insert(include);
      if (include.starts_with("sim/") || include.starts_with("kernels/"))
        found->second.merge(std::set<std::string>(all_includes_of(include, known)));
    }
  return found->second;
}

// The precompiled header hides a missing #include, so a test looks for it.
TEST(Layers, EveryFileIncludesWhatItUsesOfThePrecompiledHeader) {
  const std::vector<std::array<std::string, 2>> headers{{"std::ranges::sort(", "algorithm"},
                                                        {"std::abs(", "cmath"},
                                                        {"int64_t", "cstdint"},
                                                        {"std::filesystem", "filesystem"},
                                                        {"fstream", "fstream"},
                                                        {"std::function<", "functional"},
                                                        {"std::map<", "map"},
                                                        {"std::optional<", "optional"},
                                                        {"std::set<", "set"},
                                                        {"std::span<", "span"},
                                                        {"stringstream", "sstream"},
                                                        {"std::to_string(", "string"},
                                                        {"std::string_view", "string_view"},
                                                        {"std::variant<", "variant"},
                                                        {"std::vector<", "vector"}};
  std::map<std::string, std::set<std::string>> known;
  for (const fs::path& file : sources_in("sim")) {
    std::ostringstream text;
    text << std::ifstream(root / file).rdbuf();
    for (const auto& [word, header] : headers)
      EXPECT_TRUE(text.str().find(word) == std::string::npos ||
                  all_includes_of(file.string(), known).contains(header))
          << file << " has " << word << " without <" << header << '>';
  }
}

TEST(Layers, NoHeaderIncludesItselfByOthers) {
  std::map<std::string, std::set<std::string>> known;
  for (const fs::path& file : sources_in("sim", "kernels"))
    EXPECT_FALSE(all_includes_of(file.string(), known).contains(file.string())) << file;
}

template <class T>
void check_stems(const char* folder) {
  std::set<std::string> stems;
  for (const fs::path& file : sources_in(folder))
    if (file.extension() == ".cpp")
      stems.insert(file.stem().string());
  const std::vector<std::string> names = Registered<T>::names();
  EXPECT_EQ(stems, std::set<std::string>(names.begin(), names.end()));
  for (const auto& [name, entry] : Registered<T>::all())
    EXPECT_FALSE(entry.sentence.empty()) << name;
}

TEST(Names, EveryRegisteredThingHasTheNameOfItsFile) {
  check_stems<Schedule>("sim/schedules");
  check_stems<Exchange>("sim/exchanges");
  check_stems<Problem>("sim/problems");
  check_stems<Compressor>("kernels/compressors");
}

// A setting of a single schedule, exchange or compressor is read in its own file; one that several
// share, in a helper of theirs. Elsewhere are rows of options with the same name.
TEST(Names, OfAVariantsSettingsAreInItsOwnFile) {
  const std::map<std::string, std::string> homes{
      {"rule", "kernels/compressors/cat.*"},
      {"stochastic", "kernels/compressors/cat.*"},
      {"error-feedback", "kernels/arithmetic/feedback.h"},
      {"cache", "sim/schedules/ssp.cpp|sim/study/pooled.cpp"},
      {"in-flight", "sim/exchanges/ps.cpp"},
      {"partition-bytes", "sim/exchanges/ps.cpp"},
      {"density", "kernels/compressor.h"},
      {"momentum",
       "kernels/compressors/dgc.*|sim/options/(text_options|learning).cpp|sim/problems/"
       "[a-z-]+.cpp"},
      {"adam", "sim/options/text_options.cpp"},
      {"in-node", "sim/exchanges/hierarchical.cpp"},
      {"pull", "sim/schedule.h|sim/verb.h"},  // also a verb
      {"warm-up-densities", "sim/schedules/topk-sgd.cpp"}};
  for (const fs::path& file : sources_in("sim", "kernels")) {
    std::string text;
    for (const std::string& line : lines_of(root / file))
      text += line + "\n";
    for (const auto& [word, home] : homes)
      EXPECT_TRUE(text.find('"' + word + '"') == std::string::npos || is(file.string(), home))
          << file << " has \"" << word << '"';
  }
}

// The linker treats two types of the same name in one namespace as one and keeps the functions of
// either: once, a vector of figures was destroyed as one of another type.
TEST(Names, EveryTypeOfAHeaderHasANameOfItsOwn) {
  static const std::regex definition(R"(^(?:struct|class|enum class) +(\w+)[^;]*\{.*)");
  std::map<std::string, fs::path> defined;
  for (const fs::path& file : sources_in("sim", "kernels")) {
    if (file.extension() != ".h")
      continue;
    std::smatch match;
    for (const std::string& line : lines_of(root / file))
      if (std::regex_match(line, match, definition)) {
        const auto [other, is_new] = defined.emplace(match[1], file);
        EXPECT_TRUE(is_new) << match[1] << " is in " << other->second << " and in " << file;
      }
  }
  EXPECT_GT(defined.size(), 100u);
}

TEST(Budgets, NoFolderOfTheProductHasMoreThan45Files) {
  std::map<fs::path, int> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "sim"))
    if (entry.is_regular_file()) {
      EXPECT_LE(++files[entry.path().parent_path()], 45) << entry.path();
    }
}

// Including it makes compiling a file take seconds longer.
TEST(Budgets, AtMostThreeHeadersIncludeJson) {
  int headers = 0;
  for (const fs::path& file : sources_in("sim", "kernels"))
    if (file.extension() == ".h" &&
        std::ranges::count(includes_of(file), std::string("nlohmann/json.hpp")) > 0)
      ++headers;
  EXPECT_LE(headers, 3);
}

TEST(Budgets, NoSourceFileHasMoreThan400Lines) {
  for (const char* folder : {"sim", "kernels", "tests"})
    for (const fs::path& file : sources_in(folder)) {
      std::ifstream in(root / file);
      EXPECT_LE(std::count(std::istreambuf_iterator<char>(in), {}, '\n'), 400) << file;
    }
}

// A schedule reads like the algorithm box of its paper.
TEST(Budgets, OnlySchedulesWithShardsNodesOrTwoOptimizersHaveMoreThan80Lines) {
  std::set<std::string> longer;
  for (const fs::path& file : sources_in("sim/schedules"))
    if (lines_of(root / file).size() > 80)
      longer.insert(file.stem());
  EXPECT_EQ(longer, (std::set<std::string>{"fsdp", "inhad", "local-sgd"}));
}

// In clang-format's style, a line with only a closing brace ends the block begun by the last line
// before it that is indented no further: a function, or a block within one.
TEST(Budgets, NoFunctionOfTheProductHasMoreThan80Lines) {
  // Rows of a table have no decisions or loops; a function may have any number of them.
  static const std::regex decides(R"(\b(if|for|while|switch) (constexpr )?\()");
  int functions = 0;
  for (const fs::path& file : sources_in("sim", "kernels")) {
    const std::vector<std::string> lines = lines_of(root / file);
    for (std::size_t end = 1; end < lines.size(); ++end) {
      const std::size_t indent = lines[end].find('}');
      if (indent == std::string::npos || lines[end] != std::string(indent, ' ') + "}")
        continue;
      std::size_t begin = end - 1;
      while (begin > 0 && lines[begin].find_first_not_of(" #") > indent)
        --begin;
      ++functions;
      if (end - begin < 80)
        continue;
      std::string text;
      for (std::size_t i = begin; i <= end; ++i)
        text += lines[i] + "\n";
      EXPECT_FALSE(std::regex_search(text, decides))
          << file << ':' << begin + 1 << " has " << end - begin + 1 << " lines: " << lines[begin];
    }
  }
  EXPECT_GT(functions, 1000);
}

}  // namespace
}  // namespace syncline
