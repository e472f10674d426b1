// The CUDA version of a sign method.
#pragma once

#include "kernels/gpu/device.h"

namespace syncline {

// Its messages begin with that many scales: 1 as EF-signSGD, 2 as 1-bit SGD.
DeviceCompressor sign_method_on_device(const std::string& name, std::size_t scales);

}  // namespace syncline
