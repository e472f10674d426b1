// Problems share these: samples as matrices, the loss over them, and where parameters begin. A
// problem of its own has to say only how the outputs of a batch come from its parameters, and how
// the parameters' gradient comes from the outputs' one.
//
// Products are Eigen's, whose blocks are of one size on every machine. Its sums over an array
// depend on where in memory that begins, so none of those are used on what may begin anywhere.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/problem.h"

namespace syncline {

using Matrix = Eigen::MatrixXf;  // of a batch: a column per sample

// Parameters of a tensor of several rows, one per output, as they stand in the vector.
using WeightMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Weights = Eigen::Map<const WeightMatrix>;
using WeightGradient = Eigen::Map<WeightMatrix>;

// These come out for a batch. The way back adds to `gradient` what follows from the derivative of
// the loss with respect to the outputs.
struct Outputs {
  Matrix values;
  std::function<void(const Matrix& slopes, std::span<float> gradient)> backward;
};

struct Classifier {
  std::vector<Tensor> tensors;
  Values initial;
  std::function<Outputs(std::span<const float> parameters, const Matrix& batch)> forward;
};

// The sum over the samples of a batch.
struct BatchScore {
  double loss = 0;
  std::size_t right = 0;  // classified right
};
// Makes of outputs the derivative of each sample's loss with respect to them.
using Loss = std::function<BatchScore(Matrix& outputs, std::span<const int> labels)>;

// Minus the logarithm of the probability that the softmax of the outputs gives to the label.
BatchScore cross_entropy(Matrix& outputs, std::span<const int> labels);
// The class with the greatest output, the first of these.
int greatest(const Matrix& outputs, Eigen::Index sample);

// outputs = weights * inputs + biases: two tensors, `name`.weight and `name`.bias.
void add_linear(std::vector<Tensor>& tensors, const std::string& name, std::size_t inputs,
                std::size_t outputs);
Matrix linear(std::span<const float> parameters, const Matrix& inputs, Eigen::Index outputs);
void linear_backward(const Matrix& inputs, const Matrix& slopes, std::span<float> gradient);
// The derivative with respect to the inputs.
Matrix linear_slopes(std::span<const float> parameters, const Matrix& slopes, Eigen::Index inputs);
// All of a classifier that is one linear map; begins at zero.
Classifier linear_classifier(std::size_t inputs, std::size_t outputs);

// Normal numbers for a classifier's weights that keep the variance of what a ReLU lets through (He
// et al. 2015), where a tensor has as many inputs as `fan_in` says; zeros where that says 0.
Values he_initial(const std::vector<Tensor>& tensors, const std::vector<std::size_t>& fan_in,
                  std::uint64_t seed);

// The mean of a loss over samples, plus `l2` / 2 times the sum of squares of all parameters. A pass
// takes at most `batch` samples at a time, which bounds its memory.
Objective objective_of(Classifier classifier, const Data& data, Loss loss, double l2,
                       std::size_t batch = 256);

// `l2` as a parameter of a problem.
OwnOption l2_option(const std::string& fallback, const std::string& sentence);

// Convex losses have this second derivative, where that is worked out. With a bias as last
// parameter it is the sum over training samples of weight[i] * (x, 1)(x, 1)', in double.
Eigen::MatrixXd moments(const Samples& samples, std::span<const double> weights);
// Whether there are few enough values for that.
bool optimum_is_known(const Samples& samples);
// Its least and its greatest eigenvalue.
std::pair<double, double> extreme_eigenvalues(const Eigen::MatrixXd& symmetric);

}  // namespace syncline
