#include "sim/clock/lower_bounds.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "sim/clock/round.h"
#include "sim/collectives.h"
#include "sim/traffic/exchange_time.h"

namespace syncline {
namespace {

// Bytes per iteration between two ranks that cannot move side by side on a FATPIPE link, because a
// communication stream sends them one after the other.
std::map<int, double> fatpipe_bytes(const Traffic& traffic, Routes& routes,
                                    const std::vector<Bucket>& buckets) {
  if (traffic.partners != Schedule::Partners::each_other)
    return {};
  std::map<std::tuple<int, int, int, int>, double> sent;  // from, to, stream, index in the phase
  for (const Bucket& bucket : buckets) {
    const Payload payload = traffic.payload_of(bucket, -1);
    for (int rank = 0; rank < traffic.averaging_ranks(); ++rank)
      for (const auto& action : traffic.plan_of(payload, rank))
        if (const Phase* phase = std::get_if<Phase>(&action)) {
          std::map<int, int> to_peer;
          for (const Transfer& send : phase->sends)
            sent[{rank, send.peer, phase->stage.stream(), to_peer[send.peer]++}] +=
                static_cast<double>(send.bytes) / traffic.round;
        }
  }
  std::map<int, double> most;
  for (const auto& [flow, bytes] : sent)
    for (const int link : routes.between(std::get<0>(flow), std::get<1>(flow)).fatpipes)
      most[link] = std::max(most[link], bytes);
  return most;
}

// Seconds per iteration that links need for workers' messages, where no worker waits for all
// others.
double unequal_link_s(const Setup& setup, Routes& routes) {
  const int workers = setup.traffic.cluster.topology.workers();
  std::vector<std::map<int, double>> loads(index(workers));  // by worker: bytes by link
  setup.traffic.for_each_pair(setup.sent_buckets(), first_ranks(workers),
                              [&](int from, int to, double bytes) {
                                auto& own = loads[index(std::min(from, to))];  // the worker's
                                for (const int link : routes.between(from, to).links)
                                  own[link] += bytes;
                              });
  struct Users {
    double rate = 0;  // of the users of the link, if nobody else used it
    double least_bytes = std::numeric_limits<double>::infinity();
  };
  std::map<int, Users> users;
  double all = 0;  // iterations/s
  for (const auto& own : loads) {
    double rate = std::numeric_limits<double>::infinity();
    for (const auto& [link, bytes] : own)
      if (bytes > 0)
        rate = std::min(rate, routes.link(link).bandwidth.most_Bps() / bytes);
    all += rate;
    for (const auto& [link, bytes] : own)
      if (bytes > 0) {
        users[link].rate += rate;
        users[link].least_bytes = std::min(users[link].least_bytes, bytes);
      }
  }
  if (all == std::numeric_limits<double>::infinity())
    return 0;  // some worker sends nothing over any link
  double most = all;
  for (const auto& [link, those] : users)
    most = std::min(
        most, all - those.rate +
                  std::min(those.rate, routes.link(link).bandwidth.most_Bps() / those.least_bytes));
  return most > 0 ? workers / most : 0;
}

// Without the messages between nodes and servers, whose number depends on the run.
double server_s(const Setup& setup, const Routes& routes) {
  const Traffic& traffic = setup.traffic;
  const int first_server = traffic.cluster.topology.workers();
  const int servers = traffic.cluster.topology.servers;
  std::vector<double> tensors(index(servers));  // handled in one iteration of all workers
  const auto handle = [&](const Payload& payload, int rank, double bytes) {
    if (const int server = rank - first_server; server >= 0 && server < servers)
      tensors[index(server)] += payload.tensors_in(bytes, servers, server) / traffic.round;
  };
  const auto average = [&](const Bucket& bucket, double times) {
    const Payload payload = traffic.payload_of(bucket, -1);
    traffic.for_each_activity_of_average(bucket, first_ranks(traffic.averaging_ranks()),
                                         [&](int from, int to, std::uint64_t bytes) {
                                           handle(payload, from,
                                                  times * static_cast<double>(bytes));
                                           handle(payload, to, times * static_cast<double>(bytes));
                                         },
                                         {});
  };
  if (traffic.partners == Schedule::Partners::servers) {
    for (const Bucket& bucket : setup.sent_buckets())
      for (int server = 0; server < servers; ++server)
        tensors[index(server)] += 2.0 * bucket.tensors_of(server) * first_server / traffic.round;
  } else if (traffic.partners == Schedule::Partners::each_other && traffic.exchange->uses_servers) {
    for (const Moved& some : moved(setup))
      for (const Bucket& bucket : some.buckets)
        average(bucket, some.times);
  }
  double most_s = 0;
  for (int server = 0; server < servers; ++server)
    most_s = std::max(most_s, tensors[index(server)] * setup.scenario.server_software.overhead_s /
                                  routes.cores(first_server + server));
  return most_s;
}

}  // namespace

std::vector<LinkLoad> link_loads(const Setup& setup, Routes& routes) {
  std::vector<LinkLoad> loads;
  const auto add = [&](int link, double bytes, double binding_bytes) {
    loads.push_back({.link = link,
                     .bytes = bytes,
                     .binding_bytes = binding_bytes,
                     .seconds = binding_bytes / routes.link(link).bandwidth.most_Bps()});
  };
  std::map<int, double> all;
  std::map<int, double> of_flows;
  std::map<int, std::map<int, double>> of_streams;
  for (const Moved& some : moved(setup)) {
    for (const auto& [link, bytes] : link_bytes_per_iteration(some.traffic, routes, some.buckets))
      all[link] += some.times * bytes;
    if (std::ranges::any_of(routes.links(), &PlatformLink::fatpipe))
      for (const auto& [link, bytes] : fatpipe_bytes(some.traffic, routes, some.buckets))
        of_streams[some.stream][link] += some.times * bytes;
  }
  for (const auto& [stream, of_stream] : of_streams)
    for (const auto& [link, bytes] : of_stream)
      of_flows[link] = std::max(of_flows[link], bytes);
  for (const auto& [link, bytes] : all) {
    const auto flow = of_flows.find(link);
    const bool fatpipe = routes.link(link).fatpipe;
    add(link, bytes, !fatpipe ? bytes : flow == of_flows.end() ? 0 : flow->second);
  }
  std::ranges::sort(loads, [](const LinkLoad& a, const LinkLoad& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.link < b.link;
  });
  return loads;
}

bool all_go_together(const Setup& setup) {
  const Schedule& schedule = *setup.scenario.schedule;
  return setup.traffic.partners == Schedule::Partners::each_other ||
         (setup.traffic.partners == Schedule::Partners::neighbours &&
          schedule.waits(setup.scenario.schedule_settings) != Schedule::Waiting::for_nobody);
}

LowerBounds lower_bounds(const Setup& setup, Routes& routes, const std::vector<LinkLoad>& loads) {
  const ComputeTimes& compute = setup.compute;
  const double most_speed = setup.profiles.most_speed;
  LowerBounds bounds;
  if (setup.scenario.server_software.overhead_s > 0)
    bounds.server_s = server_s(setup, routes);
  if (all_go_together(setup)) {
    bounds.compute_s = (compute.longest_solo_s() + compute.launch_s) / most_speed;
    bounds.link_s = loads.empty() ? 0 : loads.front().seconds;
    return bounds;
  }
  double rate = 0;
  const int workers = setup.traffic.cluster.topology.workers();
  for (int worker = 0; worker < workers; ++worker)
    rate += 1 / compute.solo_s(worker);
  bounds.compute_s = workers / rate / most_speed;
  // Among neighbours, those that only answer may do all iterations.
  if (setup.traffic.partners != Schedule::Partners::neighbours)
    bounds.link_s = unequal_link_s(setup, routes);
  return bounds;
}

}  // namespace syncline
