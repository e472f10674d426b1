// Closed forms: what an exchange costs, what no simulation can beat, and from which bandwidth on
// compression pays, from plans and routes alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/platform.h"
#include "sim/simulation.h"

namespace syncline {

// Seconds of averaging one payload when nothing else is under way, by what they depend on.
struct ExchangeTime {
  double compress_s = 0;    // before it, on the compute stream
  double fixed_s = 0;       // latencies and step-overheads
  double between_s = 0;     // messages read and made on the way
  double bytes_s = 0;       // bytes / bandwidth
  double decompress_s = 0;  // after it, on the compute stream

  double exchange_s() const { return fixed_s + between_s + bytes_s; }
};

// Exact where every rank takes part in every step; a tree's ranks also wait for each other, which
// no rank's own latencies show. Sum over the phases of the plan: steps * (latency + step-overhead)
// of the rank that pays most, and bytes / bandwidth of the link that carries most.
ExchangeTime exchange_time(const Setup& setup, Routes& routes, const Payload& payload);
std::vector<ExchangeTime> bucket_times(const Setup& setup, Routes& routes);

// Seconds of exchanging b bytes: startup_s + b * seconds_per_byte.
struct ExchangeCost {
  double startup_s = 0;
  double seconds_per_byte = 0;
  double compress_seconds_per_byte = 0;  // before it, of gradient
};

// By bytes of gradient, taken at the model's size; and by bytes of a message, taken at a megabyte.
ExchangeCost gradient_cost(const Setup& setup, Routes& routes);
ExchangeCost message_cost(const Setup& setup, Routes& routes);

// What one iteration of all workers puts on each link (index into routes.links()), by the plans of
// the exchange, the pushes and pulls of a server schedule, or the copies inside nodes of one with
// aggregators (what those send across nodes depends on how often they are asked).
std::map<int, double> link_bytes_per_iteration(const Setup& setup, Routes& routes);

// One iteration of a schedule that averages, bucket after bucket: backward and compression follow
// each other on the compute stream, exchanges on the communication stream, and what has arrived is
// decompressed in turn. What an exchange does in between shares the device with what still
// computes. Every bandwidth is multiplied by `bandwidth`.
double iteration_seconds(const Setup& setup, const std::vector<ExchangeTime>& buckets,
                         double bandwidth);

// At which bandwidths a compressed scenario is faster than its dense rival: `bsp`, `ring`, no
// compressor, all else equal. Mostly below one, where bytes cost more than compressing them; above
// one where messages are more bytes but start less often. Bandwidths are multiples of the
// scenario's own.
struct BreakEven {
  enum class Pays { below, above, always, never };
  struct Where {
    Pays pays = Pays::never;
    double bandwidth = 0;  // of the change; 0 where there is none
  };
  Setup rival;
  std::vector<ExchangeTime> compressed, dense;  // by bucket
  // (dense bytes_s - compressed bytes_s) / (compress_s + between_s + decompress_s + fixed_s - dense
  // fixed_s), over all buckets: exact where nothing overlaps.
  Where without_overlap;
  Where with_overlap;  // where both need the same iteration_seconds()
};

// `times` are the scenario's bucket_times().
BreakEven break_even(const Setup& setup, Routes& routes, std::vector<ExchangeTime> times);

}  // namespace syncline
