#include "sim/engine/learning_need.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>

#include "sim/catalogue/data.h"

namespace syncline {
namespace {

// Costs of learning, measured with every problem.
constexpr double seconds_per_gradient = 5e-6;
constexpr double seconds_per_sample = 3e-8;  // of a batch: its fixed cost
constexpr double seconds_per_flop = 1.3e-11;
constexpr double seconds_per_activation = 1.2e-9;      // per value that a layer reads or writes
constexpr double seconds_per_class = 1.2e-8;           // in the loss
constexpr double seconds_per_value = 1.2e-9;           // per value of a gradient
constexpr double seconds_per_compressed_value = 8e-9;  // more, if it is compressed and read

// Copies of the parameters per worker where replicas step alone. Each replica has its own
// parameters and velocity, the parameters at the last average over all and, where steps go on
// during an average, the parameters at its start.
double copies_of_replicas(const Setup& setup) {
  if (setup.scenario.schedule->round == nullptr)
    return 0;
  const Topology& topology = setup.traffic.cluster.topology;
  std::set<int> replicas;
  for (int worker = 0; worker < topology.workers(); ++worker)
    replicas.insert(setup.within ? topology.group_of(setup.within->over, worker) : worker);
  return 4.0 * static_cast<double>(replicas.size()) / topology.workers();
}

// Copies of the parameters that a worker keeps, or that others keep for it.
double copies_of_parameters(const Setup& setup, double iterations) {
  double copies = 4;  // parameters, arriving parameters, a gradient, and one under way
  if (setup.scenario.schedule->has_own_parameters())
    copies += 1;  // its velocity
  if (setup.traffic.partners == Schedule::Partners::aggregators)
    copies += 2;  // a node's sum and parameters
  if (setup.traffic.partners == Schedule::Partners::each_other)
    copies = 1 + copies_of_replicas(setup);  // its gradient
  // A worker that does not wait for answers keeps the gradients that no answer contains yet.
  if (const auto ahead = setup.scenario.schedule->gradients_ahead; ahead != nullptr)
    copies += std::min(ahead(setup.scenario.schedule_settings), iterations);
  if (setup.scenario.compresses())
    copies += 2;  // its residual, and its decoded message
  if (setup.traffic.compression.has_momentum())
    copies += 1;
  if (setup.traffic.compressed_pulls)
    copies += 3;  // residual and message of its answers, and its known parameters
  return copies;
}

// Seconds of one sample's forward pass through a problem.
struct SampleSeconds {
  double products = 0;
  double activations = 0;  // values that layers read and write: most of the cost of small layers
  double loss = seconds_per_sample;

  double forward() const { return products + activations + loss; }
  double gradient() const { return 3 * products + 2 * activations + loss; }
};

SampleSeconds sample_seconds(const Objective& objective) {
  SampleSeconds seconds;
  double outputs = 1;
  for (std::size_t i = 0; i < objective.tensors.size(); ++i) {
    const Tensor& weights = objective.tensors[i];
    if (weights.forward_flop == 0)
      continue;
    const auto parameters = static_cast<double>(weights.parameters);
    if (i + 1 < objective.tensors.size())  // one bias per output
      outputs = static_cast<double>(objective.tensors[i + 1].parameters);
    const double places = weights.forward_flop / (2 * parameters);  // pixels that use the weights
    const double copies = places > 1 ? 1.6 : 1;  // pixels are first gathered into patches
    seconds.products += weights.forward_flop * seconds_per_flop;
    seconds.activations +=
        copies * places * (parameters / outputs + outputs) * seconds_per_activation;
  }
  seconds.loss += outputs * seconds_per_class;
  return seconds;
}

// Number of evaluations of the learned model in a run: at the start, at the end, and each time that
// the applied gradients complete a multiple of `evaluate-every` samples.
double evaluations_of(const Setup& setup, double gradients) {
  const bool averages = setup.traffic.partners == Schedule::Partners::each_other;
  const double workers = setup.traffic.cluster.topology.workers();
  const double applied = averages ? gradients / workers / setup.traffic.round : gradients;
  const double every =
      setup.scenario.learning.evaluate_every.value_or(setup.learning_task->epoch_samples());
  const double multiples = std::floor(gradients * setup.scenario.learned_samples() / every);
  return multiples >= applied ? applied + 1 : multiples + 2;
}

}  // namespace

void add_learning(const Setup& setup, Need& need) {
  const Objective& objective = setup.learning_task->objective;
  const auto values = static_cast<double>(objective.parameters());
  const double workers = setup.traffic.cluster.topology.workers();
  const double gradients = workers * need.iterations;
  const bool compresses = setup.scenario.compresses();
  const double samples = setup.learning_task->epoch_samples() +
                         static_cast<double>(setup.learning_task->data.held_out.count);
  const SampleSeconds of_sample = sample_seconds(objective);
  need.evaluations = evaluations_of(setup, gradients);
  need.seconds +=
      gradients * setup.scenario.learned_samples() * of_sample.gradient() +
      need.evaluations * samples * of_sample.forward() +
      gradients * (seconds_per_gradient +
                   values * (seconds_per_value + (compresses ? seconds_per_compressed_value : 0)));
  constexpr double common = 4;  // parameters, initial parameters, momentum, and a sum
  const Learning& learning = setup.scenario.learning;
  const DataNeed data = need_of_data(learning.data, learning.data_folder, learning.generated);
  need.seconds += data.seconds;
  need.memory_bytes +=
      (workers * copies_of_parameters(setup, need.iterations) + common) * values * sizeof(float) +
      data.memory_bytes +
      // The order in which samples are drawn, and the samples of the current batch.
      (setup.learning_task->epoch_samples() + setup.scenario.learned_samples()) *
          sizeof(std::uint32_t);
}

}  // namespace syncline
