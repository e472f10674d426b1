// The values behind the verbs, where a scenario learns: which parameters every rank holds, which
// gradients are on their way, and how well they do. The engine says what happens, in the order of
// simulated time; nothing here takes any.
//
// Whoever averages holds the same parameters, once: the first rank that needs an average evaluates
// the gradients of all, which is what they will evaluate, because they can only depend on
// parameters that are already fixed.
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
#include "sim/setup/setup.h"

namespace syncline {

using SharedValues = std::shared_ptr<const std::vector<float>>;

// One server's share of one piece of a bucket.
struct PieceOf {
  int server = 0;
  int bucket = 0;
  int piece = 0;
};

class Learner {
 public:
  explicit Learner(const Setup& setup);

  // Is called with every later point of the curve.
  void watch(std::function<void(const CurvePoint&)> evaluated) { watch_ = std::move(evaluated); }

  // --- Workers that average with each other.

  // Bytes of each worker's message over those that the compressor means it to have: of its
  // gradient, and of what it has added up. Empty where sizes are exact, or there are no such
  // messages.
  struct Scales {
    std::vector<double> of_gradients, of_sums;
  };
  const Scales& message_scales(int bucket, int iteration);
  // The worker averages what it has now: its gradient of this iteration, at the parameters that
  // all had at its `forward`; after steps alone, what its parameters have changed by.
  void start_average(int worker, int iteration);
  // Every average that the worker has started has arrived.
  void finish_averages(int worker) { of_worker_[index(worker)].finish(); }
  // The gradients of the worker, or of its replica, up to this iteration's are applied to the
  // parameters that it alone, or the replica, has.
  void step_alone(int worker, int iteration);
  // The averages that have arrived since the worker's last step are applied; the first worker that
  // has come so far does it for all. Returns how many gradients are in them.
  int step(int worker);
  // The average change after steps alone is applied, from which all then go on, each with what its
  // own steps until this iteration's have changed meanwhile, or (`mixing`) with that part of its
  // own parameters and the rest of the average. Returns how many gradients are in it.
  int step_together(int worker, int iteration, double rate, double momentum,
                    std::optional<double> mixing);

  // --- Workers and servers.

  // At the parameters that the worker holds now.
  void forward(int worker, int iteration);
  // The bytes of the message over those that the compressor means it to have.
  double push(int worker, int bucket, int iteration);
  // `staleness`: updates of the piece since the gradient's parameters were read.
  void apply(const PieceOf& piece, int worker, int iteration, std::int64_t staleness);
  // One update of the mean of these workers' gradients, with their iterations; the piece has had
  // so many updates before. The schedule of the rate then counts these, whatever is dropped.
  void apply_mean(const PieceOf& piece, const std::vector<std::pair<int, int>>& gradients,
                  std::int64_t updates);
  // This piece of the gradient will not be applied.
  void drop(const PieceOf& piece, int worker, int iteration);
  // The parameters as they are now, or what they have changed by since the last answer to this
  // worker; and the scale of the message.
  struct Answer {
    SharedValues values;
    bool is_change = false;
    double scale = 1;
  };
  Answer answer(const PieceOf& piece, int worker, int iteration);
  // `newest`: no later answer has arrived before.
  void arrive(const PieceOf& piece, int worker, const Answer& answer, bool newest);
  // A piece has arrived with this version, and these updates.
  struct ArrivedPiece {
    std::int64_t version = 0;
    int own = 0;  // iterations of the worker itself
  };
  // The next iteration uses what has arrived, and the worker's own updates that are not in it.
  void read(int worker, int iteration, const std::function<ArrivedPiece(const PieceOf&)>& arrived);

  // --- Workers, nodes and servers.

  SharedValues gradient(int worker) const;  // of its last forward
  void add_to_node(int node, const std::vector<float>& gradient);
  // Takes the node's sum, as messages to all servers; the scales of these.
  std::vector<double> send_sum(int node, std::int64_t update, int iteration);
  // One update of the sums of these nodes, with so many gradients each.
  struct Sum {
    int node = 0;
    int gradients = 0;
    double staleness = 0;  // mean of its gradients
  };
  void apply(int server, std::int64_t update, const std::vector<Sum>& sums);
  Answer answer_node(int server, int node, std::int64_t update);
  void arrive_at_node(int server, int node, const Answer& answer, bool newest);
  void take(int worker, int node);

  // --- Everybody.

  // So many more gradients have been applied, in whole. Evaluates when it is time to.
  void applied(double gradients, double now_s, double bytes);
  // The target has been met, or the loss has diverged: the run may end.
  bool ended() const { return learned_.target_s || learned_.diverged_s; }
  // The curve ends with the last parameters, or those that met the target; all else is of the whole
  // run.
  Learned finish(double now_s, double bytes);

  const std::vector<float>& parameters() const { return optimizer_.parameters(); }

 private:
  // A gradient or a sum of some.
  struct InFlight {
    SharedValues values;  // of the bucket's range
    int unapplied = 0;    // pieces of all shards
  };
  struct Node {
    std::vector<float> sum;
    std::vector<float> parameters;
    std::vector<float> known;  // of the servers: see known_
  };
  struct OwnUpdate {
    int iteration;
    int bucket;
    float weight;
    SharedValues values;
  };

  Range range_of(const PieceOf& piece) const;
  Range shard(int server) const;  // of the whole vector
  // A worker's gradient of the piece, which is on its way.
  std::span<const float> pushed(const PieceOf& piece, int worker, int iteration) const;
  // A piece of it is on its way no more.
  void taken(const PieceOf& piece, int worker, int iteration);
  // The stream of messages of this server to one of so many clients: after those of all ranks.
  int answers_of(int server, int client, int clients) const;
  // The gradient, clipped, times `weight`.
  void compute(int worker, int iteration, std::span<const float> parameters, double weight,
               std::span<float> gradient) const;
  double rate(std::int64_t updates) const;  // after so many of means; 0: there are none
  double weight() const { return rate(updates_) / workers_; }
  // Any message, or copy inside a node, has the value so.
  float at_precision(float value) const { return as_sent(value, setup_.scenario.precision); }
  void evaluate(double now_s, double bytes);
  // Sends these values in a range of the sender's bucket, of which everybody sees `seen`. Returns
  // the scale of the message.
  double send(const Sender& sender, const Range& range, int iteration,
              std::span<const float> values, std::span<float> seen);
  double scale_of(std::size_t bytes, std::size_t values, int iteration) const;
  // Answers with a server's parameters in this range of a bucket, for whoever knows `known`.
  Answer answer_to(const Sender& sender, const Range& range, int iteration,
                   std::vector<float>& known);
  void arrive(const Range& range, const Answer& answer, bool newest,
              std::vector<float>& parameters) const;
  void apply(const Range& range, std::span<const float> sum, double gradients, double weight);
  void note_applied(const PieceOf& piece, int worker, int iteration, int together);
  void note_staleness(const Range& range, double gradients, double staleness);
  double rate_in(int iteration) const;  // where workers average
  // What all workers average in an iteration.
  struct Average {
    std::vector<float> parameters;          // that all had at `forward`
    std::vector<float> sum;                 // over all workers; empty: nobody has started it
    std::vector<Scales> scales;             // by bucket
    std::vector<std::vector<float>> alone;  // by replica: its parameters, after steps alone
  };
  // Each worker contributes this in the iteration.
  std::vector<std::vector<float>> contributions(int iteration);
  const Average& average(int iteration);

  const Setup& setup_;
  const Learning& learning_;
  const Objective& objective_;
  const Topology& topology_;
  int workers_;
  int servers_;
  Compression compression_;  // of what is learned
  Coder coder_;
  Sampler sampler_;
  BucketRanges ranges_;
  std::vector<PushedPieces> cuts_;
  Rate rate_;
  Optimizer optimizer_;

  // A worker's last iteration whose average it has started, and which have arrived.
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
  std::map<int, Average> averages_;  // by iteration: the last that was applied, and later ones
  std::vector<OfWorker> of_worker_;
  std::int64_t updates_ = 0;    // of means, that some piece has had
  int stepped_ = 0;             // iterations
  int gradients_together_ = 0;  // in the last average of changes
  // A replica is a worker, or the workers of a group, that steps alone.
  std::vector<std::vector<int>> replicas_;  // their workers
  std::vector<int> replica_of_;             // by worker
  std::vector<Optimizer> alone_;            // by replica; empty: nobody has stepped alone
  std::vector<int> alone_until_;            // by replica: iterations that are in it
  std::vector<float> outer_velocity_;

  std::vector<std::vector<float>> held_;                        // by worker
  std::vector<std::vector<float>> arrived_;                     // by worker
  std::vector<std::shared_ptr<std::vector<float>>> gradients_;  // by worker, of its last forward
  std::map<std::tuple<int, int, int>, InFlight> in_flight_;     // by worker, iteration, bucket
  std::vector<std::deque<OwnUpdate>> own_;                      // by worker
  // By worker: the servers' parameters from which the next change counts, with pull = compressed.
  std::vector<std::vector<float>> known_;
  std::vector<Node> nodes_;
  std::map<std::tuple<std::int64_t, int>, InFlight> sums_;  // by update and node

  std::function<void(const CurvePoint&)> watch_;
  double staleness_ = 0;  // updates, summed over the values applied of all gradients
  double applied_values_ = 0;
  double samples_ = 0;
  double next_evaluation_ = 0;
  double evaluate_every_ = 0;
  Learned learned_;
};

}  // namespace syncline
