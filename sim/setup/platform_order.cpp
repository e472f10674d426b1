#include "sim/setup/platform_order.h"

#include <algorithm>
#include <map>

#include "kernels/registry.h"
#include "sim/setup/refuse.h"

namespace syncline {
namespace {

using Names = std::vector<std::string>;

struct Step {
  Names allowed;
  std::string place;  // after one of these
};

const Names zones{"zone", "AS", "cluster", "peer"};
const Names zone_routes{"zoneRoute", "ASroute", "bypassZoneRoute", "bypassASroute"};
const Names hosts{"host", "router", "host_link"};
const Names links{"link", "backbone", "cabinet"};
const Names routes{"route", "bypassRoute"};
const Names traces{"trace", "trace_connect"};

// By place, which is an element's name at its beginning. A zone has zones or hosts in it, not both.
// In an <AS>, the old word, SimGrid also takes what comes first for a sign of which.
const std::map<std::string, std::vector<Step>>& steps() {
  static const std::map<std::string, std::vector<Step>> all{
      {"platform", {{{"zone", "AS", "cluster"}, "platform"}, {traces, "platform"}}},
      {"zone",
       {{{"prop"}, "zone"}, {zones, "zones"}, {hosts, "hosts"}, {links, "hosts"}, {traces, "end"}}},
      {"AS", {{{"prop"}, "AS"}, {zones, "zones"}, {hosts, "AS hosts"}}},
      {"zones",
       {{zones, "zones"},
        {{"link", "backbone"}, "zones"},
        {zone_routes, "zone routes"},
        {traces, "end"}}},
      {"zone routes", {{zone_routes, "zone routes"}, {traces, "end"}}},
      {"hosts", {{hosts, "hosts"}, {links, "hosts"}, {traces, "hosts"}, {routes, "routes"}}},
      {"AS hosts", {{hosts, "AS hosts"}, {links, "AS hosts"}, {traces, "end"}, {routes, "routes"}}},
      {"routes", {{routes, "routes"}, {traces, "routes"}}},
      {"end", {{traces, "end"}}},
      {"host", {{{"prop", "disk"}, "host"}}},
      {"disk", {{{"prop"}, "disk"}}},
      {"cluster", {{{"prop"}, "cluster"}}},
      {"link", {{{"prop"}, "link"}}},
      {"route", {{{"link_ctn"}, "route"}}},
      {"bypassRoute", {{{"link_ctn"}, "bypassRoute"}}},
      {"zoneRoute", {{{"link_ctn"}, "zoneRoute"}}},
      {"ASroute", {{{"link_ctn"}, "ASroute"}}},
      {"bypassZoneRoute", {{{"link_ctn"}, "bypassZoneRoute"}}},
      {"bypassASroute", {{{"link_ctn"}, "bypassASroute"}}}};
  return all;
}

}  // namespace

void PlatformOrder::begin(const XmlElement& element) {
  if (!open_.empty()) {
    Open& parent = open_.back();
    const auto found = steps().find(parent.place);
    static const std::vector<Step> none;
    const std::vector<Step>& possible = found == steps().end() ? none : found->second;
    const auto step = std::ranges::find_if(possible, [&](const Step& one) {
      return std::ranges::count(one.allowed, element.name) > 0;
    });
    if (step == possible.end()) {
      Names allowed;
      for (const Step& one : possible)
        allowed.insert(allowed.end(), one.allowed.begin(), one.allowed.end());
      refuse("it cannot stand in <{}>{}: allowed here are {}", parent.name,
             parent.last.empty() ? " at its beginning" : " after <" + parent.last + ">",
             allowed.empty() ? "no elements" : listed(allowed));
    }
    parent.place = step->place;
    parent.last = element.name;
  }
  open_.push_back({.name = element.name, .place = element.name, .last = ""});
}

void PlatformOrder::end() {
  open_.pop_back();
}

}  // namespace syncline
