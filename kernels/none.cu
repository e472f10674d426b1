// No compression on a GPU: a copy, and a sum.
#include <cuda_runtime.h>

#include "kernels/device.cuh"
#include "kernels/device.h"

namespace syncline {
namespace {

__global__ void sum_values_kernel(const float* values, float* sum, std::size_t elements) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < elements)
    sum[i] += values[i];
}

void encode(const Settings&, const DeviceInput& input, const Draw&, const DeviceOutput& output,
            void*, void* stream) {
  cudaMemcpyAsync(output.message, input.gradient, 4 * input.elements, cudaMemcpyDeviceToDevice,
                  stream_of(stream));
}

void decode_add(const Settings&, const std::byte* message, std::size_t, const Draw&, float* sum,
                std::size_t elements, void*, void* stream) {
  if (elements > 0)
    sum_values_kernel<<<blocks_of(elements), 256, 0, stream_of(stream)>>>(
        reinterpret_cast<const float*>(message), sum, elements);
}

std::size_t message_room(const Settings&, std::size_t elements) {
  return 4 * elements;
}

std::size_t workspace_bytes(const Settings&, std::size_t) {
  return 0;
}

const Registered<DeviceCompressor> entry{{.name = "none",
                                          .message_room = message_room,
                                          .workspace_bytes = workspace_bytes,
                                          .encode = encode,
                                          .decode_add = decode_add}};

}  // namespace
}  // namespace syncline
