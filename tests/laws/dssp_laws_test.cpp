// Laws of `dssp` (Zhao et al. 2019): the server lets the fastest worker exceed the bound by the
// number of iterations that brings it nearest to a push of the slowest. A second program in this
// file, without network or engine, computes the expected times.
#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

#include "sim/setup/compute.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

constexpr int workers = 4;
constexpr double solo_s = 0.1;  // one iteration
constexpr double slow_speed = 0.37;

// Two workers on each node, the last node slow, and hardly any bytes to send.
Options quick_network(const std::string& staleness, const std::string& range, double jitter) {
  return {{"platform", star_platform({.nodes = 2,
                                      .workers_per_node = 2,
                                      .nic_Bps = 1e11,
                                      .nic_latency_s = 1e-9,
                                      .bus_Bps = 1e11,
                                      .servers = 1,
                                      .slow_speed = slow_speed})},
          {"model", model_of({300, 200, 100})},
          {"bucket-bytes", "all"},
          {"schedule", "dssp"},
          {"servers", "1"},
          {"staleness", staleness},
          {"range", range},
          {"jitter", std::to_string(jitter)},
          {"iterations", "40"}};
}

// When each worker begins its iterations, by a second implementation of the rule in
// sim/schedules/README.md.
struct Paper {
  int staleness, range;
  double jitter;
  std::array<int, workers> pushes = {}, extra = {};
  std::array<double, workers> ready_s = {};
  std::array<std::array<double, 2>, workers> pushed_s = {};  // times of the last two pushes
  std::array<std::vector<double>, workers> begins = {};

  void begin(int worker, double now_s) {
    const auto iteration = static_cast<int>(begins[index(worker)].size());
    begins[index(worker)].push_back(now_s);
    ready_s[index(worker)] = now_s + solo_s * jitter_factor(jitter, 1, worker, iteration) /
                                         (worker + 1 == workers ? slow_speed : 1);
  }
  int controlled(std::size_t fast, std::size_t slow, int most) const {
    const double fast_s = pushed_s[fast][0] - pushed_s[fast][1];
    const double slow_s = pushed_s[slow][0] - pushed_s[slow][1];
    double least_s = std::numeric_limits<double>::infinity();
    int found = 0;
    for (int r = 0; r <= most; ++r)
      for (int k = 0; k <= range; ++k)
        if (const double apart_s = std::abs(pushed_s[slow][0] + slow_s + k * slow_s -
                                            (pushed_s[fast][0] + r * fast_s));
            apart_s < least_s) {
          least_s = apart_s;
          found = r;
        }
    return found;
  }
  void run(int iterations) {
    constexpr double waits = std::numeric_limits<double>::infinity();
    while (std::ranges::min(pushes) < iterations) {
      const auto pusher =
          static_cast<std::size_t>(std::ranges::min_element(ready_s) - ready_s.begin());
      const double now_s = ready_s[pusher];
      ready_s[pusher] = waits;
      ++pushes[pusher];
      pushed_s[pusher] = {now_s, pushed_s[pusher][0]};
      const auto slowest =
          static_cast<std::size_t>(std::ranges::min_element(pushes) - pushes.begin());
      const int ahead = pushes[pusher] - pushes[slowest];
      if (extra[pusher] == 0 && ahead > staleness && pushes[pusher] == std::ranges::max(pushes) &&
          pushes[slowest] > 1)
        extra[pusher] = controlled(pusher, slowest, staleness + range + 1 - ahead);
      if (extra[pusher] > 0) {
        --extra[pusher];
        begin(static_cast<int>(pusher), now_s);
      }
      for (int worker = 0; worker < workers; ++worker)
        if (ready_s[index(worker)] == waits &&
            pushes[index(worker)] <= std::ranges::min(pushes) + staleness)
          begin(worker, now_s);
    }
  }
};

TEST(Dssp, WorkersGoOnWhenTheRuleLetsThem) {
  for (const char* fidelity : {"flow", "step"})
    for (const auto& [staleness, range] :
         std::vector<std::pair<int, int>>{{0, 4}, {1, 3}, {3, 12}, {2, 1}}) {
      Options options = quick_network(std::to_string(staleness), std::to_string(range), 0.2);
      options["fidelity"] = fidelity;
      const Simulated run = simulated(options);
      std::array<std::vector<double>, workers> begins;
      for (const Row& row : run.rows("forward"))
        begins[index(row.rank)].push_back(row.start_s);
      Paper paper{.staleness = staleness, .range = range, .jitter = 0.2};
      for (int worker = 0; worker < workers; ++worker)
        paper.begin(worker, begins[index(worker)].front());
      constexpr int iterations = 15;  // of the slowest; the fast ones end soon after 40
      paper.run(iterations);
      for (std::size_t worker = 0; worker < workers; ++worker)
        for (std::size_t i = 0; i < std::min(begins[worker].size(), paper.begins[worker].size());
             ++i)
          ASSERT_NEAR(begins[worker][i], paper.begins[worker][i], 1e-4)
              << fidelity << " " << staleness << " " << range << ", worker " << worker << " in "
              << i;
    }
}

TEST(Dssp, WithoutARangeIsSspWithoutACache) {
  for (const char* staleness : {"0", "2"})
    for (const char* jitter : {"0", "0.3"}) {
      Options options = quick_network(staleness, "0", std::stod(jitter));
      options["bucket-bytes"] = "0";
      options["partition-bytes"] = "400";
      const std::string text = trace_text(simulated(options).trace);
      options["schedule"] = "ssp";
      options["cache"] = "off";
      options.erase("range");
      EXPECT_EQ(text, trace_text(simulated(options).trace)) << staleness << ", jitter " << jitter;
    }
}

// The largest lead of one worker over another in gradients that a server has applied.
int widest_lead(const Simulated& run) {
  std::vector<int> applied(index(workers));
  int widest = 0;
  for (const Row& row : run.rows("apply"))
    if (row.rank == workers && row.bucket == 0) {
      ++applied[index(row.worker)];
      widest = std::max(widest, std::ranges::max(applied) - std::ranges::min(applied));
    }
  return widest;
}

TEST(Dssp, NobodyLeadsByMoreThanStalenessAndRange) {
  for (const auto& [staleness, range] :
       std::vector<std::pair<int, int>>{{0, 3}, {2, 0}, {1, 5}, {3, 12}})
    for (const char* bucket_bytes : {"0", "all"}) {
      Options options = quick_network(std::to_string(staleness), std::to_string(range), 0.2);
      options["bucket-bytes"] = bucket_bytes;
      const int lead = widest_lead(simulated(options));
      EXPECT_LE(lead, staleness + range + 1) << staleness << " " << range;
      EXPECT_GE(lead, staleness + 1 + (range > 0 ? 1 : 0)) << staleness << " " << range;
    }
}

}  // namespace
}  // namespace syncline
