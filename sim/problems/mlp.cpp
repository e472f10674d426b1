// A multi-layer perceptron: hidden layers of one width with ReLU, and softmax cross-entropy.
#include <string>
#include <utility>
#include <vector>

#include "sim/minibatch.h"

namespace syncline {
namespace {

// A layer of the classifier: its inputs and outputs, and the index of its first parameter.
struct Dense {
  Index inputs = 0, outputs = 0;
  std::size_t begin = 0;
};

// Keeps NaN, so that divergence is noticed.
void rectify(Matrix& values) {
  for (Index i = 0; i < values.size(); ++i)
    values.data()[i] = values.data()[i] < 0 ? 0.0F : values.data()[i];
}

// The derivative before a ReLU whose outputs are `values`.
void mask(Matrix& slopes, const Matrix& values) {
  for (Index i = 0; i < slopes.size(); ++i)
    slopes.data()[i] = values.data()[i] == 0 ? 0.0F : slopes.data()[i];
}

Outputs forward(const std::vector<Dense>& layers, std::span<const float> parameters,
                const Batch& batch) {
  std::vector<Matrix> hidden;  // outputs of each hidden layer
  for (std::size_t l = 0; l + 1 < layers.size(); ++l) {
    hidden.push_back(linear(parameters.subspan(layers[l].begin),
                            l == 0 ? batch : Batch(hidden[l - 1]), layers[l].outputs));
    rectify(hidden[l]);
  }
  Matrix values =
      linear(parameters.subspan(layers.back().begin), hidden.back(), layers.back().outputs);
  auto backward = [&layers, parameters, batch, hidden = std::move(hidden)](
                      const Matrix& output_slopes, std::span<float> gradient) {
    Matrix slopes = output_slopes;
    for (std::size_t l = layers.size(); l-- > 0;) {
      const std::size_t begin = layers[l].begin;
      linear_backward(l == 0 ? batch : Batch(hidden[l - 1]), slopes, gradient.subspan(begin));
      if (l == 0)
        return;
      slopes = linear_slopes(parameters.subspan(begin), slopes, layers[l].inputs);
      mask(slopes, hidden[l - 1]);
    }
  };
  return {std::move(values), std::move(backward)};
}

Objective mlp(const Settings& settings, const Data& data, std::uint64_t seed) {
  const std::size_t width = static_cast<std::size_t>(settings.number("hidden"));
  const std::size_t hidden_layers = static_cast<std::size_t>(settings.number("hidden-layers"));
  Classifier classifier;
  std::vector<Dense> layers;
  std::vector<std::size_t> fan_in;
  std::size_t begin = 0, inputs = data.train.features;
  for (std::size_t l = 0; l <= hidden_layers; ++l) {
    const bool is_last = l == hidden_layers;
    const std::size_t outputs = is_last ? static_cast<std::size_t>(data.classes) : width;
    add_linear(classifier.tensors, is_last ? "output" : "hidden" + std::to_string(l + 1), inputs,
               outputs);
    fan_in.insert(fan_in.end(), {inputs, 0});
    layers.push_back({static_cast<Index>(inputs), static_cast<Index>(outputs), begin});
    begin += (inputs + 1) * outputs;
    inputs = outputs;
  }
  classifier.initial = he_initial(classifier.tensors, fan_in, seed);
  classifier.forward = [layers](std::span<const float> parameters, const Batch& batch) {
    return forward(layers, parameters, batch);
  };
  return objective_of(std::move(classifier), data, cross_entropy, 0);
}

const Registered<Problem> entry{{
    .name = "mlp",
    .sentence = "multi-layer perceptron: hidden layers with ReLU, softmax cross-entropy",
    .help = {.more = "Not convex; learns digits to 95 % in a few epochs.",
             .paper = "initial weights: He et al. 2015"},
    .options = {whole_number("hidden", "width of each hidden layer", "64", 1, 65536),
                whole_number("hidden-layers", "number of hidden layers", "1", 1, 16)},
    .defaults = {{"learning-rate", "0.5"}, {"momentum", "0"}, {"weight-decay", "0"}},
    .objective = mlp,
}};

}  // namespace
}  // namespace syncline
