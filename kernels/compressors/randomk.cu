// Random-k on a GPU: u = g + e, then a gather of the permutation's first k entries (permutation.h).
#include "kernels/arithmetic/permutation.h"
#include "kernels/gpu/device.cuh"

namespace syncline {
namespace {

template <class Value>
__global__ void add_kernel(const Value* g, float* u, std::size_t elements, bool feedback) {
  const std::size_t first = 4 * grid_thread();
  if (first >= elements)
    return;
  if (elements - first < 4) {
    for (std::size_t i = first; i < elements; ++i)
      u[i] = feedback ? loaded(g, i) + u[i] : loaded(g, i);
    return;
  }
  float4 sums = four_of(g, first);
  if (feedback) {
    const float4 rest = four_of(u, first);
    sums = {sums.x + rest.x, sums.y + rest.y, sums.z + rest.z, sums.w + rest.w};
  }
  *reinterpret_cast<float4*>(u + first) = sums;
}

template <class Value>
__global__ void gather_kernel(float* u, Permutation order, std::size_t k, std::byte* message) {
  const std::size_t i = grid_thread();
  if (i < k)
    send_value<Value>(u[permuted(order, i)], message, i);
}

template <class Value>
__global__ void scatter_kernel(DeviceMessages messages, Permutation order, std::size_t k,
                               float* sum) {
  const std::size_t i = grid_thread();
  if (i >= k)
    return;
  float* const to = sum + permuted(order, i);
  float total = *to;
#pragma unroll 4
  for (unsigned m = 0; m < messages.count; ++m)
    total += loaded(reinterpret_cast<const Value*>(messages.at[m]), i);
  *to = total;
}

void encode(const Settings& settings, const DeviceInput& input, const Draw& draw,
            const DeviceOutput& output, void*, void* stream) {
  const std::size_t k = wanted(density_of(settings), input.elements);
  with_gradient(input, [&]<class Value>(const Value* g) {
    launch_each(fours_of(input.elements), add_kernel<Value>, stream, g, input.residual,
                input.elements, with_feedback(settings));
  });
  const auto gather = input.halves != nullptr ? gather_kernel<Half> : gather_kernel<float>;
  launch_each(k, gather, stream, input.residual, permutation(draw, input.elements), k,
              output.message);
}

template <class Value>
void decode_add(const Settings& settings, const DeviceMessages& messages, const Draw& draw,
                float* sum, std::size_t elements, void*, void* stream) {
  const std::size_t k = wanted(density_of(settings), elements);
  launch_each(k, scatter_kernel<Value>, stream, messages, permutation(draw, elements), k, sum);
}

const Registered<DeviceCompressor> entry{{.name = "randomk",
                                          .halves = true,
                                          .encode = encode,
                                          .decode_add = decode_add<float>,
                                          .decode_add_halves = decode_add<Half>}};

}  // namespace
}  // namespace syncline
