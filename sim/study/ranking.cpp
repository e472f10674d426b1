#include "sim/study/ranking.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <tuple>

#include "sim/report/report.h"
#include "sim/study/ranking_sentences.h"

namespace syncline {
namespace {

double half_width_of(const Figures& figures) {
  const double halves = std::abs(figures.halves_differ);
  const double interval = figures.throughput_interval.value_or(halves);
  return std::max(interval, smallest_lead / 2) * figures.throughput_samples_per_s;
}

double error_of_fidelity(const Result& result) {
  if (result.provenance.fidelity != "flow")
    return 0;
  return std::ranges::find(result.figures.warnings, WarningKind::doubted_flows, &Warning::kind) !=
                 result.figures.warnings.end()
             ? error_of_doubted_flows
             : error_of_flows;
}

// Widens the intervals of flows by their error, unless all competing cells were simulated alike.
void widen_flows(const Results& results, CompetingCells& contest) {
  std::set<double> errors;
  for (const RankedCell& cell : contest.cells)
    errors.insert(error_of_fidelity(results[cell.result]));
  if (errors.size() == 1)
    return;
  for (RankedCell& cell : contest.cells)
    cell.half_width += error_of_fidelity(results[cell.result]) * cell.samples_per_s;
}

std::size_t tied_in(const CompetingCells& contest) {
  const RankedCell& first = contest.cells.front();
  if (contest.cells.size() == 1)
    return first.fits ? 1 : 0;
  const auto behind = std::ranges::find_if(contest.cells, [&](const RankedCell& cell) {
    return !cell.is_candidate || !ties(cell, first);
  });
  return static_cast<std::size_t>(behind - contest.cells.begin());
}

// The contests with their figures, in order, and who ties for first place.
std::vector<CompetingCells> ranked(const Results& results, const Contests& contests) {
  std::vector<CompetingCells> all;
  for (const Contest& one : contests.all) {
    CompetingCells contest{.setting = one.setting};
    contest.workers = results[one.choices.front().first].figures.worker_count;
    for (const auto& [place, choice] : one.choices) {
      const Figures& figures = results[place].figures;
      contest.cells.push_back({.result = place,
                               .choice = choice,
                               .samples_per_s = figures.throughput_samples_per_s,
                               .half_width = half_width_of(figures),
                               .epoch_s = figures.epoch_s,
                               .epoch_cost = figures.epoch_cost,
                               .fits = figures.fits_memory(),
                               .is_candidate = can_win(figures)});
    }
    std::ranges::stable_sort(contest.cells, ranks_before);
    widen_flows(results, contest);
    contest.tied = tied_in(contest);
    contest.cells.front().level_with = std::max<std::size_t>(contest.tied, 1) - 1;
    all.push_back(std::move(contest));
  }
  return all;
}

std::vector<RankedCell> cells_of(const std::vector<CompetingCells>& contests) {
  std::vector<RankedCell> cells;
  for (const CompetingCells& contest : contests)
    cells.insert(cells.end(), contest.cells.begin(), contest.cells.end());
  std::ranges::stable_sort(cells, ranks_before);
  return cells;
}

}  // namespace

bool ranks_before(const RankedCell& a, const RankedCell& b) {
  return std::tuple(!a.is_candidate, !a.fits, -a.samples_per_s) <
         std::tuple(!b.is_candidate, !b.fits, -b.samples_per_s);
}

bool may_be_as_fast(const RankedCell& slower, const RankedCell& faster) {
  return slower.samples_per_s + slower.half_width >= faster.samples_per_s - faster.half_width;
}

bool ties(const RankedCell& slower, const RankedCell& faster) {
  return may_be_as_fast(slower, faster) &&
         slower.samples_per_s >= (1 - near_numbers) * faster.samples_per_s;
}

Ranking rank(const Comparison& compared, const std::string& without) {
  const Results& results = *compared.results;
  Ranking ranking{.contests = ranked(results, compared.contests)};
  ranking.cells = cells_of(ranking.contests);
  ranking.sentences = sentences_of(results, ranking, compared.contests);
  if (ranking.cells.size() < results.size())  // the others diverged
    std::ranges::copy_if(cells_of(ranked(results, contests_among(results, all_places(results)))),
                         std::back_inserter(ranking.cells),
                         [&](const RankedCell& cell) { return results[cell.result].diverged(); });
  add_learning(results, ranking);
  if (without.empty())
    return ranking;
  if (ranking.sentences.empty())
    ranking.sentences.push_back("Without " + without + ".");
  else
    ranking.sentences.front().insert(0, "Without " + without + ": ");
  return ranking;
}

}  // namespace syncline
