// What a scenario means on its platform, before anything is simulated.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan.h"
#include "sim/problem.h"
#include "sim/scenario.h"
#include "sim/setup/compute.h"
#include "sim/setup/model.h"
#include "sim/setup/profiles.h"
#include "sim/setup/traffic.h"

namespace syncline {

// What is learned, on its data.
struct Lesson {
  Data data;
  Objective objective;

  double epoch_samples() const { return static_cast<double>(data.train.count); }
};

struct Setup {
  Scenario scenario;
  Model model;
  ComputeTimes compute;
  Traffic traffic;
  std::vector<Bucket> buckets;
  Bucket model_bucket;                   // all tensors as one: what node aggregators send
  std::vector<std::string> warnings;     // for the result
  Profiles profiles;                     // of the platform
  std::shared_ptr<const Lesson> lesson;  // null: only time is simulated
  std::optional<int> iterations;         // of every worker after `warmup`; none: until it is known
  std::string adding;  // what adding on servers and nodes costs, for the result; empty: no servers

  bool keep_messages = false;  // in the trace, one by one

  // Where one server stands for one on each node (sim/engine/alike_servers.h): the distances of the
  // nodes that carry its bytes, of which each node has one part; empty: it is one server.
  std::vector<DistanceRange> node_parts;

  // The same scenario with another seed. What is learned keeps its data and where it starts.
  void reseed(std::uint64_t seed);
  // Whether the seed decides how long anything takes: compute times or sizes are drawn.
  bool has_chance() const;
  // What is sent in one iteration, as one transfer each.
  std::vector<Bucket> sent_buckets() const;
  // By bucket, how it is pushed to servers that answer; empty where there are none.
  std::vector<Cut> cuts() const;
  std::uint64_t model_bytes() const { return traffic.bytes_of(model_bucket); }
};

// Loads the platform and decides who does what. Call it once per process (sim/setup/platform.h).
// Throws std::runtime_error or std::invalid_argument for errors that a user can correct, also if
// the cost tables lack something, before anything is simulated.
Setup prepare(const Scenario& scenario);

}  // namespace syncline
