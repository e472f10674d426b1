// Starts the long cells of a sweep first, so that none still runs long after all others.
#pragma once

#include <cstddef>
#include <optional>
#include <queue>
#include <utility>

namespace syncline {

// The length of a cell is known only when its platform has been loaded, in a process of its own. A
// process therefore looks at a cell: it simulates a short one at once, and of a long one it reports
// the length. The long cell then waits for its turn. One process at a time goes on looking while
// others simulate the longest cell found so far. Looking begins with the last cell, because lists
// go from small to large.
class LongestFirst {
 public:
  struct Turn {
    std::size_t cell = 0;
    bool may_wait = false;  // if it is long
  };

  // Cells begin in order if all can run at once, or only one runs at a time.
  LongestFirst(std::size_t cells, int at_once);

  std::optional<Turn> next();                         // none: wait until a process ends
  void looked();                                      // a process with `may_wait` has ended
  void found_long(std::size_t cell, double seconds);  // and has reported this

 private:
  std::size_t cells_;
  std::size_t begun_ = 0;
  bool by_length_;
  int looking_ = 0;
  std::priority_queue<std::pair<double, std::size_t>> waiting_;  // seconds, cell
};

}  // namespace syncline
