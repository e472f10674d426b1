// The verdicts of a gate on each thing that it has looked at: for people, for continuous
// integration (JUnit XML) and for a pull request (Markdown).
#pragma once

#include <string>
#include <vector>

namespace syncline {

struct Verdict {
  enum class Kind {
    met,
    moved,        // it is not as expected: the gate is closed
    failed,       // it could not be found out
    not_checked,  // nothing is expected
  };
  Kind kind = Kind::met;
  std::string cell;              // what was looked at
  std::string figure;            // which of its figures; empty: the cell itself
  std::string expected;          // "951.3 +- 0.1 %"
  std::string now;               // "903.1, -5.1 %"
  std::vector<std::string> why;  // sentences
};

// "11 of 12 as expected, 1 moved".
std::string summary_of(const std::vector<Verdict>& verdicts);

// 0: all met; 1: something moved; 2: something could not be found out.
int exit_code_of(const std::vector<Verdict>& verdicts);

// The files of a gate begin so: others are not replaced.
extern const std::string junit_begin;
extern const std::string verdicts_begin;

std::string verdicts_table(const std::vector<Verdict>& verdicts);
std::string junit_xml(const std::string& suite, const std::vector<Verdict>& verdicts);
std::string verdicts_markdown(const std::string& title, const std::vector<Verdict>& verdicts);

}  // namespace syncline
