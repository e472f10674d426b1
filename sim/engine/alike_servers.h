// One server in place of many that nothing tells apart.
//
// SimGrid shares out a card anew whenever a flow begins or ends, so a run of S servers that answer
// each of n workers costs S times as much per event as a run of one. If the routes of every worker
// to the servers differ only by cards that are each server's own, and all alike, the S messages of
// a push begin and end together, whatever the other workers do. One server with cards S times as
// wide, and S times the memory, then gives the same seconds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/setup/setup.h"
#include "sim/trace.h"

namespace syncline {

class AlikeServers {
 public:
  // None where servers differ, share links or have profiles, and where each message has to be seen:
  // with fidelity = step, with few flows, with compression, which is priced by a server's part.
  static std::optional<AlikeServers> of(const Setup& setup);

  // The same run with one server. Widens its cards.
  Setup as_one(const Setup& setup) const;
  // The use of its cards as that of all cards.
  void spread(std::vector<LinkUse>& links) const;

 private:
  // By server: its own cards, in the same order.
  std::vector<std::vector<std::string>> cards_;
};

}  // namespace syncline
