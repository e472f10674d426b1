// Law 2 with unequal hops: a ring's parts travel round it, so a step need not wait for the slowest
// hop (tests/laws/README.md); and how flows that meet share a link.
#include <algorithm>
#include <gtest/gtest.h>

#include "tests/laws/simulated.h"

namespace syncline {
namespace {

struct Hop {
  double latency_s;
  double bandwidth_Bps;
};

// The hop from each worker to the next one in node order.
std::vector<Hop> hops_of(const Star& star) {
  std::vector<Hop> hops;
  const auto bus_s = [&](int w) { return star.bus_latency_s + w * star.bus_latency_growth_s; };
  const int workers = star.nodes * star.workers_per_node;
  for (int rank = 0; rank < workers; ++rank) {
    const int from = rank % star.workers_per_node;
    const int to = (rank + 1) % star.workers_per_node;
    const bool inside = from + 1 < star.workers_per_node;
    const double buses_s = star.workers_per_node > 1 ? bus_s(from) + bus_s(to) : 0;
    hops.push_back({buses_s + (inside ? 0 : 2 * star.nic_latency_s),
                    inside ? star.bus_Bps : std::min(star.bus_Bps, star.nic_Bps)});
  }
  return hops;
}

// i(r, s) = max(a(r-1, s-1), i(r, s-1)) + overhead + part / B(r), a(r, s) = i(r, s) + L(r).
double recurrence_s(const std::vector<Hop>& hops, const std::vector<double>& bytes, int steps,
                    double overhead_s) {
  const std::size_t n = hops.size();
  std::vector<double> injected_s(n, 0);
  std::vector<double> arrived_s(n, 0);
  for (int s = 0; s < steps; ++s) {
    const std::vector<double> before_s = arrived_s;
    for (std::size_t r = 0; r < n; ++r) {
      injected_s[r] = std::max(before_s[(r + n - 1) % n], injected_s[r]) + overhead_s +
                      bytes[r] / steps / hops[r].bandwidth_Bps;
      arrived_s[r] = injected_s[r] + hops[r].latency_s;
    }
  }
  return std::ranges::max(arrived_s);
}

// The seconds of these rows together, and the bytes that each rank sends in them.
struct Ring {
  double seconds = 0;
  std::vector<double> bytes;
};

Ring ring_of(const std::vector<Row>& rows, std::size_t ranks) {
  Ring ring;
  ring.bytes.resize(ranks);
  double from_s = rows.front().start_s;
  double to_s = 0;
  for (const Row& row : rows) {
    ring.bytes[static_cast<std::size_t>(row.rank)] = static_cast<double>(row.bytes_sent);
    from_s = std::min(from_s, row.start_s);
    to_s = std::max(to_s, row.end_s);
  }
  ring.seconds = to_s - from_s;
  return ring;
}

const std::vector<Star> mixed_stars{
    {.nodes = 2, .workers_per_node = 4, .nic_latency_s = 5.3e-6, .bus_latency_s = 1.7e-6},
    {.nodes = 8,
     .workers_per_node = 8,
     .nic_Bps = 5e9,
     .nic_latency_s = 5.3e-6,
     .bus_Bps = 1e11,
     .bus_latency_s = 1.7e-6},
    {.nodes = 3,
     .workers_per_node = 3,
     .nic_latency_s = 2e-4,
     .bus_Bps = 2e9,
     .bus_latency_s = 1e-6,
     .bus_latency_growth_s = 3e-5},
    {.nodes = 5, .workers_per_node = 1, .nic_latency_s = 3e-5},
};

Options one_bucket(const Star& star, const std::string& model) {
  return {{"platform", star_platform(star)}, {"model", model},    {"overlap", "off"},
          {"bucket-bytes", "all"},           {"iterations", "1"}, {"warmup", "0"}};
}

// The case in NCCL's tuning model: (steps - inter steps) * intra + inter steps * inter.
TEST(Law2, ATinyRingBetweenTwoNodesCostsTheLatenciesOfConsecutiveHops) {
  for (const char* fidelity : {"step", "flow"}) {
    Options options = one_bucket(mixed_stars[0], model_of({1}));
    options["fidelity"] = fidelity;
    const Ring ring = ring_of(simulated(options).rows("all-reduce"), 8);
    EXPECT_NEAR(ring.seconds, 4 * 14e-6 + 10 * 3.4e-6, 5e-9) << fidelity;
  }
}

TEST(Law2, ARingOfMixedHopsIsItsRecurrence) {
  for (const Star& star : mixed_stars) {
    const int n = star.nodes * star.workers_per_node;
    for (const std::uint64_t values : {1'000ul, 100'000ul, 30'000'000ul})
      for (const char* overhead : {"0", "2e-5"}) {
        Options options = one_bucket(star, model_of({values / 64 * 64 * 9 * 5}));
        options["step-overhead"] = overhead;
        options["fidelity"] = "step";
        const Ring step =
            ring_of(simulated(options).rows("all-reduce"), static_cast<std::size_t>(n));
        const double expected_s =
            recurrence_s(hops_of(star), step.bytes, 2 * (n - 1), std::stod(overhead));
        EXPECT_NEAR(step.seconds, expected_s, 1e-9 + 1e-9 * expected_s)
            << n << " workers, " << values;
        EXPECT_NEAR(predicted(options).exchange_s, expected_s, 1e-3 * expected_s)
            << n << " workers, " << values;
        options["fidelity"] = "flow";
        const Ring flow =
            ring_of(simulated(options).rows("all-reduce"), static_cast<std::size_t>(n));
        EXPECT_NEAR(flow.seconds, expected_s, 0.03 * expected_s) << n << " workers, " << values;
      }
  }
}

// Messages of different sizes for each worker, all the way round; and rings inside nodes.
TEST(Law2, EveryKindOfRingIsItsRecurrence) {
  for (const char* fidelity : {"step", "flow"}) {
    const double within = std::string(fidelity) == "step" ? 2e-6 : 0.03;
    const Star star = mixed_stars[2];
    Options gather = one_bucket(star, model_of({900'000}));
    gather.insert({{"compressor", "gaussiank"},
                   {"density", "0.1"},
                   {"exchange", "allgather"},
                   {"algorithm", "ring"},
                   {"device", cost_table(0, 0)},
                   {"fidelity", fidelity}});
    const Ring all = ring_of(simulated(gather).rows("all-gather"), 9);
    EXPECT_NE(all.bytes[0], all.bytes[1]);
    const double all_s = recurrence_s(hops_of(star), all.bytes, 8, 0);
    EXPECT_NEAR(all.seconds, all_s, within * all_s) << fidelity;

    Options hierarchical = one_bucket(star, model_of({900'000}));
    hierarchical.insert({{"exchange", "hierarchical"}, {"fidelity", fidelity}});
    const Simulated run = simulated(hierarchical);
    for (const char* verb : {"reduce-scatter", "all-gather"}) {
      const Ring inside = ring_of(run.rows(verb), 9);
      const double bus_Bps = star.bus_Bps;
      const std::vector<Hop> hops{{3.2e-5, bus_Bps}, {9.2e-5, bus_Bps}, {6.2e-5, bus_Bps}};
      const double inside_s =
          recurrence_s(hops, {inside.bytes[0], inside.bytes[1], inside.bytes[2]}, 2, 0);
      EXPECT_NEAR(inside.seconds, inside_s, within * inside_s) << verb << fidelity;
    }
  }
}

// Two rings cross each card: each gets half, whatever its latencies.
TEST(Law1, FlowsThatMeetShareEquallyWhateverTheirLatencies) {
  const Star star{.nodes = 2,
                  .workers_per_node = 2,
                  .nic_latency_s = 1e-6,
                  .bus_Bps = 1e12,
                  .bus_latency_s = 4e-6,
                  .bus_latency_growth_s = 45e-6};
  Options options = one_bucket(star, model_of({50'000'000}));
  options["exchange"] = "hierarchical";
  const Simulated run = simulated(options);
  for (const Row& row : run.rows("all-reduce")) {
    const double latency_s = 2 * (row.rank % 2 == 0 ? 4e-6 : 49e-6) + 2e-6;
    // Both send 100 MB through one card of 1 GB/s, in two steps. One ring waits 90 us longer for
    // its first part than the other; during that time the other has the whole card.
    EXPECT_NEAR(row.end_s - row.start_s, 0.2 + 2 * latency_s, 9.1e-5) << row.rank;
  }
  ASSERT_EQ(run.rows("all-reduce").size(), 4u);
}

}  // namespace
}  // namespace syncline
