// These say how far a sweep is, for whoever waits for it.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

namespace syncline {

// On a terminal a line that is rewritten; elsewhere, as in a log, a line every few seconds, and
// none for a run that is shorter.
class ProgressLine {
 public:
  ProgressLine(std::size_t total, bool terminal) : total_(total), terminal_(terminal) {}

  // Returns what to print after `elapsed_s` seconds with so many cells done; it may be nothing, as
  // it is for a single cell without `latest`, where one that learns has come to. It says nothing of
  // the time left, as the cells that take longest come first.
  std::string text(std::size_t done, double elapsed_s, const std::string& latest = "");
  // Returns what removes the line from the terminal.
  std::string clearing() const;

 private:
  std::size_t total_;
  bool terminal_;
  bool shown_ = false;
  double next_s_ = 10;
};

// The point that a simulation that learns has come to, in memory that processes begun later share:
// of several, the one that was evaluated last.
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
  Said* said_;  // null where there is no memory for it
};

}  // namespace syncline
