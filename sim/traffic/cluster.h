// Chooses the hosts of a platform that take part, with their order and roles. These functions need
// only facts about the hosts, no engine.
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
  std::shared_ptr<const Platform> platform;  // null: there are facts, but no routes
  Topology topology;
  // Both have all ranks: workers, then servers, then one aggregator per node.
  std::vector<std::string> rank_names;
  std::vector<std::string> rank_hosts;
  std::vector<HostFacts> workers;
  std::vector<HostFacts> worker_hosts;  // of the platform, whether or not they take part
  // The host on which a node's server and aggregator run. on_a_worker: the host is a worker's, and
  // the node has several workers; server and aggregator then share that worker's links.
  std::vector<std::string> node_hosts;
  std::vector<bool> on_a_worker;

  Routes routes() const { return {*platform, rank_hosts}; }  // between ranks
  int aggregator_of(int node) const { return topology.ranks() + node; }
};

// "n2" before "n10": runs of digits compare as numbers.
bool natural_less(const std::string& a, const std::string& b);

// Takes the wanted number of workers by `placement` (`random`: by the seed), node by node, and
// their servers. Servers are the hosts with that role, else hosts that are no workers, else
// (servers = 0) one on each node: on the node's host with role = host, else on the host of the
// node's first worker. Throws std::invalid_argument if there are more workers or servers than
// hosts, for an unknown role, and for a host with role = host that names no node or a node that
// already has one.
Cluster choose_cluster(std::vector<HostFacts> hosts, const ClusterOptions& options,
                       std::uint64_t seed = 1);

}  // namespace syncline
