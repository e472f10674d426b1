// The verdicts of a gate on each thing that it has looked at: for people, for continuous
// integration (JUnit XML, annotations) and for a pull request (Markdown, verdict_groups.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace syncline {

// What made a figure other than it was, as far as is known.
struct Cause {
  enum class Kind { other, no_row, only_notes } kind = Kind::other;
  std::string what;                  // "option jitter 0 -> 0.5", "the program": groups verdicts
  std::vector<std::string> changed;  // options and files that are not as they were
  bool other_seed = false;           // the seed is one of them
  std::vector<std::string> files;    // paths of these files, as far as they are below this folder
  std::string part;                  // "exposed communication": which part of it moved most
  std::optional<double> part_before, part_now;
};

struct Verdict {
  enum class Kind {
    met,
    moved,   // it is not as expected: the gate is closed
    warned,  // the same, and the gate stays open
    failed,  // it could not be found out
  };
  Kind kind = Kind::met;
  std::string cell;              // what was looked at
  std::string figure;            // which of its figures; empty: the cell itself
  std::string expected;          // "951.3 +- 0.1 %"
  std::string now;               // "903.1, -5.1 %"
  std::vector<std::string> why;  // sentences
  bool not_yet = false;          // moved: a bound that is not met, where nobody has recorded more
  Cause cause = {};              // also where it is met, and something has changed
  // The same as numbers, where there are such.
  std::optional<double> expected_value = {}, got = {}, tolerance = {}, at_least = {}, at_most = {};
  std::string file = {};  // where it is expected
  int line = 0;

  // The part by which it moved; none where there is none.
  std::optional<double> change() const;
  bool is_missed() const { return kind == Kind::moved || kind == Kind::warned; }
};

// The beginning of an error's line, without the list of all that is allowed.
std::string headline_of_error(const std::string& error);

// "11 of 12 as expected, 1 moved".
std::string summary_of(const std::vector<Verdict>& verdicts);

// 0: all met, but for warnings; 1: something moved; 2: something could not be found out.
int exit_code_of(const std::vector<Verdict>& verdicts);

// The files of a gate begin so: others are not replaced.
extern const std::string junit_begin;
extern const std::string verdicts_begin;

// "Each of the 20 rows": what is folded away.
std::string rows_shown(std::size_t rows);

// Text in a cell of a table of Markdown: never markup.
std::string in_markdown(const std::string& text);

std::string verdicts_table(const std::vector<Verdict>& verdicts);
std::string junit_xml(const std::string& suite, const std::vector<Verdict>& verdicts);
std::string verdicts_markdown(const std::string& title, const std::vector<Verdict>& verdicts);

// Lines of GitHub Actions, which show a verdict beside the line of a pull request that it is about:
// one for each cause.
std::string annotations(const std::vector<Verdict>& verdicts);

}  // namespace syncline
