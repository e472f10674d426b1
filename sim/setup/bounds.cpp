#include "sim/setup/bounds.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace syncline {
namespace {

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

// One rank's seconds without bytes / bandwidth, because its bytes share links with other ranks'.
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
    double latency_s = 0;
    for (const std::vector<Transfer>* transfers : {&phase.sends, &phase.receives})
      for (const Transfer& transfer : *transfers)
        latency_s = std::max(latency_s, routes.between(rank, transfer.peer).latency_s);
    time.fixed_s += phase.steps * (latency_s + traffic.step_overhead_s);
  }
  return time;
}

}  // namespace

ExchangeTime exchange_time(const Traffic& traffic, Routes& routes, const Payload& payload) {
  struct Loads {
    std::map<int, double> link_bytes;
    double slowest_flow_s = 0;  // by links that limit each flow by itself
  };
  // Phases of two ranks are the same if name and occurrence in the plan agree.
  std::map<std::pair<std::string_view, int>, Loads> loads_of;
  ExchangeTime slowest;
  for (int rank = 0; rank < traffic.averaging_ranks(); ++rank) {
    const Plan plan = traffic.plan_of(payload, rank);
    std::map<std::string_view, int> occurrences;
    for (const auto& action : plan)
      if (const Phase* phase = std::get_if<Phase>(&action)) {
        Loads& loads = loads_of[{phase->name, occurrences[phase->name]++}];
        for (const Transfer& send : phase->sends) {
          const Route route = routes.between(rank, send.peer);
          const auto bytes = static_cast<double>(send.bytes);
          loads.slowest_flow_s = std::max(loads.slowest_flow_s, bytes / route.flow_Bps);
          for (const int link : route.links)
            loads.link_bytes[link] += bytes;
        }
      }
    const ExchangeTime own = own_time(traffic, routes, plan, rank);
    slowest.compress_s = std::max(slowest.compress_s, own.compress_s);
    slowest.fixed_s = std::max(slowest.fixed_s, own.fixed_s);
    slowest.between_s = std::max(slowest.between_s, own.between_s);
    slowest.decompress_s = std::max(slowest.decompress_s, own.decompress_s);
  }
  for (const auto& [phase, loads] : loads_of) {
    double busiest_s = loads.slowest_flow_s;
    for (const auto& [link, bytes] : loads.link_bytes)
      busiest_s = std::max(busiest_s, bytes / routes.links()[index(link)].bandwidth_Bps);
    slowest.bytes_s += busiest_s;
  }
  return slowest;
}

std::vector<ExchangeTime> bucket_times(const Traffic& traffic, Routes& routes,
                                       const std::vector<Bucket>& buckets) {
  std::vector<ExchangeTime> times;
  for (const Bucket& bucket : buckets)
    times.push_back(exchange_time(traffic, routes, traffic.payload_of(bucket, -1)));
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
                                for (const int link : routes.between(from, to).links)
                                  loads[link] += static_cast<double>(bytes);
                              },
                              {});
  return loads;
}

}  // namespace syncline
