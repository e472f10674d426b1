#include "sim/gate/verdict.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "kernels/io/text.h"
#include "sim/report/figures.h"
#include "sim/report/readable.h"
#include "sim/study/ordered_lists.h"

namespace syncline {
namespace {

using Kind = Verdict::Kind;

std::string parts_of(const std::vector<const Verdict*>& verdicts) {
  std::vector<std::string> parts;
  for (const Verdict* verdict : verdicts)
    if (!verdict->cause.part.empty())
      parts.push_back(verdict->cause.part);
  const auto all = tallied(parts);
  std::vector<std::string> shown;
  for (const auto& [part, times] : all)
    shown.push_back(all.size() == 1 ? part : fmt::format("{} ({})", part, times));
  return fmt::format("{}", fmt::join(shown, ", "));
}

}  // namespace

std::optional<double> Verdict::change() const {
  return got && expected_value && *expected_value != 0 ? std::optional(*got / *expected_value - 1)
                                                       : std::nullopt;
}

std::string headline_of_error(const std::string& error) {
  constexpr std::size_t most = 200;
  const std::size_t end =
      std::min({error.find("; allowed"), error.find(": allowed"), error.find("; `"), error.size()});
  return end <= most ? error.substr(0, end) : brief(error);
}

std::size_t count_of(const std::vector<Verdict>& verdicts, Verdict::Kind kind) {
  return static_cast<std::size_t>(std::ranges::count(verdicts, kind, &Verdict::kind));
}

std::string summary_of(const std::vector<Verdict>& verdicts) {
  if (verdicts.empty())
    return "no limit is given, so nothing is judged";
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
    if (verdict.kind != Kind::met)
      groups.found_or_added(verdict.cause.what).verdicts.push_back(&verdict);
  for (VerdictGroup& group : groups.all) {
    Moves moves;
    LongList<std::string> cells;
    for (const Verdict* verdict : group.verdicts) {
      moves.emplace_back(verdict->figure, verdict->change());
      cells.found_or_added(verdict->cell);
    }
    group.ways = ways_of(moves);
    group.parts = parts_of(group.verdicts);
    group.where = cells.all.size() == 1
                      ? cells.all.front()
                      : fmt::format("{} cells: {}", cells.all.size(), listed_briefly(cells.all));
  }
  return std::move(groups.all);
}

std::vector<std::string> changed_without_effect(const std::vector<Verdict>& verdicts) {
  LongList causes(&std::pair<std::string, int>::first);
  for (const Verdict& verdict : verdicts)
    if (verdict.kind == Verdict::Kind::met && !verdict.cause.changed.empty())
      ++causes.found_or_added(verdict.cause.what).second;
  std::vector<std::string> texts;
  for (const auto& [what, rows] : causes.all)
    texts.push_back(fmt::format("{} ({})", what, counted(rows, "row")));
  return texts;
}

std::string ways_of(const Moves& moves) {
  std::vector<std::pair<std::string, std::vector<double>>> figures;  // with their changes
  for (const auto& [figure, change] : moves)
    if (!figure.empty())
      if (auto& own = found_or_added(figures, figure, &decltype(figures)::value_type::first);
          change)
        own.second.push_back(*change);
  std::vector<std::string> ways;
  for (const auto& [figure, changes] : figures) {
    std::string& way = ways.emplace_back(title_of_figure(figure));
    if (changes.empty())
      continue;
    const auto [least, most] = std::ranges::minmax(changes);
    const std::string from = part_shown(least), to = part_shown(most);
    way += " " + (from == to ? from : from + " to " + to);
    const auto worse = more_is_worse(figure);
    if (worse && least * most >= 0 && (least != 0 || most != 0))
      way += (least + most > 0) == *worse ? ", worse" : ", better";
  }
  return fmt::format("{}", fmt::join(ways, "; "));
}

}  // namespace syncline
