#include "sim/setup/worker_devices.h"

#include <fmt/format.h>
#include <set>
#include <stdexcept>
#include <vector>

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/catalogue/devices.h"
#include "sim/catalogue/refuse.h"

namespace syncline {

std::optional<double> peak_flops(const Scenario& scenario, const Cluster& cluster) {
  double all = 0;
  for (const HostFacts& worker : cluster.workers) {
    const std::string& name = scenario.device.empty() ? worker.device : scenario.device;
    const Device* device = name.empty() ? nullptr : known_device(name);
    if (device == nullptr || !device->peak_flops.contains(scenario.arithmetic))
      return std::nullopt;
    all += device->peak_flops.at(scenario.arithmetic);
  }
  return all;
}

DevicePrice price_of_devices(const Scenario& scenario, const Cluster& cluster) {
  DevicePrice price;
  std::set<std::string> seen;
  for (const HostFacts& worker : cluster.workers) {
    const std::string& name = scenario.device.empty() ? worker.device : scenario.device;
    const Device* device = known_device(name);
    if (device == nullptr || !device->price) {
      std::vector<std::string> names;
      for (const Device& known : known_devices())
        if (known.price)
          names.push_back(known.name);
      throw std::runtime_error(fmt::format(
          "price = devices: {} has no price in platforms/devices.csv; allowed are a number, or "
          "device = {}",
          name.empty() ? "a host without device" : "device " + brief(name), listed(names)));
    }
    price.of_worker += *device->price / static_cast<double>(cluster.workers.size());
    if (seen.insert(device->name).second)
      price.source +=
          fmt::format("{}{} {:g} USD/h ({}, {})", price.source.empty() ? "" : "; ", device->name,
                      *device->price, device->price_source, device->price_date);
  }
  return price;
}

}  // namespace syncline
