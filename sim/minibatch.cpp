#include "sim/minibatch.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "kernels/elementary.h"
#include "kernels/philox.h"

namespace syncline {
namespace {

// Eigen asks the processor for the sizes of its caches and sums in blocks that fit into them.
const bool same_blocks_everywhere = [] {
  Eigen::setCpuCacheSizes(32 << 10, 1 << 20, 8 << 20);
  return true;
}();

// Plus the tensor's number; no compressor uses these.
constexpr std::uint32_t initial_draws = 0x10000000;

Matrix gathered(const Samples& samples, std::span<const std::uint32_t> which,
                std::vector<int>& labels) {
  Matrix batch(static_cast<Index>(samples.features), static_cast<Index>(which.size()));
  labels.resize(which.size());
  for (std::size_t i = 0; i < which.size(); ++i) {
    std::ranges::copy(samples.sample(which[i]), batch.col(static_cast<Index>(i)).data());
    labels[i] = samples.labels[which[i]];
  }
  return batch;
}

double penalty(double l2, std::span<const float> parameters) {
  double sum = 0;
  if (l2 != 0)
    for (const float value : parameters)
      sum += double{value} * value;
  return l2 / 2 * sum;
}

}  // namespace

int greatest(const Matrix& outputs, Index sample) {
  Index best = 0;
  for (Index k = 1; k < outputs.rows(); ++k)
    if (outputs(k, sample) > outputs(best, sample))
      best = k;
  return static_cast<int>(best);
}

BatchScore cross_entropy(Matrix& outputs, std::span<const int> labels) {
  BatchScore score;
  std::vector<double> raised(static_cast<std::size_t>(outputs.rows()));
  for (Index i = 0; i < outputs.cols(); ++i) {
    const int label = labels[static_cast<std::size_t>(i)], best = greatest(outputs, i);
    score.right += best == label;
    const double most = outputs(best, i), wanted = outputs(label, i);
    double sum = 0;
    for (Index k = 0; k < outputs.rows(); ++k)
      sum += raised[static_cast<std::size_t>(k)] = steady_exp(outputs(k, i) - most);
    score.loss += steady_log(sum) + most - wanted;
    for (Index k = 0; k < outputs.rows(); ++k)
      outputs(k, i) = static_cast<float>(raised[static_cast<std::size_t>(k)] / sum - (k == label));
  }
  return score;
}

void add_linear(std::vector<Tensor>& tensors, const std::string& name, std::size_t inputs,
                std::size_t outputs) {
  const double multiplications = static_cast<double>(inputs) * static_cast<double>(outputs);
  tensors.push_back({name + ".weight", inputs * outputs, 2 * multiplications});
  tensors.push_back({name + ".bias", outputs, 0});
}

std::size_t block_of_product(Index rows, Index depth, Index columns) {
  Eigen::internal::computeProductBlockingSizes<float, float>(depth, rows, columns);
  return static_cast<std::size_t>(depth);
}

Matrix zeros(Index rows, Index columns) {
  Matrix made(rows, columns);
  clear(grid_of(made));
  return made;
}

Matrix linear(std::span<const float> parameters, const Batch& inputs, Index outputs) {
  const Weights weights(parameters.data(), outputs, inputs.rows());
  const float* biases = parameters.data() + weights.size();
  Matrix made = product(weights, inputs);
  for (Index i = 0; i < made.cols(); ++i)
    for (Index k = 0; k < outputs; ++k)
      made(k, i) += biases[k];
  return made;
}

void linear_backward(const Batch& inputs, const Matrix& slopes, std::span<float> gradient) {
  WeightGradient weights(gradient.data(), inputs.rows(), slopes.rows());
  add_product(inputs, slopes.transpose(), weights);
  float* biases = gradient.data() + weights.size();
  for (Index i = 0; i < slopes.cols(); ++i)
    for (Index k = 0; k < slopes.rows(); ++k)
      biases[k] += slopes(k, i);
}

Matrix linear_slopes(std::span<const float> parameters, const Matrix& slopes, Index inputs) {
  return product(Weights(parameters.data(), slopes.rows(), inputs).transpose(), slopes);
}

Classifier linear_classifier(std::size_t inputs, std::size_t outputs) {
  Classifier classifier;
  add_linear(classifier.tensors, "linear", inputs, outputs);
  classifier.initial.resize((inputs + 1) * outputs);
  classifier.forward = [outputs](std::span<const float> parameters, const Batch& batch) {
    return Outputs{linear(parameters, batch, static_cast<Index>(outputs)),
                   [batch](const Matrix& slopes, std::span<float> gradient) {
                     linear_backward(batch, slopes, gradient);
                   }};
  };
  return classifier;
}

Values he_initial(const std::vector<Tensor>& tensors, const std::vector<std::size_t>& fan_in,
                  std::uint64_t seed) {
  Values initial;
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const std::size_t begin = initial.size(), count = tensors[t].parameters;
    initial.resize(begin + count);
    if (fan_in[t] == 0)
      continue;
    const double deviation = std::sqrt(2.0 / static_cast<double>(fan_in[t]));
    const Draw draw{seed, 0, initial_draws + static_cast<std::uint32_t>(t)};
    for (std::size_t i = 0; i < count; i += 4) {
      const auto drawn = normals(draw, i / 4);
      for (std::size_t j = i; j < std::min(i + 4, count); ++j)
        initial[begin + j] = static_cast<float>(deviation * drawn[j - i]);
    }
  }
  return initial;
}

Objective objective_of(Classifier classifier, const Data& data, Loss loss, double l2,
                       std::size_t batch) {
  Objective objective{.tensors = std::move(classifier.tensors), .initial = classifier.initial};
  objective.gradient = [&data, forward = classifier.forward, loss, l2, batch](
                           std::span<const float> parameters,
                           std::span<const std::uint32_t> samples, std::span<float> gradient) {
    if (l2 == 0)  // the same, but faster
      std::ranges::transform(parameters, gradient.begin(), [](float value) { return 0 * value; });
    else
      std::ranges::transform(parameters, gradient.begin(),
                             [l2](float value) { return static_cast<float>(l2 * value); });
    const float share = static_cast<float>(1.0 / static_cast<double>(samples.size()));
    std::vector<int> labels;
    for (std::size_t done = 0; done < samples.size(); done += batch) {
      const Matrix inputs = gathered(
          data.train, samples.subspan(done, std::min(batch, samples.size() - done)), labels);
      Outputs outputs = forward(parameters, inputs);
      loss(outputs.values, labels);
      outputs.values *= share;
      outputs.backward(outputs.values, gradient);
    }
  };
  objective.score = [&data, forward = classifier.forward, loss, l2, batch](
                        std::span<const float> parameters, bool held_out) {
    const Samples& samples = held_out ? data.held_out : data.train;
    BatchScore all;
    for (std::size_t done = 0; done < samples.count; done += batch) {
      const std::size_t count = std::min(batch, samples.count - done);
      const Eigen::Map<const Matrix> inputs(samples.sample(done).data(),
                                            static_cast<Index>(samples.features),
                                            static_cast<Index>(count));
      Outputs outputs = forward(parameters, inputs);
      const BatchScore score = loss(outputs.values, std::span(samples.labels).subspan(done, count));
      all.loss += score.loss;
      all.right += score.right;
    }
    const double count = static_cast<double>(samples.count);
    return Score{all.loss / count + penalty(l2, parameters),
                 static_cast<double>(all.right) / count};
  };
  return objective;
}

OwnOption l2_option(const std::string& fallback, const std::string& sentence) {
  return number("l2", sentence, fallback, 0, 1e6);
}

// Multiplies matrices for a part of the samples at a time.
Eigen::MatrixXd moments(const Samples& samples, std::span<const double> weights) {
  const Index size = static_cast<Index>(samples.features) + 1;
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(size, size);
  constexpr std::size_t part = 256;
  for (std::size_t done = 0; done < samples.count; done += part) {
    const std::size_t count = std::min(part, samples.count - done);
    Eigen::MatrixXd rows(size, static_cast<Index>(count)), weighted = rows;
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<const float> sample = samples.sample(done + i);
      const Index column = static_cast<Index>(i);
      std::ranges::copy(sample, rows.col(column).data());
      rows(size - 1, column) = 1;
      for (Index k = 0; k < size; ++k)
        weighted(k, column) = rows(k, column) * weights[done + i];
    }
    sum.noalias() += weighted * rows.transpose();
  }
  return sum;
}

bool optimum_is_known(const Samples& samples) {
  const double size = static_cast<double>(samples.features) + 1;
  return size * size * (size + static_cast<double>(samples.count)) <= 5e9;
}

std::pair<double, double> extreme_eigenvalues(const Eigen::MatrixXd& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric, Eigen::EigenvaluesOnly);
  return {solver.eigenvalues().minCoeff(), solver.eigenvalues().maxCoeff()};
}

}  // namespace syncline
