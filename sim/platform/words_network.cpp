#include "sim/platform/words_network.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "sim/platform/link_factors.h"
#include "sim/platform/platform_values.h"

namespace syncline {
namespace {

// The place of a host: its node, and its number among the node's GPUs; -1: the node's memory.
struct Place {
  int node = 0;
  int gpu = -1;
};

// The kinds of links in a node, in the order of their numbers. A node may have several of the first
// three kinds.
enum Kind { pcie, nvlink, card, memory, memory_cards, out, host };
constexpr int up = 0, down = 1;

// Each link is two, up and down; of `host`, which both directions share, there is only the first.
// Links are numbered in this order: links of each node, of leaf switches, and of sites' lines.
class WordsNetwork {
 public:
  WordsNetwork(const PlatformPlan& plan, const NetworkOptions& options)
      : plan_(plan),
        options_(options),
        gpus_(*std::ranges::max_element(plan.gpus)),
        cards_(std::ranges::max_element(plan.cards, {}, &PlatformPlan::Cards::count)->count),
        nvlink_Bps_(plan.nvlink ? bandwidth_Bps(plan.text("nvlink")) : 0),
        line_Bps_(bandwidth_Bps(plan.text("line"))) {
    for (int site = 0; site < plan.sites; ++site) {
      for (int node = 0; node < plan.nodes_at(site); ++node) {
        site_of_.push_back(site);
        if (plan.nodes_per_leaf > 0 && node % plan.nodes_per_leaf == 0)
          leaves_.push_back({site, node / plan.nodes_per_leaf});
        leaf_of_.push_back(static_cast<int>(leaves_.size()) - 1);
      }
    }
    for (const PlatformPlan::Gpu& kind : plan.gpu_kinds)
      slot_Bps_.push_back(bandwidth_Bps(kind.slot));
    for (int node = 0; node < plan.nodes(); ++node)
      for (int gpu = 0; gpu <= plan.gpus[index(node)]; ++gpu)
        places_.push_back({node, gpu < plan.gpus[index(node)] ? gpu : -1});
  }

  // In natural order, so that choosing hosts needs no sorting.
  std::vector<HostFacts> hosts() const {
    std::vector<HostFacts> all;
    all.reserve(places_.size());
    for (const auto& [node, gpu] : places_) {
      const std::string name = fmt::format("node{}", node);
      const PlatformPlan::Gpu& kind = plan_.gpu_kinds[index(node)];
      if (gpu < 0)
        all.push_back({.name = name + "-memory",
                       .node = name,
                       .device = "",
                       .role = "host",
                       .speed_flops = 1e12});
      else
        all.push_back(
            {.name = fmt::format("{}-gpu{}", name, gpu),
             .node = name,
             .device = kind.device,
             .role = "",
             .speed_flops = speed_flops(kind.speed),
             .site = plan_.sites > 1 ? fmt::format("site{}", site_of_[index(node)]) : ""});
    }
    return all;
  }

  LinkPath path(int from, int to) const {
    const Place& source = places_[index(from)];
    const Place& target = places_[index(to)];
    LinkPath path;
    if (source.node == target.node) {
      const bool of_gpus = source.gpu >= 0 && target.gpu >= 0 && plan_.nvlink;
      path.links = {at_host(source, of_gpus) + up};
      if (plan_.host_Bps > 0)
        path.links.push_back(link_of(source.node, host));
      path.links.push_back(at_host(target, of_gpus) + down);
    } else {
      path.links.reserve(10);
      climb(source, target.node, up, path.links);
      const auto there = std::ssize(path.links);
      climb(target, source.node, down, path.links);
      std::reverse(path.links.begin() + there, path.links.end());
    }
    for (const int link : path.links)
      path.latency_s += latency_s(link);
    return path;
  }

  PlatformLink link(int number) const {
    std::string name = name_of(number);
    const double factor = options_.bandwidth_factor.value_or(1) *
                          bandwidth_factor_of(options_, name, is_of_cards(number));
    const bool is_named = names_link(options_.link_bandwidths, name);
    return {.name = std::move(name), .bandwidth = Bps(number) * factor, .is_named = is_named};
  }
  double latency_s(int number) const {
    const std::vector<LinkFactor>& factors = options_.link_latencies;
    const double factor = factors.empty() ? 1 : factor_of_link(factors, name_of(number));
    return latency_without_factor_s(number) * factor;
  }

  std::vector<std::string> link_names() const {
    std::vector<std::string> names;
    for (int number = 0; number < lines() + (plan_.sites > 1 ? 2 * plan_.sites : 0); ++number)
      if (exists(number))
        names.push_back(name_of(number));
    return names;
  }

 private:
  // Which link of a node a number stands for.
  struct InNode {
    int node = 0;
    Kind kind = pcie;
    int number = 0;  // among the links of its kind
  };
  int of_kind(Kind kind) const { return kind < card ? gpus_ : kind == card ? cards_ : 1; }
  int block() const { return 2 * (2 * gpus_ + cards_ + 4); }
  int leaf_links() const { return plan_.nodes() * block(); }
  int lines() const { return leaf_links() + 2 * static_cast<int>(leaves_.size()); }
  int link_of(int node, Kind kind, int number = 0) const {
    int before = 0;
    for (int other = pcie; other < kind; ++other)
      before += of_kind(static_cast<Kind>(other));
    return node * block() + 2 * (before + number);
  }
  InNode in_node(int link) const {
    int left = link % block() / 2;
    int kind = pcie;
    for (; left >= of_kind(static_cast<Kind>(kind)); ++kind)
      left -= of_kind(static_cast<Kind>(kind));
    return {link / block(), static_cast<Kind>(kind), left};
  }
  // Whether the link is one card of a node, or all of them together.
  bool is_of_cards(int link) const {
    if (link >= leaf_links())
      return false;
    const Kind kind = in_node(link).kind;
    return kind == card || kind == memory_cards || kind == out;
  }
  bool has_cards(int node) const { return plan_.cards[index(node)].count > 1; }

  int at_host(const Place& place, bool by_nvlink) const {
    return place.gpu < 0 ? link_of(place.node, memory)
                         : link_of(place.node, by_nvlink ? nvlink : pcie, place.gpu);
  }
  // Appends the links from a host upwards, to the switch that the links from the other node also
  // reach.
  void climb(const Place& place, int other, int direction, std::vector<int>& links) const {
    const int node = place.node;
    links.push_back(at_host(place, false) + direction);
    if (plan_.host_Bps > 0 && place.gpu >= 0)
      links.push_back(link_of(node, host));
    if (has_cards(node) && place.gpu < 0)
      links.push_back(link_of(node, memory_cards) + direction);
    else if (has_cards(node))
      links.push_back(
          link_of(node, card,
                  place.gpu * plan_.cards[index(node)].count / plan_.gpus[index(node)]) +
          direction);
    links.push_back(link_of(node, out) + direction);
    if (leaf_of_[index(node)] != leaf_of_[index(other)])
      links.push_back(leaf_links() + 2 * leaf_of_[index(node)] + direction);
    if (site_of_[index(node)] != site_of_[index(other)])
      links.push_back(lines() + 2 * site_of_[index(node)] + direction);
  }

  bool exists(int number) const {
    if (number >= leaf_links())
      return true;
    const auto [node, kind, of_kind] = in_node(number);
    const int gpus = plan_.gpus[index(node)];
    switch (kind) {
      case pcie:
        return of_kind < gpus;
      case nvlink:
        return plan_.nvlink && gpus > 1 && of_kind < gpus;
      case card:
        return has_cards(node) && of_kind < plan_.cards[index(node)].count;
      case memory_cards:
        return has_cards(node);
      case memory:
      case out:
        return true;
      case host:
        return plan_.host_Bps > 0 && number % 2 == up;
    }
    return false;
  }

  double Bps(int number) const {
    if (number >= leaf_links())
      return number < lines() ? plan_.uplink_Bps : line_Bps_;
    const auto [node, kind, of_kind] = in_node(number);
    const PlatformPlan::Cards& cards = plan_.cards[index(node)];
    return kind == pcie     ? slot_Bps_[index(node)]
           : kind == nvlink ? nvlink_Bps_
           : kind == card   ? cards.Bps
           : kind == host   ? plan_.host_Bps
                            : cards.count * (kind == memory ? memory_port_Bps : cards.Bps);
  }
  double latency_without_factor_s(int number) const {
    if (number >= leaf_links())
      return number < lines() ? 0 : plan_.distance_s / 2;
    const auto [node, kind, of_kind] = in_node(number);
    if (kind == nvlink || (kind == pcie && !plan_.nvlink))
      return plan_.inside_s / 2;
    return kind == card || kind == memory_cards || (kind == out && !has_cards(node))
               ? plan_.card_s()
               : 0;
  }

  std::string name_of(int number) const {
    const char* direction = number % 2 == up ? "_UP" : "_DOWN";
    if (number >= lines())
      return fmt::format("site{}-line{}", (number - lines()) / 2, direction);
    if (number >= leaf_links()) {
      const auto [site, leaf] = leaves_[index((number - leaf_links()) / 2)];
      return plan_.sites == 1 ? fmt::format("leaf{}-up{}", leaf, direction)
                              : fmt::format("site{}-leaf{}-up{}", site, leaf, direction);
    }
    const auto [node, kind, of_kind] = in_node(number);
    switch (kind) {
      case pcie:
        return fmt::format("node{}-gpu{}-pcie{}", node, of_kind, direction);
      case nvlink:
        return fmt::format("node{}-gpu{}-nvlink{}", node, of_kind, direction);
      case card:
        return fmt::format("node{}-nic{}{}", node, of_kind, direction);
      case memory:
        return fmt::format("node{}-memory{}", node, direction);
      case memory_cards:
        return fmt::format("node{}-memory-nics{}", node, direction);
      case out:
        return fmt::format("node{}-nic{}{}", node, has_cards(node) ? "s" : "", direction);
      case host:
        return fmt::format("node{}-host", node);
    }
    return {};
  }

  PlatformPlan plan_;
  NetworkOptions options_;
  int gpus_, cards_;  // the most of any node
  double nvlink_Bps_, line_Bps_;
  struct Leaf {
    int site = 0;
    int number = 0;  // within its site
  };
  std::vector<Leaf> leaves_;
  std::vector<int> site_of_, leaf_of_;  // by node; -1: there is one level of switches
  std::vector<double> slot_Bps_;        // by node
  std::vector<Place> places_;           // by host
};

}  // namespace

std::shared_ptr<Platform> words_network(const PlatformPlan& plan, const NetworkOptions& options) {
  const auto network = std::make_shared<const WordsNetwork>(plan, options);
  if (!options.link_bandwidths.empty() || !options.link_latencies.empty())
    check_link_factors(options, {}, network->link_names());
  return std::make_shared<Platform>(
      Platform{.name = plan.words,
               .hosts = network->hosts(),
               .place_of = {},
               .path = [network](int from, int to) { return network->path(from, to); },
               .link = [network](int link) { return network->link(link); },
               .link_latency_s = [network](int link) { return network->latency_s(link); },
               .latency_factor = options.latency_factor.value_or(1)});
}

}  // namespace syncline
