#include "sim/traffic/channels.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <utility>

namespace syncline {
namespace {

constexpr double almost = 1e-6;
// A number of channels must be faster by more than this to count as faster.
constexpr double too_little = 0.001;

using Rings = std::vector<std::vector<int>>;

// A node's network card: the workers that leave the node by the same narrowest link.
struct Card {
  double Bps = 0;
  std::vector<int> workers;
};

// The cards of a node, the fastest first.
using Cards = std::vector<Card>;

double Bps_of(const Routes& routes, int link) {
  return routes.link(link).bandwidth.mean_Bps();
}

// Bandwidth of all rings together, if all carry equally much and flows share links equally.
double carried_Bps(Routes& routes, const Rings& rings) {
  double flow_Bps = std::numeric_limits<double>::infinity();
  std::vector<int> flows;  // by link
  for (const std::vector<int>& ring : rings)
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const Route route = routes.between(ring[i], ring[(i + 1) % ring.size()]);
      flow_Bps = std::min(flow_Bps, route.flow_Bps);
      flows.resize(routes.links().size());
      for (const int link : route.links)
        ++flows[index(link)];
    }
  for (std::size_t link = 0; link < flows.size(); ++link)
    if (flows[link] > 0)
      flow_Bps = std::min(flow_Bps, Bps_of(routes, static_cast<int>(link)) / flows[link]);
  return static_cast<double>(rings.size()) * flow_Bps;
}

// Links that are on all of a worker's routes to the next node; up to eight of these routes are
// compared. The links behind a card of that node are therefore left out, unless that node has only
// one card.
Route way_out(const Topology& topology, Routes& routes, int worker) {
  constexpr std::size_t most = 8;
  const auto nodes = static_cast<int>(topology.nodes.size());
  const std::vector<int>& others =
      topology.nodes[index((topology.node_of[index(worker)] + 1) % nodes)];
  const std::size_t looks = std::min(most, others.size());
  Route common = routes.between(worker, others.front());
  for (std::size_t i = 1; i < looks; ++i) {
    const Route other = routes.between(worker, others[i * (others.size() - 1) / (looks - 1)]);
    common.flow_Bps = std::max(common.flow_Bps, other.flow_Bps);
    std::erase_if(common.links,
                  [&](int link) { return std::ranges::count(other.links, link) == 0; });
  }
  return common;
}

Cards cards_of(const Topology& topology, Routes& routes, const std::vector<int>& node) {
  std::map<int, std::size_t> card_on;  // by link
  Cards cards;
  for (const int worker : node) {
    const Route route = way_out(topology, routes, worker);
    double Bps = route.flow_Bps;
    for (const int link : route.links)
      Bps = std::min(Bps, Bps_of(routes, link));
    std::vector<int> narrowest = route.links;
    std::erase_if(narrowest, [&](int link) { return Bps_of(routes, link) > Bps * (1 + almost); });
    const auto shared =
        std::ranges::find_if(narrowest, [&](int link) { return card_on.contains(link); });
    const std::size_t card = shared == narrowest.end() ? cards.size() : card_on.at(*shared);
    if (card == cards.size())
      cards.push_back({.Bps = Bps});
    cards[card].workers.push_back(worker);
    for (const int link : narrowest)
      card_on.emplace(link, card);
  }
  std::ranges::stable_sort(cards, std::greater(), &Card::Bps);
  return cards;
}

// By node: 0: a channel leaves by the card it entered by; -1: by the card before, having gone
// through the cards in ascending order; 1: by the card after, in descending order. The numbers add
// up to 0 where possible, so that each channel ends at the card where it began.
std::vector<int> moves_of(const std::vector<Cards>& cards, int count) {
  std::vector<std::size_t> moving;
  std::vector<std::size_t> staying;
  for (std::size_t node = 0; node < cards.size(); ++node) {
    const auto used = std::min(cards[node].size(), index(count));
    const bool all_shared =
        std::all_of(cards[node].begin(), cards[node].begin() + static_cast<std::ptrdiff_t>(used),
                    [](const Card& card) { return card.workers.size() > 1; });
    (all_shared ? staying : moving).push_back(node);
  }
  if (moving.size() % 2 == 1 && !staying.empty())
    moving.insert(std::ranges::lower_bound(moving, staying.back()), staying.back());
  std::vector<int> moves(cards.size());
  for (std::size_t i = 0; i < moving.size(); ++i)
    moves[moving[i]] = i % 2 == 0 ? -1 : 1;
  return moves;
}

// The node's workers in the order of a channel that enters and leaves the node by these cards.
std::vector<int> order_of(const Cards& cards, int entered, int left, bool backwards) {
  const auto count = static_cast<int>(cards.size());
  std::vector<int> order;
  const auto append = [&](int card) {
    const std::vector<int>& workers = cards[index(card)].workers;
    if (backwards)
      order.insert(order.end(), workers.rbegin(), workers.rend());
    else
      order.insert(order.end(), workers.begin(), workers.end());
  };
  append(entered);
  for (int i = 1; i < count; ++i)
    if (const int card = (entered + (backwards ? count - i : i)) % count; card != left)
      append(card);
  if (left != entered)
    append(left);
  else  // begin at the card's last worker, so that another worker of this card is last
    std::rotate(order.begin(),
                order.begin() + static_cast<std::ptrdiff_t>(cards[index(left)].workers.size()) - 1,
                order.end());
  return order;
}

Rings rings_over(const Topology& topology, const std::vector<Cards>& cards, int count) {
  Rings rings(index(count));
  if (count == 1) {  // in the order of ranks
    for (int worker = 0; worker < topology.workers(); ++worker)
      rings[0].push_back(worker);
    return rings;
  }
  const std::vector<int> moves = moves_of(cards, count);
  for (int channel = 0; channel < count; ++channel) {
    int entered = channel;
    for (std::size_t node = 0; node < cards.size(); ++node) {
      const int left = (entered + moves[node] + count) % count;
      const auto own = static_cast<int>(cards[node].size());  // several channels may share a card
      for (const int worker : order_of(cards[node], entered % own, left % own, moves[node] > 0))
        rings[index(channel)].push_back(worker);
      entered = left;
    }
  }
  return rings;
}

// One channel, if it carries about as much as any other number; else the largest number that
// carries about the most.
int best_count(const Topology& topology, const std::vector<Cards>& cards, Routes& routes,
               int most) {
  double fastest_Bps = std::numeric_limits<double>::infinity();  // bandwidth of one channel
  for (const Cards& of_node : cards)
    fastest_Bps = std::min(fastest_Bps, of_node.front().Bps);
  std::vector<std::pair<int, double>> tried;
  double best_Bps = 0;
  for (int count = most; count >= 1; --count) {
    if (count * fastest_Bps < best_Bps * (1 - too_little))
      break;
    tried.emplace_back(count, carried_Bps(routes, rings_over(topology, cards, count)));
    best_Bps = std::max(best_Bps, tried.back().second);
  }
  const auto is_best = [&](const std::pair<int, double>& one) {
    return one.second >= best_Bps * (1 - too_little);
  };
  const int best = tried.back().first == 1 && is_best(tried.back())
                       ? 1
                       : std::ranges::find_if(tried, is_best)->first;
  return best;
}

}  // namespace

std::vector<Channel> channels_over(const Topology& topology, Routes& routes,
                                   std::optional<int> wanted) {
  if (topology.nodes.size() == 1 || wanted == 1)
    return {};
  std::vector<Cards> cards;
  int most = topology.workers();
  for (const std::vector<int>& node : topology.nodes) {
    cards.push_back(node.size() == 1 ? Cards{{.workers = node}} : cards_of(topology, routes, node));
    most = std::min(most, static_cast<int>(cards.back().size()));
    if (most == 1 && !wanted)
      return {};
  }
  const int count = wanted ? *wanted : best_count(topology, cards, routes, most);
  return count == 1 ? std::vector<Channel>{} : channels_of(rings_over(topology, cards, count));
}

}  // namespace syncline
