// MSTopK on a GPU, without the counting passes, as in mstopk.cpp. The histogram bounds the key of
// rank k + 1, which decides every round; one pass lists the band.
#include "kernels/compressors/mstopk.h"
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

void encode(const Settings& settings, const Draw& draw, const Selector& selector) {
  const SelectionRoom& room = selector.room;
  const std::size_t n = selector.input.elements, k = wanted(density_of(settings), n);
  selector.add_sum_and_count(with_feedback(settings));
  if (k == 0) {
    selector.set_low_key(no_key);
    selector.collect();
    selector.write_list();
    return;
  }
  if (k < n) {
    selector.take_bin_of(k + 1);
    selector.collect();
    selector.cut_list(k + 1);
  }
  launch(bisect_kernel, 1, 1, selector.stream, room.selection,
         static_cast<int>(settings.number("rounds")), k >= n);
  selector.collect();
  launch(count_above_kernel, persistent_blocks(), block_threads, selector.stream, room);
  launch(offset_kernel, 1, 1, selector.stream, room.selection, k, draw);
  selector.begin_look_back();
  selector.write_band(k);
}

const Registered<DeviceCompressor> entry{sparsifier_on_device("mstopk", encode)};

}  // namespace
}  // namespace syncline
