// Simulates one server in place of many identical ones.
//
// A run of S servers that answer each of n workers has S times as many messages under way as a run
// of one, and takes longer accordingly. If every worker's routes to the servers differ only in
// cards that belong to one server each, and those cards are alike, then the S messages of a push
// begin and end together, whatever the other workers do. One server with S times the card bandwidth
// and S times the memory bandwidth then gives the same seconds.
//
// Servers on nodes of one size receive and send over the nodes' cards, which all nodes share alike,
// so one server stands for them all. A worker exchanges its own node's share with that server, and
// the shares of all other nodes with a few nodes at representative distances, as in an all-to-all.
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
  // None if servers or nodes differ, if servers share links or links have profiles, or if each
  // message must be simulated: with fidelity = step, with few flows, or with compression, whose
  // time depends on the size of a shard.
  static std::optional<AlikeServers> of(const Setup& setup);

  // Number of places with which a rank exchanges its messages for the servers.
  int places() const { return std::max(1, static_cast<int>(node_distances_.size())); }
  // Returns the same run with one server, after widening the cards of that server.
  Setup as_one(const Setup& setup) const;
  // Spreads the use of the one server's cards over the cards of all servers.
  void spread(std::vector<LinkUse>& links) const;

 private:
  static std::optional<AlikeServers> of_their_own(const Setup& setup);
  static std::optional<AlikeServers> on_nodes(const Setup& setup);

  int count_ = 0;
  // By server: its own cards, in the same order for all servers. Servers on nodes have none.
  std::vector<std::vector<std::string>> cards_;
  std::vector<DistanceRange> node_distances_;
};

}  // namespace syncline
