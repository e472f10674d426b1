#include "sim/traffic/exchange_time.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "sim/traffic/followed_plans.h"
#include "sim/traffic/ring_time.h"

namespace syncline {
namespace {

double seconds_of(const Routes& routes, int link, double bytes) {
  return bytes / routes.link(link).bandwidth.mean_Bps();
}

// Flows that move side by side.
struct Flows {
  std::map<int, double> link_bytes;
  double slowest_s = 0;  // by links that limit each flow by itself

  void add(const Route& route, double bytes) {
    slowest_s = std::max(slowest_s, bytes / route.flow_Bps);
    for (const int link : route.links)
      link_bytes[link] += bytes;
  }

  // On the busiest link, or of the slowest flow.
  double seconds(const Routes& routes) const {
    double seconds = slowest_s;
    for (const auto& [link, bytes] : link_bytes)
      seconds = std::max(seconds, seconds_of(routes, link, bytes));
    return seconds;
  }
};

// How long a bucket takes through all stages of a pipeline, and how soon the next one follows. With
// K partitions, a first one passes all stages, and K - 1 more leave at the pace of the slowest
// stage, or of the busiest link where stages share it. At that pace the next bucket follows, unless
// only one bucket is in flight.
class PipelineTime {
 public:
  // The links' bandwidths count this many times.
  PipelineTime(const Traffic& traffic, Routes& routes, const Payload& payload, double bandwidth)
      : traffic_(traffic), routes_(routes), payload_(payload), bandwidth_(bandwidth) {}

  // A phase of this rank, which is in a pipeline.
  void add(int rank, const Phase& phase) {
    OfStage& own = stages_[{phase.stage.pass, phase.stage.place}];
    own.stage = phase.stage;
    double latency_s = 0;
    for (const std::vector<Transfer>* transfers : {&phase.sends, &phase.receives})
      for (const Transfer& transfer : *transfers)
        latency_s = std::max(latency_s, routes_.between(rank, transfer.peer).latency_s);
    // In a group everybody waits for every step. Other messages follow each other out of a rank.
    const double first_s = phase.steps * (latency_s + traffic_.step_overhead_s);
    own.first_s = std::max(own.first_s, first_s);
    own.next_s = std::max(own.next_s, phase.group_size > 0 ? first_s : traffic_.step_overhead_s);
    double added_bytes = 0;
    for (const Transfer& received : phase.receives)
      added_bytes += phase.adds ? static_cast<double>(received.bytes) : 0;
    const double handled_s = handling_s(rank, phase);
    own.adding_s =
        std::max(own.adding_s, handled_s + memory_bytes_per_sum * added_bytes /
                                               traffic_.host_memory_Bps / phase.stage.partitions);
    handled_s_[{phase.stage.pass, rank}] += handled_s;
    for (const Transfer& send : phase.sends)
      own.flows.add(routes_.between(rank, send.peer), static_cast<double>(send.bytes) / bandwidth_);
  }

  // Passes follow each other.
  void add_to(ExchangeTime& time) const {
    for (auto one = stages_.begin(); one != stages_.end();) {
      const int pass = one->first.first;
      const int partitions = one->second.stage.partitions;
      const bool next_follows = one->second.stage.in_flight != 1;
      double first_fixed_s = 0;  // of a partition through all stages
      double first_bytes_s = 0;
      double pace_fixed_s = 0;  // of a partition in the slowest stage
      double pace_bytes_s = 0;
      const auto keep_slower = [&](double fixed_s, double bytes_s) {
        if (fixed_s + bytes_s > pace_fixed_s + pace_bytes_s) {
          pace_fixed_s = fixed_s;
          pace_bytes_s = bytes_s;
        }
      };
      Flows all;
      for (; one != stages_.end() && one->first.first == pass; ++one) {
        const OfStage& stage = one->second;
        const double moving_s = stage.flows.seconds(routes_) / partitions;
        first_fixed_s += stage.first_s + stage.adding_s;
        first_bytes_s += moving_s;
        keep_slower(stage.next_s, moving_s);
        keep_slower(stage.adding_s, 0);
        for (const auto& [link, bytes] : stage.flows.link_bytes)
          all.link_bytes[link] += bytes;
      }
      keep_slower(0, all.seconds(routes_) / partitions);
      for (const auto& [of, handled_s] : handled_s_)  // the stages of a server share its cores
        if (of.first == pass)
          keep_slower(handled_s, 0);
      time.fixed_s += first_fixed_s + (partitions - 1) * pace_fixed_s;
      time.bytes_s += first_bytes_s + (partitions - 1) * pace_bytes_s;
      if (next_follows) {
        time.shared_fixed_s += first_fixed_s - pace_fixed_s;
        time.shared_bytes_s += first_bytes_s - pace_bytes_s;
      }
    }
  }

 private:
  struct OfStage {
    Stage stage;
    double first_s = 0;   // latencies and overheads of a partition, of the slowest rank
    double next_s = 0;    // of these, what the next partition waits for
    double adding_s = 0;  // of a partition, where what arrives is added up
    Flows flows;
  };

  // Of the messages of one partition.
  double handling_s(int rank, const Phase& phase) const {
    double bytes = 0;
    for (const std::vector<Transfer>* transfers : {&phase.sends, &phase.receives})
      for (const Transfer& transfer : *transfers)
        bytes += static_cast<double>(transfer.bytes) / phase.stage.partitions;
    return traffic_.handling_s(payload_, rank, bytes, routes_.cores(rank));
  }

  const Traffic& traffic_;
  Routes& routes_;
  const Payload& payload_;
  double bandwidth_;
  std::map<std::pair<int, int>, double> handled_s_;  // of a partition, by pass and rank
  std::map<std::pair<int, int>, OfStage> stages_;    // by pass and place
};

// A rank in a ring, and its way to the next one.
struct RingMember {
  int next = 0;
  double bytes = 0;
  Route route;
};

// A phase's name, whether its ranks begin together, and its pass.
using Kind = std::tuple<std::string_view, bool, int>;

Kind kind_of(const Phase& phase) {
  return {phase.name, phase.group_size > 0, phase.stage.pass};
}

// Counts phases of a kind in a plan. Those of channels run side by side, so each counts its own.
class Occurrences {
 public:
  int next(const Phase& phase) { return counts_[{kind_of(phase), phase.stage.channel}]++; }

 private:
  std::map<std::pair<Kind, int>, int> counts_;
};

// A phase of all ranks that have it.
struct CommonPhase {
  int steps = 1;
  Flows flows;
  // By channel and group, then by rank.
  std::map<std::pair<int, int>, std::unordered_map<int, RingMember>> rings;
};

// A flow takes as long as the busiest link on its way.
double slowest_ring_s(const Traffic& traffic, const Routes& routes, const CommonPhase& phase) {
  double seconds = 0;
  for (const auto& [group, ring] : phase.rings) {
    std::vector<RingHop> hops;
    int rank = ring.begin()->first;
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const RingMember& member = ring.at(rank);
      double flow_s = member.bytes / member.route.flow_Bps;
      double alone_s = flow_s;
      for (const int link : member.route.links) {
        flow_s = std::max(flow_s, seconds_of(routes, link, phase.flows.link_bytes.at(link)));
        alone_s = std::max(alone_s, seconds_of(routes, link, member.bytes));
      }
      hops.push_back({.latency_s = member.route.latency_s, .part_s = flow_s / phase.steps});
      if (traffic.has_channels())
        hops.back().alone_s = alone_s / phase.steps;
      rank = member.next;
    }
    seconds = std::max(seconds, channel_seconds(hops, phase.steps, traffic.step_overhead_s));
  }
  return seconds;
}

// One rank's seconds without bytes / bandwidth, because its bytes share links with other ranks',
// and without rings, where ranks wait for each other.
ExchangeTime own_time(const Traffic& traffic, Routes& routes, const Plan& plan, int rank) {
  ExchangeTime time;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (const Work* work = std::get_if<Work>(&plan[i])) {
      double& seconds = i == 0                 ? time.compress_s
                        : i + 1 == plan.size() ? time.decompress_s
                                               : time.between_s;
      seconds += traffic.compression.seconds(rank, *work, -1);
      continue;
    }
    const Phase& phase = std::get<Phase>(plan[i]);
    if (is_ring(phase) || phase.stage.stages > 1 || phase.stage.channel > 0)
      continue;
    double latency_s = 0;
    for (const std::vector<Transfer>* transfers : {&phase.sends, &phase.receives})
      for (const Transfer& transfer : *transfers)
        latency_s = std::max(latency_s, routes.latency_s(rank, transfer.peer));
    time.fixed_s += phase.steps * (latency_s + traffic.step_overhead_s);
  }
  return time;
}

// Rank 0 works between its phases, which take these seconds.
std::vector<ExchangeTime::Work> works_of(const Traffic& traffic, const Plan& plan,
                                         const std::map<std::pair<Kind, int>, double>& phase_s,
                                         double between_s) {
  std::vector<ExchangeTime::Work> works;
  Occurrences occurrences;
  double moved_s = 0;
  for (std::size_t i = 0; i < plan.size(); ++i)
    if (const Phase* phase = std::get_if<Phase>(&plan[i])) {
      const auto known = phase_s.find({kind_of(*phase), occurrences.next(*phase)});
      if (known != phase_s.end() && phase->stage.channel == 0)
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

// Phase after phase, as if all ranks went from one to the next together; and whether all are rings.
std::pair<ExchangeTime, bool> time_by_phases(const Traffic& traffic, Routes& routes,
                                             const Payload& payload, double bandwidth) {
  // Phases of two ranks are the same if name, occurrence in the plan and having a common start
  // agree, whatever their channels: these move side by side, and meet on links. A tree's ranks are
  // in different rounds, but all start its long phase together.
  std::map<std::pair<Kind, int>, CommonPhase> phases;
  ExchangeTime slowest;
  bool rings_only = true;
  PipelineTime pipeline(traffic, routes, payload, bandwidth);
  for (int rank = 0; rank < traffic.averaging_ranks(); ++rank) {
    const Plan plan = traffic.plan_of(payload, rank);
    Occurrences occurrences;
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
      CommonPhase& common = phases[{kind_of(*phase), occurrences.next(*phase)}];
      common.steps = phase->steps;
      for (const Transfer& send : phase->sends) {
        Route route = routes.between(rank, send.peer);
        const auto bytes = static_cast<double>(send.bytes) / bandwidth;
        common.flows.add(route, bytes);
        if (is_ring(*phase))
          common.rings[{phase->stage.channel, phase->group}][rank] = {send.peer, bytes,
                                                                      std::move(route)};
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
    const double bytes_s = phase.flows.seconds(routes);
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

std::vector<ExchangeTime> bucket_times(const std::optional<Traffic>& traffic, Routes& routes,
                                       const std::vector<Bucket>& buckets) {
  return traffic ? bucket_times(*traffic, routes, buckets) : std::vector<ExchangeTime>();
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
  traffic.for_each_pair(buckets, ranks, [&](int from, int to, double bytes) {
    const Route route = routes.between(from, to);
    for (const auto* links : {&route.links, &route.fatpipes})
      for (const int link : *links)
        loads[link] += bytes;
  });
  return loads;
}

}  // namespace syncline
