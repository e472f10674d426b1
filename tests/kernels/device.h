// The device that tests of CUDA versions run on.
#pragma once

#include <stdexcept>
#include <string>

#include "kernels/gpu/device.h"

namespace syncline {

// Empty if there is a device; otherwise why tests are skipped.
inline std::string why_no_device() {
  if (Registered<DeviceRuntime>::all().empty())
    return "this build has no CUDA kernels";
  return Registered<DeviceRuntime>::find("cuda").absence();
}

// The emulator (emulator/README.md) is some thousand times slower than a device.
inline bool emulated() {
  return Registered<DeviceRuntime>::find("cuda").about().front().second == "emulator";
}

// Whether the CUDA version says that it does not have these settings.
inline bool refuses(const DeviceCompressor& device, const Settings& settings) {
  try {
    if (device.check)
      device.check(settings);
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

}  // namespace syncline
