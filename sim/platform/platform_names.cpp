#include "sim/platform/platform_names.h"

#include "kernels/io/text.h"
#include "sim/catalogue/refuse.h"
#include "sim/platform/platform_values.h"

namespace syncline {
namespace {

constexpr std::size_t most_affix_bytes = 255;  // each host has its own copy

bool is_zone_route(const std::string& kind) {
  return kind == "zoneRoute" || kind == "ASroute";
}

bool is_bypass(const std::string& kind) {
  return kind == "bypassRoute" || kind == "bypassZoneRoute" || kind == "bypassASroute";
}

std::string quoted(const XmlElement& element, const std::string& attribute) {
  return attribute + " = " + brief(element.attribute(attribute));
}

// A cluster's links are named after its id: the part of a name before "_link_".
std::string cluster_of(const std::string& link) {
  const std::size_t end = link.find("_link_");
  return end == std::string::npos ? "" : link.substr(0, end);
}

}  // namespace

bool is_zone(const std::string& kind) {
  return kind == "zone" || kind == "AS";
}

void PlatformNames::begin(const XmlElement& element) {
  const std::string& kind = element.name;
  const std::string id = element.attribute("id");
  if (is_zone(kind))
    return open_new_zone(id, lower(element.attribute("routing")));
  if (kind == "cluster")
    return add_cluster(element);
  if (open_zone() < 0)  // the element cannot stand outside zones
    return;
  const bool has_coordinates = !element.attribute("coordinates").empty();
  if (kind == "cabinet")
    return add_hosts(element);
  if (kind == "peer" && zone().routing != "vivaldi")
    refuse("it is only allowed inside a <zone> with routing = Vivaldi");
  if ((kind == "host" || kind == "peer") && !has_coordinates && zone().routing == "vivaldi")
    refuse("no coordinates in a <zone> with routing = Vivaldi: allowed are 3 numbers");
  if (kind == "host")
    return add(Kind::host, id);
  if (kind == "peer")
    return add_linked_host(id);
  if (kind == "router")
    return add(Kind::router, id);
  if (kind == "link" || kind == "backbone")
    return add_link(element);
  if (kind == "host_link" || kind == "trace_connect")
    uses_.push_back(element);
  if (kind == "link_ctn")
    ++links_of_route_;
  if (kind == "link_ctn" || kind == "host_link")
    return check_link(element);
  if (kind == "route" || is_zone_route(kind))
    return add_route(element);
  if (is_bypass(kind))
    add_bypass(element);
}

void PlatformNames::end(const XmlElement& element) {
  const std::string& kind = element.name;
  if (is_zone(kind) && !open_.empty())
    open_.pop_back();
  if ((kind == "route" || is_zone_route(kind) || is_bypass(kind)) && links_of_route_ == 0)
    refuse("no <link_ctn> in it: allowed are one or more");
}

bool PlatformNames::names_a_host(const XmlElement& use) const {
  const Point* found = point(use.attribute(use.name == "host_link" ? "id" : "element"));
  return found != nullptr && found->is_host;
}

const PlatformNames::Point* PlatformNames::point(const std::string& name) const {
  const auto found = points_.find(name);
  return found == points_.end() ? nullptr : &found->second;
}

void PlatformNames::add(Kind kind, const std::string& name) {
  const Point* there = point(name);
  const bool is_taken = kind == Kind::host ? there != nullptr && there->is_host
                                           : there != nullptr || zone_of_name_.contains(name);
  if (is_taken)
    refuse("a second {} of the name {}: allowed is one",
           kind == Kind::host ? "host" : "host, router or zone", brief(name));
  if (kind == Kind::zone)
    zone_of_name_[name] = static_cast<int>(zones_.size());
  else
    points_[name] = {open_zone(), kind == Kind::host};
}

void PlatformNames::open_new_zone(const std::string& name, const std::string& routing) {
  if (open_.empty() && !zones_.empty())
    refuse("a second zone at the top: allowed is one zone that contains all others");
  add(Kind::zone, name);
  zones_.push_back({.routing = routing, .parent = open_zone()});
  open_.push_back(static_cast<int>(zones_.size()) - 1);
}

void PlatformNames::add_cluster(const XmlElement& element) {
  const std::string id = element.attribute("id");
  open_new_zone(id, "of a cluster");
  clusters_.insert(id);
  if (like_clusters_.contains(id) ||
      (!element.attribute("bb_bw").empty() && !links_.emplace(id + "_backbone", false).second))
    refuse("a second link of the name of one of its own links: allowed is one");
  add_hosts(element);
  const std::string topology = element.attribute("topology");
  const std::string router = element.attribute("router_id");
  if (topology.empty() || topology == "FLAT")
    add(Kind::router, !router.empty() ? router
                                      : element.attribute("prefix") + id + "_router" +
                                            element.attribute("suffix"));
  open_.pop_back();  // nothing is inside
}

// Adds the host of a cabinet or a peer, and the names of the links that SimGrid makes for it.
void PlatformNames::add_linked_host(const std::string& name) {
  for (const char* way : {"_UP", "_DOWN"})
    if (!links_.emplace("link_" + name + way, false).second)
      refuse("a second link of the name link_{}{}: allowed is one", brief(name), way);
  add(Kind::host, name);
}

void PlatformNames::add_hosts(const XmlElement& element) {
  const std::string prefix = element.attribute("prefix");
  const std::string suffix = element.attribute("suffix");
  if (prefix.size() + suffix.size() > most_affix_bytes)
    refuse("a prefix and a suffix of {} bytes: allowed are {}", prefix.size() + suffix.size(),
           most_affix_bytes);
  for (const auto& [first, last] : numbers_of_radical(element.attribute("radical")))
    for (long long number = first; number <= last; ++number) {
      const std::string name = prefix + std::to_string(number) + suffix;
      element.name == "cabinet" ? add_linked_host(name) : add(Kind::host, name);
    }
}

void PlatformNames::add_link(const XmlElement& element) {
  const std::string id = element.attribute("id");
  const std::string sharing = element.attribute("sharing_policy");
  const bool both_ways = sharing == "SPLITDUPLEX" || sharing == "FULLDUPLEX";
  like_clusters_.insert(cluster_of(id));
  bool added = links_.emplace(id, both_ways).second && !clusters_.contains(cluster_of(id));
  for (const char* way : {"_UP", "_DOWN"})
    added = (!both_ways || links_.emplace(id + way, false).second) && added;
  if (!added)
    refuse("a second link of this name: allowed is one");
}

void PlatformNames::add_route(const XmlElement& element) {
  links_of_route_ = 0;
  const std::string& routing = zone().routing;
  if (routing == "none" || routing == "cluster" || routing == "vivaldi")
    refuse(
        "a route in a zone with routing = {}: allowed are Full, Floyd, Dijkstra and DijkstraCache",
        routing);
  for (const std::string end : {"src", "dst"}) {
    const std::string name = element.attribute(end);
    const auto found = zone_of_name_.find(name);
    const Point* host = point(name);
    if (is_zone_route(element.name)) {
      const int other = found == zone_of_name_.end() ? -1 : found->second;
      if (other < 0 || zones_[static_cast<std::size_t>(other)].parent != open_zone())
        refuse("{}: no zone of this name stands before it in this zone", quoted(element, end));
      check_gateway(element, end, other);
    } else if (host == nullptr || host->zone != open_zone()) {
      refuse("{}: no host or router of this name stands before it in its zone",
             quoted(element, end));
    }
  }
  const std::pair way{element.attribute("src"), element.attribute("dst")};
  const bool one_way = lower(element.attribute("symmetrical")) == "no";
  const bool to_itself = way.first == way.second;
  bool added = zone().routes.insert(way).second;
  if (!one_way && !(to_itself && routing == "full"))
    added = zone().routes.emplace(way.second, way.first).second && added;
  if (!added)
    refuse(
        "a second route from {} to {}: allowed is one, and one with symmetrical = YES counts both "
        "ways",
        brief(way.first), brief(way.second));
}

void PlatformNames::check_gateway(const XmlElement& element, const std::string& end,
                                  int zone) const {
  const Point* gateway = point(element.attribute("gw_" + end));
  int inside = gateway != nullptr ? gateway->zone : -1;
  while (inside >= 0 && inside != zone)
    inside = zones_[static_cast<std::size_t>(inside)].parent;
  if (inside != zone)
    refuse("{}: no host or router of this name is in {}", quoted(element, "gw_" + end),
           quoted(element, end));
}

void PlatformNames::add_bypass(const XmlElement& element) {
  links_of_route_ = 0;
  const bool of_zones = element.name != "bypassRoute";
  for (const std::string end : {"src", "dst"}) {
    const auto other = zone_of_name_.find(element.attribute(end));
    if (of_zones ? other == zone_of_name_.end() : point(element.attribute(end)) == nullptr)
      refuse("{}: no {} of this name stands before it", quoted(element, end),
             of_zones ? "zone" : "host or router");
    if (of_zones)
      check_gateway(element, end, other->second);
  }
  if (!zone().bypasses.emplace(element.attribute("src"), element.attribute("dst")).second)
    refuse("a second bypass of this route: allowed is one");
}

void PlatformNames::check_link(const XmlElement& element) const {
  const std::string direction = element.attribute("direction");
  const bool one_way = direction == "UP" || direction == "DOWN";
  const bool of_host = element.name == "host_link";
  for (const char* attribute :
       of_host ? std::vector<const char*>{"up", "down"} : std::vector<const char*>{"id"}) {
    const std::string name = element.attribute(attribute);
    const auto link = links_.find(name);
    if (link == links_.end())
      refuse("{}: no <link> of this name stands before it", quoted(element, attribute));
    if (link->second == one_way)
      continue;
    if (of_host)
      refuse("{}: a SPLITDUPLEX link: allowed are its two ways, {}_UP and {}_DOWN",
             quoted(element, attribute), brief(name), brief(name));
    refuse(link->second ? "a SPLITDUPLEX link: allowed are direction = UP or DOWN"
                        : "direction = " + direction +
                              " of a link that is not SPLITDUPLEX: allowed is none");
  }
}

}  // namespace syncline
