// No compression on a GPU: a copy, and a sum.
#include "kernels/gpu/device.cuh"

namespace syncline {
namespace {

template <class Value>
__global__ void sum_values_kernel(const Value* values, float* sum, std::size_t elements) {
  const std::size_t first = 4 * grid_thread();
  if (first >= elements)
    return;
  const FourOfSum four(sum, first, elements);
  if (four.present == 4) {
    const float4 more = four_of(values, first);
    const float added[] = {more.x, more.y, more.z, more.w};
    four.add([&](unsigned k) { return added[k]; });
  } else {
    four.add([&](unsigned k) { return loaded(values, first + k); });
  }
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
  launch_each(fours_of(elements), sum_values_kernel<Value>, stream,
              reinterpret_cast<const Value*>(message), sum, elements);
}

const Registered<DeviceCompressor> entry{{.name = "none",
                                          .halves = true,
                                          .encode = encode,
                                          .decode_add = decode_add<float>,
                                          .decode_add_halves = decode_add<Half>}};

}  // namespace
}  // namespace syncline
