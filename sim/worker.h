// The verbs of a worker. Each advances simulated time by what it costs and writes what it did into
// the trace; none needs to know the schedule that calls it.
#pragma once

#include <optional>
#include <span>

#include "kernels/registry.h"
#include "sim/plan.h"
#include "sim/schedule.h"

namespace syncline {

struct WorkerState;  // sim/engine/worker_state.h

class Worker {
 public:
  explicit Worker(WorkerState& state) : state_(state) {}

  const Settings& settings() const;         // of the schedule
  std::span<const Bucket> buckets() const;  // in the order in which backward produces them

  // Begins the next iteration; false when the run is over. What the worker still does then is of no
  // iteration.
  bool next_iteration();
  int micro_steps() const;  // of an iteration
  // The forward pass over the whole model; with `accumulation` all micro-steps but the last one's
  // backward pass.
  void forward();
  // Forward over the layers of one bucket alone, in one micro-step.
  void forward(const Bucket& bucket);
  // Backward over the layers of one bucket; buckets must come in order.
  void backward(const Bucket& bucket);
  // Applies the update to this worker's own copy, or shard, of the parameters: the optimiser's
  // step. It takes the time that `optimizer` says; none where servers apply, and none by default,
  // because a measured throughput contains it. Launching it comes before, with
  // `optimizer-overhead`.
  void step();
  // Takes the step with its own gradient alone, or with the average that its group, the schedule's
  // `replica`, has made of theirs: its copy of the parameters is then another than those of others,
  // until they average what theirs have changed by.
  void step_alone();
  // After steps alone and an average: adds `rate` times the average change to the parameters that
  // all had, with Nesterov's momentum. 1 and 0: the average of their parameters. It goes on with
  // these and what its own steps have changed since the average was started; with `own`, with that
  // part of its own parameters and 1 - own of these.
  void step_together(double rate, double momentum, std::optional<double> own = {});

  // Queues averaging this bucket over all workers (its gradient, of this iteration; after steps
  // alone, the change of its parameters since the last average) on the communication stream and
  // returns. What is averaged is what the worker has now, however much later a step applies it.
  // With `overlap = off` it is queued when backward has ended. In a group, which has to be the
  // schedule's `replica`, gradients are averaged as they are: nothing compresses them there.
  void start_average(const Bucket& bucket, Among group = Among::all);
  // Waits until every such average that was started has arrived.
  void finish_averages(Among group = Among::all);

  // These are for schedules whose workers hold shards (Schedule::sharding), of which a bucket is a
  // unit. All queue on one communication stream; with `overlap = off` they wait for what they
  // queue. Queues gathering the unit's parameters from the shards of the group, and returns.
  void start_gather(const Bucket& unit);
  // Waits until they have arrived.
  void finish_gather(const Bucket& unit);
  // Queues averaging the unit's gradient over all workers, of which each gets its shard, and
  // returns: reduce-scatter in the group, then, in a stream of its own, an all-reduce of each shard
  // among those who hold it. finish_averages() waits for it.
  void start_reduce_scatter(const Bucket& unit);

  // Queues sending this bucket's gradient to every shard and returns; `overlap` as above. The push
  // carries this iteration's number.
  void push(const Bucket& bucket);
  // Waits for the shards' answers to every push, which bring their parameters.
  void pull();
  // The next iteration, c, uses the parameters that answers have brought by now, and this worker's
  // own updates, whether answered or not. Waits only while updates of iteration c - staleness - 1
  // or before are missing.
  void refresh_cache(double staleness);

  // Copies the gradient of the whole model to the node's aggregator, and waits for the copy.
  void hand_over();
  // Waits until the parameters at the node contain every gradient that this worker has handed over
  // but the newest `newest`.
  void wait_until_applied(double newest);
  // Copies the newest parameters at the node.
  void take_parameters();

 private:
  WorkerState& state_;
};

}  // namespace syncline
