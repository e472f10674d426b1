// EF-signSGD on a GPU; the kernels are in gpu/signs.cu.
#include "kernels/gpu/signs.h"

namespace syncline {
namespace {

const Registered<DeviceCompressor> entry{sign_method_on_device("efsign", 1)};

}  // namespace
}  // namespace syncline
