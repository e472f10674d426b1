// Least squares converge as theory predicts: a quadratic loss leaves no room for another answer.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

#include "sim/catalogue/data.h"
#include "sim/schedule.h"
#include "sim/worker.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

Options least_squares(const std::string& schedule, int workers, double rate, const Options& more) {
  Options options{{"learn", "least-squares"},
                  {"data", "generated"},
                  {"samples", "120"},
                  {"features", "6"},
                  {"classes", "3"},
                  {"l2", "0.1"},
                  {"schedule", schedule},
                  {"bucket-bytes", "all"},
                  {"learning-rate", std::to_string(rate)},
                  {"momentum", "0"},
                  {"platform", star_platform({.nodes = workers, .nic_Bps = 1e9, .servers = 1})}};
  if (schedule == "asp")
    options["servers"] = "1";
  for (const auto& [key, value] : more)
    options[key] = value;
  return options;
}

Objective objective_of(const Scenario& scenario, Data& data) {
  data = load_data(scenario.learning.data, "", scenario.learning.generated, scenario.seed);
  return scenario.learning.problem->objective(scenario.learning.problem_settings, data,
                                              scenario.seed);
}

// The excess over the least loss, at each point of the curve.
std::vector<double> excesses(const Simulated& run, double least) {
  std::vector<double> all;
  for (const CurvePoint& point : run.trace.learned->curve)
    all.push_back(point.loss - least);
  return all;
}

struct Known {
  double least_loss = 0;
  double greatest = 0;
  double least = 0;
  int count = 0;  // number of training samples
};

Known known() {
  Data data;
  const Objective objective = objective_of(resolved(least_squares("bsp", 2, 0.1, {})), data);
  return {.least_loss = *objective.least_loss,
          .greatest = *objective.greatest_curvature,
          .least = *objective.least_curvature,
          .count = static_cast<int>(data.train.count)};
}

TEST(LeastSquares, GoDownByAFactorPerStepAndDirection) {
  const Known problem = known();
  const int workers = 6;
  ASSERT_EQ(problem.count % workers, 0);
  ASSERT_LT(problem.greatest, 15 * problem.least);
  const auto factor_with = [&](double rate, int from, int to) {
    Options options = least_squares("bsp", workers, rate,
                                    {{"batch", std::to_string(problem.count / workers)},
                                     {"iterations", std::to_string(to)},
                                     {"evaluate-every", std::to_string(problem.count)}});
    const std::vector<double> all = excesses(simulated(options), problem.least_loss);
    return std::pow(all.at(static_cast<std::size_t>(to)) / all.at(static_cast<std::size_t>(from)),
                    1.0 / (to - from));
  };
  // With small rates the flattest direction remains; with large ones the steepest dominates, until
  // the loss is 1,000 times the initial one.
  const double small = 0.5 / problem.greatest;
  EXPECT_NEAR(factor_with(small, 60, 90), std::pow(1 - small * problem.least, 2), 2e-3);
  for (const double part : {1.95, 2.05}) {
    const double large = part / problem.greatest;
    EXPECT_NEAR(factor_with(large, 50, 75), std::pow(1 - part, 2), 2e-3);
  }
}

// With a gradient taken at the parameters of tau updates ago, x' = x - weight * H x(tau ago) is
// stable for weights below 2 sin(pi / (4 tau + 2)) / (greatest curvature).
TEST(LeastSquares, OfAspAreStableBelowARateThatFallsWithStaleness) {
  const Known problem = known();
  for (const int workers : {2, 3, 6, 9}) {
    const auto run_with = [&](double weight) {
      return simulated(least_squares("asp", workers, weight * workers,
                                     {{"batch", std::to_string(problem.count)},
                                      {"iterations", "150"},
                                      {"evaluate-every", std::to_string(problem.count)}}));
    };
    const Simulated any = run_with(1e-3);
    const auto tau = static_cast<double>(any.figures.staleness_max);
    EXPECT_EQ(any.figures.staleness_mean, tau) << workers;
    EXPECT_EQ(tau, workers - 1);
    const double bound = 2 * std::sin(std::numbers::pi / (4 * tau + 2)) / problem.greatest;
    const auto growth = [&](double part) {
      const std::vector<double> all = excesses(run_with(part * bound), problem.least_loss);
      const auto most = [&](std::size_t from, std::size_t to) {
        return *std::max_element(all.begin() + static_cast<std::ptrdiff_t>(from),
                                 all.begin() + static_cast<std::ptrdiff_t>(to));
      };
      return most(all.size() * 3 / 4, all.size()) / most(all.size() / 4, all.size() / 2);
    };
    EXPECT_LT(growth(0.9), 0.5) << workers;
    EXPECT_GT(growth(1.1), 2) << workers;
  }
}

// Applies each average one iteration after it was started.
void averages_late(Worker& worker) {
  while (worker.next_iteration()) {
    worker.forward();
    for (const Bucket& bucket : worker.buckets())
      worker.backward(bucket);
    worker.finish_averages();
    worker.step();
    for (const Bucket& bucket : worker.buckets())
      worker.start_average(bucket);
  }
  worker.finish_averages();
}

// The same bound as above with tau = 1: half of that of bsp. Once, a late average was applied as if
// it were made in its own step, and so was stable up to the rate of bsp.
TEST(LeastSquares, OfLateAveragesAreStableToHalfTheRateOfBsp) {
  const Known problem = known();
  const Schedule late{.name = "late", .sentence = "", .worker = averages_late};
  for (const int workers : {1, 3}) {
    const auto options = [&](double part) {
      return least_squares("bsp", workers, part / problem.greatest,
                           {{"batch", std::to_string(problem.count)},
                            {"bucket-bytes", "0"},
                            {"iterations", "150"},
                            {"evaluate-every", std::to_string(problem.count * workers)}});
    };
    const auto growth = [&](double part) {
      const std::vector<double> all =
          excesses(simulated_by(late, options(part)), problem.least_loss);
      return all.back() / all.at(all.size() / 2);
    };
    EXPECT_LT(growth(0.9), 0.5) << workers;
    EXPECT_GT(growth(1.1), 2) << workers;
    const std::vector<double> in_time = excesses(simulated(options(1.1)), problem.least_loss);
    EXPECT_LT(in_time.back(), in_time.front() / 10) << workers;
  }
}

TEST(LeastSquares, ConvergeWithErrorFeedbackWhereTheLargestValuesAloneStall) {
  const Known problem = known();
  const auto excess_with = [&](const std::string& schedule, const char* feedback) {
    Options options = least_squares(schedule, 6, 0.3 / problem.greatest,
                                    {{"batch", std::to_string(problem.count)},
                                     {"skew", "0.1"},
                                     {"iterations", "600"},
                                     {"evaluate-every", std::to_string(problem.count * 6)},
                                     {"compressor", "topk"},
                                     {"density", "0.05"},
                                     {"error-feedback", feedback}});
    return excesses(simulated(options), problem.least_loss);
  };
  for (const std::string schedule : {"topk-sgd", "asp"}) {
    const std::vector<double> with = excess_with(schedule, "on");
    EXPECT_LT(with.back(), 0.04 * with.front()) << schedule;
    EXPECT_LT(with.back(), 0.8 * with[with.size() / 2]) << schedule;
    const std::vector<double> without = excess_with(schedule, "off");
    EXPECT_GT(without.back(), 0.4 * without.front()) << schedule;
    EXPECT_GT(without.back(), 0.95 * without[without.size() / 2]) << schedule;
  }
}

}  // namespace
}  // namespace syncline
