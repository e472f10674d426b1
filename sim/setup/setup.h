// What a scenario means on its platform, before anything is simulated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/plan.h"
#include "sim/scenario.h"
#include "sim/setup/compute.h"
#include "sim/setup/model.h"
#include "sim/setup/profiles.h"
#include "sim/setup/traffic.h"

namespace syncline {

// Parts first .. last - 1, of one per node, go to the node so many places further.
struct NodeParts {
  int distance = 0;
  int first = 0;
  int last = 0;
};

struct Setup {
  Scenario scenario;
  Model model;
  ComputeTimes compute;
  Traffic traffic;
  std::vector<Bucket> buckets;
  Bucket model_bucket;                // all tensors as one: what node aggregators send
  std::vector<std::string> warnings;  // for the result
  Profiles profiles;                  // of the platform
  std::string adding;  // what adding on servers and nodes costs, for the result; empty: no servers

  // What a server's bytes are cut into where one stands for a server on each node: a part for each
  // of several nodes at these distances (sim/engine/alike_servers.h); empty: it is one server.
  std::vector<NodeParts> node_parts;

  // What is sent in one iteration, as one transfer each.
  std::vector<Bucket> sent_buckets() const;
  std::uint64_t model_bytes() const { return traffic.bytes_of(model_bucket); }
};

// Loads the platform and decides who does what. Call it once per process (sim/setup/platform.h).
// Throws std::runtime_error or std::invalid_argument for errors that a user can correct, also if
// the cost tables lack something, before anything is simulated.
Setup prepare(const Scenario& scenario);

}  // namespace syncline
