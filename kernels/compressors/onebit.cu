// 1-bit SGD on a GPU; the kernels are in gpu/signs.cu.
#include "kernels/arithmetic/feedback.h"
#include "kernels/gpu/signs.cuh"

namespace syncline {
namespace {

void encode(const Settings& settings, const DeviceInput& input, const Draw&,
            const DeviceOutput& output, void* workspace, void* stream) {
  encode_signs_on_device(2, with_feedback(settings), input, output, workspace, stream);
}

void decode_add(const Settings&, const std::byte* message, std::size_t, const Draw&, float* sum,
                std::size_t elements, void*, void* stream) {
  decode_signs_on_device(2, message, sum, elements, stream);
}

std::size_t message_room(const Settings&, std::size_t elements) {
  return sign_room(2, elements);
}

std::size_t workspace_bytes(const Settings&, std::size_t elements) {
  return sign_workspace(elements);
}

const Registered<DeviceCompressor> entry{{.name = "onebit",
                                          .halves = true,
                                          .message_room = message_room,
                                          .workspace_bytes = workspace_bytes,
                                          .encode = encode,
                                          .decode_add = decode_add}};

}  // namespace
}  // namespace syncline
