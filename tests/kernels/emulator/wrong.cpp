// A compressor with wrong fast versions, on the CPU and on a GPU, which the calibrator must detect.
#include "kernels/cpu/feedback.h"
#include "kernels/gpu/device.h"

namespace syncline {
namespace {

void put(std::byte first, std::size_t elements, Message& message) {
  message.assign(elements, std::byte{});
  message[0] = first;
}

void encode(const Settings&, const Gradient& g, const Draw&, State&, Message& message) {
  put(std::byte{1}, g.elements(), message);
}

void encode_wrongly(const Settings&, const Gradient& g, const Draw&, State&, Message& message) {
  put(std::byte{2}, g.elements(), message);
}

void decode(const Settings&, const Messages&, Precision, const Draw&, std::span<float>) {}

const Registered<Compressor> entry{{.name = "wrong",
                                    .sentence = "for tests",
                                    .wire_bytes =
                                        [](const Settings&, std::size_t elements, Precision) {
                                          return WireSize{static_cast<double>(elements), true};
                                        },
                                    .reference = {encode, decode},
                                    .cpu = {encode_wrongly, decode}}};

const Registered<DeviceCompressor> device_entry{
    {.name = "wrong",
     .encode = [](const Settings&, const DeviceInput& input, const Draw&,
                  const DeviceOutput& output, void*,
                  void*) { std::fill_n(output.message, input.elements, std::byte{3}); },
     .decode_add = [](const Settings&, const DeviceMessages&, const Draw&, float*, std::size_t,
                      void*, void*) {}}};

}  // namespace
}  // namespace syncline
