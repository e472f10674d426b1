// Progress of a sweep, for users who wait for it.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

namespace syncline {

// On a terminal, a line that is rewritten; elsewhere, as in a log, a line every few seconds, and
// none for shorter runs.
class ProgressLine {
 public:
  ProgressLine(std::size_t total, bool terminal) : total_(total), terminal_(terminal) {}

  // Returns the text to print after `elapsed_s` seconds, with `done` cells finished. It may be
  // empty, as for a single cell without `latest`, which says how far a cell that learns has come.
  // It says nothing of the time left, because the cells that take longest come first.
  std::string text(std::size_t done, double elapsed_s, const std::string& latest = "");
  // Returns the text that removes the line from the terminal.
  std::string clearing() const;

 private:
  std::size_t total_;
  bool terminal_;
  bool shown_ = false;
  double next_s_ = 10;
};

// The latest evaluation of simulations that learn, in memory that is shared with processes started
// later.
class LatestLoss {
 public:
  LatestLoss();
  ~LatestLoss();
  LatestLoss(const LatestLoss&) = delete;
  LatestLoss& operator=(const LatestLoss&) = delete;

  void say(double simulated_s, double loss);
  std::string text() const;  // empty until something has been said

 private:
  struct Said {
    std::atomic<bool> anything;
    std::atomic<double> simulated_s, loss;
  };
  Said* said_;  // null if there is no memory for it
};

}  // namespace syncline
