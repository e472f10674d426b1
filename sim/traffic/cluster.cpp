#include "sim/traffic/cluster.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "kernels/philox.h"
#include "kernels/registry.h"
#include "sim/catalogue/refuse.h"
#include "sim/platform/link_factors.h"

namespace syncline {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

using HostsByNode = std::vector<std::span<const HostFacts>>;

// Workers grouped by node, nodes and hosts in natural order.
HostsByNode by_node(const std::vector<HostFacts>& hosts, const ClusterOptions& options) {
  const bool named =
      std::ranges::any_of(hosts, [](const auto& host) { return !host.node.empty(); });
  if (named && options.workers_per_node)
    refuse("workers-per-node = {}: the hosts of this platform carry a `node` property already",
           *options.workers_per_node);
  HostsByNode nodes;
  for (const HostFacts& host : hosts) {
    const bool same =
        !nodes.empty() &&
        (named ? !host.node.empty() && nodes.back().front().node == host.node
               : static_cast<int>(nodes.back().size()) < options.workers_per_node.value_or(1));
    if (same)
      nodes.back() = {nodes.back().data(), nodes.back().size() + 1};
    else
      nodes.emplace_back(&host, 1);
  }
  return nodes;
}

// Draws `wanted` of the places at random; all places are equally likely.
std::vector<std::size_t> drawn_places(std::size_t wanted, std::size_t available,
                                      std::uint64_t seed) {
  constexpr std::uint32_t purpose = 3;
  std::vector<std::size_t> places(available);
  std::iota(places.begin(), places.end(), std::size_t{0});
  for (std::size_t i = 0; i < wanted; ++i) {
    const PhiloxWords words =
        philox({static_cast<std::uint32_t>(i), 0, 0, purpose}, static_cast<std::uint32_t>(seed),
               static_cast<std::uint32_t>(seed >> 32));
    const std::uint64_t word = std::uint64_t{words[0]} << 32 | words[1];
    std::swap(places[i], places[i + word % (available - i)]);
  }
  return places;
}

// One place on each node, then a second place on each node, and so on until all are listed.
std::vector<std::size_t> spread_places(const HostsByNode& all, std::size_t available) {
  std::vector<std::size_t> places;
  for (std::size_t round = 0; places.size() < available; ++round) {
    std::size_t first = 0;
    for (const std::span<const HostFacts>& node : all) {
      if (round < node.size())
        places.push_back(first + round);
      first += node.size();
    }
  }
  return places;
}

// By host, in the order of the nodes: true if a worker is on it.
std::vector<bool> hosts_of_workers(const HostsByNode& all, std::size_t wanted,
                                   std::size_t available, const ClusterOptions& options,
                                   std::uint64_t seed) {
  std::vector<std::size_t> places;
  if (options.placement == Placement::spread)
    places = spread_places(all, available);
  else if (options.placement == Placement::random)
    places = drawn_places(wanted, available, seed);
  std::vector<bool> used(available);
  for (std::size_t i = 0; i < wanted; ++i)
    used[places.empty() ? i : places[i]] = true;
  return used;
}

// A host that no worker uses.
struct FreeHost {
  const HostFacts* host;
  std::size_t others;  // workers of its node, and free hosts of its node before it
};

// The order in which servers that the platform does not declare take hosts: each is put on the node
// with the fewest workers and servers so far.
std::vector<HostFacts> fewest_others_first(std::vector<FreeHost> free) {
  std::ranges::stable_sort(free, {}, &FreeHost::others);
  std::vector<HostFacts> hosts;
  std::ranges::transform(free, std::back_inserter(hosts),
                         [](const FreeHost& one) { return *one.host; });
  return hosts;
}

// By node: the name of its own host.
std::unordered_map<std::string, std::string> hosts_of_nodes(const std::vector<HostFacts>& hosts) {
  std::unordered_map<std::string, std::string> names;
  for (const HostFacts& host : hosts) {
    if (host.role != "host")
      continue;
    if (host.node.empty())
      refuse("host " + host.name +
             ": role = host needs the property `node`, the node to which it belongs");
    const auto [other, added] = names.emplace(host.node, host.name);
    if (!added)
      refuse("hosts {} and {}: role = host, both of node {}: allowed is one", other->second,
             host.name, host.node);
  }
  std::unordered_map<std::string_view, int> hosts_on;
  for (const HostFacts& host : hosts)
    ++hosts_on[host.node];
  for (const HostFacts& host : hosts)
    if (host.role == "host" && hosts_on.at(host.node) == 1)
      refuse(
          "host {}: role = host of node {}, which no other host has: allowed are the nodes of "
          "workers",
          host.name, host.node);
  return names;
}

// The site of each worker; sites are numbered in the order of workers. Empty if a worker has none.
std::vector<int> sites_of(const std::vector<HostFacts>& workers) {
  std::map<std::string, int> numbers;
  std::vector<int> sites;
  for (const HostFacts& worker : workers) {
    if (worker.site.empty())
      return {};
    sites.push_back(numbers.emplace(worker.site, static_cast<int>(numbers.size())).first->second);
  }
  return sites;
}

// Translates Batsim's roles. Batsim's scheduler and storage run no job.
void translate_roles(std::vector<HostFacts>& hosts) {
  static const std::map<std::string, std::string> of_batsim{
      {"master", "none"}, {"storage", "none"}, {"compute_node", "worker"}};
  for (HostFacts& host : hosts)
    if (const auto role = of_batsim.find(host.role); role != of_batsim.end())
      host.role = role->second;
}

// If the options name hosts, makes those hosts the workers. A node's CPU and memory trains only if
// its whole name is given.
void take_named_workers(const ClusterOptions& options, std::vector<HostFacts>& hosts) {
  constexpr std::size_t most_named = 6;
  std::vector<std::string> names;
  const auto is_named = [](const HostFacts& host, const std::string& pattern) {
    return host.role == "host" ? pattern == host.name : fits(pattern, host.name);
  };
  if (!options.worker_hosts.empty())
    for (const HostFacts& host : hosts)
      if (host.role != "host")
        names.push_back(host.name);
  for (const std::string& pattern : options.worker_hosts)
    if (std::ranges::none_of(hosts, [&](const auto& host) { return is_named(host, pattern); })) {
      names.resize(std::min(names.size(), std::size_t{1000}));  // bounds the time of the comparison
      refuse(
          "worker-hosts = {}: no host has such a name; allowed are names such as {}, with * for "
          "any characters",
          brief(pattern), listed(nearest(pattern, names, most_named)));
    }
  for (HostFacts& host : hosts)
    if (std::ranges::any_of(options.worker_hosts,
                            [&](const auto& pattern) { return is_named(host, pattern); }))
      host.role = "worker";
    else if (!options.worker_hosts.empty() && (host.role.empty() || host.role == "worker"))
      host.role = "none";
}

}  // namespace

bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const auto number = [](const std::string& text, std::size_t& at) {
        const std::size_t begin = at;
        while (at < text.size() && is_digit(text[at]))
          ++at;
        const std::size_t first = std::min(text.find_first_not_of('0', begin), at);
        return text.substr(first, at - first);
      };
      const std::string x = number(a, i);
      const std::string y = number(b, j);
      if (x != y)
        return x.size() != y.size() ? x.size() < y.size() : x < y;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  if (a.size() - i != b.size() - j)
    return a.size() - i < b.size() - j;
  return a < b;  // names such as "n01" and "n1"
}

Cluster choose_cluster(std::vector<HostFacts> hosts, const ClusterOptions& options,
                       std::uint64_t seed) {
  const auto by_names = [](const HostFacts& a, const HostFacts& b) {
    return a.node != b.node ? natural_less(a.node, b.node) : natural_less(a.name, b.name);
  };
  // Hosts of a platform in words are sorted already, and there may be a million.
  if (!std::ranges::is_sorted(hosts, by_names))
    std::ranges::sort(hosts, by_names);
  translate_roles(hosts);
  take_named_workers(options, hosts);
  const std::unordered_map<std::string, std::string> host_of_node = hosts_of_nodes(hosts);
  std::vector<HostFacts> workers;
  std::vector<HostFacts> servers;
  for (HostFacts& host : hosts) {
    if (!host.role.empty() && host.role != "worker" && host.role != "server" &&
        host.role != "host" && host.role != "none")
      refuse(
          "host {}: role = {}: allowed are worker, server, host or none; or use the option "
          "worker-hosts, which names the hosts that train",
          host.name, brief(host.role));
    if (host.role != "host" && host.role != "none")
      (host.role == "server" ? servers : workers).push_back(std::move(host));
  }
  const auto available = static_cast<int>(workers.size());
  if (available == 0)
    refuse("the platform has 0 worker hosts");
  const int wanted = options.workers.value_or(available);
  if (wanted > available || wanted < 1)
    refuse("workers = {}: the platform has {} worker hosts", wanted, available);

  Cluster cluster;
  cluster.workers.reserve(index(wanted));
  const HostsByNode all = by_node(workers, options);
  const std::vector<bool> used =
      hosts_of_workers(all, index(wanted), workers.size(), options, seed);
  std::vector<FreeHost> free;
  std::vector<int> sizes;
  auto is_used = used.begin();
  for (const std::span<const HostFacts>& hosts_of_one : all) {
    const std::size_t before = cluster.workers.size(), free_before = free.size();
    for (const HostFacts& host : hosts_of_one)
      if (*is_used++)
        cluster.workers.push_back(host);
      else
        free.push_back({&host, free.size() - free_before});
    for (FreeHost& host : std::span(free).subspan(free_before))
      host.others += cluster.workers.size() - before;
    if (cluster.workers.size() == before)
      continue;
    sizes.push_back(static_cast<int>(cluster.workers.size() - before));
    const HostFacts& first = cluster.workers[before];
    const auto own = host_of_node.find(first.node);
    const bool has_own = own != host_of_node.end();
    cluster.node_hosts.push_back(has_own ? own->second : first.name);
    cluster.on_a_worker.push_back(!has_own && sizes.back() > 1);
  }
  if (servers.empty() && options.servers > 0)
    servers = fewest_others_first(std::move(free));
  if (options.servers > static_cast<int>(servers.size()))
    refuse(
        "servers = {}: the platform has {} hosts for them (role = server, or not used by workers); "
        "0 puts one on each node",
        options.servers, servers.size());

  const int nodes = static_cast<int>(sizes.size());
  cluster.topology = make_topology(sizes, options.servers > 0 ? options.servers : nodes);
  cluster.topology.site_of = sites_of(cluster.workers);
  const auto add = [&](const char* role, int number, const std::string& host) {
    cluster.rank_names.push_back(fmt::format("{} {}", role, number));
    cluster.rank_hosts.push_back(host);
  };
  for (int i = 0; i < wanted; ++i)
    add("worker", i, cluster.workers[index(i)].name);
  for (int i = 0; i < cluster.topology.servers; ++i)
    add("server", i, options.servers > 0 ? servers[index(i)].name : cluster.node_hosts[index(i)]);
  for (int i = 0; i < nodes; ++i)
    add("node", i, cluster.node_hosts[index(i)]);
  cluster.worker_hosts = std::move(workers);
  return cluster;
}

}  // namespace syncline
