// The communication streams of one rank: one per stage if the exchange is a pipeline, one per
// channel if the exchange has several channels, else one.
//
// A bucket passes through the streams of its plan's stages in order, piece by piece. Each stream
// takes buckets first in, first out, so ranks agree on the order of messages in every stream.
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
  // By Stage::stream(). Where workers also average in groups, the streams of those averages follow.
  std::vector<std::unique_ptr<StreamState>> streams;
  int of_all = 1;  // streams of averages over all workers
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::shared_ptr<const Plan>>
      plans;  // plans of the exchange, by payload
  std::map<std::pair<const Traffic*, std::uint64_t>, std::shared_ptr<const Plan>>
      dense_plans;   // plans of groups and shards, by parameters
  int started = 0;   // plans queued, of any kind
  int finished = 0;  // plans of pipelines that have ended

  Stages(Run& run, int rank);
  StreamState& stream(int stage) { return *streams[index(stage)]; }
  // Makes one stream per stage of the exchange.
  void make_streams();
  // Starts one actor per stream, all of this name.
  void start(const std::string& name);
  // The plan of this rank to average one bucket over all workers; or, without compression, by
  // `traffic`.
  std::shared_ptr<const Plan> plan(const Bucket& bucket, int iteration);
  std::shared_ptr<const Plan> plan(const Traffic& traffic, const Bucket& bucket);
  // Executes the plan except its first and last work, after the buckets before it. `done` runs when
  // the plan has ended. Servers that take part begin with the first worker that does.
  void average(const std::shared_ptr<const Plan>& plan, const Bucket& bucket, int iteration,
               const std::function<void()>& done);
  // The same for a plan within a group, in separate streams.
  void average_within(const std::shared_ptr<const Plan>& plan, const Bucket& bucket, int iteration,
                      const std::function<void()>& done);
  // Executes a plan in the streams from `first` on.
  void execute(const std::shared_ptr<const Plan>& plan, int first, const Bucket& bucket,
               int iteration, const std::function<void()>& done);
  void wake();  // jobs were added, or the run is over

 private:
  std::shared_ptr<const Plan> plan_of(const Payload& payload);
  // Executes the phases of all channels side by side, each channel in its stream from `first` on,
  // one pass after another. Returns when the last phase has ended.
  void in_channels(const Plan& plan, int first, const Bucket& bucket, int iteration);
  struct PipelinedBucket;
  // Executes all pieces of one phase.
  void pass(PipelinedBucket& in_pipeline, std::size_t phase);
  // On a server: takes the time that its software needs for these messages.
  void handle(StreamState& own, const std::vector<Transfer>& transfers,
              const PipelinedBucket& in_pipeline);
  void add_up(StreamState& own, const Phase& piece, int partitions,
              const PipelinedBucket& in_pipeline);
};

}  // namespace syncline
