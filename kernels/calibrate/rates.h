// What modelled tables rest on: rates of memory, launches and caches that others measured.
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
  std::string name;         // of its table, and of its row in platforms/devices.csv
  std::string description;  // what its table is about
  LowToHigh stream_Bps;     // of memory
  std::string stream_source;
  LowToHigh launch_s;  // of a kernel in a chain
  std::string launch_source;
  double fp32_peak = 0;    // FLOP/s with fused multiply-adds, as in platforms/devices.csv
  double cache_bytes = 0;  // the largest data set that the L2 reads at its rate; 0: nobody says
  double cache_Bps = 0;
  std::string cache_source = {};

  // Of an operation, to six digits. At the low end what fits into the L2 comes from there.
  LowToHigh seconds(double launches, double bytes, double synchronisations) const;
  // Of a chain of ours, which never waits for the host. What an operation's arithmetic takes longer
  // than its bytes is added.
  LowToHigh seconds(const StreamOperations& operations) const;
  // Lines for a table's header: what these seconds are made of, and who measured it.
  std::vector<std::pair<std::string, std::string>> header() const;

 private:
  double fastest_Bps(double bytes) const {
    return cache_bytes > 0 && bytes <= cache_bytes ? cache_Bps : stream_Bps.high;
  }
};

const std::vector<DeviceRates>& rated_devices();
std::vector<std::string> rated_names();
// Throws std::invalid_argument that says what is allowed.
const DeviceRates& rated_device(const std::string& name);

}  // namespace syncline
