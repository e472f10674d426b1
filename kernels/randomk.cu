// Random-k on a GPU: u = g + e, then a gather of the permutation's first k entries (permutation.h).
#include <cuda_runtime.h>

#include "kernels/device.cuh"
#include "kernels/device.h"
#include "kernels/feedback.h"
#include "kernels/permutation.h"

namespace syncline {
namespace {

__global__ void add_kernel(const float* g, float* u, std::size_t elements, bool feedback) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < elements)
    u[i] = feedback ? g[i] + u[i] : g[i];
}

__global__ void gather_kernel(float* u, Permutation order, std::size_t k, float* message) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i >= k)
    return;
  const std::uint64_t element = permuted(order, i);
  message[i] = canonical(u[element]);
  u[element] = 0;
}

__global__ void scatter_kernel(const float* message, Permutation order, std::size_t k, float* sum) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < k)
    sum[permuted(order, i)] += message[i];
}

void encode(const Settings& settings, const DeviceInput& input, const Draw& draw,
            const DeviceOutput& output, void*, void* stream) {
  const std::size_t k = wanted(settings.number("density"), input.elements);
  if (input.elements > 0)
    add_kernel<<<blocks_of(input.elements), 256, 0, stream_of(stream)>>>(
        input.gradient, input.residual, input.elements, with_feedback(settings));
  if (k > 0)
    gather_kernel<<<blocks_of(k), 256, 0, stream_of(stream)>>>(
        input.residual, permutation(draw, input.elements), k,
        reinterpret_cast<float*>(output.message));
}

void decode_add(const Settings&, const std::byte* message, std::size_t bytes, const Draw& draw,
                float* sum, std::size_t elements, void*, void* stream) {
  const std::size_t k = bytes / 4;
  if (k > 0)
    scatter_kernel<<<blocks_of(k), 256, 0, stream_of(stream)>>>(
        reinterpret_cast<const float*>(message), permutation(draw, elements), k, sum);
}

std::size_t message_room(const Settings& settings, std::size_t elements) {
  return 4 * wanted(settings.number("density"), elements);
}

std::size_t workspace_bytes(const Settings&, std::size_t) {
  return 0;
}

const Registered<DeviceCompressor> entry{{.name = "randomk",
                                          .message_room = message_room,
                                          .workspace_bytes = workspace_bytes,
                                          .encode = encode,
                                          .decode_add = decode_add}};

}  // namespace
}  // namespace syncline
