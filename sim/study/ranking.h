// A ranking says what won, by how much, over what, and what an epoch takes and costs. It ranks
// results as they are: cells that are repetitions are pooled before (pooled.h).
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/result.h"

namespace syncline {

// What is ahead by less than this ties, as a part of throughput or of the seconds to a target: a
// second program comes within half a percent of a run, however well each figure is known.
constexpr double smallest_lead = 0.005;
constexpr double near_numbers = 0.05;  // parts of the larger one: what differs by more never ties

struct RankedCell {
  std::size_t result = 0;  // which of the results
  std::string choice;      // "bsp over ring with topk": what tells it from the others
  double samples_per_s = 0;
  double half_width = 0;             // of the 95 % interval of that, in samples/s
  double epoch_s = 0;                // of epoch-samples, or of a million samples
  std::optional<double> epoch_cost;  // where there is a price
  bool fits = true;                  // into memory, as far as that is known
  // Whether it can win: it fits, and its throughput is steady, so that it is known which it is.
  bool is_candidate = true;
  std::size_t level_with = 0;  // of the first of a contest: how many others are as good

  // Half of the interval, as a part of throughput.
  double uncertainty() const { return half_width / samples_per_s; }
};

// Cells among which one may choose: they differ in schedule, exchange, compressor and the like, and
// have the same workers, model and network.
struct CompetingCells {
  std::vector<std::pair<std::string, std::string>> setting;  // what tells it from other contests
  std::int64_t workers = 0;
  std::vector<RankedCell> cells;  // candidates first, the fastest of them first
  // So many of the first are as fast as the very first: their intervals overlap, and the numbers
  // are near. 1: it won; 0: there is no candidate.
  std::size_t tied = 1;

  std::size_t candidates() const {
    return static_cast<std::size_t>(std::ranges::count(cells, true, &RankedCell::is_candidate));
  }
};

struct Ranking {
  std::vector<CompetingCells> contests;  // in the order of the results
  // The cells of all contests, the fastest first; where there is a target of learning, who reached
  // it first. Cells that diverged come last, and are in no contest.
  std::vector<RankedCell> cells;
  std::vector<std::string> sentences;  // at most four; none where there is nothing to compare
};

// `without` says which cells are missing (missing.h): a verdict is of the others.
Ranking rank(const std::vector<Result>& results, const std::string& without = "");

// Whether the second has no lead over the first: their intervals overlap, and the numbers are near.
bool ties(const RankedCell& slower, const RankedCell& faster);

}  // namespace syncline
