#include "sim/study/verdict.h"

#include <algorithm>

#include "kernels/io/text.h"
#include "sim/report/shown.h"

namespace syncline {
namespace {

using Kind = Verdict::Kind;

const char* word_of(Kind kind) {
  switch (kind) {
    case Kind::met:
      return "ok";
    case Kind::moved:
      return "MOVED";
    case Kind::failed:
      return "FAILED";
    case Kind::not_checked:
      break;
  }
  return "not checked";
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

}  // namespace

std::size_t count_of(const std::vector<Verdict>& verdicts, Kind kind) {
  return static_cast<std::size_t>(std::ranges::count(verdicts, kind, &Verdict::kind));
}

std::string summary_of(const std::vector<Verdict>& verdicts) {
  const std::size_t met = count_of(verdicts, Kind::met);
  const std::size_t moved = count_of(verdicts, Kind::moved);
  const std::size_t failed = count_of(verdicts, Kind::failed);
  return std::to_string(met) + " of " + std::to_string(met + moved + failed) + " as expected" +
         (moved > 0 ? ", " + std::to_string(moved) + " moved" : "") +
         (failed > 0 ? ", " + std::to_string(failed) + " could not be simulated" : "");
}

int exit_code_of(const std::vector<Verdict>& verdicts) {
  return count_of(verdicts, Kind::failed) > 0 ? 2 : count_of(verdicts, Kind::moved) > 0 ? 1 : 0;
}

std::string verdicts_table(const std::vector<Verdict>& verdicts) {
  std::vector<Column> columns{{.title = "", .cells = {}, .left = true},
                              {.title = "cell", .cells = {}, .left = true},
                              {.title = "figure", .cells = {}, .left = true},
                              {.title = "expected", .cells = {}, .left = true},
                              {.title = "now", .cells = {}, .left = true}};
  for (const Verdict& verdict : verdicts) {
    columns[0].cells.emplace_back(word_of(verdict.kind));
    columns[1].cells.push_back(verdict.cell);
    columns[2].cells.push_back(verdict.figure);
    columns[3].cells.push_back(verdict.expected);
    columns[4].cells.push_back(verdict.now);
  }
  const std::string table = aligned(columns, verdicts.size());
  std::string text;
  std::size_t begin = 0;
  for (std::size_t row = 0; row <= verdicts.size(); ++row) {
    const std::size_t end = table.find('\n', begin) + 1;
    text += table.substr(begin, end - begin);
    begin = end;
    if (row > 0)
      for (const std::string& sentence : verdicts[row - 1].why)
        text += "    " + printable(sentence) + "\n";
  }
  return text;
}

std::string junit_xml(const std::string& suite, const std::vector<Verdict>& verdicts) {
  const std::string counts = " tests=\"" + std::to_string(verdicts.size()) + "\" failures=\"" +
                             std::to_string(count_of(verdicts, Kind::moved)) + "\" errors=\"" +
                             std::to_string(count_of(verdicts, Kind::failed)) + "\" skipped=\"" +
                             std::to_string(count_of(verdicts, Kind::not_checked)) + "\"";
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts +
                    ">\n  <testsuite name=\"" + in_xml(suite) + "\"" + counts + ">\n";
  for (const Verdict& verdict : verdicts) {
    xml += "    <testcase classname=\"" + in_xml(suite + "." + verdict.cell) + "\" name=\"" +
           in_xml(verdict.figure.empty() ? verdict.cell : verdict.figure) + "\"";
    if (verdict.kind == Kind::met) {
      xml += "/>\n";
      continue;
    }
    const std::string element = verdict.kind == Kind::moved    ? "failure"
                                : verdict.kind == Kind::failed ? "error"
                                                               : "skipped";
    xml += ">\n      <" + element + " message=\"" + in_xml(message_of(verdict)) + "\">";
    for (const std::string& sentence : verdict.why)
      xml += in_xml(sentence) + "\n";
    xml += "</" + element + ">\n    </testcase>\n";
  }
  return xml + "  </testsuite>\n</testsuites>\n";
}

std::string verdicts_markdown(const std::string& title, const std::vector<Verdict>& verdicts) {
  std::string text = "### " + in_markdown(title) + ": " + summary_of(verdicts) + "\n";
  bool any = false;
  for (const Verdict& verdict : verdicts) {
    if (verdict.kind == Kind::met)
      continue;
    if (!any)
      text += "\n| | cell | figure | expected | now | why |\n|---|---|---|---|---|---|\n";
    any = true;
    std::string why;
    for (const std::string& sentence : verdict.why)
      why += (why.empty() ? "" : "<br>") + in_markdown(sentence);
    text += std::string("| ") + word_of(verdict.kind) + " | " + in_markdown(verdict.cell) + " | " +
            in_markdown(verdict.figure) + " | " + in_markdown(verdict.expected) + " | " +
            in_markdown(verdict.now) + " | " + why + " |\n";
  }
  return text;
}

}  // namespace syncline
