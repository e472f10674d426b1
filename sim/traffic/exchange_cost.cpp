#include "sim/traffic/exchange_cost.h"

#include <algorithm>
#include <cmath>

#include "sim/traffic/exchange_time.h"

namespace syncline {

ExchangeCost gradient_cost(const Traffic& traffic, Routes& routes, const Bucket& bucket) {
  const double startup_s = exchange_time(traffic, routes, dense(0)).exchange_s();
  const Payload payload = traffic.payload_of(bucket, -1);
  const ExchangeTime time = exchange_time(traffic, routes, payload);
  const auto bytes = static_cast<double>(payload.dense_bytes);
  return {startup_s, (time.exchange_s() - startup_s) / bytes, time.compress_s / bytes};
}

ExchangeCost message_cost(const Traffic& traffic, Routes& routes, std::uint64_t dense_bytes,
                          bool summable, double bandwidth) {
  // With 0 elements the plan has no work, so only transfers take time.
  Payload payload{.bytes = 0, .dense_bytes = dense_bytes, .summable = summable};
  const double startup_s = exchange_time(traffic, routes, payload, bandwidth).exchange_s();
  constexpr std::uint64_t megabyte = 1'000'000;
  payload.bytes = megabyte;
  const double seconds = exchange_time(traffic, routes, payload, bandwidth).exchange_s();
  const Topology& topology = traffic.cluster.topology;
  const int server = topology.workers();     // the first
  if (seconds == 0 && topology.servers > 0)  // a worker alone has no partner but servers
    return {.startup_s = routes.latency_s(0, server) + traffic.step_overhead_s,
            .seconds_per_byte = 1 / (bandwidth * routes.width_Bps(0, server))};
  return {.startup_s = startup_s, .seconds_per_byte = (seconds - startup_s) / megabyte};
}

double start_bytes(const Traffic& traffic, Routes& routes, std::uint64_t dense_bytes, bool summable,
                   double bandwidth) {
  const ExchangeCost cost = message_cost(traffic, routes, dense_bytes, summable, bandwidth);
  const double bytes = cost.seconds_per_byte > 0 ? cost.startup_s / cost.seconds_per_byte : 0;
  return std::round(std::min(bytes, 1e12));
}

}  // namespace syncline
