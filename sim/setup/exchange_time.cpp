#include "sim/setup/exchange_time.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "sim/setup/pipeline_time.h"
#include "sim/setup/plan_time.h"
#include "sim/setup/ring_time.h"

namespace syncline {
namespace {

// A rank in a ring, and its way to the next one.
struct RingMember {
  int next = 0;
  double bytes = 0;
  Route route;
};

// A phase's name, and whether its ranks begin together.
using Kind = std::pair<std::string_view, bool>;

// A phase of all ranks that have it.
struct CommonPhase {
  int steps = 1;
  std::map<int, double> link_bytes;
  double slowest_flow_s = 0;  // by links that limit each flow by itself
  std::map<int, std::unordered_map<int, RingMember>> rings;  // by group, then by rank
};

double seconds_of(const Routes& routes, int link, double bytes) {
  return bytes / routes.links()[index(link)].bandwidth.mean_Bps();
}

double longest_flow_s(const Routes& routes, const CommonPhase& phase) {
  double seconds = phase.slowest_flow_s;
  for (const auto& [link, bytes] : phase.link_bytes)
    seconds = std::max(seconds, seconds_of(routes, link, bytes));
  return seconds;
}

// A flow takes as long as the busiest link on its way.
double slowest_ring_s(const Traffic& traffic, const Routes& routes, const CommonPhase& phase) {
  double seconds = 0;
  for (const auto& [group, ring] : phase.rings) {
    std::vector<RingHop> hops;
    int rank = ring.begin()->first;
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const RingMember& member = ring.at(rank);
      double flow_s = member.bytes / member.route.flow_Bps;
      for (const int link : member.route.links)
        flow_s = std::max(flow_s, seconds_of(routes, link, phase.link_bytes.at(link)));
      hops.push_back({.latency_s = member.route.latency_s, .part_s = flow_s / phase.steps});
      rank = member.next;
    }
    seconds = std::max(seconds, ring_seconds(hops, phase.steps, traffic.step_overhead_s));
  }
  return seconds;
}

// One rank's seconds without bytes / bandwidth, because its bytes share links with other ranks',
// and without rings, where ranks wait for each other.
ExchangeTime own_time(const Traffic& traffic, Routes& routes, const Plan& plan, int rank) {
  ExchangeTime time;
  const auto largest_s = [&](const std::vector<Transfer>& transfers) {
    double latency_s = 0;
    for (const Transfer& transfer : transfers)
      latency_s = std::max(latency_s, routes.latency_s(rank, transfer.peer));
    return latency_s;
  };
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (const Work* work = std::get_if<Work>(&plan[i])) {
      double& seconds = i == 0                 ? time.compress_s
                        : i + 1 == plan.size() ? time.decompress_s
                                               : time.between_s;
      seconds += traffic.compression.seconds(rank, *work, -1);
      continue;
    }
    const Phase& phase = std::get<Phase>(plan[i]);
    if (!is_ring(phase) && phase.stage.stages == 1)
      time.fixed_s += phase.steps * (std::max(largest_s(phase.sends), largest_s(phase.receives)) +
                                     traffic.step_overhead_s);
  }
  return time;
}

// Rank 0 works between its phases, which take these seconds.
std::vector<ExchangeTime::Work> works_of(const Traffic& traffic, const Plan& plan,
                                         const std::map<std::pair<Kind, int>, double>& phase_s,
                                         double between_s) {
  std::vector<ExchangeTime::Work> works;
  std::map<Kind, int> occurrences;
  double moved_s = 0;
  for (std::size_t i = 0; i < plan.size(); ++i)
    if (const Phase* phase = std::get_if<Phase>(&plan[i])) {
      const Kind kind(phase->name, phase->group_size > 0);
      if (const auto known = phase_s.find({kind, occurrences[kind]++}); known != phase_s.end())
        moved_s += known->second;
    } else if (i > 0 && i + 1 < plan.size()) {
      works.push_back(
          {moved_s, traffic.compression.seconds(0, std::get<syncline::Work>(plan[i]), -1)});
    }
  double worked_s = 0;
  for (const ExchangeTime::Work& work : works)
    worked_s += work.seconds;
  for (ExchangeTime::Work& work : works) {
    work.after = moved_s > 0 ? work.after / moved_s : 1;
    work.seconds *= worked_s > 0 ? between_s / worked_s : 0;
  }
  return works;
}

// Phase after phase, as if all ranks went from one to the next together.
struct ByPhases {
  ExchangeTime time;
  bool rings_only = true;
};

ByPhases time_by_phases(const Traffic& traffic, Routes& routes, const Payload& payload,
                        double bandwidth) {
  // Phases of two ranks are the same if name, occurrence in the plan and having a common start
  // agree: a tree's ranks are in different rounds, but all start its long phase together.
  std::map<std::pair<Kind, int>, CommonPhase> phases;
  ExchangeTime slowest;
  bool rings_only = true;
  PipelineTime pipeline(routes, traffic.step_overhead_s, traffic.host_memory_Bps, bandwidth);
  for (int rank = 0; rank < traffic.averaging_ranks(); ++rank) {
    const Plan plan = traffic.plan_of(payload, rank);
    std::map<Kind, int> occurrences;
    for (const auto& action : plan) {
      const Phase* phase = std::get_if<Phase>(&action);
      if (phase == nullptr)
        continue;
      const bool staged = phase->stage.stages > 1;
      rings_only = rings_only && is_ring(*phase) && !staged;
      if (staged) {
        pipeline.add(rank, *phase);
        continue;
      }
      const Kind kind(phase->name, phase->group_size > 0);
      CommonPhase& common = phases[{kind, occurrences[kind]++}];
      common.steps = phase->steps;
      for (const Transfer& send : phase->sends) {
        Route route = routes.between(rank, send.peer);
        const auto bytes = static_cast<double>(send.bytes) / bandwidth;
        common.slowest_flow_s = std::max(common.slowest_flow_s, bytes / route.flow_Bps);
        for (const int link : route.links)
          common.link_bytes[link] += bytes;
        if (is_ring(*phase))
          common.rings[phase->group][rank] = {send.peer, bytes, std::move(route)};
      }
    }
    const ExchangeTime own = own_time(traffic, routes, plan, rank);
    slowest.compress_s = std::max(slowest.compress_s, own.compress_s);
    slowest.fixed_s = std::max(slowest.fixed_s, own.fixed_s);
    slowest.between_s = std::max(slowest.between_s, own.between_s);
    slowest.decompress_s = std::max(slowest.decompress_s, own.decompress_s);
  }
  std::map<std::pair<Kind, int>, double> phase_s;
  for (const auto& [name, phase] : phases) {
    const double bytes_s = longest_flow_s(routes, phase);
    const double more_s = std::max(0.0, slowest_ring_s(traffic, routes, phase) - bytes_s);
    slowest.bytes_s += bytes_s;
    slowest.fixed_s += more_s;
    phase_s[name] = bytes_s + more_s;
  }
  slowest.works = works_of(traffic, traffic.plan_of(payload, 0), phase_s, slowest.between_s);
  pipeline.add_to(slowest);
  return {slowest, rings_only};
}

}  // namespace

ExchangeTime exchange_time(const Traffic& traffic, Routes& routes, const Payload& payload,
                           double bandwidth) {
  auto [time, rings_only] = time_by_phases(traffic, routes, payload, bandwidth);
  constexpr int followed_rings = 16;  // ranks; the recurrence knows no flows that share by turns
  if (rings_only && traffic.averaging_ranks() > followed_rings)
    return time;
  const std::optional<PlanTime> followed = plan_time(traffic, routes, payload, bandwidth);
  time.about = !followed && !rings_only;
  if (!followed)
    return time;
  time.between_s = std::min(time.between_s, followed->fixed_s);  // all ranks may not work as long
  time.fixed_s = followed->fixed_s - time.between_s;
  time.bytes_s = followed->seconds - followed->fixed_s;
  time.shared_fixed_s =
      std::min(followed->seconds - followed->pace_s, followed->fixed_s - followed->pace_fixed_s);
  time.shared_bytes_s = followed->seconds - followed->pace_s - time.shared_fixed_s;
  return time;
}

ExchangeTime sum_of(const std::vector<ExchangeTime>& buckets) {
  ExchangeTime sum;
  for (const ExchangeTime& time : buckets) {
    const bool last = &time == &buckets.back();
    sum.compress_s += time.compress_s;
    sum.fixed_s += time.fixed_s - (last ? 0 : time.shared_fixed_s);
    sum.between_s += time.between_s;
    sum.bytes_s += time.bytes_s - (last ? 0 : time.shared_bytes_s);
    sum.decompress_s += time.decompress_s;
    sum.about = sum.about || time.about;
  }
  return sum;
}

std::vector<ExchangeTime> bucket_times(const Traffic& traffic, Routes& routes,
                                       const std::vector<Bucket>& buckets, double bandwidth) {
  std::vector<ExchangeTime> times;
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, ExchangeTime> known;
  for (const Bucket& bucket : buckets) {
    const Payload payload = traffic.payload_of(bucket, -1);
    const std::tuple key(payload.bytes, payload.dense_bytes, payload.small_bytes);
    if (!known.contains(key))
      known[key] = exchange_time(traffic, routes, payload, bandwidth);
    times.push_back(known.at(key));
  }
  return times;
}

ExchangeCost gradient_cost(const Traffic& traffic, Routes& routes, const Bucket& bucket) {
  const double startup_s = exchange_time(traffic, routes, dense(0)).exchange_s();
  const Payload payload = traffic.payload_of(bucket, -1);
  const ExchangeTime time = exchange_time(traffic, routes, payload);
  const auto bytes = static_cast<double>(payload.dense_bytes);
  return {startup_s, (time.exchange_s() - startup_s) / bytes, time.compress_s / bytes};
}

ExchangeCost message_cost(const Traffic& traffic, Routes& routes, std::uint64_t dense_bytes,
                          bool summable) {
  // With 0 elements the plan has no work, so only transfers take time.
  Payload payload{.bytes = 0, .dense_bytes = dense_bytes, .summable = summable};
  const double startup_s = exchange_time(traffic, routes, payload).exchange_s();
  constexpr std::uint64_t megabyte = 1'000'000;
  payload.bytes = megabyte;
  const double seconds = exchange_time(traffic, routes, payload).exchange_s();
  return {.startup_s = startup_s, .seconds_per_byte = (seconds - startup_s) / megabyte};
}

std::map<int, double> link_bytes_per_iteration(const Traffic& traffic, Routes& routes,
                                               const std::vector<Bucket>& buckets) {
  std::map<int, double> loads;
  const std::vector<int> ranks = first_ranks(traffic.partners == Schedule::Partners::each_other
                                                 ? traffic.averaging_ranks()
                                                 : traffic.cluster.topology.workers());
  for (const Bucket& bucket : buckets)
    traffic.for_each_activity(bucket, ranks,
                              [&](int from, int to, std::uint64_t bytes) {
                                const Route route = routes.between(from, to);
                                for (const auto* links : {&route.links, &route.fatpipes})
                                  for (const int link : *links)
                                    loads[link] += static_cast<double>(bytes) / traffic.round;
                              },
                              {});
  return loads;
}

}  // namespace syncline
