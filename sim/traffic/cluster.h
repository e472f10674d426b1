// Hosts of a platform are chosen to take part, in an order and each in a role. These are functions
// of facts about the hosts, so they need no engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/plan.h"
#include "sim/platform/hosts.h"
#include "sim/platform/routes.h"
#include "sim/scenario.h"

namespace syncline {

struct Cluster {
  std::shared_ptr<const Platform> platform;  // null: facts are known, but no routes
  Topology topology;
  // Both have every rank: workers, then servers, then one aggregator per node.
  std::vector<std::string> rank_names;
  std::vector<std::string> rank_hosts;
  std::vector<HostFacts> workers;
  std::vector<HostFacts> worker_hosts;  // of the platform, whether they take part or not
  // Each node has a host where its server and its aggregator run. It may be a worker's although the
  // node has several workers: then they share that worker's links.
  std::vector<std::string> node_hosts;
  std::vector<bool> on_a_worker;

  Routes routes() const { return {*platform, rank_hosts}; }  // between ranks
  int aggregator_of(int node) const { return topology.ranks() + node; }
};

// "n2" before "n10": runs of digits compare as numbers.
bool natural_less(const std::string& a, const std::string& b);

// Takes as many workers as are wanted, as `placement` says (`random`: by the seed), node by node,
// and its servers: the hosts with that role, else hosts that are no workers, else (servers = 0) one
// on each node. On a node means: on its host with role = host, else on its first worker's. Throws
// std::invalid_argument: more workers or servers than hosts, an unknown role, or a host of no node
// or of one that has another.
Cluster choose_cluster(std::vector<HostFacts> hosts, const ClusterOptions& options,
                       std::uint64_t seed = 1);

}  // namespace syncline
