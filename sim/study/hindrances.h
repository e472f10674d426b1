// Why some cells cannot win, in words.
#pragma once

#include <string>
#include <vector>

#include "sim/study/ranking.h"

namespace syncline {

// Why some cells of contests cannot win.
struct Hindrances {
  bool unsteady = false;
  bool too_large = false;

  void add(const CompetingCells& contest);
  bool any() const { return unsteady || too_large; }
  // What the other cells are or do: "are steady and fit into memory", or "is steady".
  std::string words(bool plural = true) const;
};

// "asp is no candidate: the halves of its window differ by 12 %; batch 64 does not fit into memory
// (96.2 GB of 80 GB): not a candidate"; empty if all are candidates.
std::string left_out_note(const std::vector<Result>& results, const CompetingCells& contest);

}  // namespace syncline
