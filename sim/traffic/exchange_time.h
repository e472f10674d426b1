// Closed forms: how long an exchange takes, and lower bounds, from plans and routes alone.
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
  double compress_s = 0;    // before it, on the compute stream
  double fixed_s = 0;       // latencies and step-overheads
  double between_s = 0;     // compressing and decompressing inside the exchange
  double bytes_s = 0;       // bytes / bandwidth
  double decompress_s = 0;  // after it, on the compute stream
  // These spend between_s, in the order of rank 0's plan: each is work, after a part of fixed_s +
  // bytes_s.
  struct Work {
    double after = 0;    // from 0 to 1
    double seconds = 0;  // these add up to between_s
  };
  std::vector<Work> works = {};
  // It may take another time: see exchange_time().
  bool about = false;
  // The next bucket need not wait for these parts of fixed_s and bytes_s: it follows the first
  // stage of a pipeline.
  double shared_fixed_s = 0;
  double shared_bytes_s = 0;

  double exchange_s() const { return fixed_s + between_s + bytes_s; }
};

// Seconds of all buckets, one following the other as early as it can.
ExchangeTime sum_of(const std::vector<ExchangeTime>& buckets);

// A plan whose phases all are rings, of more than 16 ranks, takes their sum. A ring takes
// ring_seconds() (sim/traffic/ring_time.h), of which bytes_s is bytes / bandwidth of the busiest
// link, and fixed_s the rest at these bytes. Other plans take plan_time() (followed_plans.h),
// of which fixed_s is what takes as long without bytes. Where there are too many messages for that,
// `about` is set: another phase then takes bytes / bandwidth of its busiest link, and steps *
// (latency + step-overhead) of the rank for which these sum up to most, which is right where
// latencies are equal and every rank takes part in every step; pipelines take what PipelineTime
// says. Every bandwidth is multiplied by `bandwidth`.
ExchangeTime exchange_time(const Traffic& traffic, Routes& routes, const Payload& payload,
                           double bandwidth = 1);
std::vector<ExchangeTime> bucket_times(const Traffic& traffic, Routes& routes,
                                       const std::vector<Bucket>& buckets, double bandwidth = 1);
// Empty without traffic.
std::vector<ExchangeTime> bucket_times(const std::optional<Traffic>& traffic, Routes& routes,
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
