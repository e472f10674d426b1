// A scenario on its platform, before anything is simulated.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/collectives.h"
#include "sim/plan.h"
#include "sim/platform/platform_file.h"
#include "sim/platform/profiles.h"
#include "sim/problem.h"
#include "sim/scenario.h"
#include "sim/setup/compute.h"
#include "sim/setup/memory.h"
#include "sim/setup/model.h"
#include "sim/traffic/exchange_choice.h"
#include "sim/traffic/traffic.h"
#include "sim/warning.h"

namespace syncline {

// A problem that is learned, on its data.
struct Lesson {
  Data data;
  Objective objective;

  double epoch_samples() const { return static_cast<double>(data.train.count); }
};

// The collectives of workers that hold shards.
struct Shards {
  Sharding how;
  std::string units;  // what they are, for the result
  Traffic gather;
  Traffic reduce_scatter;
  std::optional<Traffic> across;  // between groups: of each shard among those who hold it
};

struct Setup {
  Scenario scenario;
  double asked_cycle_s = 0;  // of the option; scenario.fusion has what a cycle lasts
  Model model;
  ComputeTimes compute;
  Traffic traffic;
  std::optional<Traffic> within;        // of averages in a group, in every iteration of a round
  std::optional<Shards> shards;         // `traffic` then only knows the cluster
  std::vector<ExchangeChoice> choices;  // `exchange = auto`: what was chosen from
  std::vector<Bucket> buckets;          // where workers hold shards: units
  // One by one, where the run makes groups of them (fusion.cycle_s): `buckets` are then those that
  // a run without jitter makes. Empty: buckets are what backward makes.
  std::vector<Bucket> tensors;
  Bucket model_bucket;                   // all tensors as one: what node aggregators send
  std::vector<Warning> warnings;         // for the result
  Profiles profiles;                     // of the platform
  double load_s = 0;                     // PlatformFile::load_s
  std::shared_ptr<const Lesson> lesson;  // null: only time is simulated
  std::optional<int> iterations;         // of every worker after `warmup`; none: until it is known
  std::optional<MemoryNeed> memory;      // none: its devices are not known
  std::string price;                     // whose, for the result; empty: the user's, or none
  std::string adding;  // what adding on servers and nodes costs, for the result; empty: no servers

  bool keep_messages = false;  // in the trace, one by one

  // A server that stands for one on each node (sim/engine/alike_servers.h) has the distances of the
  // nodes that carry its bytes, of which each node has one part; empty: it is one server.
  std::vector<DistanceRange> node_distances;

  // Gives the scenario another seed. What is learned keeps its data and where it starts.
  void reseed(std::uint64_t seed);
  // Whether the seed decides how long anything takes: compute times or sizes are drawn.
  bool has_chance() const;
  // What backward makes, in its order.
  const std::vector<Bucket>& made() const { return tensors.empty() ? buckets : tensors; }
  // Each of these is sent in one iteration as one transfer.
  std::vector<Bucket> sent_buckets() const;
  // By bucket, how it is pushed to servers that answer; empty where there are none.
  std::vector<PushedPieces> cuts() const;
  std::uint64_t model_bytes() const { return traffic.bytes_of(model_bucket); }
  // Iterations/s of all workers in the long run, if each trained alone: at its host's speed, of
  // which its profile is the mean.
  double alone_per_s() const;
};

// Loads the platform, whose file was read before, and decides who does what. Call it once per
// process (sim/platform/platform.h). Throws std::runtime_error or std::invalid_argument for errors
// that a user can correct, also if the cost tables lack something, before anything is simulated.
Setup prepare(const Scenario& scenario, const PlatformFile& platform);

// What was chosen of the exchange for the user, in words: channels, and the cheapest of several.
// Empty: nothing was.
std::string exchange_taken(const Setup& setup);

}  // namespace syncline
