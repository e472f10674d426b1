// The values behind the verbs, if a scenario learns: the parameters of every rank, the gradients on
// their way, and how well the parameters do. The engine calls this in the order of simulated time;
// learning itself takes no simulated time.
//
// Workers that average hold the same parameters, which are stored once. The first rank that needs
// an average evaluates the gradients of all workers. The workers would get the same gradients
// later, because gradients depend only on parameters that are already fixed.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/learned.h"
#include "sim/learning/coder.h"
#include "sim/learning/optimizer.h"
#include "sim/learning/ranges.h"
#include "sim/learning/sampler.h"
#include "sim/learning/shared_values.h"
#include "sim/setup/setup.h"

namespace syncline {

// One server's share of one piece of a bucket.
struct PieceOf {
  int server = 0;
  int bucket = 0;
  int piece = 0;
};

class Learner {
 public:
  explicit Learner(const Setup& setup);

  // `evaluated` is called with every later point of the curve.
  void watch(std::function<void(const CurvePoint&)> evaluated) { watch_ = std::move(evaluated); }

  // --- Workers that average with each other.

  // Sizes of each worker's messages, relative to the size that the compressor intends: of its
  // gradient, and of its partial sums. Empty if sizes are exact, or if there are no such messages.
  struct Scales {
    std::vector<double> of_gradients, of_sums;
  };
  const Scales& message_scales(int bucket, int iteration);
  // The worker starts to average its current values: its gradient of this iteration, at the
  // parameters that all workers had at its `forward`; after steps alone, the change of its
  // parameters.
  void start_average(int worker, int iteration);
  // All averages that the worker has started have arrived.
  void finish_averages(int worker) { of_worker_[index(worker)].finish(); }
  // Applies the gradients of the worker, or of its replica, up to this iteration's to the
  // parameters that only the worker, or the replica, has; then what push_difference() has kept.
  void step_alone(int worker, int iteration);
  // Applies the averages that have arrived since the worker's last step. The first worker that
  // reaches this point does it for all. Returns the number of gradients in the averages.
  int step(int worker);
  // Applies the average change after steps alone. All workers then go on from the result: each adds
  // the changes of its own steps until this iteration's since the average was started, or
  // (`mixing`) takes that part of its own parameters and the rest of the average. Returns the
  // number of gradients in the average.
  int step_together(int worker, int iteration, double rate, double momentum,
                    std::optional<double> mixing);

  // --- Workers that send each other their parameters, which each holds for itself.

  SharedValues copy_of(int worker) const;  // its parameters, as a message has them
  // Replaces the worker's parameters by a mean in which each copy has the weight `each`.
  void mix(int worker, double each, const std::vector<SharedValues>& copies);

  // --- Workers and servers.

  // Evaluates at the parameters that the worker holds now.
  void forward(int worker, int iteration);
  // The size of the message, relative to the size that the compressor intends.
  double push(int worker, int bucket, int iteration);
  // A worker's gradient of one iteration.
  struct Pushed {
    int worker = 0;
    int iteration = 0;
    std::int64_t staleness = 0;  // updates of the piece since its parameters were read
  };
  // One update with these gradients. Each has the weight rate / workers or, with `staleness-rate =
  // inverse`, rate / (its staleness, at least 1) / their number.
  void apply(const PieceOf& piece, std::vector<Pushed> gradients);
  // One update with the mean of these gradients. `updates`: earlier updates of the piece. The
  // schedule of the learning rate then counts these updates, no matter how many gradients are
  // dropped.
  void apply_mean(const PieceOf& piece, std::vector<Pushed> gradients, std::int64_t updates);
  // Computes `rate` times the difference between the worker's own parameters of the bucket and
  // those that have arrived from servers. It is on its way until apply_difference() adds it to the
  // servers' parameters; the worker's next step takes it off its own.
  void push_difference(int worker, int bucket, int iteration, double rate);
  void apply_difference(const PieceOf& piece, int worker, int iteration);
  // This piece of the gradient will not be applied.
  void drop(const PieceOf& piece, int worker, int iteration);
  // The current parameters, or their change since the last answer to this worker; and the scale of
  // the message.
  struct Answer {
    CopiedOnWrite values;
    bool is_change = false;
    double scale = 1;
  };
  Answer answer(const PieceOf& piece, int worker, int iteration);
  // `newest`: no later answer has arrived before.
  void arrive(const PieceOf& piece, int worker, const Answer& answer, bool newest);
  // An arrived piece: its version, and the updates that it contains.
  struct ArrivedPiece {
    std::int64_t version = 0;
    int own = 0;  // iterations of this worker
  };
  // Makes the next iteration use everything that has arrived, and the worker's own updates that are
  // not in it.
  void read(int worker, int iteration, const std::function<ArrivedPiece(const PieceOf&)>& arrived);

  // --- Workers, nodes and servers.

  SharedValues gradient(int worker) const;  // of the worker's last forward
  void add_to_node(int node, const std::vector<float>& gradient);
  // Takes the node's sum, as messages to all servers; returns the scales of the messages.
  std::vector<double> send_sum(int node, std::int64_t update, int iteration);
  // The sum of a node in an update, with its number of gradients.
  struct Sum {
    int node = 0;
    int gradients = 0;
    double staleness = 0;  // mean of its gradients
  };
  void apply(int server, std::int64_t update, const std::vector<Sum>& sums);
  Answer answer_node(int server, int node, std::int64_t update);
  void arrive_at_node(int server, int node, const Answer& answer, bool newest);
  void take(int worker, int node);

  // --- All schedules.

  // Counts whole gradients that have been applied, and evaluates when the next evaluation is due.
  void applied(double gradients, double now_s, double bytes);
  // True if the target has been met, or the loss has diverged: the run may end.
  bool ended() const { return learned_.target_s || learned_.diverged_s; }
  // The curve ends with the last parameters, or with the parameters that met the target; everything
  // else is for the whole run.
  Learned finish(double now_s, double bytes);

  const std::vector<float>& parameters() const { return optimizer_.parameters(); }

 private:
  // A gradient, or a sum of gradients.
  struct InFlight {
    SharedValues values;
    std::size_t begin = 0;  // index of the first of them in the whole vector
    int unapplied = 0;      // pieces of all shards
  };
  // A client's parameters as answers have brought them.
  struct Arrived {
    CopiedOnWrite parameters;
    std::map<std::size_t, CopiedOnWrite> newer;  // parts, by the index of their first parameter

    void arrive(std::size_t begin, const Answer& answer, bool newest);
    const CopiedOnWrite& together();  // puts the parts in their places
  };
  struct Node {
    std::vector<float> sum;
    Arrived arrived;
    std::vector<float> known;  // of the servers: see known_
  };
  struct OwnUpdate {
    int iteration;
    int bucket;
    float weight;
    SharedValues values;
    std::size_t begin;  // index of the first of them in the whole vector
  };

  Range range_of(const PieceOf& piece) const;
  Range shard(int server) const;  // of the whole vector
  // A worker's gradient of the piece, which is on its way.
  std::span<const float> pushed(const PieceOf& piece, int worker, int iteration) const;
  // A piece of this gradient is no longer on its way.
  void taken(const PieceOf& piece, int worker, int iteration);
  // The message stream of this server to one of `clients` clients; these streams follow those of
  // all ranks.
  int answers_of(int server, int client, int clients) const;
  // The clipped gradient, times `weight`.
  void compute(int worker, int iteration, std::span<const float> parameters, double weight,
               std::span<float> gradient) const;
  // The rate. Its schedule counts `updates` of apply_mean(), or applied samples if 0.
  double rate(std::int64_t updates) const;
  double weight() const { return rate(updates_) / workers_; }
  // The values as a message, or a copy inside a node, has them.
  float at_precision(float value) const { return as_sent(value, setup_.scenario.precision); }
  void round(std::span<float> values) const;
  void evaluate(double now_s, double bytes);
  bool has_neighbours() const { return setup_.traffic.partners == Schedule::Partners::neighbours; }
  std::vector<float> mean_of_workers() const;
  // Messages of the bucket's values contain exactly these values.
  bool is_sent_as_it_is(int bucket) const {
    return setup_.scenario.precision == Precision::fp32 && ranges_.compressed(bucket).empty();
  }
  // Sends these values, which are a range of the sender's bucket. All receivers see `seen`. Returns
  // the scale of the message.
  double send(const Sender& sender, const Range& range, int iteration,
              std::span<const float> values, std::span<float> seen);
  double scale_of(std::size_t bytes, std::size_t values, int iteration) const;
  // An answer with a server's parameters in this range of a bucket, for a client that knows
  // `known`.
  Answer answer_to(const Sender& sender, const Range& range, int iteration,
                   std::vector<float>& known);
  void apply(const Range& range, std::span<const float> sum, double gradients, double weight);
  void note_applied(const PieceOf& piece, int worker, int iteration, int together);
  void note_applied(const PieceOf& piece, const Pushed& gradient, std::size_t together);
  // Adds up these gradients, each times `weight` of it; the order does not depend on which came
  // first. They are then no longer on their way.
  std::vector<float> add_up(const PieceOf& piece, std::vector<Pushed>& gradients,
                            const std::function<float(const Pushed&)>& weight);
  void note_staleness(const Range& range, double gradients, double staleness);
  double rate_in(int iteration) const;  // if workers average
  // The data that all workers average in an iteration.
  struct Average {
    std::vector<float> parameters;          // of all workers at `forward`
    std::vector<float> sum;                 // over all workers; empty: no average has been started
    std::vector<Scales> scales;             // by bucket
    std::vector<std::vector<float>> alone;  // by replica: its parameters, after steps alone
  };
  // The contribution of each worker in the iteration.
  std::vector<std::vector<float>> contributions(int iteration);
  const Average& average(int iteration);

  const Setup& setup_;
  const Learning& learning_;
  const Objective& objective_;
  const Topology& topology_;
  int workers_;
  int servers_;
  Compression compression_;  // of the learned parameters
  Coder coder_;
  Sampler sampler_;
  BucketRanges ranges_;
  std::vector<PushedPieces> cuts_;
  Rate rate_;
  Optimizer optimizer_;

  // A worker's last iteration with a started average, and the last one with arrived averages.
  struct OfWorker {
    int started = -1;
    int finished = -1;
    int unfinished = 0;  // averages
    int arrived = 0;     // averages, since its last step

    void finish() {
      finished = started;
      arrived += std::exchange(unfinished, 0);
    }
  };
  std::map<int, Average> averages_;  // by iteration: the last applied one, and later ones
  std::vector<OfWorker> of_worker_;
  std::int64_t updates_ = 0;    // by apply_mean() of the piece that has had the most
  int stepped_ = 0;             // iterations
  int gradients_together_ = 0;  // in the last average of changes
  // A replica steps alone. It is a worker, or the workers of a group.
  std::vector<std::vector<int>> replicas_;  // their workers
  std::vector<int> replica_of_;             // by worker
  std::vector<Optimizer> alone_;            // by replica; empty: no replica has stepped alone
  std::vector<int> alone_until_;            // by replica: iterations contained in it
  std::vector<std::vector<std::pair<int, SharedValues>>> differences_;  // by worker, with buckets
  std::vector<float> outer_velocity_;

  std::vector<CopiedOnWrite> held_;                          // by worker
  std::vector<Arrived> arrived_;                             // by worker
  std::vector<CopiedOnWrite> gradients_;                     // by worker, of its last forward
  std::map<std::tuple<int, int, int>, InFlight> in_flight_;  // by worker, iteration, bucket
  std::vector<std::deque<OwnUpdate>> own_;                   // by worker
  // By worker: the servers' parameters to which the next change refers, with pull = compressed.
  std::vector<std::vector<float>> known_;
  std::vector<Node> nodes_;
  std::map<std::tuple<std::int64_t, int>, InFlight> sums_;  // by update and node

  std::function<void(const CurvePoint&)> watch_;
  double staleness_ = 0;  // in updates, summed over the applied values of all gradients
  double applied_values_ = 0;
  double samples_ = 0;
  double next_evaluation_ = 0;
  double evaluate_every_ = 0;
  Learned learned_;
};

}  // namespace syncline
