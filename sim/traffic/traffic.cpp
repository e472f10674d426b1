#include "sim/traffic/traffic.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "sim/catalogue/refuse.h"
#include "sim/collectives.h"

namespace syncline {
namespace {

// Exceeds the number of groups in any plan.
int most_groups(const Topology& topology) {
  return 2 * topology.workers() + 8;
}

// The transfers of each stream together, in steps that all ranks begin together. The plan has no
// work.
Plan joined(const Plan& plan, int steps, int ranks) {
  Plan joined;
  for (const auto& action : plan) {
    const Phase& phase = std::get<Phase>(action);
    const auto same = std::ranges::find_if(joined, [&](const auto& one) {
      return std::get<Phase>(one).stage.stream() == phase.stage.stream();
    });
    if (same == joined.end()) {
      joined.push_back(phase);
      Phase& first = std::get<Phase>(joined.back());
      first.steps = steps;
      first.group_size = ranks;
      first.turn = 0;
      continue;
    }
    Phase& all = std::get<Phase>(*same);
    for (auto transfers : {&Phase::sends, &Phase::receives})
      for (const Transfer& one : phase.*transfers) {
        const auto peer = std::ranges::find(all.*transfers, one.peer, &Transfer::peer);
        if (peer == (all.*transfers).end())
          (all.*transfers).push_back(one);
        else
          peer->bytes += one.bytes;
      }
  }
  return joined;
}

}  // namespace

std::uint64_t Traffic::bytes_of(const Bucket& bucket) const {
  return bucket.parameters * value_bytes(precision);
}

std::uint64_t Traffic::shard_of(const Bucket& bucket) const {
  const std::uint64_t elements = compressed_of(bucket);
  const auto shards = static_cast<std::uint64_t>(cluster.topology.servers);
  return elements == 0 ? 0 : std::max<std::uint64_t>(elements / shards, 1);
}

double Traffic::handling_s(const Payload& payload, int rank, double bytes, int cores) const {
  const int server = rank - cluster.topology.workers();
  if (server_overhead_s == 0 || server < 0)
    return 0;
  return payload.tensors_in(bytes, cluster.topology.servers, server) * server_overhead_s / cores;
}

Payload Traffic::payload_of(const Bucket& bucket, int iteration) const {
  if (!compression.on()) {
    Payload payload = dense(bytes_of(bucket));
    payload.tensors = bucket.tensors;
    payload.parts = bucket.parts;
    return payload;
  }
  if (!bucket.apart.empty()) {
    Payload payload = payload_of(bucket.apart.front(), iteration);
    for (auto tensor = bucket.apart.begin() + 1; tensor != bucket.apart.end(); ++tensor)
      payload.add(payload_of(*tensor, iteration), cluster.topology.workers());
    return payload;
  }
  Payload payload;
  payload.tensors = bucket.tensors;
  payload.elements = compressed_of(bucket);
  payload.dense_bytes = payload.elements * value_bytes(precision);
  payload.small_bytes = bucket.small_parameters * value_bytes(precision);
  const WireSize size = compression.message(bucket.shapes, payload.elements, iteration);
  payload.bytes = static_cast<std::uint64_t>(std::llround(size.bytes));
  payload.summable = compression.compressor().reducible;
  payload.all_reduces = compression.compressor().first_half ? 2 : 1;
  if (iteration >= 0 && size.low < size.high)
    for (int worker = 0; worker < cluster.topology.workers(); ++worker)
      payload.messages.push_back(compression.drawn_bytes(size, worker, iteration, bucket.index));
  return payload;
}

double Traffic::compress_apart_s(const Bucket& bucket) const {
  double slowest_s = 0;
  for (const int rank : compression.one_worker_of_each_table()) {
    double seconds = 0;
    for (const Bucket& tensor : bucket.apart) {
      const Plan plan = plan_of(payload_of(tensor, -1), rank);
      if (const Work* work = first_work(plan))
        seconds += compression.seconds(rank, *work, -1);
    }
    slowest_s = std::max(slowest_s, seconds);
  }
  return slowest_s;
}

std::uint64_t Traffic::encoded_of(const Bucket& bucket) const {
  if (!compression.on() || partners == Schedule::Partners::aggregators)
    return 0;
  const Payload payload = payload_of(bucket, -1);
  if (partners == Schedule::Partners::servers || exchange->uses_servers)
    return payload.elements;
  std::uint64_t encoded = 0;
  for (const auto& action : plan_of(payload, 0))
    if (const Work* work = std::get_if<Work>(&action);
        work != nullptr && work->kind == Work::Kind::encode)
      encoded += work->elements;
  return encoded;
}

std::uint64_t Traffic::pulled_bytes(const Payload& payload, double scale) const {
  return (compressed_pulls ? scaled(payload.bytes, scale) : payload.dense_bytes) +
         payload.small_bytes;
}

PushedPieces Traffic::cut_of(const Bucket& bucket) const {
  if (compression.on())
    return {};
  const int partitions = syncline::partitions(bytes_of(bucket), pushing.partition_bytes);
  // Half of the limit, because runs in which no worker waits have more iterations; less if more
  // messages are under way at once, because SimGrid then takes longer for each.
  const int messages = few_messages / 2 * 16 / std::max(cluster.topology.workers(), 16);
  const int fused =
      static_cast<int>(std::max(2LL, messages / std::max(cluster.topology.pairs(), 1LL)));
  return {.partitions = partitions,
          .pieces = every_step ? partitions : std::min(partitions, fused)};
}

Plan Traffic::plan_among(const Topology& topology, const Payload& payload, int rank,
                         bool every_step) const {
  switch (collective) {
    case CollectiveKind::reduce_scatter:
      return exchange->reduce_scatter(topology, exchange_settings, payload, rank);
    case CollectiveKind::all_gather:
      return exchange->all_gather(topology, exchange_settings, payload, rank);
    case CollectiveKind::all_reduce:
      break;
  }
  auto other = picks_nearest ? picked.lower_bound(payload.bytes) : picked.find(payload.bytes);
  if (picks_nearest && other == picked.end() && !picked.empty())
    --other;
  if (other == picked.end())
    return syncline::plan_of(*exchange, topology, exchange_settings, payload, rank, every_step);
  const PickedExchange& pick = other->second;
  const auto& [chosen, settings] = candidates[pick.candidate];
  Payload sent = payload;
  sent.bytes = scaled(payload.bytes, pick.wire);
  Plan plan = syncline::plan_of(*chosen, topology, settings, sent, rank, every_step);
  if (pick.steps > 0)
    plan = joined(plan, pick.steps, topology.workers());
  std::set<int> begun;  // streams
  for (auto& action : plan)
    if (Phase* phase = std::get_if<Phase>(&action)) {
      // Keeps the groups of different candidates apart.
      phase->group += static_cast<int>(pick.candidate) * most_groups(topology);
      phase->latency_part = pick.latency_part;
      if (begun.insert(phase->stage.stream()).second)
        phase->before_s = pick.before_s;
    }
  return plan;
}

Plan Traffic::plan_of(const Payload& whole, int rank, bool every_step) const {
  const Topology& topology = cluster.topology;
  if (over == Among::all)
    return plan_among(topology, whole, rank, every_step);
  const std::vector<int> members = topology.members(over, rank);
  const auto place = std::ranges::lower_bound(members, rank) - members.begin();
  Payload payload = whole;
  if (over == Among::place)
    payload.bytes = share(whole.bytes, static_cast<int>(topology.node_with(rank).size()),
                          topology.group_of(over, rank));
  Plan plan = plan_among(topology.only(members), payload, static_cast<int>(place), every_step);
  for (auto& action : plan)
    if (Phase* phase = std::get_if<Phase>(&action)) {
      for (std::vector<Transfer>* transfers : {&phase->sends, &phase->receives})
        for (Transfer& transfer : *transfers)
          transfer.peer = members[index(transfer.peer)];
      // Keeps the groups of different members apart.
      phase->group += topology.group_of(over, rank) * most_groups(topology);
    }
  return plan;
}

int Traffic::averaging_ranks() const {
  return exchange->uses_servers ? cluster.topology.ranks() : cluster.topology.workers();
}

void Traffic::for_each_activity_of_average(const Bucket& bucket, const std::vector<int>& ranks,
                                           const Moves& moves, const Works& works) const {
  const Payload payload = payload_of(bucket, -1);
  for (const int rank : ranks)
    for (const auto& action : plan_of(payload, rank))
      if (const Work* work = std::get_if<Work>(&action); work != nullptr && works)
        works(rank, *work);
      else if (work == nullptr && moves)
        for (const Transfer& send : std::get<Phase>(action).sends)
          moves(rank, send.peer, send.bytes);
}

void Traffic::for_each_activity(const Bucket& bucket, const std::vector<int>& ranks,
                                const Moves& moves, const Works& works) const {
  const Topology& topology = cluster.topology;
  const int first_server = topology.workers();
  const std::uint64_t shard = shard_of(bucket);
  // Adds the work on messages of `elements` from a client to the servers, and back with compressed
  // pulls.
  const auto serve = [&](int client, std::uint64_t elements) {
    works(client, encode(elements));
    works(first_server, decode(shard));
    if (!compressed_pulls)
      return;
    works(first_server, encode(shard));
    works(client, decode(elements));
  };
  switch (partners) {
    case Schedule::Partners::each_other:
      for_each_activity_of_average(bucket, ranks, moves, works);
      break;
    case Schedule::Partners::servers: {
      const Payload payload = payload_of(bucket, -1);
      const std::uint64_t pushed_bytes = payload.bytes + payload.small_bytes;
      const std::uint64_t asked_bytes =
          asks ? control_bytes * static_cast<std::uint64_t>(cut_of(bucket).pieces) : 0;
      for (const int rank : ranks) {
        if (works)
          serve(rank, compressed_of(bucket));
        for (int s = 0; s < topology.servers && moves; ++s) {
          moves(rank, first_server + s,
                part_of(payload.parts, pushed_bytes, topology.servers, s) + asked_bytes);
          moves(first_server + s, rank,
                part_of(payload.parts, pulled_bytes(payload), topology.servers, s));
        }
      }
      break;
    }
    case Schedule::Partners::aggregators:
      for (int node = 0; node < static_cast<int>(topology.nodes.size()) && works; ++node)
        serve(cluster.aggregator_of(node), shard);
      for (const int rank : ranks)
        if (moves) {  // copies inside the node
          const int node = cluster.aggregator_of(topology.node_of[static_cast<std::size_t>(rank)]);
          moves(rank, node, bytes_of(bucket));
          moves(node, rank, bytes_of(bucket));
        }
      break;
    case Schedule::Partners::neighbours:
      for (const int rank : ranks)
        for (const Neighbour& other : neighbours(schedule_settings, rank, topology.workers()))
          if (moves)
            moves(rank, other.worker, bytes_of(bucket));
  }
}

void Traffic::for_each_pair(const std::vector<Bucket>& buckets, const std::vector<int>& ranks,
                            const PairMoves& moves) const {
  const int first_server = cluster.topology.workers();
  const int servers = cluster.topology.servers;
  if (partners == Schedule::Partners::servers) {  // every worker sends each server equally much
    std::vector<double> pushed(index(servers)), pulled(index(servers));
    for (const Bucket& bucket : buckets)
      for_each_activity(bucket, {0},
                        [&](int from, int to, std::uint64_t bytes) {
                          const int server = std::max(from, to) - first_server;
                          (from == 0 ? pushed : pulled)[index(server)] +=
                              static_cast<double>(bytes) / round;
                        },
                        {});
    for (const int rank : ranks)
      for (int server = 0; server < servers; ++server) {
        moves(rank, first_server + server, pushed[index(server)]);
        moves(first_server + server, rank, pulled[index(server)]);
      }
    return;
  }
  if (partners == Schedule::Partners::neighbours) {
    double bytes = 0;
    for (const Bucket& bucket : buckets)
      bytes += static_cast<double>(bytes_of(bucket));
    for (const int rank : ranks)
      for (const Neighbour& other : neighbours(schedule_settings, rank, first_server))
        moves(rank, other.worker, other.copies * bytes);
    return;
  }
  for (const int rank : ranks) {
    std::map<std::pair<int, int>, double> sent;
    for (const Bucket& bucket : buckets)
      for_each_activity(bucket, {rank},
                        [&](int from, int to, std::uint64_t bytes) {
                          sent[{from, to}] += static_cast<double>(bytes) / round;
                        },
                        {});
    for (const auto& [pair, bytes] : sent)
      moves(pair.first, pair.second, bytes);
  }
}

Traffic traffic_of(const Scenario& scenario, Cluster cluster, Compression compression) {
  const int workers = cluster.topology.workers();
  return {.cluster = std::move(cluster),
          .partners = scenario.schedule->partners(),
          .neighbours = scenario.schedule->neighbours,
          .schedule_settings = scenario.schedule_settings,
          .exchange = scenario.exchange,
          .exchange_settings = scenario.exchange_settings,
          .pushing = scenario.exchange->pushing == nullptr
                         ? Pushing()
                         : scenario.exchange->pushing(scenario.exchange_settings),
          .compression = std::move(compression),
          .precision = scenario.precision,
          .compressed_pulls = scenario.compressed_pulls,
          .every_step = scenario.fidelity == Fidelity::step,
          .step_overhead_s = scenario.step_overhead_s,
          .host_memory_Bps = scenario.host_memory_Bps,
          .server_overhead_s = scenario.server_software.overhead_s,
          .round = scenario.schedule->round_of(scenario.schedule_settings, workers),
          .asks = scenario.schedule->own_parameters && scenario.schedule->server != nullptr};
}

Traffic dense_traffic(const Traffic& traffic, const Exchange& exchange) {
  Traffic dense = traffic;
  dense.partners = Schedule::Partners::each_other;
  if (dense.exchange != &exchange)
    dense.exchange_settings = {};
  dense.exchange = &exchange;
  dense.compression = {};
  dense.compressed_pulls = false;
  return dense;
}

Traffic traffic_within(const Traffic& traffic, Among group, const Exchange& exchange) {
  const Topology& topology = traffic.cluster.topology;
  if (group == Among::site && topology.site_of.empty()) {
    const auto without =
        std::ranges::find(traffic.cluster.workers, std::string(), &HostFacts::site);
    refuse(
        "host {}: no property `site`: allowed is one for every worker if the workers of a site "
        "average",
        without->name);
  }
  Traffic within = dense_traffic(traffic, exchange);
  within.picked.clear();  // chosen for all workers
  within.round = 1;
  within.over = group;
  for (int worker = 0; worker < topology.workers(); ++worker)
    if (topology.members(group, worker).front() == worker)
      within.plan_of(dense(1), worker);  // throws if the exchange does not support this group
  return within;
}

Traffic traffic_of_shards(const Traffic& traffic, Among group, CollectiveKind collective) {
  const Topology& topology = traffic.cluster.topology;
  if (group != Among::all)
    for (const std::vector<int>& node : topology.nodes)
      if (node.size() != topology.nodes.front().size())
        refuse(
            "shard = node: every node needs the same number of workers, but one has {} and "
            "another {}; allowed is all",
            topology.nodes.front().size(), node.size());
  Traffic shards = traffic;
  shards.over = group;
  shards.collective = collective;
  return shards;
}

std::vector<int> first_ranks(int count) {
  std::vector<int> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace syncline
