// Closed forms for the time of an exchange and for the bytes on links, from plans and routes alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/plan.h"
#include "sim/platform/routes.h"
#include "sim/traffic/traffic.h"

namespace syncline {

// Seconds of averaging one payload while nothing else runs, split by cause.
struct ExchangeTime {
  double compress_s = 0;    // before the exchange, on the compute stream
  double fixed_s = 0;       // latencies and step-overheads
  double between_s = 0;     // compression and decompression inside the exchange
  double bytes_s = 0;       // bytes / bandwidth
  double decompress_s = 0;  // after the exchange, on the compute stream
  // The parts of between_s, in the order of rank 0's plan. Each is work that comes after a part of
  // fixed_s + bytes_s.
  struct Work {
    double after = 0;    // from 0 to 1
    double seconds = 0;  // the sum over all works is between_s
  };
  std::vector<Work> works = {};
  // The time is approximate: see exchange_time().
  bool about = false;
  // Parts of fixed_s and bytes_s for which the next bucket need not wait, because it may begin
  // before all ranks have ended this one.
  double shared_fixed_s = 0;
  double shared_bytes_s = 0;

  double exchange_s() const { return fixed_s + between_s + bytes_s; }
};

// Seconds of all buckets, each as early as possible after the one before.
ExchangeTime sum_of(const std::vector<ExchangeTime>& buckets);

// Plans of more than 16 ranks that consist only of rings, or of more than 64 whose transfers all
// move at once, take the sum of their phases. A ring takes
// ring_seconds() (sim/traffic/ring_time.h): bytes_s is bytes / bandwidth of the busiest link, and
// fixed_s is the rest at these bytes. Other plans take plan_time() (followed_plans.h): fixed_s is
// the time without bytes. If there are too many messages for that, `about` is set. Another phase
// then takes bytes / bandwidth of its busiest link, plus steps * (latency + step-overhead): of the
// slowest rank in each turn of a tree, else of the rank with the largest sum of these, which is
// right if latencies are equal and every rank takes part in every step. Pipelines then take the
// time of PipelineTime. Every bandwidth is multiplied by `bandwidth`.
ExchangeTime exchange_time(const Traffic& traffic, Routes& routes, const Payload& payload,
                           double bandwidth = 1);
std::vector<ExchangeTime> bucket_times(const Traffic& traffic, Routes& routes,
                                       const std::vector<Bucket>& buckets, double bandwidth = 1);
// Empty without traffic.
inline std::vector<ExchangeTime> bucket_times(const std::optional<Traffic>& traffic, Routes& routes,
                                              const std::vector<Bucket>& buckets) {
  return traffic ? bucket_times(*traffic, routes, buckets) : std::vector<ExchangeTime>();
}

// Bytes that one iteration of all workers puts on each link (index into routes.links()), from
// Traffic::for_each_activity.
std::map<int, double> link_bytes_per_iteration(const Traffic& traffic, Routes& routes,
                                               const std::vector<Bucket>& buckets);

}  // namespace syncline
