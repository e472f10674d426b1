// All ranks' plans of one exchange, and the shapes of clusters that exchanges are tested on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/plan.h"

namespace syncline {

struct Collective {
  Topology topology;
  std::uint64_t bytes = 0;
  std::vector<Plan> plans;  // by rank: of workers, then of servers
};

inline std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

inline Collective collective(const std::string& name, const Topology& topology, std::uint64_t bytes,
                             const std::map<std::string, std::string>& given = {}) {
  const Exchange& exchange = Registered<Exchange>::find(name);
  const Settings settings(exchange.parameters, given);
  Collective all{.topology = topology, .bytes = bytes, .plans = {}};
  const int ranks = exchange.uses_servers ? topology.ranks() : topology.workers();
  for (int rank = 0; rank < ranks; ++rank)
    all.plans.push_back(exchange.plan(topology, settings, bytes, rank));
  return all;
}

struct Shape {
  std::string name;
  std::vector<int> workers_in_node;
  bool even = true;
};

inline std::vector<Shape> shapes_of(int workers) {
  std::vector<Shape> shapes{{"1 per node", std::vector<int>(at(workers), 1)},
                            {"one node", {workers}}};
  if (workers % 4 == 0)
    shapes.push_back({"4 per node", std::vector<int>(at(workers / 4), 4)});
  if (workers % 3 == 0)
    shapes.push_back({"3 nodes", std::vector<int>(3, workers / 3)});
  if (workers > 2) {
    std::vector<int> sizes;
    for (int left = workers, size = 1; left > 0; left -= sizes.back(), size = size % 3 + 1)
      sizes.push_back(std::min(size, left));
    shapes.push_back({"uneven", sizes, false});
  }
  return shapes;
}

inline const std::vector<std::uint64_t> byte_sizes{0, 1, 7, 1000, 102228128};

// Calls `check(collective)` for 1 to 33 workers, in all shapes the exchange serves.
template <class Check>
void for_each_collective(const std::string& exchange, Check check) {
  const bool serves = Registered<Exchange>::find(exchange).uses_servers;
  for (int workers = 1; workers <= 33; ++workers)
    for (const Shape& shape : shapes_of(workers)) {
      if (exchange == "hierarchical" && !shape.even)
        continue;
      std::vector<int> servers{0};
      if (serves)
        servers = {1, 3, static_cast<int>(shape.workers_in_node.size())};
      for (const int count : servers)
        for (const std::uint64_t bytes : byte_sizes) {
          SCOPED_TRACE(exchange + ", " + std::to_string(workers) + " workers, " + shape.name +
                       ", " + std::to_string(count) + " servers, " + std::to_string(bytes) +
                       " bytes");
          check(collective(exchange, make_topology(shape.workers_in_node, count), bytes));
          if (testing::Test::HasFailure())
            return;
        }
    }
}

inline std::uint64_t sent_by(const Plan& plan) {
  std::uint64_t bytes = 0;
  for (const Phase& phase : plan)
    for (const Transfer& send : phase.sends)
      bytes += send.bytes;
  return bytes;
}

inline std::uint64_t received_by(const Plan& plan) {
  std::uint64_t bytes = 0;
  for (const Phase& phase : plan)
    for (const Transfer& receive : phase.receives)
      bytes += receive.bytes;
  return bytes;
}

inline int steps_of(const Plan& plan) {
  int steps = 0;
  for (const Phase& phase : plan)
    steps += phase.steps;
  return steps;
}

inline std::uint64_t sent_by_all(const Collective& all) {
  std::uint64_t bytes = 0;
  for (const Plan& plan : all.plans)
    bytes += sent_by(plan);
  return bytes;
}

}  // namespace syncline
