// The fixed cutoff on a GPU: one pass that adds, tests and lists, then a pass over the list.
#include "kernels/arithmetic/feedback.h"
#include "kernels/gpu/device.h"
#include "kernels/gpu/selection.cuh"

namespace syncline {
namespace {

void encode(const Settings& settings, const DeviceInput& input, const Draw&,
            const DeviceOutput& output, void* workspace, void* stream) {
  const SelectionRoom room = selection_room(workspace, input.elements);
  set_low_key(room, key_from(settings.number("cutoff")), stream);
  add_and_collect(input, with_feedback(settings), room, stream);
  write_list(input, room, output, sparse_room(settings, input.elements), stream);
}

const Registered<DeviceCompressor> entry{sparsifier_on_device("threshold", encode)};

}  // namespace
}  // namespace syncline
