// Exact top-k on a GPU: topk.cpp's algorithm. One pass over the tensor (12 bytes per element) adds
// the residual and lists what reaches the sample's bracket; everything after works on that list.
#include "kernels/arithmetic/feedback.h"
#include "kernels/gpu/device.h"
#include "kernels/gpu/selection.cuh"

namespace syncline {
namespace {

void encode(const Settings& settings, const DeviceInput& input, const Draw& draw,
            const DeviceOutput& output, void* workspace, void* stream) {
  const std::size_t k = wanted(density_of(settings), input.elements);
  const bool feedback = with_feedback(settings);
  const SelectionRoom room = selection_room(workspace, input.elements);
  const std::size_t message_room = sparse_room(settings, input.elements);
  if (k == 0) {  // the residual still takes the gradient in
    set_low_key(room, no_key, stream);
    add_and_collect(input, feedback, room, stream);
    write_list(input, room, output, message_room, stream);
    return;
  }
  sample_low_key(input, feedback, k, draw, room, stream);
  add_and_collect(input, feedback, room, stream);
  ensure_collected(input, k, room, stream);
  write_largest(input, k, room, output, message_room, stream);
}

const Registered<DeviceCompressor> entry{sparsifier_on_device("topk", encode)};

}  // namespace
}  // namespace syncline
