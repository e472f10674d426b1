// The memory that training needs on a device, and whether it fits.
#pragma once

#include <optional>
#include <string>

#include "sim/scenario.h"
#include "sim/setup/model.h"
#include "sim/traffic/cluster.h"

namespace syncline {

struct MemoryNeed {
  double bytes = 0;        // that `arithmetic` adds up
  double has_bytes = 0;    // of the device
  std::string arithmetic;  // "13 B parameters x (2 + ...) bytes = 208 GB > 80 GB of h100"

  bool fits() const { return bytes <= has_bytes; }
};

// For the worker with the least memory, which turns `encoded` gradient values into messages in an
// iteration (Traffic::encoded_of). None if no worker has a device of platforms/devices.csv.
std::optional<MemoryNeed> memory_need(const Scenario& scenario, const Model& model,
                                      const Cluster& cluster, double encoded = 0);

}  // namespace syncline
