#include "sim/setup/channels.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace syncline {
namespace {

constexpr double almost = 1e-6;

// The workers of a node, by the card that they leave it by: each card's in order.
using Cards = std::vector<std::vector<int>>;

// The worker at the same place in the next node, in proportion where that has more or fewer.
int partner_of(const Topology& topology, int worker) {
  const auto nodes = static_cast<int>(topology.nodes.size());
  const std::vector<int>& own = topology.node_with(worker);
  const int next = (topology.node_of[index(worker)] + 1) % nodes;
  const std::vector<int>& others = topology.nodes[index(next)];
  return others[index(worker - own.front()) * others.size() / own.size()];
}

// The links on the worker's ways to its neighbours in its node.
void add_inside(const Topology& topology, Routes& routes, int worker, std::set<int>& links) {
  const std::vector<int>& node = topology.node_with(worker);
  const auto size = static_cast<int>(node.size());
  const int place = worker - node.front();
  if (size == 1)
    return;
  for (const int other : {node[index((place + 1) % size)], node[index((place + size - 1) % size)]})
    for (const auto& [from, to] : {std::pair(worker, other), std::pair(other, worker)})
      for (const int link : routes.between(from, to).links)
        links.insert(link);
}

// One card of all workers, where a ring would not be faster by leaving elsewhere too. Workers are
// taken in order: one that finds room for a flow as fast as its narrowest link has a card of its
// own, others share that of the flow in their way.
Cards cards_of(const Topology& topology, Routes& routes, const std::vector<int>& node) {
  std::map<int, double> left_Bps;  // of the links that flows of this node take
  std::map<int, std::size_t> card_on;
  Cards cards;
  for (const int worker : node) {
    const int partner = partner_of(topology, worker);
    const Route route = routes.between(worker, partner);
    double own_Bps = route.flow_Bps;
    for (const int link : route.links)
      own_Bps = std::min(own_Bps, routes.link(link).bandwidth.mean_Bps());
    std::set<int> inside;
    add_inside(topology, routes, worker, inside);
    add_inside(topology, routes, partner, inside);
    std::size_t card = cards.size();
    for (const int link : route.links) {
      const double all_Bps = routes.link(link).bandwidth.mean_Bps();
      if (all_Bps <= own_Bps * (1 + almost) && inside.contains(link))
        return {node};
      const double room_Bps = left_Bps.try_emplace(link, all_Bps).first->second;
      if (room_Bps < own_Bps * (1 - almost))
        card = std::min(card, card_on.at(link));
    }
    if (card == cards.size()) {
      cards.emplace_back();
      for (const int link : route.links) {
        left_Bps[link] -= own_Bps;
        card_on[link] = card;
      }
    }
    cards[card].push_back(worker);
  }
  return cards;
}

// The node's workers in the order in which a channel that leaves by this card goes through them.
std::vector<int> order_of(const Cards& cards, int card, bool backwards) {
  std::vector<int> order;
  for (std::size_t i = 0; i < cards.size(); ++i)
    for (const int worker : cards[(index(card) + i) % cards.size()])
      order.push_back(worker);
  const std::size_t sharing = cards[index(card)].size();
  if (sharing > 1)  // begins at the last of those who share the card, so that another one is last
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(sharing) - 1,
                order.end());
  else if (backwards)
    std::ranges::reverse(order);
  return order;
}

}  // namespace

std::vector<Channel> channels_over(const Topology& topology, Routes& routes,
                                   std::optional<int> wanted) {
  if (topology.nodes.size() == 1 || wanted == 1)
    return {};
  std::vector<Cards> cards;
  int count = topology.workers();
  for (const std::vector<int>& node : topology.nodes) {
    cards.push_back(node.size() == 1 ? Cards{node} : cards_of(topology, routes, node));
    count = std::min(count, static_cast<int>(cards.back().size()));
    if (count == 1 && !wanted)
      return {};
  }
  std::vector<std::vector<int>> rings(index(wanted.value_or(count)));
  for (std::size_t channel = 0; channel < rings.size(); ++channel)
    for (std::size_t node = 0; node < cards.size(); ++node) {
      const auto card = static_cast<int>(channel % cards[node].size());
      for (const int worker : order_of(cards[node], card, node % 2 == 1))
        rings[channel].push_back(worker);
    }
  return channels_of(std::move(rings));
}

}  // namespace syncline
