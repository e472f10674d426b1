// What an exchange costs per byte, for models that add up latency and bytes: MG-WFBP's merge and
// compressors' own cost models.
#pragma once

#include <cstdint>

#include "sim/plan.h"
#include "sim/platform/routes.h"
#include "sim/traffic/traffic.h"

namespace syncline {

// Seconds of exchanging b bytes: startup_s + b * seconds_per_byte.
struct ExchangeCost {
  double startup_s = 0;
  double seconds_per_byte = 0;
  double compress_seconds_per_byte = 0;  // before the exchange, per byte of gradient
};

// b: bytes of gradient. Slope at this bucket's size.
ExchangeCost gradient_cost(const Traffic& traffic, Routes& routes, const Bucket& bucket);
// b: bytes of a message that stands for `dense_bytes`. Slope at a megabyte. Every bandwidth is
// multiplied by `bandwidth`.
ExchangeCost message_cost(const Traffic& traffic, Routes& routes, std::uint64_t dense_bytes,
                          bool summable, double bandwidth = 1);
// Bytes that take as long as the startup of that; 0 if bytes take no time.
double start_bytes(const Traffic& traffic, Routes& routes, std::uint64_t dense_bytes, bool summable,
                   double bandwidth = 1);

}  // namespace syncline
