#include "sim/platform/platform.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <stdexcept>
#include <utility>
#include <xbt/config.hpp>

#include "kernels/io/memory_file.h"
#include "kernels/io/text.h"
#include "sim/catalogue/in_folder_of.h"
#include "sim/catalogue/network.h"
#include "sim/catalogue/refuse.h"
#include "sim/platform/link_factors.h"

namespace syncline {
namespace sg = simgrid::s4u;

namespace {

// Actors run user code on stacks of their own, up to seven per host. Beyond this many hosts, guard
// pages would exceed the kernel's default of 65,530 mappings per process; then stacks are also
// smaller.
constexpr std::size_t hosts_with_guard_pages = 4000;

// KiB. Where workers compute gradients, products of matrices put blocks of 128 KiB there, and
// compressors tiles; what is not used takes no memory.
std::string stack_size(const Scenario& scenario, int otherwise) {
  return "contexts/stack-size:" + std::to_string(scenario.learns() ? 1024 : otherwise);
}

std::string word(const char* text) {
  return text == nullptr ? "" : text;
}

// All this is of the process's one platform.
std::string loaded_path;                    // for messages
double latency_factor = 1;                  // of every route
std::map<std::string, Bandwidth> changing;  // links whose bandwidth changes, without the factor
std::map<std::string, double> windows;      // links with a TCP window: bytes on their way
std::vector<LinkFactor> named;              // links that bandwidth-factor names
std::unordered_map<std::string, sg::Host*> host_of;  // SimGrid asks zone after zone for a name

// SimGrid's factor of latency or of bandwidth. Until 3.32 it is a number. Since 3.34 it is text, a
// number or a list by message size, and asking for a number would read 0 without an error. A list
// counts as 1.
double factor(const char* key) {
#if SIMGRID_VERSION < 33300
  return simgrid::config::get_value<double>(key);
#else
  const std::string text = simgrid::config::get_value<std::string>(key);
  return text.find_first_of(":;") == std::string::npos ? std::stod(text) : 1;
#endif
}

// Whether SimGrid holds this value: it can be set again by whatever is loaded later. SimGrid does
// not check the type that is asked for.
bool holds(const std::string& key, const std::string& value) {
  namespace config = simgrid::config;
  if (key == "network/crosstraffic")
    return config::get_value<bool>(key) == (value != "0");
  if (key == "network/TCP-gamma")
    return config::get_value<double>(key) == std::stod(value);
  if (key == "network/latency-factor" || key == "network/bandwidth-factor")
    return factor(key.c_str()) == std::stod(value);
  return config::get_value<std::string>(key) == value;  // the model
}

// There is one per process, for as long as the process lives.
sg::Engine& engine() {
  static std::vector<std::string> command_line{"syncline", "--log=root.threshold:error"};
  static std::vector<char*> arguments{command_line[0].data(), command_line[1].data(), nullptr};
  static int count = static_cast<int>(command_line.size());
  static sg::Engine only(&count, arguments.data());
  return only;
}

// Of nodes without a host of their own: the zone with all of a node's hosts, and no others'.
std::map<std::string, sg::NetZone*> zones_of_nodes(const std::vector<sg::Host*>& hosts) {
  std::map<std::string, std::set<sg::NetZone*>> zones_of;
  std::map<sg::NetZone*, std::set<std::string>> nodes_in;
  std::set<std::string> with_host;
  for (sg::Host* host : hosts) {
    const std::string node = word(host->get_property("node"));
    zones_of[node].insert(host->get_englobing_zone());
    nodes_in[host->get_englobing_zone()].insert(node);
    if (word(host->get_property("role")) == "host")
      with_host.insert(node);
  }
  std::map<std::string, sg::NetZone*> found;
  for (const auto& [node, zones] : zones_of)
    if (!node.empty() && !with_host.contains(node) && zones.size() == 1 &&
        nodes_in[*zones.begin()].size() == 1)
      found[node] = *zones.begin();
  return found;
}

// Gives a node that has no host of its own one called NODE-memory, on a link of that name to the
// router of the node's zone, so that servers do not share a worker's bus. Zones without exactly one
// router stay as they are. Returns those hosts.
std::vector<sg::Host*> add_memory_ports(double bandwidth_Bps) {
  std::vector<sg::Host*> added;
  std::map<const void*, std::vector<simgrid::kernel::routing::NetPoint*>> routers;
  for (simgrid::kernel::routing::NetPoint* point : engine().get_all_netpoints())
    if (point->is_router())
      routers[point->get_englobing_zone()].push_back(point);
  for (const auto& [node, zone] : zones_of_nodes(engine().get_all_hosts())) {
    const auto in_zone = routers.find(zone->get_impl());
    if (in_zone == routers.end() || in_zone->second.size() != 1)
      continue;
    const std::string name = node + "-memory";
    if (sg::Host::by_name_or_null(name) != nullptr || sg::Link::by_name_or_null(name + "_UP"))
      throw std::runtime_error(fmt::format(
          "node {} has no host with role = host, and the name {} of the one to add is taken", node,
          name));
    sg::Host* host = zone->create_host(name, 1e12);  // nothing computes there
    host->set_property("node", node);
    host->set_property("role", "host");
    host->seal();
    sg::SplitDuplexLink* link = zone->create_split_duplex_link(name, bandwidth_Bps);
    link->set_latency(0);
    link->seal();
    zone->add_route(host->get_netpoint(), in_zone->second.front(), nullptr, nullptr,
                    {{link, sg::LinkInRoute::Direction::UP}}, true);
    added.push_back(host);
  }
  return added;
}

// In a zone that finds no ways by itself (routing Full), the router leads to no host.
bool reaches_its_node(const sg::Host* port) {
  for (const sg::Host* host : port->get_englobing_zone()->get_all_hosts()) {
    std::vector<sg::Link*> links;
    double latency_s = 0;
    if (host == port)
      continue;
    try {
      host->route_to(port, links, &latency_s);
    } catch (const std::invalid_argument&) {  // so routing Floyd says that there is no way
    }
    if (links.empty())
      return false;
  }
  return true;
}

// A host that goes off ends its actors, and those who wait for them would wait for ever. An
// exception would end in SimGrid, which finds locks in use: so the process ends, and its parent
// says why.
void name_hosts_that_go_off() {
  const auto stopped = [](const sg::Host& host) {
    if (!host.is_on() && host.get_actor_count() > 0) {
      fmt::print(stderr,
                 "\nsyncline: platform {}: host {} goes off after {:g} s, while it takes part: "
                 "allowed are hosts that stay on until the run ends\n",
                 loaded_path, host.get_cname(), sg::Engine::get_clock());
      std::fflush(stderr);
      std::_Exit(2);
    }
  };
#if SIMGRID_VERSION < 33400
  sg::Host::on_state_change_cb(stopped);
#else
  sg::Host::on_onoff_cb(stopped);
#endif
}

// SimGrid's settings by the network model and the options that replace parts of it.
std::vector<std::string> network_settings(const Scenario& scenario) {
#if SIMGRID_VERSION >= 33300
  if (scenario.network->by_size)
    refuse(
        "network = {}: SimGrid {} counts a transfer twice where both ends begin at the same time; "
        "allowed with SimGrid 3.32",
        scenario.network->name, simgrid_version());
#endif
  std::vector<std::string> settings = scenario.network->settings;
  if (scenario.bandwidth_factor)
    settings.push_back(fmt::format("network/bandwidth-factor:{:.17g}", *scenario.bandwidth_factor));
  if (scenario.latency_factor && !scenario.network->latency_after_flow)
    settings.push_back(fmt::format("network/latency-factor:{:.17g}", *scenario.latency_factor));
  return settings;
}

void load_file(const std::string& path, const std::string& text) {
  loaded_path = path;
  const InFolderOf folder(path);
  if (!text.empty())
    return engine().load_platform(MemoryFile(text).path());
  const std::filesystem::path file(path);
  engine().load_platform(file.is_absolute() ? path : file.filename().string());
}

void check_settings(const std::vector<std::string>& settings) {
  for (const std::string& setting : settings)
    if (const auto colon = setting.find(':');
        !holds(setting.substr(0, colon), setting.substr(colon + 1)))
      throw std::runtime_error(fmt::format("this SimGrid ({}) does not keep the setting {}",
                                           simgrid_version(), setting));
}

void check_rates(const std::vector<sg::Host*>& hosts) {
  for (const sg::Host* host : hosts)
    if (!(host->get_speed() > 0))
      throw std::runtime_error("host " + host->get_name() +
                               " has no speed: allowed is more than 0");
  for (const sg::Link* link : engine().get_all_links())
    if (!(link->get_bandwidth() > 0))
      throw std::runtime_error("link " + link->get_name() +
                               " has no bandwidth: allowed is more than 0");
}

void note_changing_links(const Profiles& profiles) {
  for (const auto& [name, bandwidth] : profiles.bandwidths)
    for (const char* direction : {"", "_UP", "_DOWN"})  // SPLITDUPLEX makes two links of one
      if (const sg::Link* link = sg::Link::by_name_or_null(name + direction)) {
        changing[link->get_name()] = bandwidth;
        changing[link->get_name()].first_Bps = link->get_bandwidth();
      }
}

void note_windows(const Profiles& profiles) {
  for (const auto& [name, bytes] : profiles.windows)
    for (const char* direction : {"", "_UP", "_DOWN"})
      windows[name + direction] = bytes;
}

void scale_links(const Scenario& scenario, const Profiles& profiles) {
  named = scenario.link_bandwidths;
  if (named.empty() && scenario.link_latencies.empty())
    return;
  std::vector<sg::Link*> links = engine().get_all_links();
  std::erase_if(links, [](auto* link) { return link->get_name().starts_with("__loopback"); });
  std::vector<std::string> names;
  std::ranges::transform(links, std::back_inserter(names), &sg::Link::get_name);
  check_link_factors(scenario, profiles, names);
  for (sg::Link* link : links) {
    link->set_bandwidth(link->get_bandwidth() * factor_of_link(named, link->get_name()));
    link->set_latency(link->get_latency() *
                      factor_of_link(scenario.link_latencies, link->get_name()));
  }
}

HostFacts facts_of(const sg::Host* host) {
  return {.name = host->get_name(),
          .node = word(host->get_property("node")),
          .device = word(host->get_property("device")),
          .role = word(host->get_property("role")),
          .speed_flops = host->get_speed(),
          .cores = host->get_core_count(),
          .site = word(host->get_property("site"))};
}

}  // namespace

std::vector<HostFacts> load_platform(const Scenario& scenario, const PlatformFile& platform) {
  const Profiles& profiles = platform.profiles;
  engine();  // before any setting
  const std::vector<std::string> settings = network_settings(scenario);
  for (const std::string& setting : settings)
    sg::Engine::set_config(setting);
  // Messages within one host cost nothing: a shard on the worker's own host is a copy in memory.
  sg::Engine::set_config("network/loopback-lat:0");
  sg::Engine::set_config(stack_size(scenario, 64));
  load_file(scenario.platform, platform.text);
  name_hosts_that_go_off();
  std::vector<sg::Host*> ports;
  if (uses_node_hosts(scenario))  // looking names up takes seconds where there are 16,384
    ports = add_memory_ports(scenario.host_bandwidth_Bps);
  engine().seal_platform();
  latency_factor = scenario.network->latency_after_flow ? scenario.latency_factor.value_or(1)
                                                        : factor("network/latency-factor");
  check_settings(settings);
  std::erase_if(ports, reaches_its_node);
  std::vector<sg::Host*> hosts = engine().get_all_hosts();
  std::erase_if(hosts, [&](const sg::Host* host) { return std::ranges::count(ports, host) > 0; });
  for (sg::Host* host : hosts)
    host_of.emplace(host->get_name(), host);
  if (hosts.size() > hosts_with_guard_pages) {
    sg::Engine::set_config("contexts/guard-size:0");
    sg::Engine::set_config(stack_size(scenario, 32));
  }
  scale_links(scenario, profiles);
  check_rates(hosts);
  note_changing_links(profiles);
  note_windows(profiles);
  std::vector<HostFacts> facts;
  std::ranges::transform(hosts, std::back_inserter(facts), facts_of);
  return facts;
}

std::string simgrid_version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  return fmt::format("{}.{}", major, minor);
}

Routes::Routes(std::vector<std::string> rank_hosts) : rank_hosts_(std::move(rank_hosts)) {}

Route Routes::between(int from, int to) {
  const std::string& source = rank_hosts_[index(from)];
  const std::string& destination = rank_hosts_[index(to)];
  if (source == destination)
    return {};
  std::vector<sg::Link*> links;
  Route route;
  try {
    host_of.at(source)->route_to(host_of.at(destination), links, &route.latency_s);
  } catch (const std::exception&) {  // so some zones say that there is no way
    links.clear();
  }
  if (links.empty())
    throw std::runtime_error(fmt::format("platform {}: hosts {} and {} have no route between them",
                                         loaded_path, brief(source), brief(destination)));
  route.latency_s *= latency_factor;
  double window_bytes = std::numeric_limits<double>::infinity();
  for (const sg::Link* link : links) {
    if (const auto window = windows.find(link->get_name()); window != windows.end())
      window_bytes = std::min(window_bytes, window->second);
    const auto [entry, added] = index_.emplace(link, static_cast<int>(links_.size()));
    if (added) {
      const auto changes = changing.find(link->get_name());
      const Bandwidth bandwidth =
          changes == changing.end() ? Bandwidth(link->get_bandwidth()) : changes->second;
      const bool is_named = names_link(named, link->get_name());
      const double times = factor("network/bandwidth-factor") * (is_named ? scale_ : 1);
      links_.push_back({.name = link->get_name(),
                        .bandwidth = bandwidth.times(times),
                        .is_named = is_named,
                        .fatpipe = link->get_sharing_policy() == sg::Link::SharingPolicy::FATPIPE});
    }
    const PlatformLink& known = links_[index(entry->second)];
    if (known.fatpipe)
      route.flow_Bps = std::min(route.flow_Bps, known.bandwidth.mean_Bps());
    (known.fatpipe ? route.fatpipes : route.links).push_back(entry->second);
  }
  if (std::isfinite(window_bytes)) {
    route.window_Bps = window_bytes / (route.latency_s + latency_s(to, from));
    route.flow_Bps = std::min(route.flow_Bps, route.window_Bps);
  }
  return route;
}

void Routes::scale_named(double times) {
  for (PlatformLink& link : links_)
    if (link.is_named)
      link.bandwidth = link.bandwidth.times(times / scale_);
  scale_ = times;
}

bool Routes::have_windows() {
  return !windows.empty();
}

int Routes::cores(int rank) const {
  return host_of.at(rank_hosts_[index(rank)])->get_core_count();
}

double Routes::width_Bps(int from, int to) {
  const Route route = between(from, to);
  double least_Bps = route.flow_Bps;
  for (const int link : route.links)
    least_Bps = std::min(least_Bps, links_[index(link)].bandwidth.mean_Bps());
  return least_Bps;
}

double Routes::latency_s(int from, int to) {
  const std::string& source = rank_hosts_[index(from)];
  const std::string& destination = rank_hosts_[index(to)];
  if (source == destination)
    return 0;
  const auto [entry, added] = latencies_.try_emplace(
      static_cast<std::uint64_t>(from) * rank_hosts_.size() + static_cast<std::uint64_t>(to));
  Latency& latency = entry->second;
  if (added) {
    std::vector<sg::Link*> links;
    host_of.at(source)->route_to(host_of.at(destination), links, &latency.rest_s);
    latency.links.assign(links.begin(), links.end());
    for (const sg::Link* link : latency.links)
      latency.rest_s -= link->get_latency();
  }
  double seconds = latency.rest_s;
  for (const sg::Link* link : latency.links)
    seconds += link->get_latency();
  return std::max(0.0, seconds) * latency_factor;
}

}  // namespace syncline
