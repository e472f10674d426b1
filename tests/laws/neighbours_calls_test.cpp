// Law 41 (tests/laws/README.md), of schedules whose workers do not call the same in every
// iteration: arithmetic follows them, or says that it cannot.
#include <algorithm>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/schedule.h"
#include "sim/worker.h"
#include "tests/laws/neighbours.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

std::vector<Neighbour> both(const Settings&, int worker, int workers) {
  return {{(worker + 1) % workers, 1}, {(worker + workers - 1) % workers, 1}};
}

// Averages with copies of `staleness` iterations ago, as Hop does (Luo et al., ASPLOS 2019): the
// first iterations wait for nothing.
template <int staleness>
Schedule stale() {
  return {.name = "stale",
          .waiting = [](const Settings&) { return Schedule::Waiting::for_some; },
          .neighbours = both,
          .worker =
              [](Worker& worker) {
                for (int iteration = 0; worker.next_iteration(); ++iteration) {
                  const std::vector<Neighbour> others =
                      both(worker.settings(), worker.rank(), worker.workers());
                  for (const Neighbour& other : others)
                    worker.send_parameters(other.worker);
                  worker.forward();
                  for (const Bucket& bucket : worker.buckets())
                    worker.backward(bucket);
                  for (const Neighbour& other : others)
                    if (iteration >= staleness)
                      worker.receive_parameters(other.worker);
                  worker.mix(1.0 / 3);
                  worker.step_alone();
                }
              }};
}

// Seconds of the last step of all workers: worker w ends iteration k when it has the copies of
// iteration k - staleness, which leave when that iteration begins.
double last_step_s(int iterations, int staleness, const std::vector<double>& solo) {
  std::vector<std::vector<double>> begins(1, std::vector<double>(solo.size()));
  for (int k = 0; k < iterations; ++k) {
    std::vector<double> ends;
    for (std::size_t w = 0; w < solo.size(); ++w) {
      ends.push_back(begins.back()[w] + solo[w]);
      if (k >= staleness)
        for (const std::size_t other : {w + 1, w + solo.size() - 1})
          ends[w] =
              std::max(ends[w], begins[index(k - staleness)][other % solo.size()] + law41::route_s);
    }
    begins.push_back(ends);
  }
  return std::ranges::max(begins.back());
}

// Once, arithmetic took every round for the second one, or, from 66 iterations on, for the first:
// silently for staleness 1, 1.9 times too fast for 100.
TEST(Law41, ArithmeticFollowsIterationsThatDiffer) {
  const Star star{.nodes = 4, .slow_speed = 0.5, .slow_worker = 1};
  const std::vector<double> solo{law41::solo_s, 2 * law41::solo_s, law41::solo_s, law41::solo_s};
  const auto check = [&](const Schedule& schedule, int staleness) {
    for (const char* iterations : {"38", "148"}) {
      Options options = law41::exact(star, 4, {{"iterations", iterations}, {"warmup", "0"}});
      const double by_hand_s = last_step_s(std::stoi(iterations), staleness, solo);
      for (const char* fidelity : {"analytic", "step", "flow"}) {
        options["fidelity"] = fidelity;
        double ended_s = 0;
        for (const Row& row : simulated_by(schedule, options).rows("step"))
          if (row.iteration < std::stoi(iterations))
            ended_s = std::max(ended_s, row.end_s);
        EXPECT_NEAR(ended_s, by_hand_s, 1e-6) << fidelity << " " << staleness;
      }
      options["jitter"] = "0.2";
      options["fidelity"] = "step";
      const double throughput = simulated_by(schedule, options).figures.throughput_samples_per_s;
      options["fidelity"] = "analytic";
      EXPECT_NEAR(simulated_by(schedule, options).figures.throughput_samples_per_s / throughput, 1,
                  1e-6)
          << staleness;
    }
  };
  check(stale<0>(), 0);
  check(stale<1>(), 1);
  check(stale<2>(), 2);
  check(stale<5>(), 5);
  check(stale<100>(), 100);
}

TEST(Law41, ExplainSaysTheLongRunOrThatItIsNotKnown) {
  const Options options = law41::exact({.nodes = 4}, 4'000'000, {{"overlap", "off"}});
  // Copies of the iteration before have 0.1 s for their 32 MB.
  const double without_overlap_s = predicted_by(stale<1>(), options).iteration_s;
  EXPECT_NEAR(without_overlap_s, simulated_by(stale<1>(), options).iteration_s(), 1e-6);
  EXPECT_NEAR(without_overlap_s, law41::solo_s, 1e-6);
  EXPECT_NEAR(predicted_by(stale<0>(), options).iteration_s, law41::solo_s + 0.032 + law41::route_s,
              1e-6);
  EXPECT_EQ(predicted_by(stale<100>(), options).iteration_s, 0) << "not known";
}

// Backup workers, as in Hop: of two neighbours, a worker waits for one copy in an iteration.
TEST(Law41, WhoTakesAnyCopyWaitsForNoSlowWorker) {
  const Schedule schedule{.name = "any",
                          .waiting = [](const Settings&) { return Schedule::Waiting::for_some; },
                          .neighbours = both,
                          .worker =
                              [](Worker& worker) {
                                while (worker.next_iteration()) {
                                  for (const Neighbour& other :
                                       both(worker.settings(), worker.rank(), worker.workers()))
                                    worker.send_parameters(other.worker);
                                  worker.forward();
                                  for (const Bucket& bucket : worker.buckets())
                                    worker.backward(bucket);
                                  worker.receive_from_any();
                                  worker.mix(0.5);
                                  worker.step_alone();
                                }
                              }};
  Options options = law41::exact({.nodes = 6, .slow_speed = 0.25, .slow_worker = 2}, 1000,
                                 {{"iterations", "60"}});
  for (const char* overlap : {"on", "off"}) {
    options["overlap"] = overlap;
    EXPECT_NEAR(simulated_by(schedule, options).figures.throughput_samples_per_s, 100 * 5.25, 2);
  }
  EXPECT_EQ(predicted_by(schedule, options).iteration_s, 0) << "not known";
  options["fidelity"] = "analytic";
  try {
    simulated_by(schedule, options);
    FAIL() << "it runs";
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(),
                 "fidelity = analytic: workers of schedule any receive whichever copy comes first, "
                 "which depends on time; allowed are flow, step and auto");
  }
}

}  // namespace
}  // namespace syncline
