// At which bandwidths compression saves time, in closed form.
#pragma once

#include <vector>

#include "sim/clock/clock.h"
#include "sim/setup/setup.h"
#include "sim/traffic/exchange_time.h"

namespace syncline {

// Bandwidths, as multiples of the scenario's own: of all links, or of those alone that
// bandwidth-factor names by patterns. 0: no limit on that side.
struct BandwidthRange {
  double from = 0;
  double to = 0;
};

// At which bandwidths a compressed scenario is faster than its dense rival: the same schedule
// (`bsp`, where it is `topk-sgd`) with the same exchange (Scenario::dense_exchange) and no
// compressor, all else equal. Usually below a limit, where bytes take longer than compressing them;
// above a limit if its messages have more bytes in fewer steps; between two if compressing them
// then takes longer than what is left of these.
struct BreakEven {
  // Both are looked at again at the limits, with exchanges as long as they are there. False if a
  // limit then moves by more than a factor of four; where ranks of several buckets drift apart with
  // work inside the exchange, which shares the core with other work on each of them; and where it
  // is not sure, 5 % beside a limit, which is faster, because such work may be hidden; and where
  // workers also average in groups.
  bool known = true;
  Traffic rival;
  std::vector<ExchangeTime> compressed, dense;  // by bucket
  // (dense bytes_s - compressed bytes_s) / (compress_s + between_s + decompress_s + fixed_s - dense
  // fixed_s), over all buckets: exact where nothing overlaps.
  std::vector<BandwidthRange> without_overlap;
  std::vector<BandwidthRange> with_overlap;  // limits: where iteration_seconds() of both are equal
  // Where a cost table is a range: with its fast end, and with its slow end. Else empty.
  std::vector<BreakEven> ends;
};

// `times` are the scenario's collective_times().
BreakEven break_even(const Setup& setup, Routes& routes, const Round& round,
                     const CollectiveTimes& times);

}  // namespace syncline
