#include "sim/traffic/exchange_time.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "sim/traffic/at_once.h"
#include "sim/traffic/followed_plans.h"
#include "sim/traffic/pipeline_time.h"
#include "sim/traffic/ring_time.h"

namespace syncline {
namespace {

// A rank in a ring, and its route to the next rank.
struct RingMember {
  int next = -1;  // -1: the rank is in no ring
  double bytes = 0;
  double latency_s = 0;
  double flow_Bps = 0;
  std::size_t first_link = 0;  // of CommonPhase::links
  std::size_t end_link = 0;
};

// A phase's verb, whether its ranks begin together, and its pass.
using Kind = std::tuple<Verb, bool, int>;

Kind kind_of(const Phase& phase) {
  return {phase.verb, phase.group_size > 0, phase.stage.pass};
}

// Counts phases of each kind in a plan. Channels run side by side, so each channel counts its own
// phases.
class Occurrences {
 public:
  // The place of a rank's next phase among those of its kind.
  int next(const Phase& phase) {
    return phase.turn >= 0 ? phase.turn : counts_[{kind_of(phase), phase.stage.channel}]++;
  }

 private:
  std::map<std::pair<Kind, int>, int> counts_;
};

// A phase, of all ranks that have it.
struct CommonPhase {
  int steps = 1;
  double fixed_s = 0;  // beside its rings and bytes
  Flows flows;
  std::map<int, std::vector<RingMember>> rings;  // by channel, then by rank
  std::vector<int> links;  // on the routes of its members, one route after the other

  void add(const Phase& phase, int rank, int ranks, const Route& route, double bytes, int peer) {
    flows.add(route, bytes);
    if (!is_ring(phase))
      return;
    std::vector<RingMember>& members = rings[phase.stage.channel];
    members.resize(index(ranks));
    const std::size_t first = links.size();
    links.insert(links.end(), route.links.begin(), route.links.end());
    members[index(rank)] = {peer,           bytes, phase.latency_part * route.latency_s,
                            route.flow_Bps, first, links.size()};
  }
};

// Shares of a payload differ by a byte, so parts that differ by less than 1e-6 count as equal.
bool are_alike(const std::vector<RingHop>& ring, const std::vector<RingHop>& other) {
  constexpr double rounding = 1e-6;
  const auto near = [](double one, double another) {
    return std::abs(one - another) <= rounding * another;
  };
  return std::ranges::equal(ring, other, [&](const RingHop& one, const RingHop& another) {
    return one.latency_s == another.latency_s && near(one.part_s, another.part_s) &&
           near(one.alone_s.value_or(0), another.alone_s.value_or(0));
  });
}

// The distinct rings of a phase, and the seconds of its flows if all move at once.
struct RingPhase {
  int steps = 1;
  double fixed_s = 0;  // beside its rings and bytes
  double bytes_s = 0;
  std::vector<std::vector<RingHop>> rings;

  // Adds a ring, unless an equal one is known. Rotates it to begin behind a hop of the longest
  // latency, so that rings that repeat a pattern in each node begin at the same place.
  void add(std::vector<RingHop> hops) {
    const auto longest = std::ranges::max_element(hops, {}, &RingHop::latency_s);
    std::rotate(hops.begin(), longest + 1, hops.end());
    constexpr std::ptrdiff_t most_compared = 64;  // a missed equal ring only costs time
    const auto from = rings.end() - std::min(most_compared, std::ssize(rings));
    const auto alike =
        std::find_if(from, rings.end(), [&](const auto& ring) { return are_alike(ring, hops); });
    if (alike == rings.end())
      rings.push_back(std::move(hops));
  }

  // For messages `times` as long: total seconds, and the seconds of bytes alone.
  std::pair<double, double> seconds(double times, double step_overhead_s) const {
    double seconds = times * bytes_s;
    for (std::vector<RingHop> hops : rings) {
      for (RingHop& hop : hops) {
        hop.part_s *= times;
        if (hop.alone_s)
          *hop.alone_s *= times;
      }
      seconds = std::max(seconds, channel_seconds(std::move(hops), steps, step_overhead_s));
    }
    return {fixed_s + seconds, times * bytes_s};
  }
};

// Assumes that a flow takes as long as the busiest link on its way.
RingPhase ring_phase(const Routes& routes, CommonPhase phase) {
  RingPhase found{.steps = phase.steps,
                  .fixed_s = phase.fixed_s,
                  .bytes_s = phase.flows.seconds(routes),
                  .rings = {}};
  for (auto& [channel, members] : phase.rings)
    for (RingMember& first : members) {
      std::vector<RingHop> hops;
      for (RingMember* member = &first; member->next >= 0;) {
        double flow_s = member->bytes / member->flow_Bps;
        double alone_s = flow_s;
        for (std::size_t i = member->first_link; i < member->end_link; ++i) {
          const int link = phase.links[i];
          flow_s = std::max(flow_s, seconds_of(routes, link, phase.flows.link_bytes[index(link)]));
          alone_s = std::max(alone_s, seconds_of(routes, link, member->bytes));
        }
        hops.push_back({.latency_s = member->latency_s, .part_s = flow_s / phase.steps});
        if (phase.rings.size() > 1)
          hops.back().alone_s = alone_s / phase.steps;
        member = &members[index(std::exchange(member->next, -1))];
      }
      if (!hops.empty())
        found.add(std::move(hops));
    }
  return found;
}

// A rank's seconds in a phase, without bytes / bandwidth.
double fixed_s(const Traffic& traffic, Routes& routes, const Phase& phase, int rank) {
  double latency_s = 0;
  for (const std::vector<Transfer>* transfers : {&phase.sends, &phase.receives})
    for (const Transfer& transfer : *transfers)
      latency_s = std::max(latency_s, routes.latency_s(rank, transfer.peer));
  return phase.before_s + phase.steps * (phase.latency_part * latency_s + traffic.step_overhead_s);
}

// One rank's seconds, without bytes / bandwidth, because its bytes share links with other ranks'
// bytes, and without phases in which ranks wait for each other: rings, and those that have turns.
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
    if (phase.turn < 0 && !is_ring(phase) && phase.stage.stages == 1 && phase.stage.channel == 0)
      time.fixed_s += fixed_s(traffic, routes, phase, rank);
  }
  return time;
}

// The work of rank 0 between its phases; `phase_s` has the phases' seconds.
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

// Times found phase after phase, as if all ranks went from one phase to the next together.
struct TimeByPhases {
  ExchangeTime time;
  bool rings_only = true;
  bool together_only = true;      // all transfers of all ranks move at once, maybe in steps
  std::vector<RingPhase> phases;  // phases outside pipelines
};

// True if the plan consists of rings of many ranks, or of transfers of many that move at once. It
// takes found.time, and for messages of other lengths only the times of their parts are scaled.
bool is_scaled(const Traffic& traffic, const TimeByPhases& found) {
  // Few ranks are followed message by message: ring_time.h does not cover flows that share a link
  // only part of the time, and ranks that end early begin the next bucket early.
  return traffic.averaging_ranks() > (found.rings_only ? 16 : 64) &&
         (found.rings_only || found.together_only);
}

TimeByPhases time_by_phases(const Traffic& traffic, Routes& routes, const Payload& payload,
                            double bandwidth) {
  // Phases of two ranks are the same if their kind and their turn, or else their occurrence in the
  // plan, agree, whatever their channels, because channels move side by side and share links.
  std::map<std::pair<Kind, int>, CommonPhase> phases;
  TimeByPhases found;
  ExchangeTime& slowest = found.time;
  PipelineTime pipeline(traffic, routes, payload, bandwidth);
  for (int rank = 0; rank < traffic.averaging_ranks(); ++rank) {
    const Plan plan = traffic.plan_of(payload, rank);
    Occurrences occurrences;
    for (const auto& action : plan) {
      const Phase* phase = std::get_if<Phase>(&action);
      if (phase == nullptr)
        continue;
      const bool staged = phase->stage.stages > 1;
      found.rings_only = found.rings_only && is_ring(*phase) && !staged;
      found.together_only = found.together_only && phase->turn == 0 && !staged &&
                            phase->group_size == traffic.averaging_ranks();
      if (staged) {
        pipeline.add(rank, *phase);
        continue;
      }
      CommonPhase& common = phases[{kind_of(*phase), occurrences.next(*phase)}];
      common.steps = phase->steps;
      if (is_ring(*phase))
        common.fixed_s = phase->before_s;
      else if (phase->turn >= 0)
        common.fixed_s = std::max(common.fixed_s, fixed_s(traffic, routes, *phase, rank));
      for (const Transfer& send : phase->sends)
        common.add(*phase, rank, traffic.averaging_ranks(), routes.between(rank, send.peer),
                   static_cast<double>(send.bytes) / bandwidth, send.peer);
    }
    const ExchangeTime own = own_time(traffic, routes, plan, rank);
    slowest.compress_s = std::max(slowest.compress_s, own.compress_s);
    slowest.fixed_s = std::max(slowest.fixed_s, own.fixed_s);
    slowest.between_s = std::max(slowest.between_s, own.between_s);
    slowest.decompress_s = std::max(slowest.decompress_s, own.decompress_s);
  }
  std::map<std::pair<Kind, int>, double> phase_s;
  for (auto& [name, phase] : phases) {
    found.phases.push_back(ring_phase(routes, std::move(phase)));
    const auto [seconds, bytes_s] = found.phases.back().seconds(1, traffic.step_overhead_s);
    slowest.bytes_s += bytes_s;
    slowest.fixed_s += seconds - bytes_s;
    phase_s[name] = seconds;
  }
  if (found.together_only && found.phases.size() == 1 && is_scaled(traffic, found))
    if (const auto bytes_s = seconds_at_once(traffic, routes, payload, bandwidth))
      found.phases.front().bytes_s = slowest.bytes_s = *bytes_s;
  slowest.works = works_of(traffic, traffic.plan_of(payload, 0), phase_s, slowest.between_s);
  pipeline.add_to(slowest);
  return found;
}

ExchangeTime exchange_time(const Traffic& traffic, Routes& routes, const Payload& payload,
                           double bandwidth, const TimeByPhases& found) {
  ExchangeTime time = found.time;
  if (is_scaled(traffic, found))
    return time;
  const std::optional<PlanTime> followed = plan_time(traffic, routes, payload, bandwidth);
  time.about = !followed && !found.rings_only;
  if (!followed)
    return time;
  time.between_s = std::min(time.between_s, followed->fixed_s);  // some ranks may work for less
  time.fixed_s = followed->fixed_s - time.between_s;
  time.bytes_s = followed->seconds - followed->fixed_s;
  time.shared_fixed_s =
      std::min(followed->seconds - followed->pace_s, followed->fixed_s - followed->pace_fixed_s);
  time.shared_bytes_s = followed->seconds - followed->pace_s - time.shared_fixed_s;
  return time;
}

// True if a rank sends to the same partners, in the same phases and with the same latencies, for
// payloads of both sizes.
bool is_alike(const Traffic& traffic, const Payload& one, const Payload& other, int rank) {
  const auto partners = [&](const Payload& payload) {
    std::vector<std::tuple<Verb, int, int, int, double, double>> all;
    for (const auto& action : traffic.plan_of(payload, rank))
      if (const Phase* phase = std::get_if<Phase>(&action))
        for (const Transfer& send : phase->sends)
          all.emplace_back(phase->verb, phase->steps, phase->stage.channel, send.peer,
                           phase->before_s, phase->latency_part);
    return all;
  };
  return partners(one) == partners(other);
}

// In proportion to what every rank sends for a payload. With exchange = nccl a protocol's share of
// the bandwidth depends on the length.
double sent_bytes(const Traffic& traffic, const Payload& payload) {
  if (traffic.picked.empty())
    return static_cast<double>(payload.bytes);
  double bytes = 0;
  for (const auto& action : traffic.plan_of(payload, 0))
    if (const Phase* phase = std::get_if<Phase>(&action))
      for (const Transfer& send : phase->sends)
        bytes += static_cast<double>(send.bytes);
  return bytes;
}

// Times for messages `times` as long.
ExchangeTime time_of_scaled(const Traffic& traffic, const std::vector<RingPhase>& phases,
                            double times) {
  ExchangeTime time;
  for (const RingPhase& phase : phases) {
    const auto [seconds, bytes_s] = phase.seconds(times, traffic.step_overhead_s);
    time.bytes_s += bytes_s;
    time.fixed_s += seconds - bytes_s;
  }
  return time;
}

}  // namespace

ExchangeTime exchange_time(const Traffic& traffic, Routes& routes, const Payload& payload,
                           double bandwidth) {
  return exchange_time(traffic, routes, payload, bandwidth,
                       time_by_phases(traffic, routes, payload, bandwidth));
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
  std::vector<ExchangeTime> times(buckets.size());
  std::vector<std::size_t> longest_first(buckets.size());
  std::iota(longest_first.begin(), longest_first.end(), std::size_t{0});
  std::ranges::stable_sort(longest_first, std::greater(),
                           [&](std::size_t i) { return buckets[i].parameters; });
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, ExchangeTime> known;
  TimeByPhases found;
  std::optional<Payload> found_of;  // none: not dense
  for (const std::size_t i : longest_first) {
    const Payload payload = traffic.payload_of(buckets[i], -1);
    const auto [entry, added] =
        known.try_emplace({payload.bytes, payload.dense_bytes, payload.small_bytes});
    const bool is_dense = payload.elements == 0 && payload.bytes > 0;
    const int last = traffic.averaging_ranks() - 1;
    if (added && is_dense && found_of && is_scaled(traffic, found) &&
        is_alike(traffic, *found_of, payload, 0) && is_alike(traffic, *found_of, payload, last)) {
      entry->second = time_of_scaled(traffic, found.phases,
                                     sent_bytes(traffic, payload) / sent_bytes(traffic, *found_of));
    } else if (added) {
      found = time_by_phases(traffic, routes, payload, bandwidth);
      found_of = is_dense ? std::optional(payload) : std::nullopt;
      entry->second = exchange_time(traffic, routes, payload, bandwidth, found);
    }
    times[i] = entry->second;
    if (!buckets[i].apart.empty() && traffic.compression.on())
      times[i].compress_s = traffic.compress_apart_s(buckets[i]);
  }
  return times;
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
