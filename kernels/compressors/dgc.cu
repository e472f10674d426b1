// DGC on a GPU: the threshold is the exact order statistic of the sample, the list comes from one
// pass, and too long a list is cut to its k largest by radix digits, never by a sort. With momentum
// correction, a pass of 20 bytes per element first makes the sums; with clipping, one of 4 bytes
// before that finds the norm.
#include <cuda_runtime.h>

#include "kernels/arithmetic/sample.h"
#include "kernels/compressors/dgc.h"
#include "kernels/gpu/device.h"
#include "kernels/gpu/selection.cuh"

namespace syncline {
namespace {

template <class Value>
__global__ void sample_kernel(const Value* g, const float* u, std::size_t elements, Draw draw,
                              std::size_t samples, std::uint32_t* keys) {
  const std::size_t i = grid_thread();
  if (i >= samples)
    return;
  const std::size_t at = sampled_element(draw, elements, samples, i);
  keys[i] = magnitude_key(g == nullptr ? u[at] : loaded(g, at) + u[at]);
}

__global__ void factor_kernel(const Selection* selection, double clip, float* factor) {
  *factor = clipping_factor(clip, sqrt(squared_norm(selection->moments)));
}

// Velocity and factor are null where there is no momentum or clipping.
template <class Value>
__global__ void sum_kernel(const Value* g, float* velocity, float* u, std::size_t elements,
                           float momentum, const float* factor) {
  const std::size_t i = grid_thread();
  if (i >= elements)
    return;
  float v = factor != nullptr ? *factor * loaded(g, i) : loaded(g, i);
  if (velocity != nullptr) {
    v = momentum * velocity[i] + v;
    velocity[i] = v;
  }
  u[i] = v + u[i];
}

// After the cut of the list at rank k: does it hold too many, and so is trimmed, or is it sent
// whole?
__global__ void judge_kernel(Selection* selection, std::size_t k) {
  const bool trimmed = too_many(selection->listed, k);
  selection->above_key = trimmed ? selection->cut_key + 1 : 0;
  selection->band_key = trimmed ? selection->cut_key : no_key;
  selection->skip = 0;
  selection->rank = trimmed ? selection->rank : 0;
  selection->listed_sent = trimmed ? k : selection->listed;
}

__global__ void report_kernel(Selection* selection, DeviceOutput output) {
  selection->selected = selection->listed_sent;
  *output.selected = selection->selected;
}

// Momentum factor masking: what was sent carries no momentum on.
__global__ void mask_kernel(const DeviceOutput output, float* velocity) {
  const std::uint32_t* indices = reinterpret_cast<const std::uint32_t*>(output.message);
  for (std::size_t i = grid_thread(); i < *output.selected; i += grid_threads())
    velocity[indices[i]] = 0;
}

void make_sums(const DeviceInput& input, const Dgc& dgc, const SelectionRoom& room, float* factor,
               void* stream) {
  if (dgc.clip > 0) {
    DeviceInput gradient = input;
    gradient.residual = nullptr;
    add_and_sum(gradient, false, room, stream);
    launch(factor_kernel, 1, 1, stream, room.selection, dgc.clip, factor);
  }
  float* velocity = dgc.momentum > 0 ? reinterpret_cast<float*>(input.memory) : nullptr;
  if (input.elements > 0)
    with_gradient(input, [&]<class Value>(const Value* g) {
      launch(sum_kernel<Value>, blocks_of(input.elements), 256, stream, g, velocity, input.residual,
             input.elements, dgc.momentum, dgc.clip > 0 ? factor : nullptr);
    });
}

// low_key: the sample's own top fraction, of g + e or, where g is null, of what is in the residual.
// The keys lie where the list will.
template <class Value>
void set_sampled_key(const Dgc& dgc, const DeviceInput& input, const Value* g, const Draw& draw,
                     SelectionRoom room, void* stream) {
  room.sample = room.list;
  room.samples = dgc.samples;
  launch(sample_kernel<Value>, blocks_of(dgc.samples), 256, stream, g, input.residual,
         input.elements, draw, dgc.samples, room.sample);
  cut_sample(input, dgc.sample_k, room, stream);
}

void encode(const Settings& settings, const DeviceInput& input, const Draw& draw,
            const DeviceOutput& output, void* workspace, void* stream) {
  const Dgc dgc = dgc_of(settings, input.elements, draw.step);
  const SelectionRoom room = selection_room(workspace, input.elements);
  const bool summed = dgc.momentum > 0 || dgc.clip > 0;
  if (summed)
    make_sums(
        input, dgc, room,
        reinterpret_cast<float*>(static_cast<char*>(workspace) + selection_bytes(input.elements)),
        stream);
  if (dgc.k == 0)
    set_low_key(room, no_key, stream);
  else if (summed)
    set_sampled_key<float>(dgc, input, nullptr, draw, room, stream);
  else
    with_gradient(input,
                  [&](const auto* g) { set_sampled_key(dgc, input, g, draw, room, stream); });
  if (summed)
    collect(input, false, room, stream);
  else
    add_and_collect(input, true, room, stream);
  cut_list(input, dgc.k, room, stream);
  launch(judge_kernel, 1, 1, stream, room.selection, dgc.k);
  write_band(input, room, output, sparse_room(settings, input.elements), stream);
  launch(report_kernel, 1, 1, stream, room.selection, output);
  if (dgc.momentum > 0)
    launch(mask_kernel, persistent_blocks(), block_threads, stream, output,
           reinterpret_cast<float*>(input.memory));
}

DeviceCompressor dgc_on_device() {
  DeviceCompressor device = sparsifier_on_device("dgc", encode);
  device.workspace_bytes = [](const Settings&, std::size_t elements) {
    return selection_bytes(elements) + sizeof(float);  // the factor of clipping
  };
  device.prepare = [](const Settings& settings, std::size_t elements, const Draw& draw,
                      State& state) {
    momentum_of(state, dgc_of(settings, elements, draw.step), elements);
  };
  return device;
}

const Registered<DeviceCompressor> entry{dgc_on_device()};

}  // namespace
}  // namespace syncline
