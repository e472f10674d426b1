// From which bandwidth on compression pays, in closed form.
#pragma once

#include <vector>

#include "sim/setup/bounds.h"
#include "sim/setup/setup.h"

namespace syncline {

// One iteration of a schedule that averages, bucket after bucket: backward and compression follow
// each other on the compute stream, exchanges on the communication stream, and what has arrived is
// decompressed in turn. What an exchange does in between shares the device with what still
// computes. Every bandwidth is multiplied by `bandwidth`.
double iteration_seconds(const Setup& setup, const std::vector<ExchangeTime>& buckets,
                         double bandwidth);

// At which bandwidths a compressed scenario is faster than its dense rival: `bsp` with its own
// exchange, no compressor, all else equal. Mostly below one, where bytes cost more than compressing
// them; above one where messages are more bytes but start less often. Bandwidths are multiples of
// the scenario's own.
struct BreakEven {
  enum class Pays { below, above, always, never };
  struct Where {
    Pays pays = Pays::never;
    double bandwidth = 0;  // of the change; 0 where there is none
  };
  Traffic rival;
  std::vector<ExchangeTime> compressed, dense;  // by bucket
  // (dense bytes_s - compressed bytes_s) / (compress_s + between_s + decompress_s + fixed_s - dense
  // fixed_s), over all buckets: exact where nothing overlaps.
  Where without_overlap;
  Where with_overlap;  // where both need the same iteration_seconds()
};

// `times` are the scenario's bucket_times().
BreakEven break_even(const Setup& setup, Routes& routes, std::vector<ExchangeTime> times);

}  // namespace syncline
