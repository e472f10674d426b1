// Which hosts of a platform take part, in which order, in which role. Functions of facts about the
// hosts, so they need no engine.
#pragma once

#include <string>
#include <vector>

#include "sim/plan.h"
#include "sim/scenario.h"

namespace syncline {

struct HostFacts {
  std::string name;
  std::string node;        // property `node`; empty: none
  std::string device;      // property `device`; empty: none
  std::string role;        // property `role`; empty: worker
  double speed_flops = 0;  // flop/s
  int cores = 1;           // with a second core, compression does not delay computation
};

struct Cluster {
  Topology topology;
  // Of every rank: workers, then servers, then one aggregator per node.
  std::vector<std::string> rank_names;
  std::vector<std::string> rank_hosts;
  std::vector<HostFacts> workers;
  std::vector<HostFacts> worker_hosts;  // of the platform, whether they take part or not

  int aggregator_of(int node) const { return topology.ranks() + node; }
};

// "n2" before "n10": runs of digits compare as numbers.
bool natural_less(const std::string& a, const std::string& b);

// Takes the scenario's workers node by node, and its servers: the hosts with that role, else hosts
// after the workers, else (servers = 0) the first worker's host of each node.
// Throws std::invalid_argument: more workers or servers than hosts, or an unknown role.
Cluster choose_cluster(std::vector<HostFacts> hosts, const Scenario& scenario);

}  // namespace syncline
