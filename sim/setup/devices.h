// What devices compute, hold and cost: platforms/devices.csv.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario.h"
#include "sim/setup/cluster.h"

namespace syncline {

struct Device {
  std::string name;
  std::map<Arithmetic, double> peak_flops;  // of those that it has
  double memory_bytes = 0;
  double memory_Bps = 0;
  std::optional<double> stream_Bps;  // measured
  std::optional<double> slot_Bps;    // nominal, each way
  std::optional<double> power_w;
  std::optional<double> price;  // for an hour
  std::string price_date;
  std::string price_source;
  std::string source;
};

// Throws std::runtime_error that names file and line: also where a peak is less than that of more
// bits, a measured rate more than the memory's, or a price has no date or source.
std::vector<Device> read_devices(const std::string& path);

// Those of platforms/devices.csv, which is read once.
const std::vector<Device>& known_devices();
// "fp32 67, bf16 989 TFLOP/s; 80 GB at 3350 GB/s; 700 W; 2.99 USD/h (seller, date); source".
std::string described(const Device& device);
// The row of a device, or of a cost table's; null: there is none.
const Device* known_device(const std::string& name);

// FLOP/s of all workers together at the peaks of their devices for the scenario's arithmetic. None
// where one of them is not known.
std::optional<double> peak_flops(const Scenario& scenario, const Cluster& cluster);

// Of a worker for an hour, in the mean, with sellers and dates: "a100 1.99 USD/h (...)". Throws
// std::runtime_error for a device without a price.
struct DevicePrice {
  double of_worker = 0;
  std::string source;
};
DevicePrice price_of_devices(const Scenario& scenario, const Cluster& cluster);

}  // namespace syncline
