// How far a sweep is, for whoever waits for it.
#pragma once

#include <cstddef>
#include <string>

namespace syncline {

// On a terminal a line that is rewritten; elsewhere, as in a log, a line every few seconds, and
// none for a run that is shorter.
class ProgressLine {
 public:
  ProgressLine(std::size_t total, bool terminal) : total_(total), terminal_(terminal) {}

  // What to print after `elapsed_s` seconds with so many cells done; it may be nothing. It says
  // nothing of the time left, as the cells that take longest come first.
  std::string text(std::size_t done, double elapsed_s);
  // What removes the line from the terminal.
  std::string clearing() const;

 private:
  std::size_t total_;
  bool terminal_;
  double next_s_ = 10;
};

}  // namespace syncline
