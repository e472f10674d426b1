#include "sim/traffic/cluster.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "tests/unit/errors.h"

namespace syncline {
namespace {

// All strings of at most three of these characters: digits, among them leading zeros, and others.
std::vector<std::string> all_short_names() {
  std::vector<std::string> names{""};
  std::size_t first = 0;
  for (int length = 1; length <= 3; ++length) {
    const std::size_t end = names.size();
    for (std::size_t i = first; i < end; ++i)
      for (const char c : {'0', '1', '9', 'a', '-'})
        names.push_back(names[i] + c);
    first = end;
  }
  return names;
}

TEST(NaturalOrder, ComparesNumbersAsNumbers) {
  EXPECT_TRUE(natural_less("n2", "n10"));
  EXPECT_FALSE(natural_less("n10", "n2"));
  EXPECT_TRUE(natural_less("rack2-n9", "rack10-n1"));
  EXPECT_TRUE(natural_less("n9.gpu10", "n10.gpu2"));
  EXPECT_TRUE(natural_less("n002", "n10"));
  EXPECT_TRUE(natural_less("n2", "n010"));
  EXPECT_TRUE(natural_less("n99999999999999999999998", "n99999999999999999999999"));
  EXPECT_TRUE(natural_less("a", "a1"));
  EXPECT_TRUE(natural_less("", "a"));
}

TEST(NaturalOrder, IsATotalOrder) {
  const std::vector<std::string> names = all_short_names();
  for (const std::string& a : names)
    for (const std::string& b : names) {
      if (a == b) {
        EXPECT_FALSE(natural_less(a, b)) << a;
      } else {
        EXPECT_NE(natural_less(a, b), natural_less(b, a)) << "'" << a << "' and '" << b << "'";
      }
    }
}

TEST(NaturalOrder, IsTransitive) {
  std::vector<std::string> names = all_short_names();
  std::ranges::sort(names, natural_less);
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = i + 1; j < names.size(); ++j)
      ASSERT_TRUE(natural_less(names[i], names[j])) << "'" << names[i] << "', '" << names[j] << "'";
}

HostFacts host(const std::string& name, const std::string& node = "",
               const std::string& role = "") {
  return {.name = name, .node = node, .device = "", .role = role, .speed_flops = 1e12};
}

std::vector<HostFacts> plain_hosts(int count) {
  std::vector<HostFacts> hosts;
  for (int i = count; i > 0; --i)  // not in the order of ranks
    hosts.push_back(host("n" + std::to_string(i)));
  return hosts;
}

std::vector<std::string> names_of(const std::vector<HostFacts>& hosts) {
  std::vector<std::string> names;
  for (const HostFacts& one : hosts)
    names.push_back(one.name);
  return names;
}

using Names = std::vector<std::string>;
using Nodes = std::vector<std::vector<int>>;

TEST(Cluster, TakesEveryHostInNaturalOrder) {
  const Cluster cluster = choose_cluster(plain_hosts(11), {});
  EXPECT_EQ(names_of(cluster.workers),
            (Names{"n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", "n10", "n11"}));
  EXPECT_EQ(cluster.topology.nodes.size(), 11U);
}

TEST(Cluster, GroupsByTheNodeProperty) {
  const Cluster cluster =
      choose_cluster({host("g10", "b"), host("g2", "b"), host("g1", "a10"), host("g7", "a9")}, {});
  EXPECT_EQ(names_of(cluster.workers), (Names{"g7", "g1", "g2", "g10"}));
  EXPECT_EQ(cluster.topology.nodes, (Nodes{{0}, {1}, {2, 3}}));
}

TEST(Cluster, HostWithoutNodePropertyIsItsOwnNode) {
  const Cluster cluster =
      choose_cluster({host("x"), host("y"), host("a", "n"), host("b", "n")}, {});
  EXPECT_EQ(cluster.topology.nodes, (Nodes{{0}, {1}, {2, 3}}));
}

TEST(Cluster, FillsNodesByWorkersPerNode) {
  const Cluster cluster = choose_cluster(plain_hosts(7), {.workers_per_node = 3});
  EXPECT_EQ(cluster.topology.nodes, (Nodes{{0, 1, 2}, {3, 4, 5}, {6}}));
}

TEST(Cluster, WorkersPerNodeWithNodePropertiesIsRefused) {
  expect_mentions(error_of([] {
                    choose_cluster({host("a", "n0"), host("b", "n0")}, {.workers_per_node = 2});
                  }),
                  {"workers-per-node = 2", "node"});
}

TEST(Cluster, TakesWorkersNodeByNode) {
  std::vector<HostFacts> hosts;
  for (int node = 0; node < 3; ++node)
    for (int gpu = 0; gpu < 4; ++gpu)
      hosts.push_back(
          host("n" + std::to_string(node) + "g" + std::to_string(gpu), "n" + std::to_string(node)));
  const Cluster cluster = choose_cluster(hosts, {.workers = 6});
  EXPECT_EQ(names_of(cluster.workers), (Names{"n0g0", "n0g1", "n0g2", "n0g3", "n1g0", "n1g1"}));
  EXPECT_EQ(cluster.topology.nodes, (Nodes{{0, 1, 2, 3}, {4, 5}}));
}

// Nodes of 1, 4 and 2 hosts.
std::vector<HostFacts> unequal_nodes() {
  return {host("a0", "a"), host("b0", "b"), host("b1", "b"), host("b2", "b"),
          host("b3", "b"), host("c0", "c"), host("c1", "c")};
}

TEST(Cluster, SpreadsWorkersRoundTheNodes) {
  const std::vector<Names> expected{{"a0"},
                                    {"a0", "b0"},
                                    {"a0", "b0", "c0"},
                                    {"a0", "b0", "b1", "c0"},
                                    {"a0", "b0", "b1", "c0", "c1"},
                                    {"a0", "b0", "b1", "b2", "c0", "c1"},
                                    {"a0", "b0", "b1", "b2", "b3", "c0", "c1"}};
  for (const Names& names : expected) {
    const Cluster cluster =
        choose_cluster(unequal_nodes(),
                       {.workers = static_cast<int>(names.size()), .placement = Placement::spread});
    EXPECT_EQ(names_of(cluster.workers), names);
  }
  // Nodes that exist only because of workers-per-node.
  const Cluster made = choose_cluster(
      plain_hosts(6), {.workers = 4, .placement = Placement::spread, .workers_per_node = 3});
  EXPECT_EQ(names_of(made.workers), (Names{"n1", "n2", "n4", "n5"}));
  EXPECT_EQ(made.topology.nodes, (Nodes{{0, 1}, {2, 3}}));
}

TEST(Cluster, PutsServersOnHostsThatSpreadWorkersLeave) {
  const Cluster cluster =
      choose_cluster(unequal_nodes(), {.workers = 3, .placement = Placement::spread, .servers = 2});
  EXPECT_EQ(cluster.rank_hosts[3], "b1");
  EXPECT_EQ(cluster.rank_hosts[4], "c1");
}

TEST(Cluster, DrawsEachHostAsOften) {
  std::map<std::string, int> often;
  for (std::uint64_t seed = 1; seed <= 7000; ++seed) {
    const Cluster cluster =
        choose_cluster(unequal_nodes(), {.workers = 3, .placement = Placement::random}, seed);
    const Names names = names_of(cluster.workers);
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 3U);
    EXPECT_TRUE(std::ranges::is_sorted(names));
    for (const std::string& name : names)
      ++often[name];
  }
  EXPECT_EQ(often.size(), 7U);
  for (const auto& [name, times] : often)
    EXPECT_NEAR(times, 3000, 4 * std::sqrt(7000.0 * 3 / 7 * 4 / 7)) << name;
}

TEST(Cluster, DoesNotDependOnTheOrderOfThePlatform) {
  std::vector<HostFacts> hosts{host("a", "n1"), host("b", "n2"), host("c", "n1"),
                               host("s", "", "server")};
  const Cluster expected = choose_cluster(hosts, {.servers = 1});
  std::ranges::sort(hosts, {}, &HostFacts::name);
  do {
    const Cluster cluster = choose_cluster(hosts, {.servers = 1});
    EXPECT_EQ(cluster.rank_hosts, expected.rank_hosts);
    EXPECT_EQ(cluster.topology.nodes, expected.topology.nodes);
  } while (std::ranges::next_permutation(hosts, {}, &HostFacts::name).found);
}

TEST(Cluster, PutsServersOnHostsWithThatRole) {
  const Cluster cluster = choose_cluster(
      {host("s2", "", "server"), host("s10", "", "server"), host("a", "", "worker"), host("b")},
      {.servers = 2});
  EXPECT_EQ(names_of(cluster.workers), (Names{"a", "b"}));
  EXPECT_EQ(cluster.rank_hosts, (Names{"a", "b", "s2", "s10", "a", "b"}));
  EXPECT_EQ(cluster.rank_names,
            (Names{"worker 0", "worker 1", "server 0", "server 1", "node 0", "node 1"}));
  EXPECT_EQ(cluster.aggregator_of(1), 5);
}

TEST(Cluster, PutsServersOnHostsThatNoWorkerUses) {
  const Cluster cluster = choose_cluster(plain_hosts(5), {.workers = 3, .servers = 2});
  EXPECT_EQ(cluster.topology.servers, 2);
  EXPECT_EQ(cluster.rank_hosts[3], "n4");
  EXPECT_EQ(cluster.rank_hosts[4], "n5");
}

// Of nodes with 1, 4 and 2 hosts: b has three free, c two.
TEST(Cluster, PutsServersOnTheNodesWithTheFewestWorkersAndServers) {
  const Cluster packed = choose_cluster(unequal_nodes(), {.workers = 2, .servers = 4});
  EXPECT_EQ(Names(packed.rank_hosts.begin() + 2, packed.rank_hosts.begin() + 6),
            (Names{"c0", "b1", "c1", "b2"}));
  const Cluster whole_nodes = choose_cluster(unequal_nodes(), {.workers = 1, .servers = 3});
  EXPECT_EQ(Names(whole_nodes.rank_hosts.begin() + 1, whole_nodes.rank_hosts.begin() + 4),
            (Names{"b0", "c0", "b1"}));
}

TEST(Cluster, PutsAServerOnEachNodeByDefault) {
  const Cluster cluster = choose_cluster(plain_hosts(5), {.workers_per_node = 2});
  EXPECT_EQ(cluster.topology.servers, 3);
  const Names on_nodes{"n1", "n3", "n5"};
  EXPECT_EQ(Names(cluster.rank_hosts.begin() + 5, cluster.rank_hosts.begin() + 8), on_nodes);
  EXPECT_EQ(Names(cluster.rank_hosts.begin() + 8, cluster.rank_hosts.end()), on_nodes);
}

// A node's CPU and memory is no GPU, though a pattern fits its name.
TEST(Cluster, TakesNoHostOfANodeForAWorkerUnlessItsWholeNameIsGiven) {
  const std::vector<HostFacts> hosts{host("n0-gpu", "n0"), host("n0-memory", "n0", "host"),
                                     host("n1-gpu", "n1"), host("n1-memory", "n1", "host")};
  const auto workers = [&](const std::vector<std::string>& patterns) {
    return names_of(choose_cluster(hosts, {.worker_hosts = patterns}).workers);
  };
  EXPECT_EQ(workers({"n*"}), (Names{"n0-gpu", "n1-gpu"}));
  EXPECT_EQ(workers({"n1*"}), (Names{"n1-gpu"}));
  EXPECT_EQ(workers({"n1-memory"}), (Names{"n1-memory"}));
  expect_mentions(error_of([&] { workers({"*memory"}); }),
                  {"worker-hosts = *memory", "no host has such a name", "n0-gpu"});
}

TEST(Cluster, PutsServersAndAggregatorsOnTheNodesOwnHost) {
  const Cluster cluster =
      choose_cluster({host("g0", "n0"), host("g1", "n0"), host("cpu", "n0", "host"),
                      host("g2", "n1"), host("g3", "n1")},
                     {});
  EXPECT_EQ(names_of(cluster.workers), (Names{"g0", "g1", "g2", "g3"}));
  EXPECT_EQ(cluster.rank_hosts, (Names{"g0", "g1", "g2", "g3", "cpu", "g2", "cpu", "g2"}));
  EXPECT_EQ(cluster.on_a_worker, (std::vector<bool>{false, true}));
}

TEST(Cluster, OneWorkerOfANodeSharesNothingWithItsServer) {
  const Cluster cluster = choose_cluster(plain_hosts(2), {});
  EXPECT_EQ(cluster.rank_hosts, (Names{"n1", "n2", "n1", "n2", "n1", "n2"}));
  EXPECT_EQ(cluster.on_a_worker, (std::vector<bool>{false, false}));
}

TEST(Cluster, AHostOfNoNodeOrOfANodeThatHasOneIsRefused) {
  const auto refused = [](const std::vector<HostFacts>& hosts) {
    return error_of([&] { choose_cluster(hosts, {}); });
  };
  expect_mentions(refused({host("a", "n"), host("b", "", "host")}), {"b", "role = host", "node"});
  expect_mentions(refused({host("a", "n"), host("b", "n", "host"), host("c", "n", "host")}),
                  {"b", "c", "role = host", "node n", "one"});
  expect_mentions(refused({host("a", "n0"), host("b", "no", "host")}),
                  {"b", "role = host of node no", "no other host"});
}

TEST(Cluster, SaysHowManyHostsThereAreIfTooManyAreWanted) {
  expect_mentions(error_of([] { choose_cluster(plain_hosts(4), {.workers = 5}); }),
                  {"workers = 5", "4"});
  expect_mentions(error_of([] { choose_cluster(plain_hosts(4), {.workers = 3, .servers = 2}); }),
                  {"servers = 2", "1"});
}

TEST(Cluster, DoesNotCountServersAsWorkers) {
  expect_mentions(error_of([] {
                    choose_cluster({host("a"), host("s", "", "server")}, {.workers = 2});
                  }),
                  {"workers = 2", "1"});
}

TEST(Cluster, RefusesAPlatformWithoutWorkers) {
  EXPECT_THROW(choose_cluster({}, {}), std::invalid_argument);
  EXPECT_THROW(choose_cluster({host("s", "", "server")}, {}), std::invalid_argument);
}

TEST(Cluster, NamesTheHostAndWhatIsAllowedForAnUnknownRole) {
  expect_mentions(error_of([] {
                    choose_cluster({host("a"), host("b", "", "wroker")}, {});
                  }),
                  {"b", "wroker", "worker", "server", "host"});
}

}  // namespace
}  // namespace syncline
