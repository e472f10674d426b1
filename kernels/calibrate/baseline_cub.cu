// Error feedback and top-k by CUB's radix sort of (key, index) pairs, the fastest full sort: about
// 88 bytes per element, 12 to add, 8 to write keys and indices, 68 in the sort (the keys once for
// their histograms, then four passes that read and write both). Also by CUB's selection, from CCCL
// 3.4.3 on, where it has no race: 24 to 28 bytes, 12 to add, 4 to write keys, which it reads two or
// three times.
#include <cub/device/device_radix_sort.cuh>

#include "kernels/calibrate/rival.cuh"

#if defined(CCCL_VERSION) && CCCL_VERSION >= 3004003
#define SYNCLINE_CUB_TOPK
#include <cub/device/device_topk.cuh>
#include <cuda/iterator>
#endif

namespace syncline {
namespace {

// Keys without the sign bit, shifted; and their indices, unless these are null.
__global__ void key_kernel(const float* g, float* u, std::size_t elements, unsigned shift,
                           std::uint32_t* keys, std::uint32_t* indices) {
  const std::size_t i = grid_thread();
  if (i >= elements)
    return;
  u[i] = g[i] + u[i];
  keys[i] = magnitude_key(u[i]) << shift;
  if (indices != nullptr)
    indices[i] = static_cast<std::uint32_t>(i);
}

__global__ void take_kernel(const std::uint32_t* indices, std::size_t k, float* u, float* values) {
  const std::size_t i = grid_thread();
  if (i >= k)
    return;
  values[i] = u[indices[i]];
  u[indices[i]] = 0;
}

// With a null `room`, CUB only returns the number of bytes it needs.
std::size_t sort_key_pairs(void* room, std::size_t bytes, std::uint32_t* words, std::size_t n,
                           void* stream) {
  check_cuda(cub::DeviceRadixSort::SortPairsDescending(room, bytes, words, words + n, words + 2 * n,
                                                       words + 3 * n, n, 0, 31, stream_of(stream)),
             "cub::DeviceRadixSort");
  return bytes;
}

void run_cub_sort(const DeviceInput& input, std::size_t k, const DeviceOutput& output,
                  void* workspace, void* stream) {
  const std::size_t n = input.elements;
  std::uint32_t* words = static_cast<std::uint32_t*>(workspace);
  launch_each(n, key_kernel, stream, input.gradient, input.residual, n, 0, words, words + 2 * n);
  sort_key_pairs(words + 4 * n, sort_key_pairs(nullptr, 0, words, n, stream), words, n, stream);
  launch_each(k, take_kernel, stream, words + 3 * n, k, input.residual,
              reinterpret_cast<float*>(output.message));
}

std::size_t cub_workspace(std::size_t elements) {
  return 16 * elements + sort_key_pairs(nullptr, 0, nullptr, elements, nullptr);
}

const Registered<DeviceBaseline> cub_sort{{.name = "baseline-cub-radix-pairs",
                                           .bytes_per_element = 12.5,
                                           .workspace_bytes = cub_workspace,
                                           .run = run_cub_sort,
                                           .check = expect_largest}};

#ifdef SYNCLINE_CUB_TOPK
// Selects k of n keys, with their places. With a null `room`, CUB only returns the number of bytes
// it needs.
std::size_t select_pairs(void* room, std::size_t bytes, std::uint32_t* words, std::size_t n,
                         std::size_t k, void* stream) {
  namespace wanted = cuda::execution;
  const auto how = cuda::std::execution::env{
      cuda::stream_ref(stream_of(stream)),
      wanted::require(wanted::determinism::not_guaranteed, wanted::output_ordering::unsorted)};
  check_cuda(cub::DeviceTopK::MaxPairs(room, bytes, words, words + n,
                                       cuda::counting_iterator<std::uint32_t>(0), words + 2 * n, n,
                                       k, how),
             "cub::DeviceTopK");
  return bytes;
}

void run_cub_topk(const DeviceInput& input, std::size_t k, const DeviceOutput& output,
                  void* workspace, void* stream) {
  const std::size_t n = input.elements;
  std::uint32_t* words = static_cast<std::uint32_t*>(workspace);
  // CUB takes digits from the top.
  launch_each(n, key_kernel, stream, input.gradient, input.residual, n, 1, words, nullptr);
  select_pairs(words + 3 * n, select_pairs(nullptr, 0, words, n, k, stream), words, n, k, stream);
  launch_each(k, take_kernel, stream, words + 2 * n, k, input.residual,
              reinterpret_cast<float*>(output.message));
}

std::size_t cub_topk_workspace(std::size_t elements) {
  return 12 * elements + select_pairs(nullptr, 0, nullptr, elements, elements, nullptr);
}

const Registered<DeviceBaseline> cub_topk{{.name = "baseline-cub-topk",
                                           .bytes_per_element = 12.5,
                                           .workspace_bytes = cub_topk_workspace,
                                           .run = run_cub_topk,
                                           .check = expect_largest}};
#endif

}  // namespace
}  // namespace syncline
