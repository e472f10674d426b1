// A scenario on its platform, before the simulation.
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
struct LearningTask {
  Data data;
  Objective objective;

  double epoch_samples() const { return static_cast<double>(data.train.count); }
};

// The collectives of workers that hold shards.
struct Shards {
  Sharding how;
  std::string units;  // described for the result
  Traffic gather;
  Traffic reduce_scatter;
  std::optional<Traffic> across;  // across groups: of each shard, among the workers that hold it
};

struct Setup {
  Scenario scenario;
  double asked_cycle_s = 0;  // of the option; scenario.fusion has the actual length
  Model model;
  ComputeTimes compute;
  Traffic traffic;
  std::optional<Traffic> within;        // of averages in a group, in every iteration of a round
  std::optional<Shards> shards;         // if set, `traffic` only knows the cluster
  std::vector<ExchangeChoice> choices;  // of `exchange = auto` or `nccl`
  std::vector<Bucket> buckets;          // units, if workers hold shards
  // Single tensors, if the run makes groups of them (fusion.cycle_s); `buckets` are then the groups
  // of a run without jitter. Empty: backward makes `buckets`.
  std::vector<Bucket> tensors;
  Bucket model_bucket;            // all tensors as one: sent by node aggregators
  std::vector<Warning> warnings;  // for the result
  Profiles profiles;              // of the platform
  double load_s = 0;              // PlatformFile::load_s
  std::shared_ptr<const LearningTask> learning_task;  // null: only time is simulated
  std::optional<int> iterations;  // of every worker after `warmup`; none: until throughput is known
  std::optional<MemoryNeed> memory;  // none: the devices are not known
  std::string price;                 // its source, for the result; empty: the user's price, or none
  // Source of the cost of adding on servers and nodes, for the result; empty: no servers.
  std::string adding;

  bool keep_messages = false;  // in the trace, one by one

  // If one server stands for one on each node (sim/engine/alike_servers.h): the distances of the
  // nodes that carry its bytes, each of which has one part. Empty: a server is one server.
  std::vector<DistanceRange> node_distances;
  int servers_as_one = 1;  // servers for which each simulated server stands

  // Gives the scenario another seed. Learning keeps its data and its initial parameters.
  void reseed(std::uint64_t seed);
  // True if the seed decides how long anything takes: compute times, times of servers' software or
  // message sizes are drawn at random.
  bool has_chance() const;
  // The tensors or buckets that backward makes, in its order.
  const std::vector<Bucket>& made() const { return tensors.empty() ? buckets : tensors; }
  // The transfers of one iteration.
  std::vector<Bucket> sent_buckets() const;
  // By bucket, how it is cut for servers that answer pushes; empty if there are none.
  std::vector<PushedPieces> cuts() const;
  std::uint64_t model_bytes() const { return traffic.bytes_of(model_bucket); }
  // Iterations/s of all workers in the long run, if each trained alone at its host's speed, or at
  // the mean of the host's speed profile.
  double alone_per_s() const;
};

// Loads the platform, whose file was read before, and assigns the roles. Call it once per process
// (sim/platform/platform.h). Throws std::runtime_error or std::invalid_argument for errors that a
// user can correct, also if the cost tables lack something, before anything is simulated.
Setup prepare(const Scenario& scenario, const PlatformFile& platform);
// The same with this model instead of the scenario's, and without learning.
Setup prepare(const Scenario& scenario, const PlatformFile& platform, Model model);

// The choices made for the user about the exchange, in words: channels, and the cheapest of several
// exchanges. Empty: there was no choice.
std::string exchange_taken(const Setup& setup);

}  // namespace syncline
