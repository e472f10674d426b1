// The CUDA version of a sign method.
#pragma once

#include "kernels/gpu/device.h"

namespace syncline {

// Makes the CUDA version of a sign method whose messages begin with `scales` scales: 1 for
// EF-signSGD, 2 for 1-bit SGD.
DeviceCompressor sign_method_on_device(const std::string& name, std::size_t scales);

}  // namespace syncline
