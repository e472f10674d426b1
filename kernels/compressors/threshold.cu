// The fixed cutoff on a GPU: one pass that adds, tests and lists, then a pass over the list.
#include "kernels/arithmetic/feedback.h"
#include "kernels/gpu/device.cuh"
#include "kernels/gpu/device.h"

namespace syncline {
namespace {

void encode(const Settings& settings, const DeviceInput& input, const Draw&,
            const DeviceOutput& output, void* workspace, void* stream) {
  const SelectionRoom room = selection_room(workspace, input.elements);
  set_low_key(room, key_from(settings.number("cutoff")), stream);
  add_and_collect(input, with_feedback(settings), room, stream);
  write_list(input, room, output, sparse_room(settings, input.elements), stream);
}

std::size_t workspace_bytes(const Settings&, std::size_t elements) {
  return selection_bytes(elements);
}

const Registered<DeviceCompressor> entry{{.name = "threshold",
                                          .halves = true,
                                          .message_room = sparse_room,
                                          .parts = sparse_parts,
                                          .workspace_bytes = workspace_bytes,
                                          .encode = encode,
                                          .decode_add = decode_sparse_on_device,
                                          .decode_add_halves = decode_sparse_halves_on_device}};

}  // namespace
}  // namespace syncline
