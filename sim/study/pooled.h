// Cells of a sweep that differ only in their seed are repetitions of one cell. They are pooled here
// and nowhere else: tables, rankings, charts and pages compare pooled results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/figures.h"

namespace syncline {

struct Pool {
  std::vector<Result> results;     // in the order of the first cells that they stand for
  std::vector<std::string> notes;  // how cells were pooled and chosen; none if neither was needed
};

// Pools cells that differ only in their seed; of cells that differ in what best-of names, keeps
// one. If there are neither, results are the cells. The order of the cells does not change what
// they become.
Pool pooled(std::vector<Result> cells);

// One result for a cell and its repetitions. Figures are medians: of throughput over all runs of
// all cells, of other figures over cells. A target that was missed, or a run that diverged, counts
// as more than any number. The parts of an iteration are their mean shares of the median iteration,
// so that they add up to it. Everything that is not a number (links, words, the timeline) is the
// middle cell's.
Result pool_of(std::vector<Result> repetitions);

// The least and the greatest value of the repetitions; not finite if one of them has no value.
struct SeedBand {
  double least = 0;
  double most = 0;
};

// None if there are no repetitions, or all are alike.
std::optional<SeedBand> band_of(const std::string& figure, const Result& result);

// A band for each point of the curve of a pooled result that learned, over the repetitions with a
// number there; empty if there are no repetitions.
std::vector<SeedBand> curve_band(const Result& result, double CurvePoint::*column);

// Whether tables of these results show the range of this figure: main figures do, if repetitions
// differ.
bool has_ranges(const Figure& figure, const std::vector<Result>& results);

// "44.1 s (41 s to missed)": the figure as shown in a table.
std::string shown_with_range(const Figure& figure, const Result& result);

// For each pooled result, the places of its cells among all cells of the sweep.
std::vector<std::vector<std::size_t>> places_of(const std::vector<Result>& pooled,
                                                const std::vector<Result>& cells);

// Number of seeds in a result: 1 for a single cell.
std::size_t seeds_of(const Result& result);

// Whether another seed would give another result: something is learned, or times are drawn.
bool is_of_chance(const Result& result);

// "medians of 5 seeds".
std::string medians_shown(const Result& result);

// What a verdict rests on, besides the number of the winner, which is the first of `competing`:
// "median of 5 seeds, 11.9 s to 13 s; first in 4 of 5", or "one seed" if results depend on chance
// and nothing was repeated. Empty if nothing depends on chance.
std::string basis_of(const std::vector<const Result*>& competing, const std::string& figure,
                     bool (*before)(const Result&, const Result&));

// The option best-of: of cells that differ only in the options that it names, one is compared. Of
// cells, each with its repetitions by seed, returns the best of each kind on the seeds that choose.
// These keep their other seeds, or all seeds if they have no others. `notes` says how they were
// chosen.
std::vector<std::vector<Result>> best_of(std::vector<std::vector<Result>> cells,
                                         std::vector<std::string>& notes);

// Whether a is chosen before b: by what they have learned, or by throughput.
bool is_better(const Result& a, const Result& b);

}  // namespace syncline
