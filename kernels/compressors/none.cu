// No compression on a GPU: a copy, and a sum.
#include "kernels/gpu/device.cuh"

namespace syncline {
namespace {

template <class Value>
__global__ void sum_values_kernel(const Value* values, float* sum, std::size_t elements) {
  const std::size_t i = grid_thread();
  if (i < elements)
    sum[i] += loaded(values, i);
}

void encode(const Settings&, const DeviceInput& input, const Draw&, const DeviceOutput& output,
            void*, void* stream) {
  with_gradient(input, [&](const auto* g) {
    cudaMemcpyAsync(output.message, g, sizeof *g * input.elements, cudaMemcpyDeviceToDevice,
                    stream_of(stream));
  });
}

template <class Value>
void decode_add(const Settings&, const std::byte* message, std::size_t, const Draw&, float* sum,
                std::size_t elements, void*, void* stream) {
  launch_each(elements, sum_values_kernel<Value>, stream, reinterpret_cast<const Value*>(message),
              sum, elements);
}

const Registered<DeviceCompressor> entry{{.name = "none",
                                          .halves = true,
                                          .encode = encode,
                                          .decode_add = decode_add<float>,
                                          .decode_add_halves = decode_add<Half>}};

}  // namespace
}  // namespace syncline
