#include "sim/platform/platform_rules.h"

#include <algorithm>

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/catalogue/refuse.h"

namespace syncline {
namespace {

const std::string sharing = "SHARED|SPLITDUPLEX|FULLDUPLEX|FATPIPE";
const std::string zone = "id=name! routing=Full|Floyd|Dijkstra|DijkstraCache|Cluster|Vivaldi|None!";
const std::string bypass = "src=name! dst=name!";
const std::string route = bypass + " symmetrical=YES|NO|yes|no";
const std::string gateways = " gw_src=name! gw_dst=name!";
const std::string host_profiles =
    " speed_file=profile availability_file=profile state_file=profile coordinates=text";
const std::string numbered_hosts =
    "id=name! prefix=text! suffix=text! radical=text! speed=speed! bw=bandwidth! lat=time!";

// Parses an element's attributes, separated by blanks: NAME=WHAT, where WHAT is an AttributeKind or
// the allowed words, separated by |. A ! at the end means that the attribute is required.
ElementRule rule_of(const std::string& attributes) {
  static const std::map<std::string, AttributeKind> kinds{
      {"text", AttributeKind::text},     {"name", AttributeKind::name},
      {"speed", AttributeKind::speed},   {"bandwidth", AttributeKind::bandwidth},
      {"time", AttributeKind::time},     {"cores", AttributeKind::cores},
      {"number", AttributeKind::number}, {"profile", AttributeKind::profile}};
  ElementRule rule;
  for (const std::string& attribute : split(attributes, ' ')) {
    const bool needed = attribute.ends_with("!");
    const std::size_t equals = attribute.find('=');
    const std::string says =
        attribute.substr(equals + 1, attribute.size() - equals - 1 - (needed ? 1 : 0));
    const auto kind = kinds.find(says);
    rule[attribute.substr(0, equals)] =
        kind != kinds.end() ? AttributeRule{kind->second, needed, {}}
                            : AttributeRule{AttributeKind::words, needed, split(says, '|')};
  }
  return rule;
}

using Names = std::vector<std::string>;

struct Step {
  Names allowed;
  std::string place;  // the place after one of these
};

const Names zones{"zone", "AS", "cluster", "peer"};
const Names zone_routes{"zoneRoute", "ASroute", "bypassZoneRoute", "bypassASroute"};
const Names hosts{"host", "router", "host_link"};
const Names links{"link", "backbone", "cabinet"};
const Names routes{"route", "bypassRoute"};
const Names traces{"trace", "trace_connect"};

// By place, which begins as the element's name. A zone contains zones or hosts, not both. In an
// <AS>, the old word, the first element also tells SimGrid which of the two it contains.
const std::map<std::string, std::vector<Step>> steps{
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
    {"host", {{{"prop"}, "host"}}},
    {"cluster", {{{"prop"}, "cluster"}}},
    {"link", {{{"prop"}, "link"}}},
    {"route", {{{"link_ctn"}, "route"}}},
    {"bypassRoute", {{{"link_ctn"}, "bypassRoute"}}},
    {"zoneRoute", {{{"link_ctn"}, "zoneRoute"}}},
    {"ASroute", {{{"link_ctn"}, "ASroute"}}},
    {"bypassZoneRoute", {{{"link_ctn"}, "bypassZoneRoute"}}},
    {"bypassASroute", {{{"link_ctn"}, "bypassASroute"}}}};

}  // namespace

const std::map<std::string, ElementRule>& platform_rules() {
  static const std::map<std::string, ElementRule> rules{
      {"platform", rule_of("version=number!")},
      {"AS", rule_of(zone)},
      {"zone", rule_of(zone)},
      {"prop", rule_of("id=name! value=text!")},
      {"host", rule_of("id=name! speed=speed! core=cores pstate=number" + host_profiles)},
      {"peer", rule_of("id=name! speed=speed! bw_in=bandwidth! bw_out=bandwidth! lat=time" +
                       host_profiles)},
      {"cluster",
       rule_of(numbered_hosts + " core=cores sharing_policy=" + sharing +
               " topology=FLAT|TORUS|FAT_TREE|DRAGONFLY topo_parameters=text bb_bw=bandwidth "
               "bb_lat=time bb_sharing_policy=SHARED|FATPIPE router_id=text limiter_link=bandwidth "
               "loopback_bw=bandwidth loopback_lat=time")},
      {"cabinet", rule_of(numbered_hosts)},
      {"router", rule_of("id=name! coordinates=text")},
      {"backbone", rule_of("id=name! bandwidth=bandwidth! latency=time!")},
      {"link", rule_of("id=name! bandwidth=bandwidth! bandwidth_file=profile latency=time! "
                       "latency_file=profile state_file=profile sharing_policy=" +
                       sharing)},
      {"host_link", rule_of("id=name! up=name! down=name!")},
      {"route", rule_of(route)},
      {"bypassRoute", rule_of(bypass)},
      {"zoneRoute", rule_of(route + gateways)},
      {"ASroute", rule_of(route + gateways)},
      {"bypassZoneRoute", rule_of(bypass + gateways)},
      {"bypassASroute", rule_of(bypass + gateways)},
      {"link_ctn", rule_of("id=name! direction=UP|DOWN|NONE")},
      {"trace", rule_of("id=name! file=profile periodicity=number!")},
      // SimGrid has closed its links when it connects traces.
      {"trace_connect", rule_of("kind=HOST_AVAIL|SPEED trace=name! element=name!")},
  };
  return rules;
}

bool takes_no_part(const XmlElement& element) {
  static const Names names{"disk", "storage", "storage_type", "mount", "model_prop"};
  return std::ranges::count(names, element.name) > 0 ||
         (element.name == "prop" && element.parent == "host" &&
          element.attribute("id") == "remote_disk");
}

std::string why_not(const std::string& element) {
  static const std::map<std::string, std::string> reasons{
      {"actor", "a platform starts no programs"},
      {"process", "a platform starts no programs"},
      {"argument", "a platform starts no programs"},
      {"include", "a platform is one file: allowed is the text of the other file in its place"},
      {"random", "SimGrid ignores it"},
  };
  const auto reason = reasons.find(element);
  return reason == reasons.end() ? "" : reason->second;
}

void PlatformOrder::begin(const XmlElement& element) {
  if (!open_.empty()) {
    Open& parent = open_.back();
    const auto found = steps.find(parent.place);
    static const std::vector<Step> none;
    const std::vector<Step>& possible = found == steps.end() ? none : found->second;
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

}  // namespace syncline
