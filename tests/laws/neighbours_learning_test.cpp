// Law 41 (tests/laws/README.md), of learning: what workers that average their parameters with
// neighbours' learn, by a second implementation.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/schedule.h"
#include "tests/laws/replay_rules.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

Options lesson(const std::string& schedule, const std::string& problem, const Options& more = {}) {
  Options options{
      {"learn", problem},
      {"schedule", schedule},
      {"iterations", "23"},
      {"jitter", "0.4"},
      {"momentum", "0.5"},
      {"weight-decay", "0.01"},
      {"platform",
       star_platform({.nodes = 3, .workers_per_node = 2, .nic_Bps = 4e5, .slow_speed = 0.6})}};
  if (problem == "mlp")
    options.merge(Options{{"hidden", "7"}, {"hidden-layers", "2"}});
  options.merge(small_data());
  for (const auto& [key, value] : more)
    options[key] = value;
  return options;
}

using Doubles = std::vector<double>;

// The papers' algorithms as loops over vectors, in double precision.
struct Papers {
  Papers(const Options& options, const Trace& trace)
      : rules(options, trace),
        x(index(trace.workers), Doubles(rules.parameters.begin(), rules.parameters.end())),
        v(x.size(), Doubles(rules.size)) {}

  Floats gradient(int worker, int iteration) const {
    const Doubles& at = x[index(worker)];
    return rules.gradient(worker, iteration, Floats(at.begin(), at.end()), 1);
  }
  void step(int worker, const Floats& gradient, double rate) {
    const Learning& learning = rules.learning;
    for (std::size_t i = 0; i < rules.size; ++i) {
      double& velocity = v[index(worker)][i];
      velocity =
          learning.momentum * velocity + gradient[i] + learning.weight_decay * x[index(worker)][i];
      x[index(worker)][i] -= rate * velocity;
    }
  }
  // w(i, j): the weight of worker j's parameters in worker i's next ones. All rows and columns sum
  // to 1, so the mean over workers stays. Others' parameters come as copies of the wire's
  // precision.
  template <class Weight>
  void mix(const Weight& w) {
    const std::vector<Doubles> before = x;
    const int n = rules.trace.workers;
    for (int i = 0; i < n; ++i) {
      double row = 0, column = 0;
      for (int j = 0; j < n; ++j) {
        row += w(i, j);
        column += w(j, i);
      }
      EXPECT_NEAR(row, 1, 1e-15);
      EXPECT_NEAR(column, 1, 1e-15);
      for (std::size_t e = 0; e < rules.size; ++e) {
        x[index(i)][e] = 0;
        for (int j = 0; j < n; ++j)
          x[index(i)][e] += w(i, j) * (i == j ? before[index(j)][e] : copied(before[index(j)][e]));
      }
    }
  }
  double copied(double value) const {
    return rules.scenario.precision == Precision::fp32
               ? value
               : as_sent(static_cast<float>(value), rules.scenario.precision);
  }
  Doubles mean() const {
    Doubles sum(rules.size);
    for (const Doubles& one : x)
      for (std::size_t e = 0; e < sum.size(); ++e)
        sum[e] += one[e] / static_cast<double>(x.size());
    return sum;
  }

  ReplayRules rules;
  std::vector<Doubles> x, v;  // by worker
};

// The weights of D-PSGD's ring, of the one-peer exponential graph of iteration k, and of a plain
// mean.
double weight_of(const std::string& graph, int n, int k, int i, int j) {
  const int apart = ((i - j) % n + n) % n;
  if (graph == "complete")
    return 1.0 / n;
  if (graph == "exponential") {
    int hops = 0;
    while ((1 << hops) < n)
      ++hops;
    return apart == 0 || apart == 1 << k % hops ? 0.5 : 0;
  }
  const bool beside = apart == 1 || apart == n - 1;
  return n == 2 ? 0.5 : apart == 0 || beside ? 1.0 / 3 : 0;
}

void expect_near(const std::vector<float>& learned, const Doubles& expected,
                 const std::string& what) {
  ASSERT_EQ(learned.size(), expected.size()) << what;
  double largest = 0;
  for (const double value : expected)
    largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(learned[i], expected[i], 1e-6 * largest) << what;
}

// Each worker's parameters, and their mean.
void expect_learned(const Papers& paper, const Simulated& run, const std::string& what) {
  const Learned& learned = *run.trace.learned;
  ASSERT_EQ(learned.own_parameters_at_end.size(), paper.x.size()) << what;
  for (std::size_t worker = 0; worker < paper.x.size(); ++worker)
    expect_near(learned.own_parameters_at_end[worker], paper.x[worker],
                what + ", worker " + std::to_string(worker));
  expect_near(learned.parameters_at_end, paper.mean(), what);
}

// D-PSGD for as many iterations as the run has.
void learn_by_gossip(Papers& paper, const Simulated& run, const std::string& graph) {
  const int n = run.trace.workers;
  int iterations = 0;
  for (const Row& row : run.rows("step"))
    iterations = std::max(iterations, row.iteration + 1);
  for (int k = 0; k < iterations; ++k) {
    std::vector<Floats> gradients;
    for (int worker = 0; worker < n; ++worker)
      gradients.push_back(paper.gradient(worker, k));
    paper.mix([&](int i, int j) { return weight_of(graph, n, k, i, j); });
    for (int worker = 0; worker < n; ++worker)
      paper.step(worker, gradients[index(worker)], paper.rules.rate(std::int64_t{k} * n));
  }
}

TEST(Law41, GossipLearnsWhatPlainLoopsLearn) {
  for (const std::string problem : {"least-squares", "mlp"})
    for (const std::string graph : {"ring", "exponential", "complete"})
      for (const char* workers : {"6", "5", "2"})
        for (const char* rate : {"constant", "cosine"}) {
          const Options options =
              lesson("gossip", problem,
                     {{"graph", graph}, {"workers", workers}, {"learning-rate-schedule", rate}});
          const Simulated run = simulated(options);
          Papers paper(options, run.trace);
          learn_by_gossip(paper, run, graph);
          expect_learned(paper, run, problem + " " + graph + " " + workers);
        }
}

// In one iteration, because roundings of later copies depend on last bits.
TEST(Law41, CopiesHaveThePrecisionOfTheWire) {
  for (const std::string graph : {"ring", "complete"}) {
    Options options =
        lesson("gossip", "mlp",
               {{"graph", graph}, {"iterations", "1"}, {"warmup", "0"}, {"precision", "fp16"}});
    const Simulated run = simulated(options);
    Papers paper(options, run.trace);
    learn_by_gossip(paper, run, graph);
    expect_learned(paper, run, graph);
    options["precision"] = "fp32";
    EXPECT_NE(simulated(options).trace.learned->parameters_at_end,
              run.trace.learned->parameters_at_end);
  }
}

TEST(Law41, MicroStepsLearnWhatALargerBatchLearns) {
  const auto learned = [](const char* batch, const char* micro_steps) {
    return simulated(lesson("gossip", "mlp", {{"batch", batch}, {"accumulation", micro_steps}}))
        .trace.learned.value();
  };
  const Learned parts = learned("2", "3");
  EXPECT_EQ(parts.parameters_at_end, learned("6", "1").parameters_at_end);
  EXPECT_NE(parts.parameters_at_end, learned("2", "1").parameters_at_end);
}

// The trace says only in which order passive workers averaged, and everyone stepped: each average
// is of both workers, at one moment.
TEST(Law41, AdPsgdLearnsWhatPlainLoopsLearnInItsOrder) {
  for (const std::string problem : {"least-squares", "mlp"})
    for (const char* workers : {"6", "2", "1"})
      for (const char* overlap : {"on", "off"}) {
        const Options options =
            lesson("ad-psgd", problem, {{"workers", workers}, {"overlap", overlap}});
        const Simulated run = simulated(options);
        Papers paper(options, run.trace);
        std::map<int, double> begun_s;
        for (const Row& row : run.rows("forward"))
          begun_s.emplace(row.rank, row.start_s);
        std::vector<std::optional<Floats>> gradients(index(run.trace.workers));
        int averages = 0;
        std::int64_t steps = 0;
        const auto begin_until = [&](double now_s) {
          for (const auto& [worker, start_s] : begun_s)
            if (!gradients[index(worker)] && start_s < now_s)
              gradients[index(worker)] = paper.gradient(worker, 0);
        };
        for (const Row& row : run.trace.rows) {
          begin_until(row.end_s);
          if (row.verb == Verb::mix && row.rank % 2 == 1) {
            ++averages;
            paper.mix([&](int i, int j) {
              const bool meets = i == row.rank || i == row.worker;
              const bool counts = j == row.rank || j == row.worker;
              return meets ? (counts ? 0.5 : 0) : (i == j ? 1 : 0);
            });
          } else if (row.verb == Verb::step) {
            paper.step(row.rank, *gradients[index(row.rank)], paper.rules.rate(steps++));
            gradients[index(row.rank)] = paper.gradient(row.rank, row.iteration + 1);
          }
        }
        EXPECT_TRUE(averages > 30 || run.trace.workers < 6);
        expect_learned(paper, run, problem + " " + workers);
      }
}

// With an average over all, nobody's parameters differ but by the last gradients: the mean is that
// of bsp. Its gradients are computed where the others have not stepped, one iteration before.
TEST(Law41, TheMeanOfOneStepIsThatOfBsp) {
  for (const char* schedule : {"gossip", "ad-psgd"})
    for (const std::string graph : {"ring", "exponential", "complete"}) {
      Options options =
          lesson("bsp", "mlp", {{"iterations", "1"}, {"warmup", "0"}, {"momentum", "0"}});
      const Simulated bsp = simulated(options);
      options["schedule"] = schedule;
      if (std::string(schedule) == "gossip")
        options["graph"] = graph;
      if (graph == "exponential" && std::string(schedule) == "gossip")
        continue;  // its round has three iterations
      const std::vector<float>& mean = bsp.trace.learned->parameters_at_end;
      expect_near(simulated(options).trace.learned->parameters_at_end, {mean.begin(), mean.end()},
                  schedule + graph);
    }
}

// The values of a schedule in step do not depend on the network.
TEST(Law41, WhatGossipLearnsDoesNotDependOnTheNetwork) {
  Options options = lesson("gossip", "mlp");
  const std::vector<float> slow = simulated(options).trace.learned->parameters_at_end;
  options["bandwidth-factor"] = "100";
  options["jitter"] = "0";
  options["overlap"] = "off";
  EXPECT_EQ(slow, simulated(options).trace.learned->parameters_at_end);
}

}  // namespace
}  // namespace syncline
