// The communication streams of one rank: one, or one per stage where an exchange is a pipeline, or
// one per channel where it has several.
//
// A bucket passes the streams of its plan's stages in order, piece by piece, and each stream takes
// buckets first in, first out. So ranks agree on the order of messages in every stream.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "sim/engine/stream.h"
#include "sim/plan.h"

namespace syncline {

struct Traffic;  // sim/traffic/traffic.h

struct Stages {
  Run& run;
  int rank;
  // By Stage::stream(); then, where workers also average in groups, those of these averages.
  std::vector<std::unique_ptr<StreamState>> streams;
  int of_all = 1;  // streams of averages over all
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::shared_ptr<const Plan>>
      plans;  // of the exchange, by payload
  std::map<std::pair<const Traffic*, std::uint64_t>, std::shared_ptr<const Plan>>
      dense_plans;   // of groups and shards, by parameters
  int started = 0;   // buckets
  int finished = 0;  // of these

  Stages(Run& run, int rank);
  StreamState& stream(int stage) { return *streams[index(stage)]; }
  // One stream per stage of the exchange.
  void make_streams();
  // Starts an actor of this name per stream.
  void start(const std::string& name);
  // This is what the rank does to average one bucket over all; or by this traffic, where nothing
  // compresses.
  std::shared_ptr<const Plan> plan(const Bucket& bucket, int iteration);
  std::shared_ptr<const Plan> plan(const Traffic& traffic, const Bucket& bucket);
  // Executes the plan except its first and last work, after the buckets before it. `done` runs when
  // it has ended. Where servers take part they begin with the first worker that does.
  void average(const std::shared_ptr<const Plan>& plan, const Bucket& bucket, int iteration,
               const std::function<void()>& done);
  // The same of a plan within a group, in streams of their own.
  void average_within(const std::shared_ptr<const Plan>& plan, const Bucket& bucket, int iteration,
                      const std::function<void()>& done);
  // Executes it in streams from `first` on.
  void execute(const std::shared_ptr<const Plan>& plan, int first, const Bucket& bucket,
               int iteration, const std::function<void()>& done);
  void wake();  // jobs were added, or the run is over

 private:
  std::shared_ptr<const Plan> plan_of(const Payload& payload);
  // Executes the phases of all channels side by side, each in its stream from `first` on, pass
  // after pass; returns when the last has ended.
  void in_channels(const Plan& plan, int first, const Bucket& bucket, int iteration);
  struct PipelinedBucket;
  // Executes all pieces of one phase.
  void pass(PipelinedBucket& in_pipeline, std::size_t phase);
  // On a server: what its software takes for these messages.
  void handle(StreamState& own, const std::vector<Transfer>& transfers,
              const PipelinedBucket& in_pipeline);
  void add_up(StreamState& own, const Phase& piece, int partitions,
              const PipelinedBucket& in_pipeline);
};

}  // namespace syncline
