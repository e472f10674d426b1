// Logistic regression of two classes: a convex loss; Newton's method finds its optimum.
#include <Eigen/Cholesky>
#include <vector>

#include "kernels/elementary.h"
#include "sim/minibatch.h"

namespace syncline {
namespace {

// The labels of the upper half are one class, the other labels the other class.
bool is_upper(int label, int classes) {
  return label >= classes / 2;
}

// The loss of a sample with this margin; a negative margin means a wrong class.
double loss_of(double margin) {
  return margin > 0 ? steady_log(1 + steady_exp(-margin))
                    : steady_log(1 + steady_exp(margin)) - margin;
}

double probability(double output) {
  return 1 / (1 + steady_exp(-output));
}

BatchScore log_loss(Matrix& outputs, std::span<const int> labels, int classes) {
  BatchScore score;
  for (Eigen::Index i = 0; i < outputs.cols(); ++i) {
    const bool upper = is_upper(labels[static_cast<std::size_t>(i)], classes);
    const double output = outputs(0, i);
    score.right += (output > 0) == upper;
    score.loss += loss_of(upper ? output : -output);
    outputs(0, i) = static_cast<float>(probability(output) - upper);
  }
  return score;
}

// Loss, gradient and second derivative at a point, in double.
struct At {
  double loss = 0;
  Eigen::VectorXd gradient;
  std::vector<double> weights;  // of the samples, in the second derivative
};

At evaluate(const Data& data, double l2, const Eigen::VectorXd& point) {
  const Samples& samples = data.train;
  const double share = 1 / static_cast<double>(samples.count);
  At at{.loss = 0, .gradient = l2 * point, .weights = std::vector<double>(samples.count)};
  for (Eigen::Index k = 0; k < point.size(); ++k)
    at.loss += l2 / 2 * point[k] * point[k];
  for (std::size_t i = 0; i < samples.count; ++i) {
    const std::span<const float> sample = samples.sample(i);
    double output = point[point.size() - 1];
    for (std::size_t k = 0; k < sample.size(); ++k)
      output += point[static_cast<Eigen::Index>(k)] * sample[k];
    const bool upper = is_upper(samples.labels[i], data.classes);
    const double p = probability(output), slope = share * (p - upper);
    at.loss += share * loss_of(upper ? output : -output);
    at.weights[i] = share * p * (1 - p);
    for (std::size_t k = 0; k < sample.size(); ++k)
      at.gradient[static_cast<Eigen::Index>(k)] += slope * sample[k];
    at.gradient[point.size() - 1] += slope;
  }
  return at;
}

// Newton's method; halves a step until it reduces the loss.
void know_optimum(Objective& objective, const Data& data, double l2) {
  Eigen::VectorXd point = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(objective.parameters()));
  At here = evaluate(data, l2, point);
  Eigen::MatrixXd curvature;
  for (int steps = 0; steps < 100; ++steps) {
    curvature = moments(data.train, here.weights);
    curvature.diagonal().array() += l2;
    const Eigen::VectorXd step = curvature.llt().solve(here.gradient);
    double gain = 0;
    for (Eigen::Index k = 0; k < step.size(); ++k)
      gain += step[k] * here.gradient[k];
    if (!(gain > 1e-20 * here.loss))  // twice the step's predicted gain
      break;
    At next;
    double length = 1;
    do {
      next = evaluate(data, l2, point - length * step);
      length /= 2;
    } while (!(next.loss <= here.loss) && length > 1e-6);
    if (!(next.loss <= here.loss))
      break;
    point -= 2 * length * step;
    here = std::move(next);
  }
  const auto [least, greatest] = extreme_eigenvalues(curvature);
  objective.least_loss = here.loss;
  objective.least_curvature = least;
  objective.greatest_curvature = greatest;
}

Objective logistic(const Settings& settings, const Data& data, std::uint64_t) {
  const double l2 = settings.number("l2");
  const auto loss = [classes = data.classes](Matrix& outputs, std::span<const int> labels) {
    return log_loss(outputs, labels, classes);
  };
  Objective objective = objective_of(linear_classifier(data.train.features, 1), data, loss, l2);
  if (l2 > 0 && optimum_is_known(data.train))  // without l2, the optimum may be at infinity
    know_optimum(objective, data, l2);
  return objective;
}

const Registered<Problem> entry{{
    .name = "logistic",
    .sentence = "logistic regression of two classes: the upper half of the labels (of ten: 5 to "
                "9) against the others",
    .help = {.more = "Convex, with an optimum and a condition number that are known; the second "
                     "derivative is not constant.",
             .paper = ""},
    .options = {l2_option("0.001",
                          "half of this, times the sum of squares of all "
                          "parameters, is added to the loss")},
    .defaults = {{"learning-rate", "0.5"}, {"momentum", "0"}, {"weight-decay", "0"}},
    .objective = logistic,
}};

}  // namespace
}  // namespace syncline
