// Averages in groups, and averages that are applied late: their seconds by arithmetic, and what is
// learned with them.
#include <algorithm>
#include <gtest/gtest.h>
#include <tuple>

#include "sim/schedule.h"
#include "sim/worker.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

// Two sites with these numbers of nodes. A card has 1e9 B/s and 10 us; the nodes of a site share a
// line between the sites of 2e8 B/s and 5 ms; nodes have buses of 1e10 B/s inside.
std::string two_sites(int nodes_of_one, int nodes_of_other, int workers_per_node,
                      const std::string& named = "site") {
  std::string sites;
  std::string routes;
  int node = 0;
  for (const int nodes : {nodes_of_one, nodes_of_other}) {
    const std::string site = node == 0 ? "east" : "west";
    sites += "<zone id=\"" + site + "\" routing=\"Floyd\">\n";
    std::string links;
    std::string own;
    for (int n = 0; n < nodes; ++n, ++node) {
      const std::string name = "node" + std::to_string(node);
      links += "<link id=\"" + name +
               "-card\" bandwidth=\"1e9Bps\" latency=\"10us\" "
               "sharing_policy=\"SPLITDUPLEX\"/>\n";
      sites += "<router id=\"" + name + "-switch\"/>\n";
      own += "<route src=\"" + name + "-switch\" dst=\"" + site + "-gate\"><link_ctn id=\"" + name +
             "-card\" direction=\"UP\"/></route>\n";
      for (int w = 0; w < workers_per_node; ++w) {
        const std::string worker = name + "-gpu" + std::to_string(w);
        sites += "<host id=\"" + worker + "\" speed=\"1e12f\"><prop id=\"node\" value=\"" + name +
                 "\"/>" +
                 (named.empty() ? "" : "<prop id=\"" + named + "\" value=\"" + site + "\"/>") +
                 "</host>\n";
        links += "<link id=\"" + worker +
                 "-bus\" bandwidth=\"1e10Bps\" latency=\"1us\" "
                 "sharing_policy=\"SPLITDUPLEX\"/>\n";
        own += "<route src=\"" + worker + "\" dst=\"" + name + "-switch\"><link_ctn id=\"" +
               worker + "-bus\" direction=\"UP\"/></route>\n";
      }
    }
    sites += "<router id=\"" + site + "-gate\"/>\n" + links + own + "</zone>\n";
  }
  return written_platform(
      "<?xml version=\"1.0\"?>\n"
      "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version=\"4.1\">\n<zone id=\"world\" routing=\"Full\">\n" +
      sites +
      "<link id=\"line\" bandwidth=\"2e8Bps\" latency=\"5ms\" sharing_policy=\"SPLITDUPLEX\"/>\n"
      "<zoneRoute src=\"east\" dst=\"west\" gw_src=\"east-gate\" gw_dst=\"west-gate\">"
      "<link_ctn id=\"line\" direction=\"UP\"/></zoneRoute>\n</zone>\n</platform>\n");
}

Options options_of(const std::string& platform, const Options& more) {
  Options options{{"platform", platform},
                  {"model", model_of({900'000, 400'000, 100, 700'000})},
                  {"schedule", "local-sgd"},
                  {"local-steps", "4"},
                  {"bucket-bytes", "0"},
                  {"iterations", "12"},
                  {"warmup", "4"}};
  for (const auto& [key, value] : more)
    options[key] = value;
  return options;
}

// Averages every gradient within the group; this is bsp if the group is all workers.
template <Among group>
void averages_in(Worker& worker) {
  while (worker.next_iteration()) {
    worker.forward();
    for (const Bucket& bucket : worker.buckets()) {
      worker.backward(bucket);
      worker.start_average(bucket, group);
    }
    worker.finish_averages(group);
    worker.step();
  }
}

template <Among group>
Schedule averaging_in() {
  return {.name = "in-groups",
          .sentence = "",
          .replica = [](const Settings&) { return std::optional(group); },
          .worker = averages_in<group>};
}

// All facts of a row but the number of its stream.
auto facts_of(const Trace& trace) {
  std::vector<std::tuple<double, double, Verb, int, int, int, std::uint64_t, std::uint64_t>> all;
  for (const Row& row : trace.rows)
    all.emplace_back(row.start_s, row.end_s, row.verb, row.rank, row.bucket, row.iteration,
                     row.bytes_sent, row.bytes_received);
  std::ranges::sort(all);
  return all;
}

TEST(GroupAverage, OverASiteOfAllIsTheAverageOverAllToTheBit) {
  for (const std::string& exchange : exchanges_for("none"))
    for (const char* fidelity : {"step", "flow"})
      for (const char* overlap : {"on", "off"}) {
        const Scenario known = resolved(
            {{"exchange", exchange}, {"platform", star_platform({})}, {"model", model_of({1})}});
        if (known.exchange->uses_servers || known.dense_exchange != known.exchange)
          continue;
        // One site with two nodes of three workers.
        const Options options = options_of(two_sites(2, 0, 3), {{"schedule", "bsp"},
                                                                {"local-steps", ""},
                                                                {"exchange", exchange},
                                                                {"fidelity", fidelity},
                                                                {"overlap", overlap},
                                                                {"jitter", "0.1"}});
        const auto all = facts_of(simulated(options).trace);
        ASSERT_FALSE(all.empty());
        EXPECT_EQ(all, facts_of(simulated_by(averaging_in<Among::site>(), options).trace))
            << exchange << fidelity << overlap;
      }
}

TEST(GroupAverage, OverNodesOfTheirOwnIsThatOverSitesToTheBit) {
  const auto of = [](const std::string& platform, const char* replica) {
    return facts_of(simulated(options_of(platform, {{"replica", replica}})).trace);
  };
  const std::string one_node_each = two_sites(1, 1, 3);
  EXPECT_EQ(of(one_node_each, "node"), of(one_node_each, "site"));
  EXPECT_NE(of(one_node_each, "node"), of(one_node_each, "worker"));
  const std::string two_nodes_each = two_sites(2, 2, 2);
  EXPECT_NE(of(two_nodes_each, "node"), of(two_nodes_each, "site"));
}

// Sites of 3 and 2 nodes, rings of one bucket, no overlap. The smaller site waits for the larger
// one at the end of a round; in the larger, a ring takes 2(n - 1)(L + b / n / B). Across all five
// nodes the line carries 2(n - 1) parts one after the other, each longer than the latency, so that
// only the last one's latency shows.
TEST(GroupAverage, TakesWhatRingsInSitesAndOverAllTake) {
  const double bytes = 4 * 2'000'100;
  const double in_three_s = 4 * (22e-6 + bytes / 3 / 1e9);
  const double over_all_s = 8 * bytes / 5 / 2e8 + 5.022e-3;
  const double iteration_s = 0.1 + in_three_s + over_all_s / 4;
  for (const char* fidelity : {"step", "flow"}) {
    const Options options = options_of(
        two_sites(3, 2, 1),
        {{"replica", "site"}, {"bucket-bytes", "all"}, {"overlap", "off"}, {"fidelity", fidelity}});
    const Simulated run = simulated(options);
    const Predicted closed = predicted(options);
    EXPECT_NEAR(run.iteration_s(), iteration_s, 1e-5) << fidelity;
    EXPECT_NEAR(closed.iteration_s, iteration_s, 1e-5) << fidelity;
    EXPECT_FALSE(run.below_its_bound()) << fidelity;
    // The line carries only the average over all: 2(n - 1)/n of the bytes, once in four iterations.
    EXPECT_NEAR(closed.link_bytes.at("line_UP"), 8.0 / 5 * bytes / 4, 1e-6 * bytes) << fidelity;
  }
}

// An average over all is hidden behind the iterations of its delay; workers wait for the rest.
TEST(LateAverage, IsHiddenBehindTheIterationsThatGoOn) {
  const double compute_s = 0.1;
  const double bytes = 4 * 10'000'000;
  const double average_s = 2 * (bytes / 2 / 1.6e8 + 2e-5);  // 0.25 s
  for (const char* fidelity : {"step", "flow"})
    for (const int delay : {0, 1, 2, 3}) {
      const Options options{{"platform", star_platform({.nodes = 2, .nic_Bps = 1.6e8})},
                            {"model", model_of({10'000'000})},
                            {"schedule", "local-sgd"},
                            {"local-steps", "4"},
                            {"average-delay", std::to_string(delay)},
                            {"fidelity", fidelity},
                            {"warmup", "4"},
                            {"iterations", "12"}};
      const double expected_s = compute_s + std::max(average_s - delay * compute_s, 0.0) / 4;
      const Simulated run = simulated(options);
      EXPECT_NEAR(run.iteration_s(), expected_s, 1e-6) << fidelity << delay;
      EXPECT_NEAR(predicted(options).iteration_s, expected_s, 1e-9) << fidelity << delay;
      EXPECT_EQ(run.figures.window_iterations, 12) << fidelity << delay;
      EXPECT_FALSE(run.below_its_bound()) << fidelity << delay;
    }
}

// While a late average is on the line, averages within sites do not queue behind it: they do not
// use the line, and the cards have room.
TEST(LateAverage, DoesNotHoldUpAveragesInSites) {
  for (const char* fidelity : {"step", "flow"}) {
    const auto iteration_s = [&](const char* delay) {
      return simulated(options_of(two_sites(2, 2, 1), {{"replica", "site"},
                                                       {"average-delay", delay},
                                                       {"bucket-bytes", "all"},
                                                       {"overlap", "off"},
                                                       {"fidelity", fidelity}}))
          .iteration_s();
    };
    const double in_site_s = 2 * (8'000'400 / 2 / 1e9 + 2e-5);
    const double alone_s = 0.1 + in_site_s;
    EXPECT_GT(iteration_s("0"), alone_s + 0.01) << fidelity;  // 6 parts of 2 MB at 2e8 B/s, / 4
    // Hidden, except for the shared cards: at most the seconds of the average on one card.
    EXPECT_GE(iteration_s("2"), alone_s - 1e-6) << fidelity;
    EXPECT_LT(iteration_s("2"), alone_s + 6 * 8'000'400 / 4 / 1e9 / 4) << fidelity;
  }
}

// Once, the wait after the last step counted as well, and the parts were 134 % of an iteration.
TEST(LateAverage, LeavesThePartsOfAnIterationItsSum) {
  for (const char* replica : {"worker", "node", "site"})
    for (const char* delay : {"0", "1", "3"})
      for (const char* buckets : {"all", "0"}) {
        const Figures figures = simulated(options_of(two_sites(2, 1, 2), {{"replica", replica},
                                                                          {"average-delay", delay},
                                                                          {"bucket-bytes", buckets},
                                                                          {"jitter", "0.1"}}))
                                    .figures;
        EXPECT_NEAR(figures.compute_s + figures.compress_s + figures.exposed_communication_s +
                        figures.waiting_s,
                    figures.iteration_mean_s, 1e-6)
            << replica << delay << buckets;
      }
}

// With one replica of all workers nothing is left to average: this is bsp.
TEST(GroupAverage, OfOneReplicaLearnsAsBsp) {
  Options options = options_of(
      two_sites(2, 0, 2),
      {{"replica", "site"}, {"learn", "softmax"}, {"iterations", "60"}, {"evaluate-every", "64"}});
  options.merge(small_data());
  const Learned replica = *simulated(options).trace.learned;
  for (const char* own : {"local-steps", "replica"})
    options.erase(own);
  options["schedule"] = "bsp";
  const Learned bsp = *simulated(options).trace.learned;
  ASSERT_EQ(replica.curve.size(), bsp.curve.size());
  for (std::size_t i = 0; i < bsp.curve.size(); ++i)
    EXPECT_NEAR(replica.curve[i].loss, bsp.curve[i].loss, 1e-5) << i;
  EXPECT_LT(bsp.curve.back().loss, 0.8 * bsp.curve.front().loss);
}

TEST(GroupAverage, OfAGroupThatAScheduleDoesNotDeclareIsRefused) {
  Schedule undeclared = averaging_in<Among::node>();
  undeclared.replica = nullptr;
  try {
    simulated_by(undeclared,
                 options_of(two_sites(1, 1, 2), {{"schedule", "bsp"}, {"local-steps", ""}}));
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("declare"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace syncline
