// Speed, memory and price of devices: platforms/devices.csv.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario.h"

namespace syncline {

struct Device {
  std::string name;
  std::map<Arithmetic, double> peak_flops;  // absent: the device does not have it
  double memory_bytes = 0;
  double memory_Bps = 0;
  std::optional<double> stream_Bps;  // measured
  std::optional<double> slot_Bps;    // nominal, each way
  std::optional<double> power_w;
  std::optional<double> compute_capability;  // CUDA's, such as 8.6
  std::optional<double> price;               // per hour
  std::string price_date;
  std::string price_source;
  std::string source;
};

// Throws std::runtime_error that names file and line, also if a peak is less than the peak with
// more bits, if a measured rate exceeds the memory's, or if a price has no date or source.
std::vector<Device> read_devices(const std::string& path);

// The devices of platforms/devices.csv, which is read once.
const std::vector<Device>& known_devices();
// "fp32 67, bf16 989 TFLOP/s; 80 GB at 3350 GB/s; 700 W; 2.99 USD/h (seller, date); source".
std::string described(const Device& device);
// The row of a device, or of a cost table's device; null: there is none.
const Device* known_device(const std::string& name);

}  // namespace syncline
