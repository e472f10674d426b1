#include "sim/study/verdict.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <sstream>

#include "kernels/io/text.h"
#include "sim/report/readable.h"

namespace syncline {
namespace {

using Kind = Verdict::Kind;

const char* word_of(Kind kind) {
  static constexpr const char* words[] = {"ok", "MOVED", "FAILED", "not checked"};
  return words[static_cast<int>(kind)];
}

// Text in a cell of a table: never markup.
std::string in_markdown(const std::string& text) {
  static const std::string special = "\\`*_{}[]<>#|~&@";
  std::string escaped;
  for (const char c : printable(text)) {
    if (special.find(c) != std::string::npos)
      escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string message_of(const Verdict& verdict) {
  std::string text = verdict.now;
  if (!verdict.expected.empty())
    text += (text.empty() ? "expected " : "; expected ") + verdict.expected;
  if (text.empty() && !verdict.why.empty())
    text = verdict.why.front();
  return text;
}

std::size_t count_of(const std::vector<Verdict>& verdicts, Kind kind) {
  return static_cast<std::size_t>(std::ranges::count(verdicts, kind, &Verdict::kind));
}

}  // namespace

std::string summary_of(const std::vector<Verdict>& verdicts) {
  const std::size_t met = count_of(verdicts, Kind::met);
  const std::size_t moved = count_of(verdicts, Kind::moved);
  const std::size_t failed = count_of(verdicts, Kind::failed);
  return fmt::format("{} of {} as expected", met, met + moved + failed) +
         (moved > 0 ? fmt::format(", {} moved", moved) : "") +
         (failed > 0 ? fmt::format(", {} could not be simulated", failed) : "");
}

int exit_code_of(const std::vector<Verdict>& verdicts) {
  return count_of(verdicts, Kind::failed) > 0 ? 2 : count_of(verdicts, Kind::moved) > 0 ? 1 : 0;
}

std::string verdicts_table(const std::vector<Verdict>& verdicts) {
  std::vector<Column> columns;
  for (const char* title : {"", "cell", "figure", "expected", "now"})
    columns.push_back({.title = title, .left = true});
  for (const Verdict& verdict : verdicts) {
    columns[0].cells.emplace_back(word_of(verdict.kind));
    columns[1].cells.push_back(verdict.cell);
    columns[2].cells.push_back(verdict.figure);
    columns[3].cells.push_back(verdict.expected);
    columns[4].cells.push_back(verdict.now);
  }
  std::istringstream lines(aligned(columns, verdicts.size()));
  std::string line, text;
  for (std::size_t row = 0; std::getline(lines, line); ++row) {
    text += line + "\n";
    if (row > 0)
      for (const std::string& sentence : verdicts[row - 1].why)
        text += "    " + printable(sentence) + "\n";
  }
  return text;
}

const std::string junit_begin =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- syncline gate -->\n";
const std::string verdicts_begin = "<!-- syncline gate -->\n";

std::string junit_xml(const std::string& suite, const std::vector<Verdict>& verdicts) {
  const std::string counts =
      fmt::format(R"( tests="{}" failures="{}" errors="{}")", verdicts.size(),
                  count_of(verdicts, Kind::moved), count_of(verdicts, Kind::failed));
  // Jenkins' schema has `skipped` for a suite, and not for all suites.
  std::string xml =
      junit_begin + fmt::format("<testsuites{0}>\n  <testsuite name=\"{1}\"{0} skipped=\"{2}\">\n",
                                counts, in_xml(suite), count_of(verdicts, Kind::not_checked));
  for (const Verdict& verdict : verdicts) {
    xml +=
        fmt::format(R"(    <testcase classname="{}" name="{}")", in_xml(suite + "." + verdict.cell),
                    in_xml(verdict.figure.empty() ? verdict.cell : verdict.figure));
    if (verdict.kind == Kind::met) {
      xml += "/>\n";
      continue;
    }
    const std::string element = verdict.kind == Kind::moved    ? "failure"
                                : verdict.kind == Kind::failed ? "error"
                                                               : "skipped";
    xml += fmt::format(">\n      <{} message=\"{}\">", element, in_xml(message_of(verdict)));
    for (const std::string& sentence : verdict.why)
      xml += in_xml(sentence) + "\n";
    xml += fmt::format("</{}>\n    </testcase>\n", element);
  }
  return xml + "  </testsuite>\n</testsuites>\n";
}

std::string verdicts_markdown(const std::string& title, const std::vector<Verdict>& verdicts) {
  std::string text =
      verdicts_begin + "### " + in_markdown(title) + ": " + summary_of(verdicts) + "\n";
  if (count_of(verdicts, Kind::met) < verdicts.size())
    text += "\n| | cell | figure | expected | now | why |\n|---|---|---|---|---|---|\n";
  for (const Verdict& verdict : verdicts) {
    if (verdict.kind == Kind::met)
      continue;
    std::vector<std::string> why;
    std::ranges::transform(verdict.why, std::back_inserter(why), in_markdown);
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", word_of(verdict.kind),
                        in_markdown(verdict.cell), in_markdown(verdict.figure),
                        in_markdown(verdict.expected), in_markdown(verdict.now),
                        fmt::join(why, "<br>"));
  }
  return text;
}

}  // namespace syncline
