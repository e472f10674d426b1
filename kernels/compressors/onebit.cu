// 1-bit SGD on a GPU; the kernels are in gpu/signs.cu.
#include "kernels/gpu/signs.h"

namespace syncline {
namespace {

const Registered<DeviceCompressor> entry{sign_method_on_device("onebit", 2)};

}  // namespace
}  // namespace syncline
