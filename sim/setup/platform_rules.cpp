#include "sim/setup/platform_rules.h"

namespace syncline {
namespace {

const AttributeRule text{Says::text, false, {}};
const AttributeRule some_text{Says::text, true, {}};
const AttributeRule name{Says::name, true, {}};
const AttributeRule speed{Says::speed, true, {}};
const AttributeRule cores{Says::cores, false, {}};
const AttributeRule bandwidth{Says::bandwidth, true, {}};
const AttributeRule any_bandwidth{Says::bandwidth, false, {}};
const AttributeRule time{Says::time, true, {}};
const AttributeRule any_time{Says::time, false, {}};
const AttributeRule number{Says::number, true, {}};
const AttributeRule any_number{Says::number, false, {}};
const AttributeRule profile{Says::profile, false, {}};

AttributeRule one_of(std::vector<std::string> words, bool needed = false) {
  return {Says::words, needed, std::move(words)};
}

const AttributeRule symmetrical = one_of({"YES", "NO", "yes", "no"});
const AttributeRule link_sharing = one_of({"SHARED", "SPLITDUPLEX", "FULLDUPLEX", "FATPIPE"});
const AttributeRule routing =
    one_of({"Full", "Floyd", "Dijkstra", "DijkstraCache", "Cluster", "Vivaldi", "None"}, true);

const ElementRule zone{{"id", name}, {"routing", routing}};
const ElementRule route{{"src", name}, {"dst", name}, {"symmetrical", symmetrical}};
const ElementRule bypass{{"src", name}, {"dst", name}};
const ElementRule zone_route{
    {"src", name}, {"dst", name}, {"gw_src", name}, {"gw_dst", name}, {"symmetrical", symmetrical}};
const ElementRule zone_bypass{{"src", name}, {"dst", name}, {"gw_src", name}, {"gw_dst", name}};

}  // namespace

const std::map<std::string, ElementRule>& platform_rules() {
  static const std::map<std::string, ElementRule> rules{
      {"platform", {{"version", number}}},
      {"AS", zone},
      {"zone", zone},
      {"prop", {{"id", name}, {"value", some_text}}},
      {"host",
       {{"id", name},
        {"speed", speed},
        {"core", cores},
        {"speed_file", profile},
        {"availability_file", profile},
        {"state_file", profile},
        {"coordinates", text},
        {"pstate", any_number}}},
      {"disk", {{"id", text}, {"read_bw", bandwidth}, {"write_bw", bandwidth}}},
      {"peer",
       {{"id", name},
        {"speed", speed},
        {"bw_in", bandwidth},
        {"bw_out", bandwidth},
        {"lat", any_time},
        {"coordinates", text},
        {"speed_file", profile},
        {"availability_file", profile},
        {"state_file", profile}}},
      {"cluster",
       {{"id", name},
        {"prefix", some_text},
        {"suffix", some_text},
        {"radical", some_text},
        {"speed", speed},
        {"core", cores},
        {"bw", bandwidth},
        {"lat", time},
        {"sharing_policy", link_sharing},
        {"topology", one_of({"FLAT", "TORUS", "FAT_TREE", "DRAGONFLY"})},
        {"topo_parameters", text},
        {"bb_bw", any_bandwidth},
        {"bb_lat", any_time},
        {"bb_sharing_policy", one_of({"SHARED", "FATPIPE"})},
        {"router_id", text},
        {"limiter_link", any_bandwidth},
        {"loopback_bw", any_bandwidth},
        {"loopback_lat", any_time}}},
      {"cabinet",
       {{"id", name},
        {"prefix", some_text},
        {"suffix", some_text},
        {"radical", some_text},
        {"speed", speed},
        {"bw", bandwidth},
        {"lat", time}}},
      {"router", {{"id", name}, {"coordinates", text}}},
      {"backbone", {{"id", name}, {"bandwidth", bandwidth}, {"latency", time}}},
      {"link",
       {{"id", name},
        {"bandwidth", bandwidth},
        {"bandwidth_file", profile},
        {"latency", time},
        {"latency_file", profile},
        {"state_file", profile},
        {"sharing_policy", link_sharing}}},
      {"host_link", {{"id", name}, {"up", name}, {"down", name}}},
      {"route", route},
      {"bypassRoute", bypass},
      {"zoneRoute", zone_route},
      {"ASroute", zone_route},
      {"bypassZoneRoute", zone_bypass},
      {"bypassASroute", zone_bypass},
      {"link_ctn", {{"id", name}, {"direction", one_of({"UP", "DOWN", "NONE"})}}},
      {"trace", {{"id", name}, {"file", profile}, {"periodicity", number}}},
      {"trace_connect",
       {{"kind", one_of({"HOST_AVAIL", "SPEED"})},  // SimGrid's links are closed by then
        {"trace", name},
        {"element", name}}},
  };
  return rules;
}

std::string why_not(const std::string& element) {
  static const std::map<std::string, std::string> reasons{
      {"config",
       "a platform describes hosts and links and sets nothing; allowed are options of the scenario "
       "(see `syncline help network`)"},
      {"actor", "a platform starts no programs"},
      {"process", "a platform starts no programs"},
      {"argument", "a platform starts no programs"},
      {"include", "a platform is one file: allowed is the text of the other in its place"},
      {"random", "SimGrid ignores it"},
      {"storage", "SimGrid has none any more"},
      {"storage_type", "SimGrid has none any more"},
      {"mount", "SimGrid has none any more"},
      {"model_prop", "SimGrid has none any more"},
  };
  const auto reason = reasons.find(element);
  return reason == reasons.end() ? "" : reason->second;
}

}  // namespace syncline
