// Groups verdicts with one cause into one line: twenty cells moved by a new latency are one thing
// to decide on.
#pragma once

#include <string>
#include <vector>

#include "sim/study/verdict.h"

namespace syncline {

struct VerdictGroup {
  std::string cause;
  // In the vector that was given, which must outlive the group.
  std::vector<const Verdict*> verdicts;
};

// The missed and failed verdicts, in the order in which their causes were found.
std::vector<VerdictGroup> by_cause(const std::vector<Verdict>& verdicts);

// Changes after which nothing has moved: "the platform file (4 rows)".
std::vector<std::string> changed_in_vain(const std::vector<Verdict>& verdicts);

// "samples/s -20.4 % to -1.1 %, worse": how the figures of a group moved.
std::string ways_of(const VerdictGroup& group);

// "exposed communication (18), waiting (2)": the parts by which they moved.
std::string parts_of(const VerdictGroup& group);

// "3 cells: a, b and c".
std::string places_of(const VerdictGroup& group);

// A Markdown table with a line for each cause; empty if nothing was missed.
std::string causes_table(const std::vector<Verdict>& verdicts);

// "-20.4 %": a relative change.
std::string part_shown(double part);
// "samples/s": the title of a figure in tables.
std::string title_of_figure(const std::string& figure);

// Whether more of the figure is worse; none if neither more nor less is worse.
std::optional<bool> more_is_worse(const std::string& figure);

}  // namespace syncline
