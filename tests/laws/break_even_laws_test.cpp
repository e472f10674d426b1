// Law 25 (tests/laws/README.md): compression stops paying where `explain` says so.
#include <cstdlib>
#include <gtest/gtest.h>
#include <set>

#include "tests/laws/awkward.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

Options at_bandwidth(Options options, double times) {
  char factor[32];
  std::snprintf(factor, sizeof factor, "%.9g", times);
  options["bandwidth-factor"] = factor;
  return options;
}

// One iteration, which all workers begin together.
double seconds_of(Options options) {
  options["fidelity"] = "step";
  options["iterations"] = "1";
  options["warmup"] = "0";
  return simulated(options).trace.end_s;
}

// The dense run that `explain` compares with.
Options dense(Options options) {
  options.erase("compressor");
  options.erase("density");
  if (std::set<std::string>{"allgather", "gtopk", "oktopk", "hitopk"}.contains(options["exchange"]))
    options["exchange"] = "ring";
  return options;
}

// On awkward platforms, with one to four buckets and all exchanges that carry lists: 5 % below a
// limit one side is faster, 5 % above it the other.
TEST(BreakEven, IsWithinFivePercentOfBisectionOrNotKnown) {
  const char* given = std::getenv("SYNCLINE_CELLS");
  const int count = given == nullptr ? 200 : std::atoi(given);
  int limits = 0;
  int unknown = 0;
  for (int seed = 0; seed < count; ++seed) {
    Draws draws(2'000'000 + static_cast<std::uint64_t>(seed));
    const AwkwardPlatform platform = awkward_platform(draws, false);
    std::vector<std::uint64_t> tensors;
    for (int i = draws.below(4); i >= 0; --i)
      tensors.push_back(draws.of<std::uint64_t>({100'000, 800'000, 2'000'000}));
    const Options options{
        {"platform", platform.path},
        {"model", model_of(tensors)},
        {"device", draws.one_in(2) ? cost_table(3e-9, 2e-10) : cost_table(1e-9, 1e-9)},
        {"throughput", draws.of<std::string>({"500", "5000"})},
        {"compressor", "topk"},
        {"density", draws.of<std::string>({"0.01", "0.05"})},
        {"exchange", draws.of(exchanges_for("topk"))},
        {"overlap", draws.of<std::string>({"on", "off"})},
        {"bucket-bytes", "0"}};
    const Predicted closed = predicted(options);
    if (!closed.even_known) {
      ++unknown;
      continue;
    }
    for (const auto& [from, to] : closed.with_overlap)
      for (const auto& [limit, pays_below] : {std::pair(from, false), std::pair(to, true)}) {
        if (limit == 0 || limit < 1e-3 || limit > 1e3)
          continue;
        ++limits;
        for (const double factor : {0.95, 1.05}) {
          const Options there = at_bandwidth(options, limit * factor);
          const double compressed_s = seconds_of(there);
          const double dense_s = seconds_of(dense(there));
          EXPECT_EQ(compressed_s < dense_s, (factor < 1) == pays_below)
              << seed << " " << options.at("exchange") << " of " << tensors.size() << ", overlap "
              << options.at("overlap") << ", at " << factor << " of " << limit << ": "
              << compressed_s << " and " << dense_s << " s; by closed form "
              << predicted(there).iteration_s << " and " << predicted(dense(there)).iteration_s;
        }
      }
  }
  std::printf("%d limits, %d of %d not known\n", limits, unknown, count);
  EXPECT_GT(limits, count / 5);
  EXPECT_LT(unknown, count / 2);
}

// With one bucket that overlaps nothing, compression is faster below (saved seconds / spent
// seconds) of the bandwidth. A second search once moved this by half a per cent.
TEST(BreakEven, OfOneBucketIsWhatArithmeticSays) {
  for (const int nodes : {2, 3, 5})
    for (const char* exchange : {"allgather", "gtopk"})
      for (const char* seconds_per_value : {"3e-9", "2e-8"}) {
        const Options options{{"platform", star_platform({.nodes = nodes})},
                              {"model", model_of({4'000'000})},
                              {"device", cost_table(std::stod(seconds_per_value), 1e-10)},
                              {"compressor", "topk"},
                              {"exchange", exchange},
                              {"overlap", "off"}};
        const Predicted closed = predicted(options);
        ASSERT_TRUE(closed.even_known);
        ASSERT_EQ(closed.with_overlap.size(), closed.without_overlap.size());
        for (std::size_t i = 0; i < closed.with_overlap.size(); ++i)
          EXPECT_NEAR(closed.with_overlap[i].to / closed.without_overlap[i].to, 1, 2e-4)
              << nodes << exchange << seconds_per_value;
      }
}

// With a compressor a worker keeps the last average and applies the change since then; without one
// an average replaces its parameters. Until November 2026 the rival applied a change, too.
TEST(BreakEven, TheRivalOfLocalSgdReplacesItsParameters) {
  for (const char* overlap : {"on", "off"}) {
    const Options options{{"platform", star_platform({.nodes = 3})},
                          {"model", model_of({4'000'000, 1'000'003})},
                          {"device", cost_table(1e-9, 1e-10)},
                          {"schedule", "local-sgd"},
                          {"local-steps", "2"},
                          {"compressor", "topk"},
                          {"optimizer", "adam"},
                          {"memory-bandwidth", "1e10"},
                          {"overlap", overlap},
                          {"fidelity", "step"},
                          {"iterations", "8"}};
    EXPECT_NEAR(predicted(options).rival_s, simulated(dense(options)).iteration_s(), 1e-6)
        << overlap;
  }
}

// Cat's messages depend on the bandwidth. Until November 2026 limits were those with the messages
// of the scenario's own bandwidth, up to twice too high.
TEST(BreakEven, OfCatIsWithTheMessagesThatAreMadeThere) {
  int limits = 0;
  for (const int nodes : {2, 4})
    for (const char* overlap : {"on", "off"})
      for (const double nic_Bps : {1.25e8, 4e9, 1e10}) {
        const Options options{{"platform", star_platform({.nodes = nodes, .nic_Bps = nic_Bps})},
                              {"model", model_of({2'000'000})},
                              {"device", cost_table(5e-11, 5e-11)},
                              {"compressor", "cat"},
                              {"exchange", "allgather"},
                              {"overlap", overlap}};
        const Predicted closed = predicted(options);
        EXPECT_TRUE(closed.even_known) << nodes << overlap << nic_Bps;
        for (const auto& [from, to] : closed.with_overlap)
          for (const auto& [limit, pays_below] : {std::pair(from, false), {to, true}})
            for (const double factor : {0.93, 1.07})
              if (limit > 0) {
                ++limits;
                const Options there = at_bandwidth(options, limit * factor);
                EXPECT_EQ(seconds_of(there) < seconds_of(dense(there)), (factor < 1) == pays_below)
                    << nodes << overlap << nic_Bps << " at " << factor << " of " << limit;
              }
      }
  EXPECT_GE(limits, 20);
}

}  // namespace
}  // namespace syncline
