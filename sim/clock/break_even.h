// The bandwidths at which compression saves time, in closed form.
#pragma once

#include <vector>

#include "sim/clock/clock.h"
#include "sim/setup/setup.h"
#include "sim/traffic/exchange_time.h"

namespace syncline {

// Bandwidths as multiples of the scenario's own: of all links, or only of those that
// bandwidth-factor names by patterns. 0: no limit on that side.
struct BandwidthRange {
  double from = 0;
  double to = 0;
};

// The bandwidths at which a compressed scenario is faster than its dense_rival(). Compression
// usually pays below a limit, where sending the saved bytes takes longer than compressing. It pays
// above a limit if the compressed messages have more bytes in fewer steps, and between two limits
// if compression then takes longer than what is left of those steps.
struct BreakEven {
  // Both kinds of ranges are checked again at their limits, with the exchange times there. False if
  // a limit then moves by more than a factor of four; if exchange times are approximate; if limits
  // are elsewhere with the messages that are made there (cat); if ranks
  // of several buckets drift apart because work inside the exchange shares the core with other
  // work; if it is uncertain which is faster 5 % beside a limit, because such work may be hidden;
  // or if workers also average in groups.
  bool known = true;
  Traffic rival;
  double dense_iteration_s = 0;  // of the rival, at the scenario's own bandwidths
  // Without overlap. The search starts at (dense bytes_s - compressed bytes_s) / (compress_s +
  // between_s + decompress_s + fixed_s - dense fixed_s), over all buckets, and is repeated with the
  // exchange times at that bandwidth. If bandwidth-factor names links, the whole range is searched
  // with the exchange times at each bandwidth.
  std::vector<BandwidthRange> without_overlap;
  std::vector<BandwidthRange> with_overlap;  // limits: both have equal iteration_seconds() there
  // If a cost table is a range: results at its fast end and at its slow end. Else empty.
  std::vector<BreakEven> ends;
};

// `times` are the scenario's collective_times().
BreakEven break_even(const Setup& setup, Routes& routes, const Round& round,
                     const CollectiveTimes& times);

}  // namespace syncline
