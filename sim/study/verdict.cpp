#include "sim/study/verdict.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <sstream>

#include "kernels/io/text.h"
#include "sim/report/readable.h"
#include "sim/study/verdict_groups.h"

namespace syncline {
namespace {

using Kind = Verdict::Kind;

const char* word_of(const Verdict& verdict) {
  static constexpr const char* words[] = {"ok", "MOVED", "WARNED", "FAILED"};
  return verdict.not_yet ? "not yet" : words[static_cast<int>(verdict.kind)];
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

// A GitHub message is one line, in which %0A ends a line; a property has no colon and no comma.
std::string escaped(const std::string& text, bool property = false) {
  std::string safe;
  for (const char c : printable(text))
    if (c == '%' || (property && (c == ':' || c == ',')))
      safe += fmt::format("%{:02X}", static_cast<unsigned>(c));
    else
      safe += c;
  return safe;
}

}  // namespace

std::optional<double> Verdict::change() const {
  return got && expected_value && *expected_value != 0 ? std::optional(*got / *expected_value - 1)
                                                       : std::nullopt;
}

std::string rows_shown(std::size_t rows) {
  return rows == 1 ? "The row" : fmt::format("Each of the {} rows", rows);
}

std::string in_markdown(const std::string& text) {
  static const std::string special = "\\`*_{}[]<>#|~&@";
  std::string safe;
  for (const char c : printable(text)) {
    if (special.find(c) != std::string::npos)
      safe += '\\';
    safe += c;
  }
  return safe;
}

std::string headline_of_error(const std::string& error) {
  constexpr std::size_t most = 200;
  const std::size_t end =
      std::min({error.find("; allowed"), error.find(": allowed"), error.find("; `"), error.size()});
  return end <= most ? error.substr(0, end) : brief(error);
}

std::string summary_of(const std::vector<Verdict>& verdicts) {
  const std::size_t met = count_of(verdicts, Kind::met);
  const auto not_yet =
      static_cast<std::size_t>(std::ranges::count(verdicts, true, &Verdict::not_yet));
  const std::size_t moved = count_of(verdicts, Kind::moved) - not_yet;
  const std::size_t warned = count_of(verdicts, Kind::warned);
  const std::size_t failed = count_of(verdicts, Kind::failed);
  return fmt::format("{} of {} as expected", met, verdicts.size()) +
         (not_yet > 0 ? fmt::format(", {} not yet", not_yet) : "") +
         (moved > 0 ? fmt::format(", {} moved", moved) : "") +
         (warned > 0 ? fmt::format(", {} only warned of", warned) : "") +
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
    columns[0].cells.emplace_back(word_of(verdict));
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
  for (const std::string& changed : changed_in_vain(verdicts))
    text += "changed, and as expected: " + printable(changed) + "\n";
  return text;
}

const std::string junit_begin =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- syncline gate -->\n";
const std::string verdicts_begin = "<!-- syncline gate -->\n";

std::string junit_xml(const std::string& suite, const std::vector<Verdict>& verdicts) {
  const std::string counts =
      fmt::format(R"( tests="{}" failures="{}" errors="{}")", verdicts.size(),
                  count_of(verdicts, Kind::moved), count_of(verdicts, Kind::failed));
  std::string xml = junit_begin + fmt::format("<testsuites{0}>\n  <testsuite name=\"{1}\"{0}>\n",
                                              counts, in_xml(suite));
  for (const Verdict& verdict : verdicts) {
    xml +=
        fmt::format(R"(    <testcase classname="{}" name="{}")", in_xml(suite + "." + verdict.cell),
                    in_xml(verdict.figure.empty() ? verdict.cell : verdict.figure));
    if (verdict.kind == Kind::met) {
      xml += "/>\n";
      continue;
    }
    std::string why;
    for (const std::string& sentence : verdict.why)
      why += in_xml(sentence) + "\n";
    const std::string message = in_xml(message_of(verdict));
    if (verdict.kind == Kind::warned)  // a test that passes with a message
      xml += fmt::format(">\n      <system-out>warning: {}\n{}</system-out>", message, why);
    else
      xml += fmt::format(">\n      <{0} message=\"{1}\">{2}</{0}>",
                         verdict.kind == Kind::moved ? "failure" : "error", message, why);
    xml += "\n    </testcase>\n";
  }
  return xml + "  </testsuite>\n</testsuites>\n";
}

std::string verdicts_markdown(const std::string& title, const std::vector<Verdict>& verdicts) {
  std::string text = verdicts_begin + "### " + in_markdown(title) + ": " + summary_of(verdicts) +
                     "\n" + causes_table(verdicts);
  const std::size_t missed = verdicts.size() - count_of(verdicts, Kind::met);
  if (missed > 0)
    text += fmt::format(
        "\n<details><summary>{}</summary>\n\n"
        "| | cell | figure | expected | now | why |\n|---|---|---|---|---|---|\n",
        rows_shown(missed));
  for (const Verdict& verdict : verdicts) {
    if (verdict.kind == Kind::met)
      continue;
    std::vector<std::string> why;
    std::ranges::transform(verdict.why, std::back_inserter(why), in_markdown);
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", word_of(verdict),
                        in_markdown(verdict.cell), in_markdown(verdict.figure),
                        in_markdown(verdict.expected), in_markdown(verdict.now),
                        fmt::join(why, "<br>"));
  }
  if (missed > 0)
    text += "\n</details>\n";
  const std::vector<std::string> in_vain = changed_in_vain(verdicts);
  for (const std::string& changed : in_vain)
    text += "\nChanged, and as expected: " + in_markdown(changed) + "\n";
  return text;
}

std::string annotations(const std::vector<Verdict>& verdicts) {
  std::string text;
  for (const VerdictGroup& group : by_cause(verdicts)) {
    const Verdict& first = *group.verdicts.front();
    const bool warns = std::ranges::all_of(
        group.verdicts, [](const Verdict* one) { return one->kind == Kind::warned; });
    const bool at_input = !first.cause.files.empty();
    const std::string& file = at_input ? first.cause.files.front() : first.file;
    std::string where;
    if (!file.empty())
      where = "file=" + escaped(file, true) + ",";
    if (!file.empty() && !at_input && first.line > 0)
      where += fmt::format("line={},", first.line);
    const std::string ways = ways_of(group);
    std::string message = escaped(places_of(group) + (ways.empty() ? "" : ": " + ways));
    if (group.verdicts.size() == 1)
      message = escaped(first.cell + (first.figure.empty() ? "" : ", " + first.figure) + ": " +
                        message_of(first));
    for (const std::string& sentence : first.why)
      message += "%0A" + escaped(sentence);
    text += fmt::format("::{} {}title={}::{}\n", warns ? "warning" : "error", where,
                        escaped("syncline: " + group.cause, true), message);
  }
  return text;
}

}  // namespace syncline
