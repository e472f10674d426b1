#include "tests/reference/platforms.h"

#include <stdexcept>

#include "tests/reference/draw.h"

namespace syncline::reference {
namespace {

using Sharing = PlatformTree::Sharing;

// Machines for servers, each with a card connected to these links.
int add_servers(PlatformTree& tree, Draw& draw, double Bps, double latency_s,
                const std::vector<int>& above = {}) {
  const int servers = draw.one_of<int>({1, 2, 3, 4});
  for (int server = 0; server < servers; ++server) {
    std::vector<int> up = {tree.link(Bps, latency_s)};
    up.insert(up.end(), above.begin(), above.end());
    tree.host("server", -1, std::move(up));
  }
  return servers;
}

// Nodes with these numbers of workers, joined by a bus, with one card and sometimes a host of their
// own.
void add_nodes(PlatformTree& tree, Draw& draw, const std::vector<int>& sizes, double nic_Bps,
               double latency_s, const std::vector<int>& above = {}) {
  static constexpr double bus_to_nic = 4;
  const bool has_host = draw.sometimes();
  for (std::size_t node = 0; node < sizes.size(); ++node) {
    std::vector<int> card = {tree.link(nic_Bps, latency_s)};
    card.insert(card.end(), above.begin(), above.end());
    const int number = static_cast<int>(node);
    const auto add = [&](const std::string& role, double Bps) {
      std::vector<int> up = {tree.link(Bps, 2e-6)};
      up.insert(up.end(), card.begin(), card.end());
      tree.host(role, number, std::move(up));
    };
    if (sizes[node] == 1) {
      tree.host("worker", number, card);
      continue;
    }
    for (int worker = 0; worker < sizes[node]; ++worker)
      add("worker", bus_to_nic * nic_Bps);
    if (has_host)
      add("host", 2 * bus_to_nic * nic_Bps);
  }
}

int plain_star(PlatformTree& tree, Draw& draw) {
  const double nic_Bps = draw.card_Bps();
  const double latency_s = draw.one_of<double>({2e-6, 1e-5, 5e-5});
  const int m = draw.one_of<int>({1, 1, 2, 4});
  add_nodes(tree, draw,
            std::vector<int>(draw.one_of<std::size_t>({2, 3, 4}) * (m == 1 ? 2u : 1u), m), nic_Bps,
            latency_s);
  return add_servers(tree, draw, nic_Bps, latency_s);
}

int star_of_unequal_cards(PlatformTree& tree, Draw& draw) {
  const int n = draw.one_of<int>({4, 5, 6, 8});
  const double nic_Bps = draw.card_Bps();
  for (int node = 0; node < n; ++node)
    tree.host("worker", node, {tree.link(nic_Bps * draw.between(0.3, 1), 1e-5)});
  return add_servers(tree, draw, nic_Bps, 1e-5);
}

int other_way_up_than_down(PlatformTree& tree, Draw& draw) {
  const int n = draw.one_of<int>({4, 6, 7, 8});
  const double down_Bps = draw.card_Bps();
  const double up_Bps = down_Bps * draw.between(0.1, 0.7);
  for (int node = 0; node < n; ++node)
    tree.host("worker", node, {tree.link_of_two(up_Bps, down_Bps, 1e-5)});
  return add_servers(tree, draw, down_Bps, 1e-5);
}

// Each worker has its own card, connected to the switch for its place in the node; switches are
// joined.
int rails(PlatformTree& tree, Draw& draw) {
  const int nodes = draw.one_of<int>({2, 3, 4});
  const int m = draw.one_of<int>({2, 4});
  const double nic_Bps = draw.card_Bps();
  std::vector<int> spine;
  for (int rail = 0; rail < m; ++rail)
    spine.push_back(tree.link(nic_Bps * nodes * draw.one_of<double>({0.5, 1, 2}), 2e-6));
  const bool has_host = draw.sometimes();
  for (int node = 0; node < nodes; ++node) {
    for (int rail = 0; rail < m; ++rail)
      tree.host("worker", node, {tree.link(nic_Bps, 5e-6), spine[static_cast<std::size_t>(rail)]},
                {tree.link(8 * nic_Bps, 2e-6)});
    if (has_host)
      tree.host("host", node, {tree.link(nic_Bps, 5e-6), spine[0]}, {tree.link(8 * nic_Bps, 0)});
  }
  return add_servers(tree, draw, nic_Bps, 5e-6);
}

// Two buses per node with two workers each, which meet at the root complex before the card.
int pcie_trees(PlatformTree& tree, Draw& draw) {
  const int nodes = draw.one_of<int>({2, 3, 4});
  const double nic_Bps = draw.card_Bps();
  const double bus_Bps = nic_Bps * draw.between(0.6, 2.5);
  for (int node = 0; node < nodes; ++node) {
    const int card = tree.link(nic_Bps, 5e-6);
    for (int bus = 0; bus < 2; ++bus) {
      const int shared =
          tree.link(bus_Bps, 1e-6, draw.sometimes() ? Sharing::split : Sharing::shared);
      for (int worker = 0; worker < 2; ++worker)
        tree.host("worker", node, {tree.link(bus_Bps, 1e-6), shared, card});
    }
    tree.host("host", node, {tree.link(3 * bus_Bps, 0), card});
  }
  return add_servers(tree, draw, nic_Bps, 5e-6);
}

int two_sites(PlatformTree& tree, Draw& draw) {
  const double nic_Bps = draw.one_of<double>({1.25e8, 1.25e9});
  const double far_s = draw.between(1e-3, 0.1);
  const double wan_Bps = nic_Bps * draw.one_of<double>({1, 4, 20});
  int node = 0;
  int servers = 0;
  for (int site = 0; site < 2; ++site) {
    const int uplink = tree.link(wan_Bps, far_s / 2);
    for (int i = 0; i < 4; ++i)
      tree.host("worker", node++, {tree.link(nic_Bps, 1e-5), uplink});
    if (site == 0)
      servers = add_servers(tree, draw, nic_Bps, 1e-5, {uplink});
  }
  return servers;
}

int groups_on_shared_uplinks(PlatformTree& tree, Draw& draw) {
  const double nic_Bps = draw.card_Bps();
  int node = 0;
  for (int group = 0; group < 3; ++group) {
    const int members = draw.one_of<int>({2, 3, 4});
    const int uplink = tree.link(nic_Bps * members * draw.between(0.25, 0.8), 1e-5,
                                 draw.sometimes() ? Sharing::split : Sharing::shared);
    for (int i = 0; i < members; ++i)
      tree.host("worker", node++, {tree.link(nic_Bps, 1e-5), uplink});
  }
  return add_servers(tree, draw, nic_Bps, 1e-5);
}

int fatpipe_core(PlatformTree& tree, Draw& draw) {
  const double nic_Bps = draw.card_Bps();
  const int m = draw.one_of<int>({1, 2, 4});
  add_nodes(tree, draw, std::vector<int>(draw.one_of<std::size_t>({2, 4}) * (m == 1 ? 2u : 1u), m),
            nic_Bps, 5e-6);
  const int servers = add_servers(tree, draw, nic_Bps, 5e-6);
  tree.core(tree.link(nic_Bps * draw.between(0.15, 1), 5e-6, Sharing::fatpipe));
  return servers;
}

int unequal_nodes(PlatformTree& tree, Draw& draw) {
  const double nic_Bps = draw.card_Bps();
  add_nodes(tree, draw,
            draw.one_of<std::vector<int>>({{1, 3, 4}, {4, 1}, {2, 3}, {1, 1, 2, 4}, {3, 1, 2}}),
            nic_Bps, 1e-5);
  return add_servers(tree, draw, nic_Bps, 1e-5);
}

int mixed_latencies(PlatformTree& tree, Draw& draw) {
  const int n = draw.one_of<int>({4, 6, 8});
  const double nic_Bps = draw.card_Bps();
  const double most_s = draw.one_of<double>({1e-4, 1e-3, 2e-2});
  for (int node = 0; node < n; ++node)
    tree.host("worker", node, {tree.link(nic_Bps, draw.between(1e-6, most_s))});
  return add_servers(tree, draw, nic_Bps, draw.between(1e-6, most_s));
}

const std::vector<std::pair<std::string, int (*)(PlatformTree&, Draw&)>> kinds = {
    {"star", plain_star},
    {"unequal cards", star_of_unequal_cards},
    {"up is not down", other_way_up_than_down},
    {"rails", rails},
    {"PCIe trees", pcie_trees},
    {"two sites", two_sites},
    {"shared uplinks", groups_on_shared_uplinks},
    {"FATPIPE core", fatpipe_core},
    {"unequal nodes", unequal_nodes},
    {"mixed latencies", mixed_latencies}};

}  // namespace

const std::vector<std::string>& kinds_of_platforms() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, draw] : kinds)
      all.push_back(name);
    return all;
  }();
  return names;
}

Drawn drawn_platform(const std::string& kind, std::uint64_t seed) {
  for (std::size_t i = 0; i < kinds.size(); ++i)
    if (kinds[i].first == kind) {
      Draw draw(seed * kinds.size() + i);
      PlatformTree tree;
      Drawn drawn{.kind = kind, .name = kind + " " + std::to_string(seed)};
      drawn.servers = kinds[i].second(tree, draw);
      drawn.xml = tree.xml();
      return drawn;
    }
  throw std::invalid_argument("no kind of platform is called " + kind);
}

}  // namespace syncline::reference
