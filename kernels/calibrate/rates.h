// What modelled tables rest on: rates of memory, launches and caches that others measured.
#pragma once

#include <string>
#include <utility>
#include <vector>

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
  double cache_bytes = 0;  // the largest data set that the L2 reads at its rate; 0: nobody says
  double cache_Bps = 0;
  std::string cache_source = {};

  // Of an operation, to six digits. At the low end what fits into the L2 comes from there.
  LowToHigh seconds(double launches, double bytes, double synchronisations) const;
  // Lines for a table's header: what these seconds are made of, and who measured it.
  std::vector<std::pair<std::string, std::string>> header() const;
};

const std::vector<DeviceRates>& rated_devices();
std::vector<std::string> rated_names();
// Throws std::invalid_argument that says what is allowed.
const DeviceRates& rated_device(const std::string& name);

}  // namespace syncline
