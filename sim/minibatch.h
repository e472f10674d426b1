// Common parts of problems: samples as matrices, the loss over them, and initial parameters. A
// problem states only how a batch's outputs follow from its parameters, and how the parameters'
// gradient follows from the gradient of the outputs.
//
// Products have the bits of Eigen's, with blocks of one size on every machine. Eigen's sums over an
// array depend on where in memory the array begins, so they are not used on arrays that may begin
// anywhere.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/product.h"
#include "sim/problem.h"

namespace syncline {

using Eigen::Index;

using Matrix = Eigen::MatrixXf;  // of a batch: a column per sample
using Batch = Eigen::Ref<const Matrix>;

// A weight tensor as it is stored in the vector of parameters: one row per output.
using Weights =
    Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using WeightGradient = Eigen::Map<Matrix>;  // the same, transposed

// The outputs of a batch. `backward` takes the derivative of the loss with respect to the outputs,
// and adds the parameters' gradient to `gradient`.
struct Outputs {
  Matrix values;
  std::function<void(const Matrix& slopes, std::span<float> gradient)> backward;
};

struct Classifier {
  std::vector<Tensor> tensors;
  Values initial;
  std::function<Outputs(std::span<const float> parameters, const Batch& batch)> forward;
};

// Sums over the samples of a batch.
struct BatchScore {
  double loss = 0;
  std::size_t right = 0;  // correctly classified samples
};
// Replaces outputs by the derivative of each sample's loss with respect to them.
using Loss = std::function<BatchScore(Matrix& outputs, std::span<const int> labels)>;

// Minus the logarithm of the softmax probability of the label.
BatchScore cross_entropy(Matrix& outputs, std::span<const int> labels);
// The class with the greatest output; of equal ones the first.
int greatest(const Matrix& outputs, Index sample);

template <class Of>
auto grid_of(Of&& matrix) {
  const auto size = [](Index count) { return static_cast<std::size_t>(count); };
  return Grid<std::remove_pointer_t<decltype(matrix.data())>>{.data = matrix.data(),
                                                              .rows = size(matrix.rows()),
                                                              .columns = size(matrix.cols()),
                                                              .down = size(matrix.rowStride()),
                                                              .across = size(matrix.colStride())};
}

// The columns of the first factor after which Eigen begins another sum.
std::size_t block_of_product(Index rows, Index depth, Index columns);

// sum += a * b, with the bits of Eigen's sum.noalias() += a * b, but faster: Eigen only knows the
// instructions of the oldest machine. Eigen adds up in one order in rows that come by eights. The
// last rows, and products that are vectors, are its own.
template <class A, class B>
void add_product(const A& a, const B& b, Eigen::Ref<Matrix> sum) {
  const Index rows = sum.rows(), by_eights = sum.cols() == 1 ? 0 : rows / 8 * 8;
  const Index whole = rows - by_eights == 1 && rows > 1 ? by_eights - 8 : by_eights;
  if (whole > 0)
    add_product(grid_of(a.topRows(whole)), grid_of(b),
                block_of_product(whole, a.cols(), sum.cols()), grid_of(sum.topRows(whole)));
  if (whole < rows)
    sum.bottomRows(rows - whole).noalias() += a.bottomRows(rows - whole) * b;
}

// Unlike Matrix::Zero: a compiler that sees an allocation and its zeros calls calloc, and
// jemalloc's takes new pages from the system each time.
Matrix zeros(Index rows, Index columns);

template <class A, class B>
Matrix product(const A& a, const B& b) {
  Matrix made = zeros(a.rows(), b.cols());
  add_product(a, b, made);
  return made;
}

// outputs = weights * inputs + biases, in two tensors: `name`.weight and `name`.bias.
void add_linear(std::vector<Tensor>& tensors, const std::string& name, std::size_t inputs,
                std::size_t outputs);
Matrix linear(std::span<const float> parameters, const Batch& inputs, Index outputs);
void linear_backward(const Batch& inputs, const Matrix& slopes, std::span<float> gradient);
// The derivative of the loss with respect to the inputs.
Matrix linear_slopes(std::span<const float> parameters, const Matrix& slopes, Index inputs);
// A classifier that is one linear map, initially zero.
Classifier linear_classifier(std::size_t inputs, std::size_t outputs);

// Normally distributed initial weights that keep the variance behind a ReLU (He et al. 2015), for
// tensors with `fan_in` inputs; zeros where `fan_in` is 0.
Values he_initial(const std::vector<Tensor>& tensors, const std::vector<std::size_t>& fan_in,
                  std::uint64_t seed);

// The mean of a loss over samples, plus `l2` / 2 times the sum of squares of all parameters. A pass
// takes at most `batch` samples at a time, which bounds its memory.
Objective objective_of(Classifier classifier, const Data& data, Loss loss, double l2,
                       std::size_t batch = 256);

// The option `l2` of a problem.
OwnOption l2_option(const std::string& fallback, const std::string& sentence);

// The sum over training samples of weight[i] * (x, 1)(x, 1)', in double. A convex loss whose last
// parameter is a bias has this second derivative; see optimum_is_known().
Eigen::MatrixXd moments(const Samples& samples, std::span<const double> weights);
// Whether the samples have few enough values to compute moments().
bool optimum_is_known(const Samples& samples);
// The least and the greatest eigenvalue.
std::pair<double, double> extreme_eigenvalues(const Eigen::MatrixXd& symmetric);

}  // namespace syncline
