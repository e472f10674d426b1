#include "sim/study/verdict_groups.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "sim/report/figures.h"
#include "sim/report/readable.h"
#include "sim/study/lists.h"

namespace syncline {
namespace {

// "a (2), b (3)": words with their counts; a single word without.
std::string counted(const std::vector<std::pair<std::string, int>>& words) {
  std::string text;
  for (const auto& [word, count] : words)
    text += (text.empty() ? "" : ", ") +
            (words.size() == 1 ? word : fmt::format("{} ({})", word, count));
  return text;
}

// The changes of a figure in a group.
struct Changes {
  std::string figure;
  double least = 0, most = 0;
  int rows = 0, unmeasured = 0;

  void add(const Verdict& verdict) {
    const auto change = verdict.change();
    ++rows;
    if (!change) {
      ++unmeasured;
      return;
    }
    const bool first = rows - unmeasured == 1;
    least = first ? *change : std::min(least, *change);
    most = first ? *change : std::max(most, *change);
  }
  std::string shown() const {
    const std::string title = title_of_figure(figure);
    if (rows == unmeasured)
      return title;
    const std::string from = part_shown(least), to = part_shown(most);
    std::string text = fmt::format("{} {}", title, from == to ? from : from + " to " + to);
    const auto worse = more_is_worse(figure);
    if (worse && least * most >= 0 && (least != 0 || most != 0))
      text += (least + most > 0) == *worse ? ", worse" : ", better";
    return text;
  }
};

}  // namespace

std::string part_shown(double part) {
  return fmt::format("{:+.{}g} %", 100 * part, std::abs(part) < 0.095 ? 2 : 3);
}

std::string title_of_figure(const std::string& figure) {
  const Figure* row = find_figure(figure);
  return row == nullptr || row->traits.titles.empty() ? figure : row->traits.titles.front();
}

std::optional<bool> more_is_worse(const std::string& figure) {
  static const std::vector<std::string> more_is_better{"scaling_efficiency", "accuracy"};
  static const std::vector<std::string> moments{"window_from_s", "window_to_s", "simulated_s"};
  const Figure* row = find_figure(figure);
  if (row == nullptr || is_among(figure, moments))
    return std::nullopt;
  if (row->unit == Unit::samples_per_s || is_among(figure, more_is_better))
    return false;
  const bool costs = row->unit == Unit::seconds || row->unit == Unit::duration ||
                     row->unit == Unit::bytes || row->unit == Unit::money;
  return costs || figure == "loss" || figure.starts_with("staleness") ? std::optional(true)
                                                                      : std::nullopt;
}

std::vector<VerdictGroup> by_cause(const std::vector<Verdict>& verdicts) {
  LongList groups(&VerdictGroup::cause);
  for (const Verdict& verdict : verdicts)
    if (verdict.kind != Verdict::Kind::met)
      groups.found_or_added(verdict.cause.what).verdicts.push_back(&verdict);
  return std::move(groups.all);
}

std::vector<std::string> changed_in_vain(const std::vector<Verdict>& verdicts) {
  LongList causes(&std::pair<std::string, int>::first);
  for (const Verdict& verdict : verdicts)
    if (verdict.kind == Verdict::Kind::met && !verdict.cause.changed.empty())
      ++causes.found_or_added(verdict.cause.what).second;
  std::vector<std::string> texts;
  for (const auto& [what, rows] : causes.all)
    texts.push_back(fmt::format("{} ({} {})", what, rows, rows == 1 ? "row" : "rows"));
  return texts;
}

std::string ways_of(const VerdictGroup& group) {
  std::vector<Changes> figures;
  for (const Verdict* verdict : group.verdicts)
    if (!verdict->figure.empty())
      found_or_added(figures, verdict->figure, &Changes::figure).add(*verdict);
  std::string text;
  for (const Changes& changes : figures)
    text += (text.empty() ? "" : "; ") + changes.shown();
  return text;
}

std::string parts_of(const VerdictGroup& group) {
  std::vector<std::pair<std::string, int>> parts;
  for (const Verdict* verdict : group.verdicts)
    if (!verdict->cause.part.empty())
      ++found_or_added(parts, verdict->cause.part, &std::pair<std::string, int>::first).second;
  std::ranges::stable_sort(parts, [](const auto& a, const auto& b) { return a.second > b.second; });
  return counted(parts);
}

std::string places_of(const VerdictGroup& group) {
  LongList<std::string> cells;
  for (const Verdict* verdict : group.verdicts)
    cells.found_or_added(verdict->cell);
  return cells.all.size() == 1 ? cells.all.front()
                               : fmt::format("{} cells: {}", cells.all.size(), few(cells.all));
}

std::string causes_table(const std::vector<Verdict>& verdicts) {
  const std::vector<VerdictGroup> groups = by_cause(verdicts);
  std::string text;
  for (const VerdictGroup& group : groups)
    text += fmt::format("| {} | {} | {} | {} |\n", in_markdown(group.cause),
                        in_markdown(ways_of(group)), in_markdown(parts_of(group)),
                        in_markdown(places_of(group)));
  return text.empty()
             ? ""
             : "\n| cause | which way | by which part | where |\n|---|---|---|---|\n" + text;
}

}  // namespace syncline
