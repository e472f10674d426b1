#include "sim/study/expectation.h"

#include <cmath>
#include <fmt/format.h>

#include "kernels/io/text.h"
#include "sim/report/figures.h"
#include "sim/report/learning.h"
#include "sim/study/pooled.h"
#include "sim/study/verdict_groups.h"

namespace syncline {
namespace {

constexpr double rounding_of_notes = 1e-6;

// Whether a figure is as expected, and the expectation in words.
class Trial {
 public:
  Trial(const Expectation& row, std::optional<double> figure)
      : row_(row), met_(figure.has_value()), figure_(figure.value_or(0)) {
    if (row.tolerance)
      judge_tolerance();
    if (row.at_least)
      bound(fmt::format("at least {:.6g}", *row.at_least), figure_ >= *row.at_least);
    if (row.at_most)
      bound(fmt::format("at most {:.6g}", *row.at_most), figure_ <= *row.at_most);
  }
  bool met() const { return met_; }
  bool in_bounds() const { return in_bounds_; }
  const std::string& words() const { return words_; }
  bool keeps_bounds(double value) const {
    return (!row_.at_least || value >= *row_.at_least) && (!row_.at_most || value <= *row_.at_most);
  }

 private:
  void bound(const std::string& words, bool holds) {
    in_bounds_ = in_bounds_ && holds;
    expect(words, holds);
  }
  void expect(const std::string& words, bool holds) {
    words_ += (words_.empty() ? "" : ", ") + words;
    met_ = met_ && holds;
  }
  void judge_tolerance() {
    const double expected = number_in(row_.expected).value_or(0);
    const double by = expected == 0 ? figure_ : figure_ / expected - 1;
    const auto more = more_is_worse(row_.figure);
    const bool better = row_.only_worse && more && (by > 0) != *more;
    expect(fmt::format("{:.6g} {} {:.3g} %", expected,
                       !row_.only_worse ? "+-"
                       : *more          ? "+"
                                        : "-",
                       100 * *row_.tolerance),
           std::abs(by) <= *row_.tolerance || better);
  }

  const Expectation& row_;
  bool met_ = true;
  bool in_bounds_ = true;
  double figure_ = 0;
  std::string words_;
};

// The figure when the notes were taken.
std::optional<double> value_before(const Expectation& row, const Notes& before) {
  return row.tolerance ? number_in(row.expected) : noted_number(before, row.figure);
}

}  // namespace

std::vector<std::string> judged_figures() {
  std::vector<std::string> names;
  for (const Figure& figure : figure_rows())
    if (figure.is_number())
      names.push_back(figure.name);
  return names;
}

double moved_by_seeds(const Result& result) {
  // Each of two means is as far from the truth as intervals say, so they differ by twice that in
  // one case of 200. With few runs the interval itself is known to about a third only.
  const double widths = result.figures.runs > 1 ? 3 : 2;
  return result.figures.runs > 1 || is_of_chance(result)
             ? widths * result.figures.throughput_interval.value_or(0)
             : 0;
}

Verdict judge(const Expectation& row, const Result& result, const CellNotes& notes) {
  Verdict verdict{.cell = row.cell, .figure = row.figure};
  verdict.got = value_of(row.figure, result);
  verdict.expected_value = row.expected.empty() ? std::nullopt : number_in(row.expected);
  verdict.tolerance = row.tolerance;
  verdict.at_least = row.at_least;
  verdict.at_most = row.at_most;
  verdict.line = row.line;
  const Trial trial(row, verdict.got);
  verdict.expected = trial.words();
  verdict.now = verdict.got ? fmt::format("{:.6g}", *verdict.got) : why_unknown(result, row.figure);
  if (row.tolerance && verdict.got && verdict.expected_value == 0.0 && *verdict.got != 0)
    verdict.now += ", not 0";
  if (const auto by = verdict.change(); row.tolerance && by && std::abs(*by) > 1e-12)
    verdict.now += ", " + part_shown(*by);
  if (trial.met()) {
    verdict.cause = changes_between(notes.before, notes.now, notes.paths);
    return verdict;
  }
  verdict.kind = row.only_warns ? Verdict::Kind::warned : Verdict::Kind::moved;
  verdict.not_yet = verdict.kind == Verdict::Kind::moved && !notes.before.contains("options") &&
                    !row.tolerance;  // never blessed
  if (!row.because.empty())
    verdict.why.push_back((trial.in_bounds() ? "reason for the expected figure: " : "") +
                          row.because);
  const std::optional<double> before = value_before(row, notes.before);
  const bool never_met = !trial.in_bounds() && before && !trial.keeps_bounds(*before);
  std::optional<bool> moved;
  if (never_met || trial.in_bounds())
    moved = !never_met;
  else if (before && verdict.got)
    moved = std::abs(*verdict.got - *before) > rounding_of_notes * std::abs(*before);
  Explanation explanation =
      explanation_of({.figure = row.figure,
                      .moved = moved,
                      .change = verdict.change(),
                      .by_seeds = moved_by_seeds(result),
                      .by_any_cause = !result.figures.staleness_histogram.empty()},
                     notes.before, notes.now, notes.paths);
  verdict.cause = std::move(explanation.cause);
  if (never_met) {
    verdict.why.push_back(
        fmt::format("this bound was not met before, either: {:.6g} then", *before));
    if (verdict.cause.changed.empty())
      verdict.cause.what = "a bound that was not met before, either";
  }
  verdict.why.insert(verdict.why.end(), explanation.sentences.begin(), explanation.sentences.end());
  if (explanation.sentences.empty())
    verdict.why.push_back("now: " + result.figures.bottleneck);
  return verdict;
}

}  // namespace syncline
