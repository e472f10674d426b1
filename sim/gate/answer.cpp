#include "sim/gate/answer.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>
#include <utility>

#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"
#include "sim/report/readable.h"
#include "sim/study/ordered_lists.h"

namespace syncline {
namespace {

using Kind = Verdict::Kind;
using Rows = std::vector<Words>;

// The beginnings of a gate's files: files that begin otherwise are not replaced.
const std::string markdown_begin = "<!-- syncline gate -->\n";
const std::string junit_begin = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + markdown_begin;

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

// A row for each verdict, or for each that was not met: its word, the cell, its figure, what was
// expected, what it is now, and lines that say why.
Rows rows_of(const std::vector<Verdict>& verdicts, bool missed) {
  Rows rows;
  for (const Verdict& verdict : verdicts)
    if (!missed || verdict.kind != Kind::met)
      rows.push_back({word_of(verdict), verdict.cell, verdict.figure, verdict.expected, verdict.now,
                      fmt::format("{}", fmt::join(verdict.why, "\n"))});
  return rows;
}

// A row for each cause: the cause, which way, by which part, and where.
Rows rows_of_causes(const std::vector<Verdict>& verdicts) {
  Rows rows;
  for (const VerdictGroup& group : by_cause(verdicts))
    rows.push_back({group.cause, group.ways, group.parts, group.where});
  return rows;
}

// Rows that were replaced in one way and for one reason.
struct ReplacedGroup {
  std::pair<std::string, Replaced::Kind> why;
  std::vector<const Replaced*> rows;
};

std::string replaced_how(const ReplacedGroup& group) {
  static constexpr const char* done[] = {"replaced", "added", "removed"};
  Moves moves;
  for (const Replaced* row : group.rows)
    if (row->change)
      moves.emplace_back(row->figure, row->change);
  const bool renewed = group.why.second == Replaced::Kind::renewed;
  const std::string ways = renewed ? ways_of(moves) : "";
  return fmt::format("{} {}{}{}", counted(group.rows.size(), "row"),
                     done[static_cast<int>(group.why.second)], ways.empty() ? "" : ": ", ways);
}

// A row for each reason: the reason, what was done, and where.
Rows rows_of_reasons(const std::vector<Replaced>& replaced) {
  LongList groups(&ReplacedGroup::why);
  for (const Replaced& row : replaced)
    groups.found_or_added({row.because, row.kind}).rows.push_back(&row);
  Rows rows;
  for (const ReplacedGroup& group : groups.all) {
    const auto& [because, kind] = group.why;
    LongList<std::string> cells;
    for (const Replaced* row : group.rows)
      cells.found_or_added(row->cell);
    rows.push_back({!because.empty()                  ? because
                    : kind == Replaced::Kind::removed ? "(rows that are gone have no reason)"
                                                      : "(no reason is given)",
                    replaced_how(group), listed_briefly(cells.all)});
  }
  return rows;
}

// A line for each row that allows more than before, or is gone: a gate that opens.
Words looser_rows(const std::vector<Replaced>& replaced) {
  Words lines;
  for (const Replaced& row : replaced)
    if (row.looser)
      lines.push_back(fmt::format("{}, {}: {} -> {}", row.cell, row.figure, row.before,
                                  row.now.empty() ? "no row" : row.now));
  return lines;
}

// Sentences on what has changed, or was blessed; the first letter of a sentence is small.
Words remarks_of(const Answer& answer) {
  Words remarks;
  for (const std::string& changed : changed_without_effect(answer.verdicts))
    remarks.push_back("changed, and as expected: " + changed);
  for (const std::string& sentence : answer.blessed)
    remarks.push_back("blessed: " + sentence);
  return remarks;
}

Words remarks_of(const BaseComparison& against) {
  constexpr double rounding = 1e-6;
  std::vector<double> moved;  // within the base's tolerance
  for (const Verdict& verdict : against.verdicts)
    if (const auto change = verdict.change();
        verdict.kind == Kind::met && change && std::abs(*change) > rounding)
      moved.push_back(*change);
  Words remarks;
  if (!moved.empty()) {
    const auto [least, most] = std::ranges::minmax(moved);
    remarks.push_back("moved within its tolerance: " + counted(moved.size(), "row") + ", " +
                      (least > 0  ? part_shown(most)
                       : most < 0 ? part_shown(least)
                                  : part_shown(least) + " to " + part_shown(most)));
  }
  for (const std::string& changed : changed_without_effect(against.verdicts))
    remarks.push_back("changed, but as in the base: " + changed);
  return remarks;
}

std::string headline_of(const BaseComparison& against) {
  return fmt::format("against {}: {}", against.base,
                     against.verdicts.empty() ? "nothing to compare"
                                              : fmt::format("{} of {} as in the base",
                                                            count_of(against.verdicts, Kind::met),
                                                            against.verdicts.size()));
}

// What else there is to say of a base.
Words notes_on(const BaseComparison& against) {
  Words notes;
  if (!against.note.empty())
    notes.push_back(against.note);
  if (against.expects_the_same)
    notes.emplace_back("expected.csv is the same as in the base: what moved is above");
  return notes;
}

// Rows of causes or reasons, each as two lines.
std::string rows_in_text(const Rows& rows) {
  std::string text;
  for (const Words& row : rows)
    text += fmt::format("    {}{}{}{}{}\n        {}\n", row[0], row[1].empty() ? "" : ": ", row[1],
                        row.size() < 4 || row[2].empty() ? "" : ", by ",
                        row.size() < 4 ? "" : row[2], row.back());
  return text;
}

std::string against_in_text(const BaseComparison& against) {
  std::string text = headline_of(against) + "\n";
  for (const std::string& note : notes_on(against))
    text += "    " + note + "\n";
  if (against.expects_the_same)
    return text;
  text += rows_in_text(rows_of_causes(against.verdicts));
  for (const std::string& remark : remarks_of(against))
    text += "    " + (remark.starts_with("moved ") ? remark.substr(6) : remark) + "\n";
  if (!against.replaced.empty())
    text += "expected.csv differs from the base:\n";
  text += rows_in_text(rows_of_reasons(against.replaced));
  for (const std::string& line : looser_rows(against.replaced))
    text += "    allows more: " + line + "\n";
  return text;
}

// Text for a cell of a Markdown table, without markup. Its lines stay lines.
std::string in_markdown(const std::string& text) {
  static const std::string special = "\\`*_{}[]<>#|~&@";
  std::string safe;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    safe += safe.empty() ? "" : "<br>";
    for (const char c : printable(line)) {
      if (special.find(c) != std::string::npos)
        safe += '\\';
      safe += c;
    }
  }
  return safe;
}

std::string paragraph(std::string sentence, bool begins = true) {
  if (begins)
    sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  return "\n" + in_markdown(sentence) + "\n";
}

// A table with these titles, "| cause | where |"; empty without rows.
std::string table(const std::string& titles, const Rows& rows) {
  if (rows.empty())
    return "";
  std::string text = "\n" + titles + "\n|";
  for (auto columns = std::ranges::count(titles, '|'); columns > 1; --columns)
    text += "---|";
  text += "\n";
  for (Words row : rows) {
    std::ranges::transform(row, row.begin(), in_markdown);
    text += fmt::format("| {} |\n", fmt::join(row, " | "));
  }
  return text;
}

// A table with a line for each row, folded away.
std::string folded(const std::string& titles, const Rows& rows) {
  return rows.empty()
             ? ""
             : fmt::format(
                   "\n<details><summary>{}</summary>\n{}\n</details>\n",
                   rows.size() == 1 ? "The row" : fmt::format("Each of the {} rows", rows.size()),
                   table(titles, rows));
}

std::string table_of_causes(const std::vector<Verdict>& verdicts) {
  return table("| cause | which way | by which part | where |", rows_of_causes(verdicts));
}

std::string against_in_markdown(const BaseComparison& against) {
  std::string text = "\n#### " + in_markdown(headline_of(against)) + "\n";
  for (const std::string& note : notes_on(against))
    text += paragraph(note, false);
  if (against.expects_the_same)
    return text;
  text += table_of_causes(against.verdicts);
  for (const std::string& remark : remarks_of(against))
    text += paragraph(remark);
  if (against.replaced.empty())
    return text;
  text += "\n#### Expectations that differ from the base\n" +
          table("| because | what | where |", rows_of_reasons(against.replaced));
  const Words looser = looser_rows(against.replaced);
  if (!looser.empty())
    text += "\nThe gate allows more than before:\n\n";
  for (const std::string& line : looser)
    text += "- " + in_markdown(line) + "\n";
  Rows rows;
  for (const Replaced& row : against.replaced)
    rows.push_back({row.cell, row.figure, row.before, row.now, row.because});
  return text + folded("| cell | figure | was | is | because |", rows);
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

// "c/ring.cfg" of "c/ring.cfg:3: ...", if that is a file.
std::string file_of_error(const std::string& error) {
  const std::string path = error.substr(0, error.find(':'));
  std::error_code none;
  return std::filesystem::is_regular_file(path, none) ? path : "";
}

}  // namespace

std::string answer_text(const Answer& answer) {
  std::vector<Column> columns;
  for (const char* title : {"", "cell", "figure", "expected", "now"})
    columns.push_back({.title = title, .left = true});
  for (const Words& row : rows_of(answer.verdicts, false))
    for (std::size_t i = 0; i < columns.size(); ++i)
      columns[i].cells.push_back(row[i]);
  std::istringstream lines(aligned(columns, answer.verdicts.size()));
  std::string line, text;
  for (std::size_t row = 0; std::getline(lines, line); ++row) {
    text += line + "\n";
    if (row > 0)
      for (const std::string& sentence : answer.verdicts[row - 1].why)
        text += "    " + printable(sentence) + "\n";
  }
  for (const std::string& remark : remarks_of(answer))
    text += printable(remark) + "\n";
  return text + (answer.written.empty() ? "" : answer.written + "\n") +
         (answer.against ? against_in_text(*answer.against) : "") + summary_of(answer.verdicts) +
         "\n";
}

std::string answer_markdown(const Answer& answer) {
  std::string text = markdown_begin + "### " + in_markdown(answer.title) + ": " +
                     summary_of(answer.verdicts) + "\n" + table_of_causes(answer.verdicts);
  text += folded("| | cell | figure | expected | now | why |", rows_of(answer.verdicts, true));
  for (const std::string& remark : remarks_of(answer))
    text += paragraph(remark);
  return text + (answer.against ? against_in_markdown(*answer.against) : "");
}

std::string junit_xml(const Answer& answer) {
  const std::vector<Verdict>& verdicts = answer.verdicts;
  const std::string counts =
      fmt::format(R"( tests="{}" failures="{}" errors="{}")", verdicts.size(),
                  count_of(verdicts, Kind::moved), count_of(verdicts, Kind::failed));
  std::string xml = junit_begin + fmt::format("<testsuites{0}>\n  <testsuite name=\"{1}\"{0}>\n",
                                              counts, in_xml(answer.title));
  for (const Verdict& verdict : verdicts) {
    xml += fmt::format(R"(    <testcase classname="{}" name="{}")",
                       in_xml(answer.title + "." + verdict.cell),
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

std::string annotations(const Answer& answer) {
  std::string text;
  for (const VerdictGroup& group : by_cause(answer.verdicts)) {
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
    std::string message = group.where + (group.ways.empty() ? "" : ": " + group.ways);
    if (group.verdicts.size() == 1)
      message =
          first.cell + (first.figure.empty() ? "" : ", " + first.figure) + ": " + message_of(first);
    message = escaped(message);
    for (const std::string& sentence : first.why)
      message += "%0A" + escaped(sentence);
    text += fmt::format("::{} {}title={}::{}\n", warns ? "warning" : "error", where,
                        escaped("syncline: " + group.cause, true), message);
  }
  return text;
}

void check_gate_files(const CommandLine& line, OutputPaths& places) {
  place_of(line, "junit", junit_begin, places);
  place_of(line, "md", markdown_begin, places);
}

void write_answer(const CommandLine& line, const Answer& answer) {
  if (const auto path = line.flag("junit"))
    write_atomically(*path, junit_xml(answer));
  if (const auto path = line.flag("md"))
    write_atomically(*path, answer_markdown(answer));
  if (line.has("github"))
    std::fputs(annotations(answer).c_str(), stderr);
}

void write_gate_error(const CommandLine& line, const std::string& title, const std::string& error) {
  Verdict failed{.kind = Kind::failed, .cell = title, .now = "not judged", .why = {error}};
  failed.cause.what = headline_of_error(error);
  failed.file = file_of_error(error);
  write_answer(line, {.title = title, .verdicts = {failed}});
}

}  // namespace syncline
