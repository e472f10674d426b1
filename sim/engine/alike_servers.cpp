#include "sim/engine/alike_servers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <simgrid/s4u.hpp>
#include <utility>

#include "sim/catalogue/network.h"
#include "sim/collectives.h"
#include "sim/platform/routes.h"

namespace syncline {
namespace {

namespace sg = simgrid::s4u;

// Up to this many flows at a time are simulated fast enough one by one.
constexpr int few_flows = 256;
// From this many flows on a run takes minutes; workers then exchange with only a few nodes.
constexpr int many_flows = 4096;

bool may_be_one(const Setup& setup) {
  const Traffic& traffic = setup.traffic;
  const Topology& topology = traffic.cluster.topology;
  return traffic.partners != Schedule::Partners::each_other && topology.servers > 1 &&
         !traffic.every_step && !traffic.compression.on() && !setup.scenario.varies_at_servers() &&
         !setup.scenario.servers_hold_tensors && setup.profiles.shown_s == 0 &&
         setup.scenario.network->latency_after_flow && topology.pairs() > few_flows;
}

// Maps the links of the first server's routes to the links of another server's routes.
class Counterparts {
 public:
  explicit Counterparts(const Routes& routes) : routes_(routes) {}

  // True if a route of the first server and a route of the other take the same time.
  bool match(const Route& first, const Route& other) {
    if (first.latency_s != other.latency_s || std::isfinite(first.flow_Bps) ||
        std::isfinite(other.flow_Bps) || first.links.size() != other.links.size())
      return false;
    for (std::size_t i = 0; i < first.links.size(); ++i) {
      const auto [own, added] = cards_.emplace(first.links[i], other.links[i]);
      if (own->second != other.links[i] ||
          bandwidth_Bps(first.links[i]) != bandwidth_Bps(other.links[i]))
        return false;
    }
    return true;
  }
  // The first server's own links, each with the other server's link in its place.
  std::map<int, int> cards() const {
    std::map<int, int> own = cards_;
    std::erase_if(own, [](const auto& card) { return card.first == card.second; });
    return own;
  }

 private:
  double bandwidth_Bps(int link) const { return routes_.links()[index(link)].bandwidth.mean_Bps(); }

  const Routes& routes_;
  std::map<int, int> cards_;
};

}  // namespace

std::optional<AlikeServers> AlikeServers::of(const Setup& setup) {
  if (!may_be_one(setup))
    return std::nullopt;
  if (setup.scenario.servers == 0)
    return on_nodes(setup);
  if (setup.traffic.partners == Schedule::Partners::servers)
    return of_their_own(setup);
  return std::nullopt;  // the nodes' sums do not come at the same time
}

std::optional<AlikeServers> AlikeServers::on_nodes(const Setup& setup) {
  const Cluster& cluster = setup.traffic.cluster;
  const auto nodes = static_cast<int>(cluster.topology.nodes.size());
  if (!nodes_of_one_size(cluster.topology) ||
      static_cast<long long>(cluster.topology.workers()) * nodes < many_flows)
    return std::nullopt;
  AlikeServers servers;
  servers.count_ = nodes;
  servers.cards_.emplace_back();
  servers.node_distances_ =
      representative_distances(nodes, std::clamp(many_flows / cluster.topology.workers(), 1, 8));
  Routes routes = cluster.routes();
  std::set<double> widths_Bps;
  for (int node = 0; node < nodes; ++node)
    for (const DistanceRange& range : servers.node_distances_)
      widths_Bps.insert(routes.width_Bps(cluster.aggregator_of(node),
                                         cluster.aggregator_of((node + range.middle) % nodes)));
  if (widths_Bps.size() != 1)
    return std::nullopt;
  servers.node_distances_.insert(servers.node_distances_.begin(),
                                 {.middle = 0, .first = 0, .last = 0});
  return servers;
}

std::optional<AlikeServers> AlikeServers::of_their_own(const Setup& setup) {
  const Topology& topology = setup.traffic.cluster.topology;
  const int first = topology.workers();
  Routes routes = setup.traffic.cluster.routes();
  std::vector<std::pair<Route, Route>> of_first;
  for (int worker = 0; worker < first; ++worker)
    of_first.emplace_back(routes.between(worker, first), routes.between(first, worker));

  AlikeServers servers;
  servers.count_ = topology.servers;
  std::set<int> own;       // cards of the other servers
  std::set<int> of_links;  // cards of the first server
  for (int server = first + 1; server < topology.ranks(); ++server) {
    Counterparts counterparts(routes);
    for (int worker = 0; worker < first; ++worker) {
      const auto& [there, back] = of_first[index(worker)];
      if (!counterparts.match(there, routes.between(worker, server)) ||
          !counterparts.match(back, routes.between(server, worker)))
        return std::nullopt;
    }
    const std::map<int, int> cards = counterparts.cards();
    const auto name = [&](int link) { return routes.links()[index(link)].name; };
    std::set<int> keys;
    std::vector<std::string> of_this;
    for (const auto& [link, counterpart] : cards) {
      keys.insert(link);
      of_this.push_back(name(counterpart));
      if (!own.insert(counterpart).second)
        return std::nullopt;  // two servers share it
    }
    if (servers.cards_.empty()) {
      of_links = keys;
      servers.cards_.emplace_back();
      for (const int link : keys)
        servers.cards_.front().push_back(name(link));
    }
    if (keys != of_links || std::ranges::any_of(keys, [&](int link) { return own.contains(link); }))
      return std::nullopt;
    servers.cards_.push_back(std::move(of_this));
  }
  return servers;
}

Setup AlikeServers::as_one(const Setup& setup) const {
  Setup one = setup;
  one.node_distances = node_distances_;
  one.servers_as_one = count_;
  Cluster& cluster = one.traffic.cluster;
  const auto remove_others = [&](std::vector<std::string>& of_ranks) {
    const auto second = of_ranks.begin() + cluster.topology.workers() + 1;
    of_ranks.erase(second, second + count_ - 1);
  };
  remove_others(cluster.rank_hosts);
  remove_others(cluster.rank_names);
  cluster.topology.servers = 1;
  one.scenario.host_memory_Bps *= count_;
  one.traffic.host_memory_Bps *= count_;
  for (const std::string& card : cards_.front()) {
    sg::Link* link = sg::Link::by_name(card);
    link->set_bandwidth(link->get_bandwidth() * count_);
  }
  return one;
}

void AlikeServers::spread(std::vector<LinkUse>& links) const {
  const auto count = static_cast<double>(count_);
  for (std::size_t card = 0; card < cards_.front().size(); ++card) {
    const auto use = std::ranges::find(links, cards_.front()[card], &LinkUse::name);
    if (use == links.end())
      continue;
    use->bandwidth = use->bandwidth.times(1 / count);
    use->bytes /= count;
    use->measured_bytes /= count;
    LinkUse other = *use;
    for (std::size_t server = 1; server < cards_.size(); ++server) {
      other.name = cards_[server][card];
      links.push_back(other);
    }
  }
}

}  // namespace syncline
