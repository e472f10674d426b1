// Verdicts that have one cause are one line: twenty cells that a new latency moved are one thing to
// decide on.
#pragma once

#include <string>
#include <vector>

#include "sim/study/verdict.h"

namespace syncline {

struct VerdictGroup {
  std::string cause;
  std::vector<const Verdict*> verdicts;  // of the vector that was given, which has to live as long
};

// Those that are missed or failed, in the order in which the causes were found.
std::vector<VerdictGroup> by_cause(const std::vector<Verdict>& verdicts);

// Where something has changed and nothing has moved: "the platform file (4 rows)".
std::vector<std::string> changed_in_vain(const std::vector<Verdict>& verdicts);

// "samples/s -20.4 % to -1.1 %, worse": which way the figures of a group moved.
std::string ways_of(const VerdictGroup& group);

// "exposed communication (18), waiting (2)": by which parts.
std::string parts_of(const VerdictGroup& group);

// "3 cells: a, b and c".
std::string places_of(const VerdictGroup& group);

// A table of Markdown with a line for each cause; empty where nothing was missed.
std::string causes_table(const std::vector<Verdict>& verdicts);

// What moved: "-20.4 %" of a part.
std::string part_shown(double part);
// "samples/s": as tables call a figure of this name.
std::string title_of_figure(const std::string& figure);

// Whether more of it is worse; none where neither is.
std::optional<bool> more_is_worse(const std::string& figure);

}  // namespace syncline
