#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "sim/report/learning.h"
#include "sim/report/readable.h"
#include "sim/report/runs.h"
#include "sim/study/pooled.h"
#include "sim/study/ranking_sentences.h"
#include "sim/window.h"

namespace syncline {
namespace {

using Choices = std::vector<const RankedCell*>;

constexpr std::size_t most_sentences = 3;

// "0.0123 (96.1 % held out, after 12.3 s)"; with samples, "after 12.3 s and 5,000 samples".
std::string end_shown(const Result& result, bool with_samples, const std::string& basis) {
  return loss_shown(result) + " (" + accuracy_shown(result) + " held out, after " +
         seconds_shown(last_of_curve(result, &CurvePoint::seconds)) +
         (with_samples
              ? " and " + count_shown(last_of_curve(result, &CurvePoint::samples)) + " samples"
              : "") +
         (basis.empty() ? "" : "; " + basis) + ")";
}

// The time of the last point of the curve before the target was met: it may have been met at any
// time after.
double missed_until(const Result& result) {
  double before_s = 0;
  for (const CurvePoint& point : result.learned->curve)
    if (point.seconds < *result.figures.target_s)
      before_s = point.seconds;
  return before_s;
}

using LearnedFigure = std::optional<double> Figures::*;

// Half the 95 % interval of a figure over several seeds, as a part of their mean. Infinite if a
// seed has no such figure, because nobody knows how late it would be; 0 for one seed.
double spread_of_seeds(const Result& result, LearnedFigure figure) {
  std::vector<double> values;
  for (const Result& cell : result.repetitions)
    if (const auto value = cell.figures.*figure)
      values.push_back(*value);
  if (values.size() < result.repetitions.size())
    return HUGE_VAL;
  return values.size() < 2 || mean_of(values) == 0
             ? 0
             : std::abs(interval_of_runs(values, {std::nullopt}, 0));
}

// Whether two cells tie; the first has the smaller figure. As for throughput, their
// intervals overlap and the numbers are near. Seconds are known as well as throughput, but no
// better than the distance between points of the curve.
bool learned_alike(const Results& results, const RankedCell& first, const RankedCell& second,
                   LearnedFigure figure) {
  const auto value = [&](const RankedCell& cell) { return results[cell.result].figures.*figure; };
  if (!value(first) || !value(second) || value(first) == value(second))
    return value(first) == value(second);
  const auto half_width = [&](const RankedCell& cell) {
    const double part = figure == &Figures::target_s ? cell.uncertainty() : smallest_lead / 2;
    return std::abs(*value(cell)) * std::max(part, spread_of_seeds(results[cell.result], figure));
  };
  double least = *value(second) - half_width(second);
  if (figure == &Figures::target_s)
    least = std::min(least, missed_until(results[second.result]));
  return least <= *value(first) + half_width(first) &&
         *value(second) - *value(first) <= near_numbers * std::abs(*value(second));
}

// "bsp, asp and 3 more".
std::string choices_shown(const Choices& cells) {
  Words words;
  for (const RankedCell* cell : cells)
    words.push_back(cell->choice);
  return listed_briefly(words);
}

// The outcome of a contest of cells that learn. The first `first` of `order` are equally good.
struct Outcome {
  const CompetingCells* contest = nullptr;
  Choices order;  // the best first
  std::size_t first = 0;
  std::size_t reached = 0;  // number of cells that met the target: they come first in `order`
  std::string target;       // empty: there is no target

  Choices winners() const { return {order.begin(), order.begin() + static_cast<long>(first)}; }
};

Outcome outcome_of(const Results& results, const CompetingCells& contest) {
  Outcome outcome{.contest = &contest};
  for (const RankedCell& cell : contest.cells)
    if (results[cell.result].learns() && results[cell.result].figures.fits_memory())
      outcome.order.push_back(&cell);
  const auto before = [&](const RankedCell* a, const RankedCell* b) {
    return learned_before(results[a->result], results[b->result]);
  };
  std::ranges::stable_sort(outcome.order, before);
  for (const RankedCell* cell : outcome.order) {
    const Result& result = results[cell->result];
    const auto target = target_in(result);
    if (target && outcome.target.empty())
      outcome.target = target->shown;
    else if (target && target->shown != outcome.target)
      outcome.target = "its target";
    if (result.figures.target_s)
      ++outcome.reached;
  }
  // If two reach the target at times that tie, neither was first, whatever their losses.
  const LearnedFigure figure = outcome.reached > 0 ? &Figures::target_s : &Figures::loss;
  const auto behind = std::ranges::find_if_not(outcome.order, [&](const RankedCell* cell) {
    return learned_alike(results, *outcome.order.front(), *cell, figure);
  });
  outcome.first = static_cast<std::size_t>(behind - outcome.order.begin());
  return outcome;
}

// "2.1 s"; for several that tie "2.43 s to 2.44 s, less than 0.5 % apart".
std::string times_shown(const Result& first, const Result& last) {
  const std::string least = target_shown(first), most = target_shown(last);
  return least == most ? least
                       : least + " to " + most + ", " +
                             how_near(*first.figures.target_s, *last.figures.target_s);
}

// "reached accuracy 0.95 first: bsp, 2.1 s against 3.4 s of asp; 1 did not reach it".
std::string sentence_of(const Results& results, const Outcome& outcome) {
  const Choices& order = outcome.order;
  const auto of = [&](std::size_t place) -> const Result& { return results[order[place]->result]; };
  const std::string winners = choices_shown(outcome.winners());
  const bool level = outcome.first > 1;
  std::vector<const Result*> competing;
  for (const RankedCell* cell : order)
    competing.push_back(&results[cell->result]);
  const auto basis = [&](const std::string& figure) {
    return level && seeds_of(of(0)) > 1 ? medians_shown(of(0))
                                        : basis_of(competing, figure, learned_before);
  };
  if (!outcome.target.empty() && outcome.reached > 0) {
    const std::size_t missed = order.size() - outcome.reached;
    std::string others;
    if (outcome.first < outcome.reached) {
      const Result& next = of(outcome.first);
      others = " against " + target_shown(next) + " of " + order[outcome.first]->choice;
      if (missed_until(next) < *of(0).figures.target_s)
        others += " (a smaller evaluate-every may say otherwise)";
    }
    return "reached " + outcome.target + " first: " + winners + (level ? " tie at " : ", ") +
           times_shown(of(0), of(outcome.first - 1)) + in_brackets(basis("target_s")) + others +
           (missed > 0 ? "; " + std::to_string(missed) + " did not reach it" : "");
  }
  const std::string least =
      winners + (level ? " tie with the least loss, " : " ends with the least loss, ");
  const std::size_t last = order.size() - 1;
  const bool unequal =
      last_of_curve(of(0), &CurvePoint::samples) != last_of_curve(of(last), &CurvePoint::samples);
  return (outcome.target.empty() ? "" : "none reached " + outcome.target + ": ") + least +
         end_shown(of(0), unequal, basis("loss")) +
         (outcome.first < order.size()
              ? "; " + order.back()->choice + " with the most, " + end_shown(of(last), unequal, "")
              : "");
}

// Says which choice was first in how many of several contests.
std::string who_was_first(const Results& results, const std::vector<Outcome>& outcomes) {
  Words first;
  bool targets = false;
  for (const Outcome& outcome : outcomes) {
    targets = targets || !outcome.target.empty();
    if (outcome.target.empty() || outcome.reached > 0)
      first.push_back(choices_shown(outcome.winners()));
  }
  Words parts = with_others(times_each(first));
  std::size_t seeds = 1;
  for (const Result& result : results)
    seeds = std::max(seeds, seeds_of(result));
  if (first.size() < outcomes.size())
    parts.push_back(fmt::format("nobody in {}", outcomes.size() - first.size()));
  return fmt::format("of {} combinations, each of {}, the {} {}", outcomes.size(),
                     seeds == 1 ? "one seed" : fmt::format("{} seeds", seeds),
                     targets ? "target was reached first by" : "least loss at the end is of",
                     and_listed(parts));
}

// A sentence on what was learned; empty if nothing competes.
std::string learned_sentence(const Results& results, std::vector<Outcome> outcomes) {
  std::erase_if(outcomes, [](const Outcome& outcome) { return outcome.order.size() < 2; });
  if (outcomes.empty())
    return {};
  const Outcome& largest = *std::ranges::max_element(
      outcomes, {}, [](const Outcome& outcome) { return outcome.contest->workers; });
  const auto& setting = largest.contest->setting;
  const bool by_workers = setting.size() == 1 && setting[0].first == "workers";
  if (outcomes.size() == 1 || by_workers)
    return (by_workers ? "at " + settings_shown(*largest.contest) + " " : "") +
           sentence_of(results, largest);
  return who_was_first(results, outcomes);
}

}  // namespace

void add_learning(const Results& results, Ranking& ranking) {
  const bool targets = std::ranges::any_of(
      results, [](const Result& result) { return target_in(result).has_value(); });
  std::vector<Outcome> outcomes;
  for (const CompetingCells& contest : ranking.contests)
    outcomes.push_back(outcome_of(results, contest));
  if (targets) {
    std::ranges::stable_sort(ranking.cells, [&](const RankedCell& a, const RankedCell& b) {
      return learned_before(results[a.result], results[b.result]);
    });
    std::map<std::size_t, std::size_t> others;  // as good as the first of a contest, by its place
    for (const Outcome& outcome : outcomes)
      if (!outcome.order.empty())
        others.emplace(outcome.order.front()->result, outcome.first - 1);
    for (RankedCell& cell : ranking.cells)
      cell.level_with = others[cell.result];
  }
  std::string learned = learned_sentence(results, outcomes);
  if (const auto lost = std::ranges::count_if(results, &Result::diverged);
      lost > 0 && results.size() > 1)
    learned +=
        fmt::format("{}{} of {} cells diverged", learned.empty() ? "" : "; ", lost, results.size());
  if (learned.empty())
    return;
  Words& sentences = ranking.sentences;
  sentences.insert(targets ? sentences.begin() : sentences.begin() + (sentences.empty() ? 0 : 1),
                   learned + ".");
  if (sentences.size() > most_sentences)
    sentences.resize(most_sentences);
}

}  // namespace syncline
