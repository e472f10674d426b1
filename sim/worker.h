// The verbs of a worker. Each advances a clock by what it costs; none needs to know the schedule
// that calls it. The engine's worker carries them out on SimGrid and writes them into the trace
// (sim/engine/engine_worker.h); another only records them, for what arithmetic says (sim/clock/).
#pragma once

#include <optional>
#include <span>

#include "kernels/registry.h"
#include "sim/plan.h"
#include "sim/schedule.h"

namespace syncline {

class Worker {
 public:
  virtual ~Worker() = default;

  virtual const Settings& settings() const = 0;  // of the schedule
  virtual std::span<const Bucket> buckets()
      const = 0;  // in the order in which backward produces them

  // Begins the next iteration; false when the run is over. What the worker still does then is of no
  // iteration.
  virtual bool next_iteration() = 0;
  virtual int micro_steps() const = 0;  // of an iteration
  // The forward pass over the whole model; with `accumulation` all micro-steps but the last one's
  // backward pass.
  virtual void forward() = 0;
  // Forward over the layers of one bucket alone, in one micro-step.
  virtual void forward(const Bucket& bucket) = 0;
  // Backward over the layers of one bucket; buckets must come in order.
  virtual void backward(const Bucket& bucket) = 0;
  // Applies the update to this worker's own copy, or shard, of the parameters: the optimiser's
  // step. It takes the time that `optimizer` says; none where servers apply, and none by default,
  // because a measured throughput contains it. Launching it comes before, with
  // `optimizer-overhead`.
  virtual void step() = 0;
  // Takes the step with its own gradient alone, or with the average that its group, the schedule's
  // `replica`, has made of theirs: its copy of the parameters is then another than those of others,
  // until they average what theirs have changed by.
  virtual void step_alone() = 0;
  // After steps alone and an average: adds `rate` times the average change to the parameters that
  // all had, with Nesterov's momentum. 1 and 0: the average of their parameters. It goes on with
  // these and what its own steps have changed since the average was started; with `own`, with that
  // part of its own parameters and 1 - own of these.
  virtual void step_together(double rate, double momentum, std::optional<double> own = {}) = 0;

  // Queues averaging this bucket over all workers (its gradient, of this iteration; after steps
  // alone, the change of its parameters since the last average) on the communication stream and
  // returns. What is averaged is what the worker has now, however much later a step applies it.
  // With `overlap = off` it is queued when the last bucket's average is started, or when the worker
  // waits for averages. In a group, which has to be the schedule's `replica`, gradients are
  // averaged as they are: nothing compresses them there.
  virtual void start_average(const Bucket& bucket, Among group = Among::all) = 0;
  // Waits until every such average that was started has arrived.
  virtual void finish_averages(Among group = Among::all) = 0;

  // These are for schedules whose workers hold shards (Schedule::sharding), of which a bucket is a
  // unit. All queue on one communication stream; with `overlap = off` they wait for what they
  // queue. Queues gathering the unit's parameters from the shards of the group, and returns.
  virtual void start_gather(const Bucket& unit) = 0;
  // Waits until they have arrived.
  virtual void finish_gather(const Bucket& unit) = 0;
  // Queues averaging the unit's gradient over all workers, of which each gets its shard, and
  // returns: reduce-scatter in the group, then, in a stream of its own, an all-reduce of each shard
  // among those who hold it. finish_averages() waits for it.
  virtual void start_reduce_scatter(const Bucket& unit) = 0;

  // Queues sending this bucket's gradient to every shard and returns; `overlap` as above. The push
  // carries this iteration's number.
  virtual void push(const Bucket& bucket) = 0;
  // Waits for the shards' answers to every push, which bring their parameters.
  virtual void pull() = 0;
  // The next iteration, c, uses the parameters that answers have brought by now, and this worker's
  // own updates, whether answered or not. Waits only while updates of iteration c - staleness - 1
  // or before are missing.
  virtual void refresh_cache(double staleness) = 0;

  // Copies the gradient of the whole model to the node's aggregator, and waits for the copy.
  virtual void hand_over() = 0;
  // Waits until the parameters at the node contain every gradient that this worker has handed over
  // but the newest `newest`.
  virtual void wait_until_applied(double newest) = 0;
  // Copies the newest parameters at the node.
  virtual void take_parameters() = 0;
};

}  // namespace syncline
