#include "sim/learning/learner.h"

#include <algorithm>
#include <cmath>

namespace syncline {
namespace {

// The rank that compresses first: a worker, or the first node's aggregator.
int first_sender(const Setup& setup) {
  return setup.traffic.partners == Schedule::Partners::aggregators
             ? setup.traffic.cluster.aggregator_of(0)
             : 0;
}

// The samples of the longest possible run.
double samples_of_run(const Setup& setup) {
  const Scenario& scenario = setup.scenario;
  const double per_iteration =
      static_cast<double>(setup.traffic.cluster.topology.workers()) * scenario.learned_samples();
  return (scenario.warmup + setup.iterations.value_or(0)) * per_iteration;
}

// False if no messages are made, as when a single worker, or node, has nothing to send.
bool encodes(const Setup& setup) {
  const Topology& topology = setup.traffic.cluster.topology;
  if (setup.traffic.partners != Schedule::Partners::each_other)
    return true;
  return topology.workers() > 1 && std::ranges::any_of(setup.buckets, [&](const Bucket& bucket) {
           const Plan plan =
               plan_of(*setup.scenario.exchange, topology, setup.scenario.exchange_settings,
                       setup.traffic.payload_of(bucket, 0), 0);
           return std::ranges::any_of(plan, [](const auto& action) {
             const Work* work = std::get_if<Work>(&action);
             return work != nullptr && work->kind == Work::Kind::encode;
           });
         });
}

bool is_finite(const Score& score) {
  return std::isfinite(score.loss) && std::isfinite(score.accuracy);
}

// A run that begins with parameters near zero never has such a loss while it learns.
constexpr double diverged_times = 1000;

// Before the first step the curve is empty.
bool has_grown(const Score& score, const std::vector<CurvePoint>& curve) {
  return !curve.empty() && score.loss > diverged_times * curve.front().loss;
}

}  // namespace

Learner::Learner(const Setup& setup)
    : setup_(setup),
      learning_(setup.scenario.learning),
      objective_(setup.learning_task->objective),
      topology_(setup.traffic.cluster.topology),
      workers_(topology_.workers()),
      servers_(topology_.servers),
      compression_(setup.traffic.compression.of_part(
          static_cast<double>(objective_.parameters()) /
          static_cast<double>(std::max<std::uint64_t>(setup.model.parameters(), 1)))),
      coder_(compression_, setup.scenario.precision, setup.scenario.seed, first_sender(setup)),
      sampler_(setup.learning_task->data, workers_, setup.scenario.learned_samples(),
               setup.scenario.seed, learning_.skew),
      ranges_(setup.model, setup.tensors.empty() ? setup.sent_buckets() : setup.tensors,
              setup.scenario.dense_below, setup.scenario.compresses(), objective_.parameters()),
      cuts_(setup.cuts()),
      rate_(learning_, workers_, setup.learning_task->epoch_samples(), samples_of_run(setup)),
      optimizer_(learning_, objective_.initial),
      evaluate_every_(learning_.evaluate_every.value_or(setup.learning_task->epoch_samples())) {
  learned_.data = setup.learning_task->data.source;
  learned_.parameters = objective_.parameters();
  learned_.epoch_samples = setup.learning_task->epoch_samples();
  learned_.least_loss = objective_.least_loss;
  learned_.workers_without_samples = sampler_.workers_without_any();
  const std::vector<float>& initial = optimizer_.parameters();
  of_worker_.resize(index(workers_));
  replica_of_.resize(index(workers_));
  for (int worker = 0; worker < workers_; ++worker) {
    int& replica = replica_of_[index(worker)];
    replica = setup.within ? topology_.group_of(setup.within->over, worker) : worker;
    if (index(replica) >= replicas_.size())
      replicas_.resize(index(replica) + 1);
    replicas_[index(replica)].push_back(worker);
  }
  if (setup.scenario.schedule->has_own_parameters()) {
    alone_.assign(replicas_.size(), optimizer_);
    alone_until_.resize(replicas_.size());
    differences_.resize(index(workers_));
    gradients_.resize(index(workers_));
  } else if (setup.traffic.partners != Schedule::Partners::each_other) {
    held_.assign(index(workers_), CopiedOnWrite(initial));
    gradients_.resize(index(workers_));
  }
  const bool changes = setup.traffic.compressed_pulls;
  if (setup.traffic.partners == Schedule::Partners::servers) {
    arrived_.assign(index(workers_), {.parameters = CopiedOnWrite(initial)});
    own_.resize(index(workers_));
    if (changes)
      known_.assign(index(workers_), initial);
  }
  if (setup.traffic.partners == Schedule::Partners::aggregators)
    nodes_.assign(topology_.nodes.size(), {.sum = std::vector<float>(initial.size()),
                                           .arrived = {.parameters = CopiedOnWrite(initial)},
                                           .known = changes ? initial : std::vector<float>()});
  if (setup.traffic.compression.has_momentum() && encodes(setup))
    for (int bucket = 0; bucket < ranges_.buckets(); ++bucket)
      for (const Range& range : ranges_.compressed(bucket))
        optimizer_.leave_momentum(range);
  evaluate(0, 0);
}

double Learner::rate(std::int64_t updates) const {
  const double each = static_cast<double>(workers_) * setup_.scenario.learned_samples();
  return rate_.at(samples_, updates > 0 ? static_cast<double>(updates) * each : samples_);
}

void Learner::compute(int worker, int iteration, std::span<const float> parameters, double weight,
                      std::span<float> gradient) const {
  const std::vector<std::uint32_t> samples = sampler_.samples(worker, iteration);
  objective_.gradient(parameters, samples, gradient);
  double scale = weight;
  if (learning_.clip_norm > 0) {
    double square = 0;
    for (const float value : gradient)
      square += static_cast<double>(value) * value;
    if (const double norm = std::sqrt(square); norm > learning_.clip_norm)
      scale *= learning_.clip_norm / norm;
  }
  if (scale != 1)
    for (float& value : gradient)
      value *= static_cast<float>(scale);
}

void Learner::apply(const Range& range, std::span<const float> sum, double gradients,
                    double weight) {
  if (learning_.rate_in_residual)
    optimizer_.apply_weighed(range, sum, gradients, weight);
  else
    optimizer_.apply(range, sum, gradients, weight);
}

void Learner::round(std::span<float> values) const {
  if (setup_.scenario.precision != Precision::fp32)
    for (float& value : values)
      value = at_precision(value);
}

double Learner::send(const Sender& sender, const Range& range, int iteration,
                     std::span<const float> values, std::span<float> seen) {
  const auto for_each_of = [&](const std::vector<Range>& ranges, const auto& work) {
    for (const Range& one : ranges) {
      const Range both = overlap(one, range);
      for (std::size_t i = both.begin; i < both.end; ++i)
        work(i - range.begin);
    }
  };
  for_each_of(ranges_.plain(sender.bucket),
              [&](std::size_t i) { seen[i] = at_precision(values[i]); });
  std::vector<float> together;
  for_each_of(ranges_.compressed(sender.bucket),
              [&](std::size_t i) { together.push_back(values[i]); });
  if (together.empty())
    return 1;
  std::size_t bytes = 0;
  const Values sent = coder_.sent(sender, iteration, together, &bytes);
  auto next = sent.begin();
  for_each_of(ranges_.compressed(sender.bucket), [&](std::size_t i) { seen[i] = *next++; });
  return scale_of(bytes, together.size(), iteration);
}

double Learner::scale_of(std::size_t bytes, std::size_t values, int iteration) const {
  const WireSize expected = coder_.expected(values, iteration);
  return expected.exact || expected.bytes == 0 ? 1 : static_cast<double>(bytes) / expected.bytes;
}

void Learner::applied(double gradients, double now_s, double bytes) {
  samples_ += gradients * setup_.scenario.learned_samples();
  if (samples_ < next_evaluation_ || ended())
    return;
  evaluate(now_s, bytes);
}

void Learner::evaluate(double now_s, double bytes) {
  next_evaluation_ = (std::floor(samples_ / evaluate_every_) + 1) * evaluate_every_;
  if (has_neighbours())
    optimizer_.set(mean_of_workers());
  const Score train = objective_.score(optimizer_.parameters(), false);
  const Score held_out = objective_.score(optimizer_.parameters(), true);
  if (!is_finite(train) || !is_finite(held_out) || has_grown(train, learned_.curve)) {
    learned_.diverged_s = now_s;
    return;
  }
  learned_.curve.push_back({.seconds = now_s,
                            .samples = samples_,
                            .bytes = bytes,
                            .iterations = samples_ / setup_.scenario.learned_samples() / workers_,
                            .loss = train.loss,
                            .accuracy = held_out.accuracy,
                            .train_accuracy = train.accuracy,
                            .heldout_loss = held_out.loss});
  if (watch_)
    watch_(learned_.curve.back());
  if (const auto& until = learning_.until;
      until && !learned_.target_s &&
      (until->is_accuracy ? held_out.accuracy >= until->value : train.loss <= until->value))
    learned_.target_s = now_s;
}

Learned Learner::finish(double now_s, double bytes) {
  // The result leaves out everything that was still on its way when the target was met.
  if (!ended() && samples_ > learned_.curve.back().samples)
    evaluate(now_s, bytes);
  if (setup_.keep_messages)
    learned_.parameters_at_end = optimizer_.parameters();
  if (setup_.keep_messages && setup_.scenario.schedule->has_own_parameters())
    for (const Optimizer& alone : alone_)
      learned_.own_parameters_at_end.push_back(alone.parameters());
  if (applied_values_ > 0)
    learned_.effective_staleness = staleness_ / applied_values_;
  learned_.compressed = coder_.measures().all();
  learned_.each_compressed = coder_.measures().iterations();
  learned_.histogram = coder_.measures().histogram();
  return std::move(learned_);
}

}  // namespace syncline
