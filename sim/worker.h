// The verbs of a worker. Each advances a clock by what it costs; none needs to know the schedule
// that calls it. The engine's worker carries the verbs out on SimGrid and writes them into the
// trace (sim/engine/engine_worker.h). The worker of sim/clock/ only records them, for closed forms.
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
  virtual int workers() const = 0;
  // In the order in which backward produces them.
  virtual std::span<const Bucket> buckets() const = 0;

  // Begins the next iteration; false when the run is over. What the worker does after that belongs
  // to no iteration.
  virtual bool next_iteration() = 0;
  virtual int micro_steps() const = 0;  // of an iteration
  // The forward pass over the whole model. With `accumulation`, also all micro-steps but the last
  // one's backward pass.
  virtual void forward() = 0;
  // Forward over the layers of one bucket alone, in one micro-step.
  virtual void forward(const Bucket& bucket) = 0;
  // Backward over the layers of one bucket; buckets must come in order.
  virtual void backward(const Bucket& bucket) = 0;
  // The optimiser's step: applies the update to this worker's own copy, or shard, of the
  // parameters. It takes the time that `optimizer` says. It takes none where servers apply updates,
  // and none by default, because a measured throughput includes the step. With
  // `optimizer-overhead`, launching the step comes before.
  virtual void step() = 0;
  // Steps with the worker's own gradient alone, or with the average of its group, the schedule's
  // `replica`. Its copy of the parameters then differs from the others', until they average the
  // changes of their parameters, or always (Schedule::has_own_parameters).
  virtual void step_alone() = 0;
  // After steps alone and an average: adds `rate` times the average change to the parameters that
  // all workers had, with Nesterov's momentum. Rate 1 and momentum 0 give the average of the
  // workers' parameters. The worker continues from this result plus what its own steps have changed
  // since the average was started. With `own`, it continues from that part of its own parameters
  // and 1 - own of this result.
  virtual void step_together(double rate, double momentum, std::optional<double> own = {}) = 0;

  // Queues averaging this bucket over all workers on the communication stream, and returns. The
  // average is of the bucket's gradient of this iteration; after steps alone, of the change of its
  // parameters since the last average. Its values are those that the worker has now, however much
  // later a step applies them. A bucket that is started again in an iteration moves again, and is
  // learned once. With `overlap = off` the average is queued when the last bucket's
  // average is started, or when the worker waits for averages. In a group, which must be the
  // schedule's `replica`, gradients are averaged uncompressed.
  virtual void start_average(const Bucket& bucket, Among group = Among::all) = 0;
  // Waits until every average that was started in the group has arrived.
  virtual void finish_averages(Among group = Among::all) = 0;

  // This and the next two are for schedules whose workers hold shards (Schedule::sharding); a
  // bucket is then a unit. Gathers and reduce-scatters queue on one communication stream,
  // all-reduces across groups on another; with `overlap = off` a call waits for what it has queued.
  //
  // Queues gathering the unit's parameters from the shards of the group, and returns.
  virtual void start_gather(const Bucket& unit) = 0;
  // Waits until the unit's parameters have arrived.
  virtual void finish_gather(const Bucket& unit) = 0;
  // Queues averaging the unit's gradient over all workers, each of which gets its shard, and
  // returns. The average is a reduce-scatter in the group, then, in a stream of its own, an
  // all-reduce of each shard among the workers that hold it. finish_averages() waits for it.
  virtual void start_reduce_scatter(const Bucket& unit) = 0;

  // Queues sending this bucket's gradient to every shard and returns; with `overlap = off` it is
  // sent when the last bucket is pushed. The push carries this iteration's number.
  virtual void push(const Bucket& bucket) = 0;
  // Waits for the shards' answers to every push or question, which bring their parameters, and
  // until every difference has arrived.
  virtual void pull() = 0;
  // Lets the next iteration, c, use the parameters that answers have brought by now, plus this
  // worker's own updates, answered or not. Waits only while updates of iteration c - staleness - 1
  // or before are missing.
  virtual void refresh_cache(double staleness) = 0;

  // This and the next verb are for schedules whose workers have parameters of their own, and
  // servers (Schedule::own_parameters). Queues asking every shard for this bucket's parameters, in
  // a message of a few bytes, and returns; the question carries this iteration's number. pull()
  // waits for the answers.
  virtual void ask(const Bucket& bucket) = 0;
  // Queues sending every shard its part of `rate` times the difference between this worker's
  // parameters of the bucket and those that pull() has brought, and returns. The worker's next step
  // takes the difference off its own parameters. With `overlap = off` the call for the last bucket
  // waits until all differences have arrived.
  virtual void push_difference(const Bucket& bucket, double rate) = 0;

  // Copies the gradient of the whole model to the node's aggregator, and waits for the copy.
  virtual void hand_over() = 0;
  // Waits until the parameters at the node contain every gradient that this worker has handed over,
  // except the newest `newest`.
  virtual void wait_until_applied(double newest) = 0;
  // Copies the newest parameters at the node.
  virtual void take_parameters() = 0;

  // The following are for schedules whose workers send each other parameters
  // (Schedule::neighbours). Each worker has parameters of its own, and steps alone.
  //
  virtual int rank() const = 0;  // this worker's number, from 0
  // A number from 0 to below - 1, drawn at random for this worker and iteration.
  virtual int drawn(int below) const = 0;
  // Sends another worker a copy of the parameters that this worker has now, and returns. With
  // `overlap = off` the copy leaves when the worker receives, mixes or steps.
  virtual void send_parameters(int to) = 0;
  // Waits for the next copy from this worker, in the order in which they were sent. Copies wait
  // until they are received, or until the run ends.
  virtual void receive_parameters(int from) = 0;
  // Waits for the next copy from anyone, receives it and returns its sender. None, in
  // Schedule::answer only: all workers have ended.
  virtual std::optional<int> receive_from_any() = 0;
  // Replaces the parameters by a weighted mean: each copy received since the last mix has the
  // weight `each`, the worker's own parameters have the rest; without copies nothing changes. Takes
  // no time.
  virtual void mix(double each) = 0;
};

// What workers of several schedules do.
//
// Computes a gradient of the whole model.
inline void compute_gradient(Worker& worker) {
  worker.forward();
  for (const Bucket& bucket : worker.buckets())
    worker.backward(bucket);
}

// Computes a gradient and pushes each bucket of it when backward has produced it (wait-free
// backpropagation, Zhang et al. 2017).
inline void push_gradient(Worker& worker) {
  worker.forward();
  for (const Bucket& bucket : worker.buckets()) {
    worker.backward(bucket);
    worker.push(bucket);
  }
}

// A worker of Downpour SGD (Dean et al. 2012) that pushes and fetches in every iteration.
inline void downpour_worker(Worker& worker) {
  while (worker.next_iteration()) {
    push_gradient(worker);
    worker.pull();
    worker.step();
  }
}

}  // namespace syncline
