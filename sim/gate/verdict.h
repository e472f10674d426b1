// The verdicts of a gate, one for each thing that it has judged, and groups of them by cause.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace syncline {

// What changed a figure, as far as known.
struct Cause {
  enum class Kind { other, no_row, only_notes } kind = Kind::other;
  std::string what;                  // "option jitter 0 -> 0.5", "the program": groups verdicts
  std::vector<std::string> changed;  // options and files that have changed
  bool other_seed = false;           // the seed is among them
  // Paths of the changed files, if they are below the working directory.
  std::vector<std::string> files;
  std::string part;  // "exposed communication": the part of it that moved most
  std::optional<double> part_before, part_now;
};

struct Verdict {
  enum class Kind {
    met,
    moved,   // not as expected: the gate is closed
    warned,  // not as expected, but the gate stays open
    failed,  // could not be judged
  };
  Kind kind = Kind::met;
  std::string cell;              // the cell that was judged
  std::string figure;            // its figure; empty: the cell itself
  std::string expected;          // "951.3 +- 0.1 %"
  std::string now;               // "903.1, -5.1 %"
  std::vector<std::string> why;  // sentences
  bool not_yet = false;          // moved: a bound that is not met, in a cell that was never blessed
  Cause cause = {};              // also of a met verdict, if something has changed
  // As numbers, where there are numbers.
  std::optional<double> expected_value = {}, got = {}, tolerance = {}, at_least = {}, at_most = {};
  std::string file = {};  // the file with the expectation
  int line = 0;

  // The part by which the figure moved; none if there is no number for it.
  std::optional<double> change() const;
};

// The beginning of an error's line, without the list of what is allowed.
std::string headline_of_error(const std::string& error);

std::size_t count_of(const std::vector<Verdict>& verdicts, Verdict::Kind kind);
// "11 of 12 as expected, 1 moved".
std::string summary_of(const std::vector<Verdict>& verdicts);

// 0: all met, but for warnings; 1: something moved; 2: something could not be judged.
int exit_code_of(const std::vector<Verdict>& verdicts);

// Verdicts with one cause: twenty cells moved by a new latency are one thing to decide on.
struct VerdictGroup {
  std::string cause;
  // In the vector that was given, which must outlive the group.
  std::vector<const Verdict*> verdicts;
  std::string ways;   // see ways_of()
  std::string parts;  // "exposed communication (18), waiting (2)": the parts by which they moved
  std::string where;  // "3 cells: a, b and c"
};

// The missed and failed verdicts, in the order in which their causes were found.
std::vector<VerdictGroup> by_cause(const std::vector<Verdict>& verdicts);

// Changes after which nothing has moved: "the platform file (4 rows)".
std::vector<std::string> changed_without_effect(const std::vector<Verdict>& verdicts);

// "samples/s -20.4 % to -1.1 %, worse": how figures moved. Changes are parts.
using Moves = std::vector<std::pair<std::string, std::optional<double>>>;
std::string ways_of(const Moves& moves);

// "-20.4 %": a relative change.
std::string part_shown(double part);
// "samples/s": the title of a figure in tables.
std::string title_of_figure(const std::string& figure);

// Whether more of the figure is worse; none if neither more nor less is worse.
std::optional<bool> more_is_worse(const std::string& figure);

}  // namespace syncline
