// DGC on a GPU: the threshold is the exact order statistic of the sample, one pass makes the list,
// and a list that is too long is cut to its k largest by radix digits, without a sort. With
// momentum correction, a pass of 20 bytes per element first makes the sums; with clipping, another
// pass of 4 bytes before it finds the norm.
#include "kernels/arithmetic/permutation.h"
#include "kernels/compressors/dgc.h"
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

// Velocity is null without momentum, factor without clipping.
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

// After the cut of the list at rank k: trims a list that is too long, and sends others whole.
__global__ void judge_kernel(Selection* selection, std::size_t k) {
  const bool trimmed = too_many(selection->listed, k);
  selection->above_key = trimmed ? selection->cut_key + 1 : 0;
  selection->band_key = trimmed ? selection->cut_key : no_key;
  selection->skip = 0;
  selection->rank = trimmed ? selection->rank : 0;
  selection->selected = trimmed ? k : selection->listed;
}

__global__ void report_kernel(const Selection* selection, DeviceOutput output) {
  *output.selected = selection->selected;
}

// Momentum factor masking: clears the momentum of elements that were sent.
__global__ void mask_kernel(const DeviceOutput output, float* velocity) {
  const std::uint32_t* indices = reinterpret_cast<const std::uint32_t*>(output.message);
  for (std::size_t i = grid_thread(); i < *output.selected; i += grid_threads())
    velocity[indices[i]] = 0;
}

void make_sums(const Dgc& dgc, const Selector& selector) {
  float* const factor = reinterpret_cast<float*>(selector.beside);
  if (dgc.clip > 0) {
    Selector gradient = selector;
    gradient.input.residual = nullptr;
    gradient.add_and_sum(false);
    launch(factor_kernel, 1, 1, selector.stream, selector.room.selection, dgc.clip, factor);
  }
  const DeviceInput& input = selector.input;
  float* velocity = dgc.momentum > 0 ? reinterpret_cast<float*>(input.memory) : nullptr;
  with_gradient(input, [&]<class Value>(const Value* g) {
    launch_each(input.elements, sum_kernel<Value>, selector.stream, g, velocity, input.residual,
                input.elements, dgc.momentum, dgc.clip > 0 ? factor : nullptr);
  });
}

// Sets low_key to the key of the sample's top fraction. The sample is of g + e or, where g is null,
// of the residual. Its keys use the memory of the later list.
template <class Value>
void set_sampled_key(const Dgc& dgc, const Value* g, const Draw& draw, Selector selector) {
  selector.room.sample = selector.room.list;
  selector.room.samples = dgc.samples;
  launch_each(dgc.samples, sample_kernel<Value>, selector.stream, g, selector.input.residual,
              selector.input.elements, draw, dgc.samples, selector.room.sample);
  selector.begin_counts();
  selector.cut_sample(dgc.sample_k);
}

void encode(const Settings& settings, const Draw& draw, const Selector& selector) {
  const DeviceInput& input = selector.input;
  Selection* const selection = selector.room.selection;
  const Dgc dgc = dgc_of(settings, input.elements, draw.step);
  const bool summed = dgc.momentum > 0 || dgc.clip > 0;
  if (summed)
    make_sums(dgc, selector);
  if (dgc.k == 0)
    selector.set_low_key(no_key);
  else if (summed)
    set_sampled_key<float>(dgc, nullptr, draw, selector);
  else
    with_gradient(input, [&](const auto* g) { set_sampled_key(dgc, g, draw, selector); });
  if (summed)
    selector.collect();
  else
    selector.add_and_collect(true);
  selector.cut_list(dgc.k);
  launch(judge_kernel, 1, 1, selector.stream, selection, dgc.k);
  selector.write_band();
  launch(report_kernel, 1, 1, selector.stream, selection, selector.output);
  if (dgc.momentum > 0)
    launch(mask_kernel, persistent_blocks(), block_threads, selector.stream, selector.output,
           reinterpret_cast<float*>(input.memory));
}

void prepare(const Settings& settings, std::size_t elements, const Draw& draw, State& state) {
  momentum_of(state, dgc_of(settings, elements, draw.step), elements);
}

DeviceCompressor dgc_on_device() {
  DeviceCompressor device = sparsifier_on_device("dgc", encode, prepare);
  device.workspace_bytes = [](const Settings&, std::size_t elements) {
    return selection_bytes(elements) + sizeof(float);  // the clipping factor
  };
  return device;
}

const Registered<DeviceCompressor> entry{dgc_on_device()};

}  // namespace
}  // namespace syncline
