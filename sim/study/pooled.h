// The cells of a sweep that differ in their seed only are repetitions of one. They are pooled here,
// and nowhere else: tables, rankings, charts and pages compare what this makes of a sweep.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/report/figures.h"

namespace syncline {

struct Pool {
  std::vector<Result> results;     // in the order of the first cells that they stand for
  std::vector<std::string> notes;  // how they were pooled and chosen; none where nothing was
};

// Cells that differ in their seed only become one, and best-of (best_of.h) leaves one of those that
// differ in what it names. Where neither does anything, results are the cells. The order of the
// cells does not matter to what they become.
Pool pooled(std::vector<Result> cells);

// What one cell and its repetitions come to. Figures are medians: of throughput over all runs of
// all cells, of others over cells. What was missed, or diverged, counts as more than any number.
// The parts of an iteration are their mean shares of its median, so that they add up to it. What is
// no number (links, words, the timeline) is that of the cell in the middle.
Result pool_of(std::vector<Result> repetitions);

// The least and the most of the repetitions; not finite where one of them has none.
struct SeedBand {
  double least = 0;
  double most = 0;
};

// None where there are no repetitions, or all are alike.
std::optional<SeedBand> band_of(const std::string& figure, const Result& result);

// A band for each point of the curve of a pooled result that learned, over those that have a
// number there; empty where there are no repetitions.
std::vector<SeedBand> curve_band(const Result& result, double CurvePoint::*column);

// Whether tables of these results have the range of this figure: of the main ones, where
// repetitions differ.
bool has_ranges(const Figure& figure, const std::vector<Result>& results);

// "41 s to missed": the band as people read it; empty where there is none.
std::string range_of_seeds(const Figure& figure, const Result& result);
// "44.1 s (41 s to missed)": as a table has the figure.
std::string shown_with_range(const Figure& figure, const Result& result);

// For each pooled result the places, among all cells of the sweep, of those that it stands for.
std::vector<std::vector<std::size_t>> places_of(const std::vector<Result>& pooled,
                                                const std::vector<Result>& cells);

// How many seeds it stands for: 1 of a cell.
std::size_t seeds_of(const Result& result);

// Whether another seed would give another result: something is learned, or times are drawn.
bool is_of_chance(const Result& result);

// In how many of the seeds that it shares with any other the first of these is before all others.
struct FirstInSeeds {
  std::size_t first = 0;
  std::size_t seeds = 0;
};
FirstInSeeds first_in_seeds(const std::vector<const Result*>& results,
                            bool (*before)(const Result&, const Result&));

}  // namespace syncline
