#include "sim/gate/bless.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <stdexcept>
#include <utility>

#include "kernels/io/text.h"
#include "kernels/io/whole_file.h"
#include "sim/report/learning.h"
#include "sim/report/readable.h"
#include "sim/report/report.h"
#include "sim/report/result_json.h"
#include "sim/study/ordered_lists.h"
#include "sim/study/pooled.h"

namespace syncline {
namespace {

const std::vector<std::string> learned_figures{"loss", "accuracy", "target_s"};
constexpr std::size_t most_reason_bytes = 1000;
constexpr double tolerance_of_new_rows = 0.001;
// By trial: another seed moves the loss of `digits` by 2 to 8 % and its accuracy by 1 to 5 %, and
// so do the last steps of a curve that has settled. A curve that is flat by chance is not known
// better than the lower limit. Above the upper limit, with a curve that still falls, a gate would
// see nothing.
constexpr double least_of_learning = 0.02, most_of_learning = 0.1;

// The largest step of a column of the curve between neighbours at its end, as a part of its last
// value: evaluated a little sooner or later, the figure would differ by this much.
double last_steps(const Result& result, double CurvePoint::*column) {
  constexpr std::size_t steps = 3;
  const std::vector<CurvePoint>& curve = result.learned->curve;
  if (curve.empty() || curve.back().*column == 0)
    return 0;
  double most = 0;
  for (std::size_t i = curve.size() - std::min(curve.size() - 1, steps); i < curve.size(); ++i)
    most = std::max(most, std::abs(curve[i].*column - curve[i - 1].*column));
  return most / std::abs(curve.back().*column);
}

// The relative uncertainty of throughput.
double known_to(const Figures& figures) {
  return std::max(figures.throughput_interval.value_or(0), std::abs(figures.halves_differ) / 2);
}

// The part by which a figure may move though nothing has changed: the uncertainty of throughput,
// the effect of other seeds, and the steps in which a curve is evaluated.
double may_move(const std::string& figure, const Result& result) {
  const double throughput = std::max(known_to(result.figures), moved_by_seeds(result));
  if (!is_of_learning(figure) || !result.learns())
    return throughput;
  if (figure == "target_s")
    return std::max(throughput, last_steps(result, &CurvePoint::seconds));
  const auto column = figure == "loss" ? &CurvePoint::loss : &CurvePoint::accuracy;
  return std::clamp(last_steps(result, column), least_of_learning, most_of_learning);
}

// Rounded up to two digits, and at least tolerance_of_new_rows.
double rounded_up(double part) {
  if (part <= tolerance_of_new_rows)
    return tolerance_of_new_rows;
  const double unit = std::pow(10, std::floor(std::log10(part)) - 1);
  return number_in(fmt::format("{:.2g}", std::ceil(part / unit - 1e-9) * unit)).value_or(part);
}

// A cell, and its rows in expected.csv.
using CellRows = std::pair<std::string, std::vector<const Expectation*>>;

class Blessing {
 public:
  Blessing(const CheckFolder& folder, std::string because)
      : folder_(folder), because_(std::move(because)) {
    blessed_.file.comments = folder.expected.comments;
    blessed_.file.comments_at_end = folder.expected.comments_at_end;
    for (const Expectation& row : folder.expected.rows)
      rows_.found_or_added(row.cell).second.push_back(&row);
  }

  Blessed all() {
    for (const CheckedCell& cell : folder_.cells)
      add(cell);
    say_what_is_gone();
    return std::move(blessed_);
  }

 private:
  void say(const std::string& what, const std::string& sentence) {
    blessed_.sentences.push_back(what + ": " + sentence);
  }

  Expectation new_row(const CheckedCell& cell, const std::string& figure) const {
    return {.cell = cell.name,
            .figure = figure,
            .expected = figure_text(*find_figure(figure), cell.result),
            .tolerance = rounded_up(may_move(figure, cell.result)),
            .because = because_};
  }

  // Gives a row that is not met its present figure.
  void renew(Expectation& row, const CheckedCell& cell) {
    row.expected = figure_text(*find_figure(row.figure), cell.result);
    if (row.expected.empty())
      throw std::runtime_error(cell.name + ": " + row.figure + ": " +
                               why_unknown(cell.result, row.figure) +
                               ": allowed are figures that the cell has");
    row.because = because_;
    const double own = rounded_up(may_move(row.figure, cell.result));
    if (*row.tolerance == 0 || *row.tolerance >= own)  // 0 asks for exactly the same figure
      return;
    say(cell.name, fmt::format("{} {} {:.2g} %: its tolerance was {:.2g} %", row.figure,
                               own <= rounded_up(moved_by_seeds(cell.result))
                                   ? "moves with another seed by up to"
                                   : "is known to",
                               100 * own, 100 * *row.tolerance));
    row.tolerance = own;
  }

  void add_new_rows(const CheckedCell& cell, std::vector<Expectation>& rows) {
    const bool is_new = rows.empty();
    if (is_new)
      rows.push_back(new_row(cell, "throughput_samples_per_s"));
    const auto of_learning = [](const Expectation& row) { return is_of_learning(row.figure); };
    const auto has_tolerance = [](const Expectation& row) { return row.tolerance.has_value(); };
    if (!cell.result.learns() || std::ranges::any_of(rows, of_learning) ||
        std::ranges::none_of(rows, has_tolerance))
      return;
    for (const std::string& figure : learned_figures)
      if (value_of(figure, cell.result)) {
        rows.push_back(new_row(cell, figure));
        if (!is_new)
          say(cell.name, "what it learns had no row: " + figure + " has one now");
      } else if (figure != "target_s" || target_in(cell.result)) {
        say(cell.name, "no row for " + figure + ": " + why_unknown(cell.result, figure));
      }
  }

  void say_if_unsteady(const CheckedCell& cell) {
    const Figures& figures = cell.result.figures;
    if (is_unsteady(figures))
      say(cell.name,
          fmt::format(
              "not steady: the second half of its window is {:.2g} % {} than the first, and "
              "{:.6g} samples/s are known to {:.2g} %; more iterations say more",
              100 * std::abs(figures.halves_differ),
              figures.halves_differ > 0 ? "faster" : "slower", figures.throughput_samples_per_s,
              100 * rounded_up(known_to(figures))));
  }

  static bool is_met(const Expectation& row, const Result& result) {
    Expectation unbounded = row;
    unbounded.at_least.reset();
    unbounded.at_most.reset();
    return judge(unbounded, result, {}).kind == Verdict::Kind::met;
  }

  void add(const CheckedCell& cell) {
    std::vector<Expectation> rows;
    std::vector<std::string> comments;  // comments above notes, which are written anew
    const std::vector<const Expectation*>& before = rows_.found_or_added(cell.name).second;
    const bool had_any = !before.empty();
    for (const Expectation* row : before) {
      comments.insert(comments.end(), row->comments.begin(), row->comments.end());
      if (!row->is_judged())
        continue;
      rows.push_back(*row);
      rows.back().comments.swap(comments);
      comments.clear();
    }
    bool any_renewed = !had_any;
    for (Expectation& row : rows)
      if (row.tolerance && !is_met(row, cell.result)) {
        renew(row, cell);
        any_renewed = true;
      }
    if (!had_any || !rows.empty())
      add_new_rows(cell, rows);
    if (any_renewed)
      say_if_unsteady(cell);
    if (any_renewed && is_of_chance(cell.result) && !cell.result.figures.throughput_interval)
      say(cell.name,
          "too short to know the effect of other seeds: its tolerance is for this seed only; more "
          "iterations say more");
    add_notes(cell, rows);
    if (!comments.empty() && !rows.empty())
      rows.front().comments.insert(rows.front().comments.end(), comments.begin(), comments.end());
    blessed_.file.rows.insert(blessed_.file.rows.end(), rows.begin(), rows.end());
  }

  static void add_notes(const CheckedCell& cell, std::vector<Expectation>& rows) {
    const auto has = [&](const std::string& figure) {
      return std::ranges::find(rows, figure, &Expectation::figure) != rows.end();
    };
    if (std::ranges::any_of(rows, [](const Expectation& row) { return row.tolerance.has_value(); }))
      for (const auto& [figure, value] : cell.notes)
        if (!has(figure))
          rows.push_back({.cell = cell.name, .figure = figure, .expected = value});
    if (cell.result.figures.runs > 1 && !has(noted_runs))
      rows.push_back({.cell = cell.name,
                      .figure = noted_runs,
                      .expected = std::to_string(cell.result.figures.runs)});
  }

  void say_what_is_gone() {
    std::set<std::string> there;
    for (const CheckedCell& cell : folder_.cells)
      there.insert(cell.name);
    std::vector<std::string> comments;
    for (const auto& [cell, rows] : rows_.all) {
      if (there.contains(cell))
        continue;
      std::vector<std::string> judged;
      for (const Expectation* row : rows) {
        comments.insert(comments.end(), row->comments.begin(), row->comments.end());
        if (row->is_judged())
          judged.push_back(row->figure + " " + judge(*row, {}, {}).expected);
      }
      say(cell,
          "is gone, and its rows with it: " + (judged.empty() ? "notes only" : and_listed(judged)));
    }
    std::vector<std::string>& end = blessed_.file.comments_at_end;
    end.insert(end.begin(), comments.begin(), comments.end());
  }

  const CheckFolder& folder_;
  std::string because_;
  LongList<CellRows, std::string CellRows::*> rows_{&CellRows::first};
  Blessed blessed_;
};

// "wrote c/expected.csv: 1 cell, 1 figure expected, 18 notes".
std::string written_shown(const CheckFolder& folder, bool has_changed) {
  std::set<std::string> cells;
  for (const Expectation& row : folder.expected.rows)
    cells.insert(row.cell);
  const auto figures = std::ranges::count_if(folder.expected.rows, &Expectation::is_judged);
  const auto notes = std::ssize(folder.expected.rows) - figures;
  const std::string path = brief_path(folder.csv());
  return (has_changed ? "wrote " + path : path + " has not changed") + ": " +
         counted(cells.size(), "cell") + ", " + counted(figures, "figure") + " expected, " +
         counted(notes, "note");
}

}  // namespace

Blessed blessed(const CheckFolder& folder, const std::string& because) {
  for (const CheckedCell& cell : folder.cells)
    if (!cell.error.empty())
      throw std::runtime_error(cell.name + ": " + cell.error);
  return Blessing(folder, because).all();
}

std::string write_blessed(CheckFolder& folder, const ExpectedFile& now) {
  const std::string path = folder.csv();
  const std::string text = readable_text(now, path);
  folder.expected = expected_in(text, path);  // now with line numbers
  const FileLock lock(path);
  const std::string there = text_of_expected(path);
  if (there != text && there != folder.text)
    throw std::runtime_error(brief_path(path) +
                             ": has changed while cells were simulated: allowed is --bless again");
  if (there != text)
    write_atomically(path, text);
  return written_shown(folder, there != text);
}

std::string readable_text(const ExpectedFile& file, const std::string& path) {
  const std::string text = expected_text(file);
  if (expected_text(expected_in(text, path)) != text)
    throw std::runtime_error(brief_path(path) +
                             ": would be read as something else: allowed are names and reasons " +
                             "without blanks at their ends");
  return text;
}

std::string reason_of(const std::string& given) {
  const std::string reason = printable(trimmed(given));
  if (reason.size() > most_reason_bytes)
    throw std::invalid_argument(
        fmt::format("--because: {} bytes: allowed are up to {}", reason.size(), most_reason_bytes));
  return reason;
}

}  // namespace syncline
