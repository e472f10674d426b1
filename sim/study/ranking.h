// A ranking says which choice won, by how much, over which others, and what an epoch takes and
// costs. It ranks results as they are: repetitions have been pooled before (pooled.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/study/comparison.h"

namespace syncline {

// A lead of less than this ties, as a part of throughput or of the seconds to a target: a second
// program comes within half a percent of a run, however well each figure is known.
constexpr double smallest_lead = 0.005;
// As a part of the larger number: numbers that differ by more never tie.
constexpr double near_numbers = 0.05;

struct RankedCell {
  std::size_t result = 0;  // index of the result
  std::string choice;      // "bsp over ring with topk": tells it from the others
  double samples_per_s = 0;
  double half_width = 0;             // of the 95 % interval of samples_per_s, in samples/s
  double epoch_s = 0;                // of epoch-samples, or of a million samples
  std::optional<double> epoch_cost;  // if there is a price
  bool fits = true;                  // into memory, as far as known
  // Whether it can win: it fits into memory, and its throughput is steady and so is known.
  bool is_candidate = true;
  std::size_t level_with = 0;  // for the first of a contest: how many others are as good

  // Half of the interval, as a part of throughput.
  double uncertainty() const { return half_width / samples_per_s; }
};

// The cells of a Contest.
struct CompetingCells {
  std::vector<std::pair<std::string, std::string>> setting;  // tells this contest from others
  std::int64_t workers = 0;
  std::vector<RankedCell> cells;  // candidates first, the fastest of them first
  // Size of the tie for first place, of cells whose intervals overlap and whose numbers are near: 1
  // is a winner, 0 means that no cell may win.
  std::size_t tied = 1;

  std::size_t candidates() const {
    return static_cast<std::size_t>(std::ranges::count(cells, true, &RankedCell::is_candidate));
  }
};

struct Ranking {
  std::vector<CompetingCells> contests;  // in the order of the results
  // The cells of all contests, the fastest first; with a target of learning, the first to reach it
  // first. Cells that diverged come last, and are in no contest.
  std::vector<RankedCell> cells;
  std::vector<std::string> sentences;  // at most four; none if there is nothing to compare
};

// `without` says which cells are missing (missing.h): the verdict is then of the others.
Ranking rank(const Comparison& compared, const std::string& without = "");

// The order of a contest: candidates first, the fastest of them first.
bool ranks_before(const RankedCell& a, const RankedCell& b);
// Whether their intervals overlap.
bool may_be_as_fast(const RankedCell& slower, const RankedCell& faster);
// Whether the faster cell has no lead over the slower: their intervals overlap, and the numbers are
// near.
bool ties(const RankedCell& slower, const RankedCell& faster);

}  // namespace syncline
