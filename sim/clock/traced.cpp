#include "sim/clock/traced.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/window.h"

namespace syncline {
namespace {

// Bytes of some rows, in the whole run and in the window.
struct MeasuredBytes {
  double all = 0;
  double inside = 0;

  void add(std::uint64_t bytes, double part) {
    all += static_cast<double>(bytes);
    inside += static_cast<double>(bytes) * part;
  }
  double part() const { return all > 0 ? inside / all : 0; }
};

struct MeasuredParts {
  std::vector<MeasuredBytes> sent;  // by rank
  std::vector<MeasuredBytes> received;
  // By sender and receiver, of the copies that neighbours send each other.
  std::map<std::pair<int, int>, MeasuredBytes> copies;
};

MeasuredParts measured_parts(const Trace& trace, const MeasuredWindow& measured) {
  const std::vector<MeasuredBytes> none(trace.rank_names.size());
  MeasuredParts parts{.sent = none, .received = none, .copies = {}};
  for (const Row& row : trace.rows)
    if (row.bytes_sent + row.bytes_received > 0) {
      const double part = measured.part(row);
      parts.sent[index(row.rank)].add(row.bytes_sent, part);
      parts.received[index(row.rank)].add(row.bytes_received, part);
      if (row.verb == Verb::parameters && row.worker >= 0)
        parts.copies[{row.rank, row.worker}].add(row.bytes_sent, part);
    }
  return parts;
}

// The node of each rank. A host that belongs to no node counts as its own node.
std::vector<int> nodes_of_ranks(const Cluster& cluster) {
  std::unordered_map<std::string_view, int> node_of;
  for (std::size_t worker = 0; worker < cluster.workers.size(); ++worker)
    node_of.emplace(cluster.workers[worker].name, cluster.topology.node_of[worker]);
  for (std::size_t node = 0; node < cluster.node_hosts.size(); ++node)
    node_of.emplace(cluster.node_hosts[node], static_cast<int>(node));
  std::vector<int> nodes;
  for (const std::string& host : cluster.rank_hosts)
    nodes.push_back(node_of.emplace(host, -1 - static_cast<int>(node_of.size())).first->second);
  return nodes;
}

// Assumes that a worker, or a node, sends to the others in the same proportions in the window as in
// the whole run, and receives likewise. A server does not: it answers the workers that push. Nor do
// neighbours: one copy takes longer than another.
void add_what_was_sent(const Setup& setup, Routes& routes, const SentBetween& for_each_pair,
                       const MeasuredParts& measured, Trace& trace) {
  const std::vector<int> nodes = nodes_of_ranks(setup.traffic.cluster);
  const bool aggregates = setup.scenario.schedule->aggregator != nullptr;
  std::vector<double> all(nodes.size());
  trace.off_node.resize(nodes.size());
  trace.links.reserve(routes.links().size());
  for_each_pair([&](int from, int to, double bytes) {
    all[index(from)] += bytes;
    if (nodes[index(from)] != nodes[index(to)])
      trace.off_node[index(from)] += bytes;
    const Route route = routes.between(from, to);
    const bool server_sends =
        from >= trace.workers && (!aggregates || from < trace.workers + trace.servers);
    const auto copies = measured.copies.find({from, to});
    const MeasuredBytes& bytes_of_pair = copies != measured.copies.end() ? copies->second
                                         : server_sends ? measured.received[index(to)]
                                                        : measured.sent[index(from)];
    const double part = bytes_of_pair.part();
    for (std::size_t i = trace.links.size(); i < routes.links().size(); ++i)
      trace.links.push_back({.name = routes.links()[i].name,
                             .bandwidth = routes.links()[i].bandwidth,
                             .fatpipe = routes.links()[i].fatpipe});
    for (const std::vector<int>* links : {&route.links, &route.fatpipes})
      for (const int link : *links) {
        LinkUse& use = trace.links[index(link)];
        use.bytes += bytes;
        use.measured_bytes += bytes * part;
        use.measured_flow_bytes = std::max(use.measured_flow_bytes, bytes * part);
      }
  });
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    trace.off_node[rank] = all[rank] > 0 ? trace.off_node[rank] / all[rank] : 0;
}

}  // namespace

Trace begun_trace(const Setup& setup) {
  const Cluster& cluster = setup.traffic.cluster;
  Trace trace{.in_step = setup.scenario.schedule->waits(setup.scenario.schedule_settings) ==
                         Schedule::Waiting::for_all,
              .own_parameters = setup.scenario.schedule->has_own_parameters(),
              .round = setup.traffic.round,
              .rank_names = cluster.rank_names,
              .workers = cluster.topology.workers(),
              .servers = cluster.topology.servers,
              .node_of = cluster.topology.node_of};
  std::unordered_map<std::string_view, int> worker_on;  // by host
  for (int rank = 0; rank < trace.workers; ++rank)
    worker_on.emplace(cluster.rank_hosts[index(rank)], rank);
  for (const std::string& host : cluster.rank_hosts) {
    const auto worker = worker_on.find(host);
    trace.on_worker.push_back(worker == worker_on.end() ? -1 : worker->second);
  }
  for (const HostFacts& host : cluster.workers)
    trace.one_core.push_back(host.cores == 1);
  return trace;
}

void finish_trace(const Setup& setup, const std::vector<Bucket>& computed, const RunLength& length,
                  Routes& routes, const SentBetween& for_each_pair, double end_s, Trace& trace) {
  trace.end_s = end_s;
  const std::vector<Progress> progress = progress_of(trace);
  trace.window =
      length.window().value_or(trace.in_step ? window_after({pace_of(progress, trace.round)},
                                                            setup.scenario.warmup / trace.round)
                                             : window_after(progress, setup.scenario.warmup));
  trace.cut_short = length.cut_short();
  trace.profiles_s = setup.profiles.shown_s;
  trace.alone_per_s = setup.alone_per_s();
  if (setup.compute.again_flop > 0) {
    for (const Bucket& bucket : computed)
      trace.again_in_backward.push_back(setup.compute.again_in_backward(bucket));
    trace.again_in_accumulate = setup.compute.again_part;
  }
  add_what_was_sent(setup, routes, for_each_pair,
                    measured_parts(trace, MeasuredWindow(trace, progress)), trace);
}

}  // namespace syncline
