// No compression on a GPU: a copy, and a sum.
#include "kernels/gpu/device.cuh"

namespace syncline {
namespace {

template <class Value>
struct PlainValues {
  const Value* values;

  __device__ explicit PlainValues(const std::byte* message)
      : values(reinterpret_cast<const Value*>(message)) {}

  __device__ auto operator()(std::size_t first, bool four_there) const {
    const float4 four = four_there ? four_of(values, first) : float4{};
    return [this, first, four_there, four](unsigned k) {
      return !four_there ? loaded(values, first + k)
             : k == 0    ? four.x
             : k == 1    ? four.y
             : k == 2    ? four.z
                         : four.w;
    };
  }
};

void encode(const Settings&, const DeviceInput& input, const Draw&, const DeviceOutput& output,
            void*, void* stream) {
  with_gradient(input, [&](const auto* g) {
    cudaMemcpyAsync(output.message, g, sizeof *g * input.elements, cudaMemcpyDeviceToDevice,
                    stream_of(stream));
  });
}

template <class Value>
void decode_add(const Settings&, const DeviceMessages& messages, const Draw&, float* sum,
                std::size_t elements, void*, void* stream) {
  add_dense<PlainValues<Value>>(messages, sum, elements, stream);
}

const Registered<DeviceCompressor> entry{{.name = "none",
                                          .halves = true,
                                          .encode = encode,
                                          .decode_add = decode_add<float>,
                                          .decode_add_halves = decode_add<Half>}};

}  // namespace
}  // namespace syncline
