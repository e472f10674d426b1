#include "tests/reference/facts.h"

#include <algorithm>
#include <map>

#include "sim/traffic/cluster.h"

namespace syncline::reference {
namespace {

void add_ways(const Cluster& cluster, int ranks, Facts& facts) {
  const std::vector<std::string>& hosts = cluster.rank_hosts;
  Routes routes = cluster.routes();
  facts.ways.resize(static_cast<std::size_t>(ranks));
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to) {
      const bool same = hosts[index(from)] == hosts[index(to)];
      const Route route = same ? Route() : routes.between(from, to);
      facts.ways[index(from)].push_back({.latency_s = same ? 0 : route.latency_s,
                                         .flow_Bps = route.flow_Bps,
                                         .links = route.links,
                                         .same_host = same});
    }
  for (const PlatformLink& link : routes.links())
    facts.link_Bps.push_back(link.bandwidth.first_Bps);
}

bool is_on(const Settings& settings, const std::string& name, const std::string& word) {
  return settings.word(name) == word;
}

}  // namespace

Facts facts_of(const Setup& setup) {
  const Scenario& scenario = setup.scenario;
  const Cluster& cluster = setup.traffic.cluster;
  const Topology& topology = cluster.topology;
  Facts facts;
  facts.exchange = scenario.exchange->name;
  facts.nodes = topology.nodes;
  facts.node_of = topology.node_of;
  facts.servers = scenario.exchange->uses_servers ? topology.servers : 0;
  add_ways(cluster, facts.ranks(), facts);
  std::map<std::string, int> memories;
  for (int rank = 0; rank < facts.ranks(); ++rank)
    facts.memory_of.push_back(
        memories.emplace(cluster.rank_hosts[index(rank)], static_cast<int>(memories.size()))
            .first->second);
  for (int worker = 0; worker < facts.workers(); ++worker) {
    facts.forward_s.push_back(setup.compute.forward_s(worker));
    facts.backward_s.emplace_back();
    facts.unit_forward_s.emplace_back();
    for (const Bucket& bucket : setup.buckets) {
      facts.backward_s.back().push_back(setup.compute.backward_s(worker, bucket));
      facts.unit_forward_s.back().push_back(setup.compute.forward_s(worker, bucket.forward_flop));
    }
    facts.step_s.push_back(setup.compute.step_s(worker) + setup.compute.launch_s);
  }
  for (const Bucket& bucket : setup.buckets) {
    const Payload payload = setup.traffic.payload_of(bucket, -1);
    facts.buckets.push_back({.bytes = static_cast<double>(payload.bytes),
                             .dense_bytes = static_cast<double>(payload.dense_bytes),
                             .values = payload.elements});
  }
  const Compression& compression = setup.traffic.compression;
  facts.encode_s = [&compression](int worker, std::uint64_t values) {
    return compression.seconds(worker, encode(values), 0);
  };
  facts.decode_s = [&compression](int worker, std::uint64_t values) {
    return compression.seconds(worker, decode(values), 0);
  };
  facts.decode_further_s = [&compression](int worker, std::uint64_t values) {
    return compression.seconds(worker, decode(values, 2), 0) -
           compression.seconds(worker, decode(values), 0);
  };
  facts.overlap = scenario.overlap;
  facts.step_overhead_s = scenario.step_overhead_s;
  facts.memory_Bps = scenario.host_memory_Bps;
  const Settings& settings = scenario.exchange_settings;
  if (facts.exchange == "ps") {
    facts.partition_bytes = settings.number("partition-bytes");
    facts.aggregate = is_on(settings, "aggregate", "on");
  }
  if (facts.exchange == "tree")
    facts.chunk_bytes = settings.number("chunk-bytes");
  if (facts.exchange == "allgather")
    facts.gathers_by_doubling = !is_on(settings, "algorithm", "ring");
  if (facts.exchange == "oktopk")
    facts.balances = is_on(settings, "balance", "on");
  if (scenario.schedule->name == "local-sgd")
    facts.local_steps = static_cast<int>(scenario.schedule_settings.number("local-steps"));
  if (scenario.schedule->name == "fsdp") {
    const Settings& own = scenario.schedule_settings;
    facts.shards = true;
    facts.shards_parameters = own.number("zero") == 3;
    facts.scatters_once = own.number("zero") == 1 || is_on(own, "no-sync", "on");
    facts.shards_in_nodes = is_on(own, "shard", "node");
    facts.prefetch = static_cast<int>(own.number("prefetch"));
    facts.gathers_late = !is_on(own, "backward-prefetch", "pre");
    facts.scatters_first = is_on(own, "backward-prefetch", "none");
    facts.micro_steps = scenario.accumulation;
  }
  facts.answers_each = scenario.schedule->partners() == Schedule::Partners::servers;
  if (scenario.optimizer.values > 0)
    facts.update_bytes = scenario.optimizer.values;
  if (scenario.schedule->name == "ssp") {
    facts.staleness = scenario.schedule_settings.number("staleness");
    facts.starts_together = facts.staleness == 0;
    facts.has_cache = is_on(scenario.schedule_settings, "cache", "on");
  }
  return facts;
}

}  // namespace syncline::reference
