// Computing power and price of the devices of a scenario's workers.
#pragma once

#include <optional>
#include <string>

#include "sim/scenario.h"
#include "sim/traffic/cluster.h"

namespace syncline {

// FLOP/s of all workers together, at the peaks of their devices for the scenario's arithmetic. None
// if a peak is unknown.
std::optional<double> peak_flops(const Scenario& scenario, const Cluster& cluster);

// Mean price of a worker per hour, with sellers and dates: "a100 1.99 USD/h (...)". Throws
// std::runtime_error for a device without a price.
struct DevicePrice {
  double of_worker = 0;
  std::string source;
};
DevicePrice price_of_devices(const Scenario& scenario, const Cluster& cluster);

}  // namespace syncline
