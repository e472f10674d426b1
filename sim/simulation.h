// One simulation: a scenario on a platform, to a trace.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster.h"
#include "sim/compression.h"
#include "sim/compute.h"
#include "sim/model.h"
#include "sim/plan.h"
#include "sim/platform.h"
#include "sim/scenario.h"
#include "sim/trace.h"

namespace syncline {

// What a scenario comes to on its platform, before anything is simulated.
struct Setup {
  Scenario scenario;
  Model model;
  Cluster cluster;
  ComputeTimes times;
  std::vector<Bucket> buckets;
  Bucket whole;  // all of them as one: what node aggregators send
  Compression compression;

  std::uint64_t bytes_of(const Bucket& bucket) const {
    return bucket.parameters * static_cast<std::uint64_t>(scenario.gradient_value_bytes());
  }
  std::uint64_t model_bytes() const {
    return model.parameters() * static_cast<std::uint64_t>(scenario.gradient_value_bytes());
  }
  // What stands for a bucket's gradient on its way, in an iteration; -1 is one like most.
  Payload payload_of(const Bucket& bucket, int iteration) const;
  // Gradient values of a bucket that the compressor gets, and each server's part of them.
  std::uint64_t compressed_of(const Bucket& bucket) const {
    return bucket.parameters - bucket.dense_parameters;
  }
  std::uint64_t shard_of(const Bucket& bucket) const;
  // What a rank does to average that, as this scenario's fidelity carries it out.
  Plan plan_of(const Payload& payload, int rank) const;
  // What servers send back for it: parameters, or differences as a message of the same size.
  bool pulls_compressed() const;
  std::uint64_t pulled_bytes(const Payload& payload) const {
    return (pulls_compressed() ? payload.bytes : payload.dense_bytes) + payload.beside;
  }
};

// Loads the platform and works out who does what. Once per process (sim/platform.h); throws
// std::runtime_error or std::invalid_argument on what a user can mend.
Setup prepare(const Scenario& scenario);

// Runs it. Once per process.
Trace simulate(const Setup& setup);

}  // namespace syncline
