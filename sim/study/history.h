// Figures over commits: what `check --history` has kept, as charts and as a table.
#pragma once

#include <string>
#include <vector>

#include "sim/study/charts.h"
#include "sim/study/verdict.h"

namespace syncline {

struct HistoryRow {
  std::string commit;
  std::string cell;
  std::string figure;
  double value = 0;
};
using History = std::vector<HistoryRow>;  // the oldest commit first

// With what the verdicts got at this commit; what it had of the same cells and figures at the same
// commit goes.
History with_commit(History history, const std::string& commit,
                    const std::vector<Verdict>& verdicts);

// A figure of a cell, at those commits that have it.
struct HistoryLine {
  std::string cell;
  std::string figure;
  std::vector<double> at;  // which commit, from 1
  std::vector<double> values;

  double change() const;  // of the last over the first, as a part
};
std::vector<std::string> commits_of(const History& history);
std::vector<HistoryLine> lines_of(const History& history);

// One for each figure: a line for each cell, as a part of what it was first; of more than twelve
// those that moved most.
std::vector<Chart> history_charts(const History& history);

std::string history_table(const History& history);

}  // namespace syncline
