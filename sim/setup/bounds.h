// Closed forms: how long an exchange takes, and lower bounds, from plans and routes alone.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/plan.h"
#include "sim/setup/platform.h"
#include "sim/setup/traffic.h"

namespace syncline {

// Seconds of averaging one payload while nothing else runs, split by cause.
struct ExchangeTime {
  double compress_s = 0;    // before it, on the compute stream
  double fixed_s = 0;       // latencies and step-overheads
  double between_s = 0;     // compressing and decompressing inside the exchange
  double bytes_s = 0;       // bytes / bandwidth
  double decompress_s = 0;  // after it, on the compute stream
  // Of fixed_s and bytes_s, what the next bucket need not wait for: it follows the first stage of a
  // pipeline.
  double shared_fixed_s = 0;
  double shared_bytes_s = 0;

  double exchange_s() const { return fixed_s + between_s + bytes_s; }
};

// Seconds of all buckets, one following the other as early as it can.
ExchangeTime sum_of(const std::vector<ExchangeTime>& buckets);

// Sum over the phases of the plan. A ring takes ring_seconds() (sim/setup/ring.h), of which bytes_s
// is bytes / bandwidth of the busiest link, and fixed_s the rest at these bytes. Another phase
// takes bytes / bandwidth of its busiest link, and steps * (latency + step-overhead) of the rank
// for which these sum up to most: exact where every rank takes part in every step, but a tree's
// ranks also wait for each other, which is in no rank's own latencies. Pipelines are in
// pipeline_time.h.
ExchangeTime exchange_time(const Traffic& traffic, Routes& routes, const Payload& payload);
std::vector<ExchangeTime> bucket_times(const Traffic& traffic, Routes& routes,
                                       const std::vector<Bucket>& buckets);

// Seconds of exchanging b bytes: startup_s + b * seconds_per_byte.
struct ExchangeCost {
  double startup_s = 0;
  double seconds_per_byte = 0;
  double compress_seconds_per_byte = 0;  // before it; bytes of gradient
};

// b: bytes of gradient. Slope at this bucket's size.
ExchangeCost gradient_cost(const Traffic& traffic, Routes& routes, const Bucket& bucket);
// b: bytes of a message that stands for `dense_bytes`. Slope at a megabyte.
ExchangeCost message_cost(const Traffic& traffic, Routes& routes, std::uint64_t dense_bytes,
                          bool summable);

// Bytes that one iteration of all workers puts on each link (index into routes.links()), from
// Traffic::for_each_activity.
std::map<int, double> link_bytes_per_iteration(const Traffic& traffic, Routes& routes,
                                               const std::vector<Bucket>& buckets);

}  // namespace syncline
