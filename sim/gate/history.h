// Figures over commits, from the file of `check --history`: a row commit,cell,figure,value for each
// figure; as charts and as a table.
#pragma once

#include <string>
#include <vector>

#include "sim/gate/verdict.h"
#include "sim/study/charts.h"

namespace syncline {

struct HistoryRow {
  std::string commit;
  std::string cell;
  std::string figure;
  double value = 0;
};
using History = std::vector<HistoryRow>;  // the oldest commit first

// Adds the verdicts' figures at this commit; they replace figures of the same cells at this commit.
History with_commit(History history, const std::string& commit,
                    const std::vector<Verdict>& verdicts);

// The beginning of every such file: no other file is replaced.
extern const std::string history_begin;

// Throws std::runtime_error, "path:line: ...".
History read_history(const std::string& path);
// The history in a file of --history, which may be empty or missing. Throws as above.
History history_in(const std::string& path);
std::string history_text(const History& history);

// Adds the verdicts' figures to the file, which is read again: another check may have added to it
// since this one began.
void add_to_history(const std::string& path, const std::string& commit,
                    const std::vector<Verdict>& verdicts);

// A figure of a cell at the commits that have it.
struct HistoryLine {
  std::string cell;
  std::string figure;
  std::vector<double> at;  // numbers of the commits, from 1
  std::vector<double> values;

  double change() const;  // from the first value to the last, as a part
};
std::vector<std::string> commits_of(const History& history);
std::vector<HistoryLine> lines_of(const History& history);

// One chart for each figure, with a line for each cell, as a part of its first value; of more than
// twelve lines those that moved most.
std::vector<Chart> history_charts(const History& history);

std::string history_table(const History& history);

}  // namespace syncline
