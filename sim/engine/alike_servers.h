// One server in place of many that nothing tells apart.
//
// SimGrid shares out a card anew whenever a flow begins or ends, so a run of S servers that answer
// each of n workers costs S times as much per event as a run of one. If the routes of every worker
// to the servers differ only by cards that are each server's own, and all alike, the S messages of
// a push begin and end together, whatever the other workers do. One server with cards S times as
// wide, and S times the memory, then gives the same seconds.
//
// Servers on nodes of one size get, and send, their bytes over the nodes' cards, which all nodes
// share alike: one server stands for them. A worker exchanges its own node's share there, and those
// of all others with a few nodes at representative distances, as in an all-to-all.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "sim/setup/setup.h"
#include "sim/trace.h"

namespace syncline {

class AlikeServers {
 public:
  // None where servers or nodes differ, servers share links or links have profiles, and where each
  // message has to be seen: with fidelity = step, with few flows, with compression, which is priced
  // by a shard.
  static std::optional<AlikeServers> of(const Setup& setup);

  // With how many places a rank exchanges what it has for the servers.
  int places() const { return std::max(1, static_cast<int>(node_distances_.size())); }
  // Returns the same run with one server. Widens its cards.
  Setup as_one(const Setup& setup) const;
  // Turns the use of its cards into that of all cards.
  void spread(std::vector<LinkUse>& links) const;

 private:
  static std::optional<AlikeServers> of_their_own(const Setup& setup);
  static std::optional<AlikeServers> on_nodes(const Setup& setup);

  int count_ = 0;
  // By server: its own cards, in the same order. Servers on nodes have none.
  std::vector<std::vector<std::string>> cards_;
  std::vector<DistanceRange> node_distances_;
};

}  // namespace syncline
