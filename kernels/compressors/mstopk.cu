// MSTopK on a GPU: mstopk.cpp's way to the bisection's answer without its counting passes. The
// histogram bounds the key of rank k + 1, which decides every round; the band is listed in one
// pass.
#include <cuda_runtime.h>

#include "kernels/arithmetic/feedback.h"
#include "kernels/compressors/mstopk.h"
#include "kernels/gpu/device.h"
#include "kernels/gpu/selection.cuh"

namespace syncline {
namespace {

// cut_key is the key of rank k + 1, unless all are wanted.
__global__ void bisect_kernel(Selection* selection, int rounds, bool all) {
  const std::uint32_t next = selection->cut_key;
  const Band band =
      bisect(selection->moments, rounds, [=](std::uint32_t key) { return all || key > next; });
  selection->low_key = band.from;
  selection->band_key = band.from;
  selection->above_key = band.above;
  selection->counts[0] = 0;
}

__global__ void __launch_bounds__(block_threads) count_above_kernel(SelectionRoom room) {
  const std::uint32_t above = room.selection->above_key;
  unsigned long long count = 0;
  for (std::size_t i = grid_thread(); i < room.selection->listed; i += grid_threads())
    count += key_of_bits(room.bits[i]) >= above ? 1 : 0;
  add_counts(&room.selection->counts[0], count);
}

__global__ void offset_kernel(Selection* selection, std::size_t k, Draw draw) {
  const std::size_t sure = selection->counts[0];
  selection->rank = k - sure;
  selection->skip = random_offset(draw, selection->listed - sure, k - sure);
}

void encode(const Settings& settings, const DeviceInput& input, const Draw& draw,
            const DeviceOutput& output, void* workspace, void* stream) {
  const std::size_t n = input.elements, k = wanted(density_of(settings), n);
  const SelectionRoom room = selection_room(workspace, n);
  const std::size_t message_room = sparse_room(settings, n);
  add_sum_and_count(input, with_feedback(settings), room, stream);
  if (k == 0) {
    set_low_key(room, no_key, stream);
    collect(input, false, room, stream);
    write_list(input, room, output, message_room, stream);
    return;
  }
  if (k < n) {
    take_bin_of(k + 1, room, stream);
    collect(input, false, room, stream);
    cut_list(input, k + 1, room, stream);
  }
  launch(bisect_kernel, 1, 1, stream, room.selection, static_cast<int>(settings.number("rounds")),
         k >= n);
  collect(input, false, room, stream);
  launch(count_above_kernel, persistent_blocks(), block_threads, stream, room);
  launch(offset_kernel, 1, 1, stream, room.selection, k, draw);
  write_band(input, room, output, message_room, stream);
  count_selected(room, output, k, stream);
}

const Registered<DeviceCompressor> entry{sparsifier_on_device("mstopk", encode)};

}  // namespace
}  // namespace syncline
