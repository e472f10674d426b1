#include "sim/setup/platform_names.h"

#include <algorithm>

#include "kernels/io/text.h"
#include "sim/setup/files.h"
#include "sim/setup/platform_values.h"

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

// What a link's name has before "_link_", as those of a cluster: its id.
std::string cluster_of(const std::string& link) {
  const std::size_t end = link.find("_link_");
  return end == std::string::npos ? "" : link.substr(0, end);
}

}  // namespace

bool is_zone(const std::string& kind) {
  return kind == "zone" || kind == "AS";
}

std::string PlatformNames::begin(const XmlElement& element) {
  const std::string& kind = element.name;
  const std::string id = element.attribute("id");
  if (is_zone(kind))
    return open_new_zone(id, lower(element.attribute("routing")));
  if (kind == "cluster")
    return add_cluster(element);
  if (open_zone() < 0)  // what cannot stand outside of zones
    return "";
  if (kind == "cabinet")
    return add_hosts(element);
  if (kind == "peer" && zones_[static_cast<std::size_t>(open_zone())].routing != "vivaldi")
    return "it counts only in a <zone> with routing = Vivaldi: allowed is there";
  if ((kind == "host" || kind == "peer") && element.attribute("coordinates").empty() &&
      zones_[static_cast<std::size_t>(open_zone())].routing == "vivaldi")
    return "no coordinates in a <zone> with routing = Vivaldi: allowed are 3 numbers";
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
    return problem_of_link(element);
  if (kind == "route" || is_zone_route(kind))
    return problem_of_route(element);
  return is_bypass(kind) ? problem_of_bypass(element) : "";
}

std::string PlatformNames::end(const XmlElement& element) {
  if (is_zone(element.name) && !open_.empty())
    open_.pop_back();
  const bool is_way =
      element.name == "route" || is_zone_route(element.name) || is_bypass(element.name);
  return is_way && links_of_route_ == 0 ? "no <link_ctn> in it: allowed are one or more" : "";
}

std::optional<XmlElement> PlatformNames::without_host() const {
  for (const XmlElement& use : uses_) {
    const auto found = point(use.attribute(use.name == "host_link" ? "id" : "element"));
    if (!found || !found->is_host)
      return use;
  }
  return {};
}

std::optional<PlatformNames::Point> PlatformNames::point(const std::string& name) const {
  if (const auto found = points_.find(name); found != points_.end())
    return found->second;
  return {};
}

std::string PlatformNames::add(Kind kind, const std::string& name) {
  const auto there = point(name);
  if (kind == Kind::host ? there && there->is_host : there || zone_of_name_.contains(name))
    return "a second " + std::string(kind == Kind::host ? "host" : "host, router or zone") +
           " of the name " + brief(name) + ": allowed is one";
  if (kind == Kind::zone)
    zone_of_name_[name] = static_cast<int>(zones_.size());
  else
    points_[name] = {open_zone(), kind == Kind::host};
  return "";
}

std::string PlatformNames::open_new_zone(const std::string& name, const std::string& routing) {
  if (open_.empty() && !zones_.empty())
    return "a second zone at the top: allowed is one, which all others are in";
  if (const std::string problem = add(Kind::zone, name); !problem.empty())
    return problem;
  zones_.push_back({.routing = routing, .parent = open_zone()});
  open_.push_back(static_cast<int>(zones_.size()) - 1);
  return "";
}

std::string PlatformNames::add_cluster(const XmlElement& element) {
  std::string problem = open_new_zone(element.attribute("id"), "of a cluster");
  if (!problem.empty())
    return problem;
  const std::string id = element.attribute("id");
  clusters_.insert(id);
  if (like_clusters_.contains(id) ||
      (!element.attribute("bb_bw").empty() && !links_.emplace(id + "_backbone", false).second))
    return "a second link of the name of one of its own: allowed is one";
  problem = add_hosts(element);
  const std::string topology = element.attribute("topology");
  if (problem.empty() && (topology.empty() || topology == "FLAT")) {
    const std::string given = element.attribute("router_id");
    problem =
        add(Kind::router, !given.empty() ? given
                                         : element.attribute("prefix") + element.attribute("id") +
                                               "_router" + element.attribute("suffix"));
  }
  open_.pop_back();  // nothing is in it
  return problem;
}

// Of a cabinet or a peer: with links that SimGrid makes.
std::string PlatformNames::add_linked_host(const std::string& name) {
  for (const char* way : {"_UP", "_DOWN"})
    if (!links_.emplace("link_" + name + way, false).second)
      return "a second link of the name link_" + brief(name) + way + ": allowed is one";
  return add(Kind::host, name);
}

std::string PlatformNames::add_hosts(const XmlElement& element) {
  const std::string prefix = element.attribute("prefix");
  const std::string suffix = element.attribute("suffix");
  if (prefix.size() + suffix.size() > most_affix_bytes)
    return "a prefix and a suffix of " + std::to_string(prefix.size() + suffix.size()) +
           " bytes: allowed are " + std::to_string(most_affix_bytes);
  for (const auto& [first, last] : numbers_of_radical(element.attribute("radical")))
    for (long long number = first; number <= last; ++number) {
      const std::string name = prefix + std::to_string(number) + suffix;
      const std::string problem =
          element.name == "cabinet" ? add_linked_host(name) : add(Kind::host, name);
      if (!problem.empty())
        return problem;
    }
  return "";
}

std::string PlatformNames::add_link(const XmlElement& element) {
  const std::string id = element.attribute("id");
  const std::string sharing = element.attribute("sharing_policy");
  const bool both_ways = sharing == "SPLITDUPLEX" || sharing == "FULLDUPLEX";
  like_clusters_.insert(cluster_of(id));
  bool added = links_.emplace(id, both_ways).second && !clusters_.contains(cluster_of(id));
  for (const char* way : {"_UP", "_DOWN"})
    added = (!both_ways || links_.emplace(id + way, false).second) && added;
  return added ? "" : "a second link of this name: allowed is one";
}

std::string PlatformNames::problem_of_route(const XmlElement& element) {
  links_of_route_ = 0;
  Zone& zone = zones_[static_cast<std::size_t>(open_zone())];
  if (zone.routing == "none" || zone.routing == "cluster" || zone.routing == "vivaldi")
    return "a route in a zone with routing = " + zone.routing +
           ": allowed are Full, Floyd, Dijkstra and DijkstraCache";
  for (const std::string end : {"src", "dst"}) {
    const std::string name = element.attribute(end);
    const auto found = zone_of_name_.find(name);
    const auto host = point(name);
    if (is_zone_route(element.name)) {
      const int other = found == zone_of_name_.end() ? -1 : found->second;
      if (other < 0 || zones_[static_cast<std::size_t>(other)].parent != open_zone())
        return quoted(element, end) + ": no zone of this name stands before it in this zone";
      if (const std::string problem = problem_of_gateway(element, end, other); !problem.empty())
        return problem;
    } else if (!host || host->zone != open_zone()) {
      return quoted(element, end) + ": no host or router of this name stands before it in its zone";
    }
  }
  const std::pair way{element.attribute("src"), element.attribute("dst")};
  const bool one_way = lower(element.attribute("symmetrical")) == "no";
  const bool to_itself = way.first == way.second;
  bool added = zone.routes.insert(way).second;
  if (!one_way && !(to_itself && zone.routing == "full"))
    added = zone.routes.emplace(way.second, way.first).second && added;
  return added ? ""
               : "a second route from " + brief(way.first) + " to " + brief(way.second) +
                     ": allowed is one, and one with symmetrical = YES counts both ways";
}

std::string PlatformNames::problem_of_gateway(const XmlElement& element, const std::string& end,
                                              int zone) const {
  const auto gateway = point(element.attribute("gw_" + end));
  int inside = gateway ? gateway->zone : -1;
  while (inside >= 0 && inside != zone)
    inside = zones_[static_cast<std::size_t>(inside)].parent;
  return inside == zone ? ""
                        : quoted(element, "gw_" + end) + ": no host or router of this name is in " +
                              quoted(element, end);
}

std::string PlatformNames::problem_of_bypass(const XmlElement& element) {
  links_of_route_ = 0;
  for (const std::string end : {"src", "dst"}) {
    const auto zone = zone_of_name_.find(element.attribute(end));
    const bool of_zones = element.name != "bypassRoute";
    if (of_zones ? zone == zone_of_name_.end() : !point(element.attribute(end)))
      return quoted(element, end) + ": no " + (of_zones ? "zone" : "host or router") +
             " of this name stands before it";
    if (of_zones)
      if (const std::string problem = problem_of_gateway(element, end, zone->second);
          !problem.empty())
        return problem;
  }
  return zones_[static_cast<std::size_t>(open_zone())]
                 .bypasses.emplace(element.attribute("src"), element.attribute("dst"))
                 .second
             ? ""
             : "a second bypass of this route: allowed is one";
}

std::string PlatformNames::problem_of_link(const XmlElement& element) const {
  const std::string direction = element.attribute("direction");
  const bool one_way = direction == "UP" || direction == "DOWN";
  for (const char* attribute : {"id", "up", "down"}) {
    if ((element.name == "host_link") == (std::string(attribute) == "id"))
      continue;
    const std::string name = element.attribute(attribute);
    const auto link = links_.find(name);
    if (link == links_.end())
      return quoted(element, attribute) + ": no <link> of this name stands before it";
    if (link->second == one_way)
      continue;
    if (element.name == "host_link")
      return quoted(element, attribute) + ": a SPLITDUPLEX link: allowed are its two ways, " +
             brief(name) + "_UP and " + brief(name) + "_DOWN";
    return link->second
               ? "a SPLITDUPLEX link: allowed are direction = UP or DOWN"
               : "direction = " + direction + " of a link that is not SPLITDUPLEX: allowed is none";
  }
  return "";
}

}  // namespace syncline
