// Law 30 (tests/laws/README.md): workers that hold shards send what the ZeRO paper counts, to the
// byte; which part computation hides follows from the order of one stream.
#include <algorithm>
#include <gtest/gtest.h>

#include "sim/schedule.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// Two nodes of four GPUs and two cards each: GPUs 0 and 1 use one card, 2 and 3 the other.
std::string two_cards() {
  std::string hosts, links, routes;
  const auto link = [&](const std::string& name, const char* rate, const char* latency) {
    links += "<link id=\"" + name + "\" bandwidth=\"" + rate + "\" latency=\"" + latency +
             "\" sharing_policy=\"SPLITDUPLEX\"/>\n";
  };
  const auto hop = [](const std::string& name, const char* direction) {
    return "<link_ctn id=\"" + name + "\" direction=\"" + direction + "\"/>";
  };
  const auto gpu = [](int i) { return "n" + std::to_string(i / 4) + "-g" + std::to_string(i % 4); };
  const auto card = [](int i) {
    return "n" + std::to_string(i / 4) + "-card" + std::to_string(i % 4 / 2);
  };
  for (int i = 0; i < 8; ++i) {
    hosts += "<host id=\"" + gpu(i) + "\" speed=\"1e12f\"><prop id=\"node\" value=\"n" +
             std::to_string(i / 4) + "\"/></host>\n";
    link(gpu(i) + "-bus", "1e10Bps", "2us");
    if (i % 2 == 0)
      link(card(i), "1e9Bps", "20us");
    for (int j = i + 1; j < 8; ++j)
      routes += "<route src=\"" + gpu(i) + "\" dst=\"" + gpu(j) + "\">" +
                hop(gpu(i) + "-bus", "UP") +
                (i / 4 == j / 4 ? "" : hop(card(i), "UP") + hop(card(j), "DOWN")) +
                hop(gpu(j) + "-bus", "DOWN") + "</route>\n";
  }
  return written_platform(
      "<?xml version=\"1.0\"?>\n"
      "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version=\"4.1\">\n<zone id=\"all\" routing=\"Full\">\n" +
      hosts + links + routes + "</zone>\n</platform>\n");
}

Options fsdp(const std::string& platform, const std::vector<std::uint64_t>& tensors,
             const Options& more) {
  Options options{{"platform", platform}, {"model", model_of(tensors)}, {"schedule", "fsdp"},
                  {"units", "100000"},    {"fidelity", "step"},         {"iterations", "5"}};
  for (const auto& [key, value] : more)
    options[key] = value;
  return options;
}

const std::vector<std::uint64_t> unequal{700'001, 3, 900'000, 100'007};

// Bytes that workers send in rows of this verb in iteration 3.
std::uint64_t sent_in_one(const Simulated& run, const std::string& verb) {
  std::uint64_t bytes = 0;
  for (const Row& row : run.rows(verb))
    bytes += row.iteration == 3 ? row.bytes_sent : 0;
  return bytes;
}

struct Awkward {
  std::string name;
  Options options;
  int workers;
};

std::vector<Awkward> awkward_platforms() {
  const std::string six = star_platform({.nodes = 2,
                                         .workers_per_node = 6,
                                         .nic_Bps = 2e8,
                                         .bus_latency_s = 1e-6,
                                         .bus_latency_growth_s = 3e-6,
                                         .slow_speed = 0.7});
  return {{"6 + 4", {{"platform", six}, {"workers", "10"}}, 10},
          {"two cards for four", {{"platform", two_cards()}}, 8},
          {"one a node", {{"platform", star_platform({.nodes = 3})}}, 3},
          {"alone", {{"platform", star_platform({.nodes = 1})}}, 1}};
}

// Each gather and each reduce-scatter moves n - 1 times the unit's bytes: (n - 1) / n per worker.
TEST(Shards, SendWhatThePaperCountsToTheByte) {
  const std::uint64_t all = 4 * (700'001 + 3 + 900'000 + 100'007);
  for (const Awkward& one : awkward_platforms())
    for (const char* zero : {"1", "2", "3"})
      for (const char* no_sync : {"on", "off"})
        for (const int k : {1, 2, 5})
          for (const char* units : {"1", "100000"}) {
            Options options = fsdp("", unequal, one.options);
            options["zero"] = zero;
            options["no-sync"] = no_sync;
            options["accumulation"] = std::to_string(k);
            options["units"] = units;
            const std::uint64_t last = std::string(units) == "1" ? all : 4 * 100'007;
            const auto times = static_cast<std::uint64_t>(k);
            const auto others = static_cast<std::uint64_t>(one.workers - 1);
            const bool scatters_once = *zero == '1' || std::string(no_sync) == "on";
            const Simulated run = simulated(options);
            const std::string name = one.name + " zero " + zero + " no-sync " + no_sync + " k " +
                                     std::to_string(k) + " units " + units;
            EXPECT_EQ(sent_in_one(run, "all-gather"),
                      others * (*zero == '3' ? times * (2 * all - last) : all))
                << name;
            EXPECT_EQ(sent_in_one(run, "reduce-scatter"),
                      others * (scatters_once ? 1 : times) * all)
                << name;
            EXPECT_EQ(sent_in_one(run, "all-reduce"), 0u) << name;
            EXPECT_FALSE(run.below_its_bound()) << name;
            EXPECT_NEAR(run.figures.throughput_samples_per_s * run.iteration_s(),
                        10.0 * k * one.workers, 1e-6)
                << name;
            if (one.workers == 1) {
              EXPECT_NEAR(run.iteration_s(), 0.1 * k, 1e-6) << name;
            }
          }
}

// Half of that in half precision; gradients have their own precision.
TEST(Shards, HaveTheBytesOfThePrecision) {
  Options options = fsdp(star_platform({.nodes = 3}), unequal, {});
  const std::uint64_t full = sent_in_one(simulated(options), "all-gather");
  options["precision"] = "fp16";
  EXPECT_EQ(2 * sent_in_one(simulated(options), "all-gather"), full);
  // PyTorch's reduce_dtype: gradients in full, parameters in half precision.
  options["wire-precision"] = "fp32";
  const Simulated run = simulated(options);
  EXPECT_EQ(2 * sent_in_one(run, "all-gather"), full);
  options["precision"] = "fp32";
  EXPECT_EQ(sent_in_one(run, "reduce-scatter"), sent_in_one(simulated(options), "reduce-scatter"));
}

// Links carry what `explain` says, within nodes and between them.
TEST(Shards, LoadTheLinksThatExplainNames) {
  for (const Awkward& one : awkward_platforms())
    for (const char* zero : {"2", "3"})
      for (const char* shard : {"all", "node"}) {
        if (std::string(shard) == "node" && one.name == "6 + 4")
          continue;
        Options options = fsdp("", unequal, one.options);
        options.insert({{"zero", zero}, {"shard", shard}, {"accumulation", "2"}});
        const Simulated run = simulated(options);
        const Predicted closed = predicted(options);
        double iterations = 0;
        for (const Row& row : run.rows("step"))
          iterations += row.rank == 0 ? 1 : 0;
        for (const LinkUse& link : run.trace.links) {
          const auto known = closed.link_bytes.find(link.name);
          // With zero = 2 the initial parameters are everywhere: as many gathers as steps.
          EXPECT_NEAR(link.bytes / iterations, known == closed.link_bytes.end() ? 0 : known->second,
                      1e-3)
              << one.name << zero << shard << link.name;
        }
      }
}

// Two workers, two units of 4e7 bytes, cards of 5e8 B/s: each collective of a unit moves half of it
// in 40 ms. 0.1 s of computation: a unit's forward takes 1/60 s and its backward 1/30 s.
TEST(Shards, ExposeWhatTwoUnitsExposeByHand) {
  constexpr double forward = 1.0 / 60;
  constexpr double backward = 1.0 / 30;
  constexpr double moves = 0.04;
  // Units are gathered one after the other. Backward of the second unit hides a part of the first
  // unit's gather; backward of the first unit hides a part of the second unit's reduce-scatter,
  // which followed that gather.
  const double second_forward_s = 2 * moves + forward;
  const double ahead = second_forward_s + moves + moves + moves;
  // Without prefetch: forward of a unit waits for its own gather, and so does backward of the first
  // unit, after the reduce-scatter of the second. Everything is exposed.
  const double none_ahead = 0.1 + 5 * moves;
  // If backward gathers late, only one reduce-scatter is hidden, or none.
  const double after_one = second_forward_s + backward + moves + moves + moves;
  const double after_all = second_forward_s + backward + moves + moves + backward + moves;
  // Whole parameters: reduce-scatters hide behind backward, gathers follow the step. A gather hides
  // behind forward of the unit before, or behind nothing.
  const double waits = 2 * forward + backward + 2 * moves + 2 * moves;
  const double whole = waits - forward;
  struct Case {
    const char* zero;
    const char* prefetch;
    const char* overlap;
    double seconds;
    const char* backward = "pre";
  };
  for (const Case& one :
       {Case{"3", "1", "on", ahead}, Case{"3", "7", "on", ahead}, Case{"3", "0", "on", none_ahead},
        Case{"3", "1", "on", after_one, "post"}, Case{"3", "1", "on", after_all, "none"},
        Case{"2", "1", "on", whole, "none"}, Case{"3", "1", "off", 0.1 + 5 * moves},
        Case{"2", "1", "on", whole}, Case{"1", "0", "on", waits},
        Case{"1", "1", "off", 0.1 + 4 * moves}})
    for (const char* fidelity : {"step", "flow"}) {
      const Options options =
          fsdp(star_platform({.nic_Bps = 5e8, .nic_latency_s = 0}), {10'000'000, 10'000'000},
               {{"zero", one.zero},
                {"prefetch", one.prefetch},
                {"backward-prefetch", one.backward},
                {"overlap", one.overlap},
                {"fidelity", fidelity}});
      const Simulated run = simulated(options);
      const std::string name = std::string("zero ") + one.zero + " prefetch " + one.prefetch + " " +
                               one.backward + " overlap " + one.overlap + " " + fidelity;
      EXPECT_NEAR(run.iteration_s(), one.seconds, 1e-6) << name;
      EXPECT_NEAR(run.figures.iteration_p50_s, one.seconds, 1e-6) << name;
      EXPECT_NEAR(run.figures.exposed_communication_s, one.seconds - 0.1, 1e-6) << name;
      EXPECT_NEAR(run.figures.waiting_s, 0, 1e-6) << name;
      EXPECT_NEAR(predicted(options).iteration_s, one.seconds, 1e-6) << name;
    }
}

// If workers are alike, the closed form of `explain` equals the run.
TEST(Shards, TakeWhatExplainSays) {
  for (const double nic_Bps : {2e7, 1e8, 1e9})
    for (const auto& [zero, backward] : std::vector<std::pair<std::string, std::string>>{
             {"1", "pre"}, {"2", "pre"}, {"3", "pre"}, {"3", "post"}, {"3", "none"}})
      for (const char* shard : {"all", "node"})
        for (const char* overlap : {"on", "off"})
          for (const char* steps : {"1", "3"}) {
            const Options options = fsdp(
                star_platform({.nodes = 3, .workers_per_node = 2, .nic_Bps = nic_Bps}), unequal,
                {{"zero", zero},
                 {"backward-prefetch", backward},
                 {"shard", shard},
                 {"overlap", overlap},
                 {"accumulation", steps}});
            const double seconds = simulated(options).iteration_s();
            EXPECT_NEAR(predicted(options).iteration_s / seconds, 1, 0.01)
                << nic_Bps << " zero " << zero << " " << backward << " shard " << shard
                << " overlap " << overlap << " k " << steps;
          }
}

TEST(Shards, TakeAsLongInFlowsAsInSteps) {
  const std::string platform = star_platform({.nodes = 12,
                                              .workers_per_node = 4,
                                              .nic_Bps = 1e9,
                                              .nic_latency_s = 2e-5,
                                              .bus_latency_s = 1e-6,
                                              .bus_latency_growth_s = 3e-6});
  for (const char* zero : {"2", "3"})
    for (const char* shard : {"all", "node"}) {
      Options options = fsdp(platform, {5'000'000, 3, 9'000'000, 2'000'000},
                             {{"zero", zero}, {"shard", shard}, {"iterations", "3"}});
      const double steps_s = simulated(options).iteration_s();
      options["fidelity"] = "flow";
      EXPECT_NEAR(simulated(options).iteration_s() / steps_s, 1, 0.03) << zero << shard;
      EXPECT_GT(steps_s, 0.12) << "nothing is exposed, so nothing was compared";
    }
}

// Workers at the same place in their nodes average in one ring, without channels, however many
// cards a node has. Until November 2026 latencies of other "channels" hid theirs: 16 nodes of eight
// were 7 % too fast. By hand: 2 (N - 1) steps of 14 us a unit; two rings share a card.
TEST(Shards, OfANodeHaveNoChannels) {
  Options options =
      fsdp("dgx-a100:nodes=16:cards=4x200Gbps", {20'000'000, 20'000'000, 20'000'000},
           {{"shard", "node"}, {"iterations", "2"}, {"fidelity", "flow"}, {"zero", "2"}});
  options["throughput"] = "1e5";  // nothing hides
  const double flow_s = simulated(options).iteration_s();
  const double averaged_s = 3 * 30 * 14e-6 + 2 * 15. / 16 * 240e6 / 8 * 2 / 25e9;
  EXPECT_GT(flow_s, averaged_s);
  EXPECT_NEAR(predicted(options).iteration_s / flow_s, 1, 0.01);
  options["fidelity"] = "step";
  EXPECT_NEAR(simulated(options).iteration_s() / flow_s, 1, 0.01);
  options["channels"] = "1";
  options["fidelity"] = "flow";
  EXPECT_DOUBLE_EQ(simulated(options).iteration_s(), flow_s);
}

// One unit: a reduce-scatter, and a gather after the step, make up the ring's all-reduce. (If hops
// differ, a ring that continues pays the latencies of consecutive hops once less.)
TEST(Shards, WithOneUnitOfZero2AreBspWithARing) {
  for (const char* steps : {"1", "4"}) {
    Options options = fsdp(star_platform({.nodes = 8, .nic_Bps = 2e8}), unequal,
                           {{"zero", "2"}, {"units", "1"}, {"accumulation", steps}});
    options["no-sync"] = "on";
    const Simulated shards = simulated(options);
    for (const char* only : {"zero", "units", "no-sync"})
      options.erase(only);
    options["schedule"] = "bsp";
    options["bucket-bytes"] = "all";
    const Simulated bsp = simulated(options);
    EXPECT_NEAR(shards.iteration_s(), bsp.iteration_s(), 1e-6) << steps;
    EXPECT_NEAR(shards.figures.exposed_communication_s, bsp.figures.exposed_communication_s, 1e-6)
        << steps;
    EXPECT_EQ(sent_in_one(shards, "all-gather") + sent_in_one(shards, "reduce-scatter"),
              sent_in_one(bsp, "all-reduce"))
        << steps;
  }
}

TEST(Shards, AreNeverSlowerWithMoreBandwidthOrOverlap) {
  for (const Awkward& one : awkward_platforms())
    for (const char* zero : {"2", "3"})
      for (const char* overlap : {"off", "on"}) {
        double before_s = 0;
        for (const char* factor : {"4", "1", "0.3", "0.1"}) {
          Options options = fsdp("", unequal, one.options);
          options.insert({{"zero", zero}, {"overlap", overlap}, {"bandwidth-factor", factor}});
          const Simulated run = simulated(options);
          EXPECT_GE(run.iteration_s(), before_s - early_end_s) << one.name << zero << factor;
          before_s = run.iteration_s();
          options["overlap"] = "off";
          EXPECT_LE(run.iteration_s(), simulated(options).iteration_s() + early_end_s)
              << one.name << zero << factor;
          EXPECT_NEAR(
              run.figures.compute_s + run.figures.exposed_communication_s + run.figures.waiting_s,
              run.iteration_s(), 1e-9)
              << one.name << zero << factor;
        }
      }
}

// Inside a node (m - 1) / m of a unit's bytes per worker and pass; across N nodes 2 (N - 1) / N of
// each worker's shard.
TEST(Shards, OfANodeAreAveragedBetweenNodes) {
  const Simulated run =
      simulated(fsdp(star_platform({.nodes = 3, .workers_per_node = 4, .nic_Bps = 2e8}), unequal,
                     {{"shard", "node"}}));
  const std::uint64_t all = 4 * (700'001 + 3 + 900'000 + 100'007);
  EXPECT_EQ(sent_in_one(run, "all-gather"), 3 * 3 * (2 * all - 4 * 100'007));
  EXPECT_EQ(sent_in_one(run, "reduce-scatter"), 3 * 3 * all);
  EXPECT_EQ(sent_in_one(run, "all-reduce"), 2 * 2 * all);  // of N - 1 others, twice
  EXPECT_NEAR(run.figures.bytes_sent_off_node * 12, 2.0 * 2 * all, 1);
  // Fast buses, slow cards: fewer bytes leave the node than if all workers together held one whole.
  Options options = fsdp(star_platform({.nodes = 3, .workers_per_node = 4, .nic_Bps = 5e7}),
                         unequal, {{"shard", "node"}});
  const double hybrid_s = simulated(options).iteration_s();
  options["shard"] = "all";
  EXPECT_LT(hybrid_s, simulated(options).iteration_s());
}

// sgd reads and writes 3 values of 4 bytes for each parameter; each of n workers does so for 1/n of
// them.
TEST(Shards, AreSteppedByThoseWhoHoldThem) {
  const double step_s = 3 * 4 * 4e6 / 8e9;
  for (const auto& [shard, holders] :
       std::vector<std::pair<std::string, int>>{{"all", 4}, {"node", 2}}) {
    const Simulated run = simulated(
        fsdp(star_platform({.nodes = 2, .workers_per_node = 2, .nic_Bps = 1e15, .bus_Bps = 1e15}),
             {1'000'000, 3'000'000},
             {{"optimizer", "sgd"},
              {"memory-bandwidth", "8e9"},
              {"shard", shard},
              {"latency-factor", "0"}}));
    EXPECT_NEAR(run.iteration_s(), 0.1 - step_s + step_s / holders, 1e-6) << shard;
    for (const Row& row : run.rows("step"))
      EXPECT_NEAR(row.end_s - row.start_s, step_s / holders, precise);
  }
}

TEST(Shards, LearnWhatBspLearnsToTheBit) {
  for (const char* steps : {"1", "3"}) {
    Options options = small_data();
    options.insert({{"platform", star_platform({.nodes = 2, .workers_per_node = 2})},
                    {"learn", "mlp"},
                    {"schedule", "bsp"},
                    {"accumulation", steps},
                    {"iterations", "9"}});
    const Simulated bsp = simulated(options);
    options["schedule"] = "fsdp";
    options["units"] = "3";
    for (const char* zero : {"1", "2", "3"})
      for (const char* shard : {"all", "node"})
        for (const char* no_sync : {"on", "off"}) {
          options["zero"] = zero;
          options["shard"] = shard;
          options["no-sync"] = no_sync;
          const Simulated run = simulated(options);
          EXPECT_EQ(run.trace.learned->parameters_at_end, bsp.trace.learned->parameters_at_end)
              << zero << shard << no_sync << steps;
          EXPECT_EQ(run.trace.learned->curve.back().samples,
                    bsp.trace.learned->curve.back().samples);
        }
  }
}

TEST(Shards, HaveAsManyMessagesAsEstimated) {
  for (const char* zero : {"1", "3"})
    for (const char* shard : {"all", "node"}) {
      const Options options = fsdp(star_platform({.nodes = 3, .workers_per_node = 4}), unequal,
                                   {{"zero", zero}, {"shard", shard}, {"accumulation", "3"}});
      EXPECT_DOUBLE_EQ(estimated_flows(options),
                       static_cast<double>(simulated(options).trace.flows))
          << zero << shard;
    }
}

}  // namespace
}  // namespace syncline
