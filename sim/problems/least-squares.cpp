// Linear least squares: a quadratic loss, so its optimum, its condition number and the convergence
// rates of methods are known exactly.
#include <Eigen/Cholesky>
#include <vector>

#include "sim/minibatch.h"

namespace syncline {
namespace {

BatchScore half_square(Matrix& outputs, std::span<const int> labels) {
  BatchScore score;
  for (Eigen::Index i = 0; i < outputs.cols(); ++i) {
    const int label = labels[static_cast<std::size_t>(i)];
    score.right += greatest(outputs, i) == label;
    outputs(label, i) -= 1;
    for (Eigen::Index k = 0; k < outputs.rows(); ++k)
      score.loss += 0.5 * outputs(k, i) * outputs(k, i);
  }
  return score;
}

// The loss is the sum over classes of 1/2 - <w, b> + <w, H w> / 2, and H w = b at the optimum.
void know_optimum(Objective& objective, const Data& data, double l2) {
  const Samples& samples = data.train;
  const double share = 1 / static_cast<double>(samples.count);
  Eigen::MatrixXd curvature = moments(samples, std::vector<double>(samples.count, share));
  curvature.diagonal().array() += l2;
  const Eigen::Index size = curvature.rows();
  Eigen::MatrixXd wanted = Eigen::MatrixXd::Zero(size, data.classes);
  for (std::size_t i = 0; i < samples.count; ++i) {
    const std::span<const float> sample = samples.sample(i);
    double* sums = wanted.col(samples.labels[i]).data();
    for (std::size_t k = 0; k < sample.size(); ++k)
      sums[k] += share * sample[k];
    sums[size - 1] += share;
  }
  const auto [least, greatest] = extreme_eigenvalues(curvature);
  objective.least_curvature = least;
  objective.greatest_curvature = greatest;
  if (least <= 1e-12 * greatest)  // many optima, and no way to solve for one
    return;
  const Eigen::MatrixXd optimum = curvature.llt().solve(wanted);
  double gained = 0;
  for (Eigen::Index i = 0; i < wanted.size(); ++i)
    gained += optimum.data()[i] * wanted.data()[i];
  objective.least_loss = 0.5 * (1 - gained);
}

Objective least_squares(const Settings& settings, const Data& data, std::uint64_t) {
  const double l2 = settings.number("l2");
  Objective objective =
      objective_of(linear_classifier(data.train.features, static_cast<std::size_t>(data.classes)),
                   data, half_square, l2);
  if (optimum_is_known(data.train))
    know_optimum(objective, data, l2);
  return objective;
}

const Registered<Problem> entry{{
    .name = "least-squares",
    .sentence = "linear regression on the classes, 1 for the right one and 0 for the others",
    .help = {.more = "A quadratic loss: its optimum and condition number are known, so a rate of "
                     "convergence can be compared with theory.",
             .paper = ""},
    .options = {l2_option("0.1",
                          "half of this, times the sum of squares of all parameters, is added to "
                          "the loss: no curvature is less than this")},
    .defaults = {{"learning-rate", "0.1"}, {"momentum", "0"}, {"weight-decay", "0"}},
    .objective = least_squares,
}};

}  // namespace
}  // namespace syncline
