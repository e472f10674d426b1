// The verdicts of a gate, one for each thing that it has judged: for people, for continuous
// integration (JUnit XML, annotations) and for a pull request (Markdown, verdict_groups.h).
#pragma once

#include <optional>
#include <string>
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
  bool is_missed() const { return kind == Kind::moved || kind == Kind::warned; }
};

// The beginning of an error's line, without the list of what is allowed.
std::string headline_of_error(const std::string& error);

// "11 of 12 as expected, 1 moved".
std::string summary_of(const std::vector<Verdict>& verdicts);

// 0: all met, but for warnings; 1: something moved; 2: something could not be judged.
int exit_code_of(const std::vector<Verdict>& verdicts);

// The beginnings of a gate's files: files that begin otherwise are not replaced.
extern const std::string junit_begin;
extern const std::string verdicts_begin;

// "Each of the 20 rows": the title of rows that are folded away.
std::string rows_shown(std::size_t rows);

// Text for a cell of a Markdown table, without markup.
std::string in_markdown(const std::string& text);

std::string verdicts_table(const std::vector<Verdict>& verdicts);
std::string junit_xml(const std::string& suite, const std::vector<Verdict>& verdicts);
std::string verdicts_markdown(const std::string& title, const std::vector<Verdict>& verdicts);

// Lines for GitHub Actions, one for each cause. Each shows a verdict beside its line of a pull
// request.
std::string annotations(const std::vector<Verdict>& verdicts);

}  // namespace syncline
