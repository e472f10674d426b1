// The rates behind modelled tables: of memory, launches and caches, measured by others.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/traffic.h"

namespace syncline {

struct LowToHigh {
  double low = 0, typical = 0, high = 0;
};

struct DeviceRates {
  std::string name;         // of the table, and of the row in platforms/devices.csv
  std::string description;  // the device, for the table's header
  LowToHigh stream_Bps;     // of memory
  std::string stream_source;
  LowToHigh launch_s;  // of a kernel in a chain
  std::string launch_source;
  double fp32_peak = 0;    // FLOP/s with fused multiply-adds, as in platforms/devices.csv
  double cache_bytes = 0;  // the largest data set read at the L2's rate; 0: unknown
  double cache_Bps = 0;
  std::string cache_source = {};

  // Seconds of an operation, to six digits. At the low end, data that fit into the L2 come from
  // there.
  LowToHigh seconds(double launches, double bytes, double synchronisations) const;
  // Seconds of a chain of kernels here, which never waits for the host. Adds the time by which an
  // operation's arithmetic exceeds that of its bytes.
  LowToHigh seconds(const StreamOperations& operations) const;
  // Lines for a table's header: the terms of these seconds, and their sources.
  std::vector<std::pair<std::string, std::string>> header() const;

 private:
  double fastest_Bps(double bytes) const {
    return cache_bytes > 0 && bytes <= cache_bytes ? cache_Bps : stream_Bps.high;
  }
};

const std::vector<DeviceRates>& rated_devices();
std::vector<std::string> rated_names();
// Throws std::invalid_argument that lists the known devices.
const DeviceRates& rated_device(const std::string& name);

}  // namespace syncline
