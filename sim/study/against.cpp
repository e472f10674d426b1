#include "sim/study/against.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <utility>

#include "kernels/io/text.h"
#include "sim/report/readable.h"
#include "sim/study/lists.h"
#include "sim/study/verdict_groups.h"

namespace syncline {
namespace {

// The expectation of a row in words, as in a verdict.
std::string words_of(const Expectation& row) {
  std::string words = judge(row, {}, {}).expected;
  return row.only_warns ? words + ", only warns" : words;
}

constexpr const char* same = "expected.csv is the same as in the base: what moved is above";

// Whether the row now allows a value that it did not allow before.
bool is_looser(const Expectation& before, const Expectation& now) {
  const auto less = [](const std::optional<double>& old, const std::optional<double>& own) {
    return old && (!own || *own < *old);
  };
  const auto more = [](const std::optional<double>& old, const std::optional<double>& own) {
    return old && (!own || *own > *old);
  };
  return more(before.tolerance, now.tolerance) || less(before.at_least, now.at_least) ||
         more(before.at_most, now.at_most) || (now.only_warns && !before.only_warns) ||
         (now.only_worse && !before.only_worse);
}

std::optional<double> change_of(const Expectation& before, const Expectation& now) {
  const auto old = before.tolerance ? number_in(before.expected) : std::nullopt;
  const auto own = now.tolerance ? number_in(now.expected) : std::nullopt;
  return old && own && *old != 0 && *old != *own ? std::optional(*own / *old - 1) : std::nullopt;
}

bool is_same(const Expectation& a, const Expectation& b) {
  return a.expected == b.expected && a.tolerance == b.tolerance && a.at_least == b.at_least &&
         a.at_most == b.at_most && a.only_warns == b.only_warns && a.only_worse == b.only_worse;
}

// The judged rows, by cell and figure.
class JudgedRows {
 public:
  explicit JudgedRows(const std::vector<Expectation>& rows) {
    for (const Expectation& row : rows)
      if (row.is_judged())
        rows_.emplace(std::pair(row.cell, row.figure), &row);
  }
  const Expectation* like(const Expectation& row) const {
    const auto found = rows_.find({row.cell, row.figure});
    return found == rows_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::pair<std::string, std::string>, const Expectation*> rows_;
};

// A sentence on figures that moved within the base's tolerance.
std::string within(const std::vector<Verdict>& verdicts) {
  constexpr double rounding = 1e-6;
  double least = 0, most = 0;
  int rows = 0;
  for (const Verdict& verdict : verdicts)
    if (const auto change = verdict.change();
        verdict.kind == Verdict::Kind::met && change && std::abs(*change) > rounding) {
      least = std::min(least, *change);
      most = std::max(most, *change);
      ++rows;
    }
  return rows == 0
             ? ""
             : fmt::format("within its tolerance: {} {}, {}", rows, rows == 1 ? "row" : "rows",
                           least == 0  ? part_shown(most)
                           : most == 0 ? part_shown(least)
                                       : part_shown(least) + " to " + part_shown(most));
}

// Rows that were replaced in one way and for one reason.
struct ReplacedGroup {
  std::string because;
  Replaced::Kind kind = Replaced::Kind::renewed;
  std::vector<const Replaced*> rows;
};

std::vector<ReplacedGroup> by_reason(const std::vector<Replaced>& replaced) {
  LongList<std::pair<std::string, Replaced::Kind>> reasons;
  std::vector<ReplacedGroup> groups;
  for (const Replaced& row : replaced) {
    const std::size_t place = reasons.place_of({row.because, row.kind});
    if (place == groups.size())
      groups.push_back({.because = row.because, .kind = row.kind, .rows = {}});
    groups[place].rows.push_back(&row);
  }
  return groups;
}

std::string replaced_how(const ReplacedGroup& group) {
  const std::string rows =
      fmt::format("{} {}", group.rows.size(), group.rows.size() == 1 ? "row" : "rows");
  if (group.kind == Replaced::Kind::added)
    return rows + " added";
  if (group.kind == Replaced::Kind::removed)
    return rows + " removed";
  VerdictGroup moved;
  std::vector<Verdict> verdicts;
  for (const Replaced* row : group.rows)
    if (row->change)
      verdicts.push_back(
          {.cell = row->cell, .figure = row->figure, .expected_value = 1, .got = 1 + *row->change});
  for (const Verdict& verdict : verdicts)
    moved.verdicts.push_back(&verdict);
  const std::string ways = ways_of(moved);
  return rows + " replaced" + (ways.empty() ? "" : ": " + ways);
}

std::string replaced_where(const ReplacedGroup& group) {
  LongList<std::string> cells;
  for (const Replaced* row : group.rows)
    cells.found_or_added(row->cell);
  return few(cells.all);
}

std::string reason_shown(const ReplacedGroup& group) {
  return !group.because.empty()                  ? group.because
         : group.kind == Replaced::Kind::removed ? "(rows that are gone have no reason)"
                                                 : "(no reason is given)";
}

// A line for each row that allows more than before, or is gone: a gate that opens.
std::vector<std::string> looser_rows(const std::vector<Replaced>& replaced) {
  std::vector<std::string> lines;
  for (const Replaced& row : replaced)
    if (row.looser)
      lines.push_back(fmt::format("{}, {}: {} -> {}", row.cell, row.figure, row.before,
                                  row.now.empty() ? "no row" : row.now));
  return lines;
}

std::string headline_of(const BaseComparison& against) {
  const auto met = std::ranges::count(against.verdicts, Verdict::Kind::met, &Verdict::kind);
  return fmt::format("against {}: {}", against.base,
                     against.verdicts.empty()
                         ? "nothing to compare"
                         : fmt::format("{} of {} as in the base", met, against.verdicts.size()));
}

}  // namespace

std::vector<Replaced> replaced_between(const std::vector<Expectation>& before,
                                       const std::vector<Expectation>& now) {
  const JudgedRows rows_before(before), rows_now(now);
  std::vector<Replaced> all;
  for (const Expectation& row : now) {
    if (!row.is_judged())
      continue;
    const Expectation* old = rows_before.like(row);
    if (old != nullptr && is_same(*old, row))
      continue;
    Replaced replaced{.kind = old == nullptr ? Replaced::Kind::added : Replaced::Kind::renewed,
                      .cell = row.cell,
                      .figure = row.figure,
                      .before = old == nullptr ? "" : words_of(*old),
                      .now = words_of(row),
                      .because = row.because};
    if (old != nullptr) {
      replaced.change = change_of(*old, row);
      replaced.looser = is_looser(*old, row);
    }
    all.push_back(std::move(replaced));
  }
  for (const Expectation& row : before)
    if (row.is_judged() && rows_now.like(row) == nullptr)
      all.push_back({.kind = Replaced::Kind::removed,
                     .cell = row.cell,
                     .figure = row.figure,
                     .before = words_of(row),
                     .looser = true});
  return all;
}

std::string against_text(const BaseComparison& against) {
  std::string text = headline_of(against) + "\n";
  if (!against.note.empty())
    text += "    " + against.note + "\n";
  if (against.expects_the_same)
    return text + "    " + same + "\n";
  for (const VerdictGroup& group : by_cause(against.verdicts)) {
    const std::string ways = ways_of(group), parts = parts_of(group);
    text += fmt::format("    {}{}{}\n", group.cause, ways.empty() ? "" : ": " + ways,
                        parts.empty() ? "" : ", by " + parts) +
            "        " + places_of(group) + "\n";
  }
  if (const std::string moved = within(against.verdicts); !moved.empty())
    text += "    " + moved + "\n";
  for (const std::string& changed : changed_in_vain(against.verdicts))
    text += "    changed, but as in the base: " + changed + "\n";
  if (!against.replaced.empty())
    text += "expected.csv differs from the base:\n";
  for (const ReplacedGroup& group : by_reason(against.replaced))
    text += "    " + reason_shown(group) + ": " + replaced_how(group) + "\n        " +
            replaced_where(group) + "\n";
  for (const std::string& line : looser_rows(against.replaced))
    text += "    allows more: " + line + "\n";
  return text;
}

std::string against_markdown(const BaseComparison& against) {
  std::string text = "\n#### " + in_markdown(headline_of(against)) + "\n";
  if (!against.note.empty())
    text += "\n" + in_markdown(against.note) + "\n";
  if (against.expects_the_same)
    return text + "\n" + same + "\n";
  text += causes_table(against.verdicts);
  if (const std::string moved = within(against.verdicts); !moved.empty())
    text += "\nMoved " + in_markdown(moved) + "\n";
  for (const std::string& changed : changed_in_vain(against.verdicts))
    text += "\nChanged, but as in the base: " + in_markdown(changed) + "\n";
  if (against.replaced.empty())
    return text;
  text +=
      "\n#### Expectations that differ from the base\n\n| because | what | where "
      "|\n|---|---|---|\n";
  for (const ReplacedGroup& group : by_reason(against.replaced))
    text += fmt::format("| {} | {} | {} |\n", in_markdown(reason_shown(group)),
                        in_markdown(replaced_how(group)), in_markdown(replaced_where(group)));
  const std::vector<std::string> looser = looser_rows(against.replaced);
  if (!looser.empty())
    text += "\nThe gate allows more than before:\n\n";
  for (const std::string& line : looser)
    text += "- " + in_markdown(line) + "\n";
  text += fmt::format(
      "\n<details><summary>Each of the {} rows</summary>\n\n"
      "| cell | figure | was | is | because |\n|---|---|---|---|---|\n",
      against.replaced.size());
  for (const Replaced& row : against.replaced)
    text +=
        fmt::format("| {} | {} | {} | {} | {} |\n", in_markdown(row.cell), in_markdown(row.figure),
                    in_markdown(row.before), in_markdown(row.now), in_markdown(row.because));
  return text + "\n</details>\n";
}

}  // namespace syncline
