// What modelled tables take from a device, and the terms that they share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/traffic.h"

namespace syncline {

struct DeviceRates {
  std::string name;         // of the table, and of the row in platforms/devices.csv
  std::string description;  // the device, for the table's header
  double stream_Bps = 0;    // of memory
  std::string stream_source;
  double launch_s = 0;  // of a kernel in a chain
  std::string launch_source;
  double fp32_peak = 0;  // FLOP/s with fused multiply-adds, as in platforms/devices.csv
  int fp32_lanes = 128;  // of a multiprocessor, whose schedulers issue for 128 lanes per clock

  double slots_per_s() const;  // of StreamOperation::slots: lanes of all multiprocessors x clock

  // Seconds of a chain of kernels here, which never waits for the host; to six digits.
  double seconds(const StreamOperations& operations) const;
  // Seconds of published code: its kernels one after the other, bytes and waits of the host.
  double seconds(double launches, double bytes, double synchronisations) const;
  // Lines for a table's header: the terms of these seconds, and their sources.
  std::vector<std::pair<std::string, std::string>> header() const;
};

// p10 and p90 of a modelled row, as multiples of its seconds. Nineteen of twenty measured encodings
// and decodings of an H100 lie between, and four of five of its further messages.
struct Ends {
  double low, high;
};
inline constexpr Ends usual_ends{0.75, 1.33}, further_ends{0.5, 2};

const std::vector<DeviceRates>& rated_devices();
std::vector<std::string> rated_names();
// Throws std::invalid_argument that lists the known devices.
const DeviceRates& rated_device(const std::string& name);

}  // namespace syncline
