#include <algorithm>
#include <string>

#include "tests/reference/draw.h"
#include "tests/reference/scenarios.h"

namespace syncline::reference {
namespace {

struct KindOfNode {
  int nodes, gpus, cards;
};

// One or two kinds of nodes; at most 24 GPUs in all.
std::vector<KindOfNode> drawn_nodes(Draw& draw) {
  for (;;) {
    std::vector<KindOfNode> kinds(draw.one_of<std::size_t>({1, 1, 2}));
    int gpus = 0;
    int nodes = 0;
    for (KindOfNode& kind : kinds) {
      kind.nodes = draw.one_of<int>({1, 2, 3, 4, 5});
      kind.gpus = draw.one_of<int>({1, 2, 3, 4, 5, 6, 7, 8});
      kind.cards = std::min(kind.gpus, draw.one_of<int>({1, 2, 3, 4, 5, 6, 7, 8}));
      nodes += kind.nodes;
      gpus += kind.nodes * kind.gpus;
    }
    if (nodes > 1 && gpus <= 24)
      return kinds;
  }
}

struct Network {
  std::string words;
  bool is_narrow = false;  // as narrow as a card: a second card carries no more
};

// A single network, leaf switches with possibly narrow uplinks, or two sites joined by a line.
Network drawn_network(Draw& draw, const std::vector<KindOfNode>& kinds) {
  const double times = draw.one_of<double>({1, 1.5, 2, 3, 4});
  const std::string over = ":oversubscription=" + std::to_string(times);
  const int nodes_of_leaf = draw.one_of<int>({1, 2});
  const auto line = draw.one_of<std::string>({"10Gbps", "100Gbps", "1000Gbps"});
  const std::string taken = draw.one_of<std::string>({"one", "one", "rails", "leaves", "sites"});
  if (taken == "sites")
    return {":sites=2:distance=1ms:line=" + line, line != "1000Gbps"};
  if (taken == "one" || kinds.size() > 1)
    return {};
  const bool is_narrow = kinds[0].nodes > nodes_of_leaf && nodes_of_leaf * kinds[0].cards <= times;
  if (taken == "rails")
    return {":rails=on:leaf=" + std::to_string(nodes_of_leaf) + over, is_narrow};
  return {":rails=off:leaf=" + std::to_string(nodes_of_leaf * kinds[0].cards) + over, is_narrow};
}

}  // namespace

Cell drawn_machine(std::uint64_t seed) {
  static const std::vector<std::pair<std::string, std::string>> sizes = {
      {"1 MB", model_file({250'000})},
      {"100 MB", model_file({25'000'000})},
      {"100 MB in 4", model_file({1'000'000, 9'000'000, 5'000'000, 10'000'000})}};
  Draw draw(1000 * seed);  // seeds 1 apart would share draws
  const std::vector<KindOfNode> kinds = drawn_nodes(draw);
  const std::string rate = draw.one_of<std::string>({"100Gbps", "200Gbps", "400Gbps"});
  const std::string what = draw.one_of<std::string>({"ring", "tree", "fsdp"});
  const auto [size, model] = draw.one_of(sizes);
  std::string gpus;
  std::string cards;
  Cell cell{.what = what, .kind = "machine", .platform = {}, .size = size, .options = {}};
  for (const KindOfNode& kind : kinds) {
    const std::string plus = gpus.empty() ? "" : "+";
    gpus += plus + std::to_string(kind.nodes) + "x" + std::to_string(kind.gpus);
    cards += plus + std::to_string(kind.cards) + "x" + rate;
    for (int node = 0; node < kind.nodes; ++node)
      for (int gpu = 0; gpu < kind.gpus; ++gpu)
        cell.cards.push_back(gpu * kind.cards / kind.gpus);
  }
  const Network network = drawn_network(draw, kinds);
  if (network.is_narrow)
    std::ranges::fill(cell.cards, 0);
  // A slot wider than a card, so that cards are the limit.
  cell.platform = "dgx:pcie=200GBps:gpus=" + gpus + ":cards=" + cards + network.words;
  cell.options = {{"platform", cell.platform}, {"model", model},    {"batch", "1"},
                  {"throughput", "1e6"},       {"iterations", "2"}, {"warmup", "0"}};
  if (what == "fsdp")
    cell.options.insert({{"schedule", "fsdp"}, {"units", "100000"}});
  else
    cell.options.insert({{"exchange", what}, {"bucket-bytes", "16000000"}});
  return cell;
}

}  // namespace syncline::reference
