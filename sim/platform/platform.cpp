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
#include "sim/platform/words_network.h"

namespace syncline {
namespace sg = simgrid::s4u;

namespace {

// Actors run user code on separate stacks, up to seven per host. Beyond this many hosts, guard
// pages would exceed the kernel's default of 65,530 mappings per process. Stacks are then also
// smaller.
constexpr std::size_t hosts_with_guard_pages = 4000;

// In KiB. If workers compute gradients, products of matrices put blocks of 128 KiB on the stack,
// and compressors put tiles there. Unused stack takes no memory.
std::string stack_size(const Scenario& scenario, int otherwise) {
  return "contexts/stack-size:" + std::to_string(scenario.learns() ? 1024 : otherwise);
}

std::string word(const char* text) {
  return text == nullptr ? "" : text;
}

// SimGrid's factor of latency or of bandwidth. Until 3.32 the setting is a number. Since 3.34 it is
// text, a number or a list by message size, and reading it as a number would give 0 without an
// error. A list counts as 1.
double factor(const char* key) {
#if SIMGRID_VERSION < 33300
  return simgrid::config::get_value<double>(key);
#else
  const std::string text = simgrid::config::get_value<std::string>(key);
  return text.find_first_of(":;") == std::string::npos ? std::stod(text) : 1;
#endif
}

// True if SimGrid holds this value. Anything loaded later can change a setting. SimGrid does not
// check the type with which a setting is read.
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

// The only engine. There is one per process, for as long as the process lives.
sg::Engine& engine() {
  static std::vector<std::string> command_line{"syncline", "--log=root.threshold:error"};
  static std::vector<char*> arguments{command_line[0].data(), command_line[1].data(), nullptr};
  static int count = static_cast<int>(command_line.size());
  static sg::Engine only(&count, arguments.data());
  return only;
}

// For each node without a host of its own: the zone that has all of the node's hosts and no others.
// A node without such a zone is left out.
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

// Adds a host NODE-memory for each node that has no host of its own, on a link of that name to the
// router of the node's zone, so that servers do not share a worker's bus. Zones without exactly one
// router stay as they are. Returns the added hosts.
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

// False if any other host of the zone has no route to the port, as in a zone that does not find
// routes by itself (routing Full).
bool reaches_its_node(const sg::Host* port) {
  for (const sg::Host* host : port->get_englobing_zone()->get_all_hosts()) {
    std::vector<sg::Link*> links;
    double latency_s = 0;
    if (host == port)
      continue;
    try {
      host->route_to(port, links, &latency_s);
    } catch (const std::invalid_argument&) {  // routing Floyd reports a missing route like this
    }
    if (links.empty())
      return false;
  }
  return true;
}

// A host that goes off ends its actors, and actors that wait for them would wait forever. An
// exception would end inside SimGrid with locks in use. So the process ends, and its parent reports
// the reason.
void name_hosts_that_go_off(const std::string& platform) {
  const auto stopped = [platform](const sg::Host& host) {
    if (!host.is_on() && host.get_actor_count() > 0) {
      fmt::print(stderr,
                 "\nsyncline: platform {}: host {} goes off after {:g} s, while it takes part: "
                 "allowed are hosts that stay on until the run ends\n",
                 platform, host.get_cname(), sg::Engine::get_clock());
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

// SimGrid's settings from the network model and from the options that replace parts of it.
std::vector<std::string> network_settings(const NetworkOptions& options) {
#if SIMGRID_VERSION >= 33300
  if (options.network->by_size)
    refuse(
        "network = {}: SimGrid {} counts a transfer twice where both ends begin at the same time; "
        "it is allowed with SimGrid 3.32",
        options.network->name, simgrid_version());
#endif
  std::vector<std::string> settings = options.network->settings;
  if (options.bandwidth_factor)
    settings.push_back(fmt::format("network/bandwidth-factor:{:.17g}", *options.bandwidth_factor));
  if (options.latency_factor && !options.network->latency_after_flow)
    settings.push_back(fmt::format("network/latency-factor:{:.17g}", *options.latency_factor));
  return settings;
}

void load_file(const std::string& path, const std::string& text) {
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

// Bandwidths of links that change, by SimGrid's names, without the network model's factor.
std::map<std::string, Bandwidth> changing_links(const Profiles& profiles) {
  std::map<std::string, Bandwidth> changing;
  for (const auto& [name, bandwidth] : profiles.bandwidths)
    for (const char* direction : {"", "_UP", "_DOWN"})  // SPLITDUPLEX makes two links of one
      if (const sg::Link* link = sg::Link::by_name_or_null(name + direction)) {
        changing[link->get_name()] = bandwidth;
        changing[link->get_name()].first_Bps = link->get_bandwidth();
      }
  return changing;
}

void scale_links(const NetworkOptions& options, const Profiles& profiles) {
  if (options.link_bandwidths.empty() && options.link_latencies.empty() &&
      options.network_efficiency == 1)
    return;
  std::vector<sg::Link*> links = engine().get_all_links();
  std::erase_if(links, [](auto* link) { return link->get_name().starts_with("__loopback"); });
  std::vector<std::string> names;
  std::ranges::transform(links, std::back_inserter(names), &sg::Link::get_name);
  check_link_factors(options, profiles, names);
  for (sg::Link* link : links) {
    const std::string& name = link->get_name();
    const bool is_card =
        profiles.cards.contains(name) || profiles.cards.contains(name_in_file(name));
    link->set_bandwidth(link->get_bandwidth() * bandwidth_factor_of(options, name, is_card));
    link->set_latency(link->get_latency() * factor_of_link(options.link_latencies, name));
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

// SimGrid's answers about routes, and about the links that routes have crossed so far.
struct Loaded {
  std::vector<sg::Host*> hosts;
  std::vector<sg::Link*> links;
  std::unordered_map<const sg::Link*, int> number_of;  // index in `links`
  std::map<std::string, Bandwidth> changing;
  std::map<std::string, double> windows;  // by the platform's names of links
  std::vector<LinkFactor> named;          // by bandwidth-factor
  double bandwidth_factor = 1;

  LinkPath path(int from, int to) {
    std::vector<sg::Link*> found;
    LinkPath path;
    hosts[index(from)]->route_to(hosts[index(to)], found, &path.latency_s);
    for (sg::Link* link : found) {
      const auto [entry, added] = number_of.emplace(link, static_cast<int>(links.size()));
      if (added)
        links.push_back(link);
      path.links.push_back(entry->second);
    }
    return path;
  }
  PlatformLink link(int number) const {
    const sg::Link* link = links[index(number)];
    const std::string& name = link->get_name();
    const auto changes = changing.find(name);
    const Bandwidth bandwidth =
        changes == changing.end() ? Bandwidth(link->get_bandwidth()) : changes->second;
    PlatformLink facts{.name = name,
                       .bandwidth = bandwidth.times(bandwidth_factor),
                       .is_named = names_link(named, name),
                       .fatpipe = link->get_sharing_policy() == sg::Link::SharingPolicy::FATPIPE};
    for (const std::string& known : {name, name_in_file(name)})
      if (const auto window = windows.find(known); window != windows.end())
        facts.window_bytes = window->second;
    return facts;
  }
};

std::shared_ptr<Platform> platform_of(const Scenario& scenario, const Profiles& profiles,
                                      std::vector<sg::Host*> hosts) {
  auto platform = std::make_shared<Platform>();
  platform->name = scenario.platform;
  std::ranges::transform(hosts, std::back_inserter(platform->hosts), facts_of);
  platform->latency_factor = scenario.network->latency_after_flow
                                 ? scenario.latency_factor.value_or(1)
                                 : factor("network/latency-factor");
  platform->latencies_change = !profiles.latencies.empty();
  platform->bandwidths_change = !profiles.bandwidths.empty();
  platform->have_windows = !profiles.windows.empty();
  const auto loaded =
      std::make_shared<Loaded>(Loaded{.hosts = std::move(hosts),
                                      .changing = changing_links(profiles),
                                      .windows = profiles.windows,
                                      .named = scenario.link_bandwidths,
                                      .bandwidth_factor = factor("network/bandwidth-factor")});
  platform->path = [loaded](int from, int to) { return loaded->path(from, to); };
  platform->link = [loaded](int link) { return loaded->link(link); };
  platform->link_latency_s = [loaded](int link) {
    return loaded->links[index(link)]->get_latency();
  };
  return platform;
}

std::shared_ptr<Platform> loaded_by_simgrid(const Scenario& scenario, const PlatformFile& file) {
  engine();  // must exist before any setting
  const std::vector<std::string> settings = network_settings(scenario);
  for (const std::string& setting : settings)
    sg::Engine::set_config(setting);
  // Messages within one host cost nothing: a shard on the worker's own host is a copy in memory.
  sg::Engine::set_config("network/loopback-lat:0");
  sg::Engine::set_config(stack_size(scenario, 64));
  load_file(scenario.platform, file.text);
  name_hosts_that_go_off(scenario.platform);
  std::vector<sg::Host*> ports;
  if (uses_node_hosts(scenario))  // looking up the names of 16,384 nodes takes seconds
    ports = add_memory_ports(scenario.host_bandwidth_Bps);
  engine().seal_platform();
  check_settings(settings);
  std::erase_if(ports, reaches_its_node);
  std::vector<sg::Host*> hosts = engine().get_all_hosts();
  std::erase_if(hosts, [&](const sg::Host* host) { return std::ranges::count(ports, host) > 0; });
  if (hosts.size() > hosts_with_guard_pages) {
    sg::Engine::set_config("contexts/guard-size:0");
    sg::Engine::set_config(stack_size(scenario, 32));
  }
  scale_links(scenario, file.profiles);
  check_rates(hosts);
  return platform_of(scenario, file.profiles, std::move(hosts));
}

}  // namespace

std::shared_ptr<const Platform> load_platform(const Scenario& scenario, const PlatformFile& file) {
  const std::shared_ptr<Platform> platform = file.plan && scenario.fidelity == Fidelity::analytic
                                                 ? words_network(*file.plan, scenario)
                                                 : loaded_by_simgrid(scenario, file);
  for (int place = 0; const HostFacts& host : platform->hosts)
    platform->place_of.emplace(host.name, place++);
  return platform;
}

std::string simgrid_version() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  return fmt::format("{}.{}", major, minor);
}

}  // namespace syncline
