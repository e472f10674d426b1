// Error feedback and top-k with plain Thrust: add, take magnitudes, sort all with their indices,
// take the first k, set the residual to zero there.
#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include "kernels/arithmetic/keys.h"
#include "kernels/calibrate/rival.cuh"

namespace syncline {
namespace {

// Serves Thrust's temporaries from one allocation, so that no cudaMalloc is timed.
struct Arena {
  using value_type = char;
  char* next = nullptr;
  char* end = nullptr;

  char* allocate(std::ptrdiff_t bytes) {
    char* const at = next;
    if (bytes > end - next)
      throw std::runtime_error("Thrust needs more memory than it was given");
    next += (bytes + 255) / 256 * 256;
    return at;
  }
  void deallocate(char*, std::size_t) {}
};

struct KeyOf {
  __device__ std::uint32_t operator()(float value) const { return magnitude_key(value); }
};

// Keys and indices, twice for the sort.
std::size_t thrust_workspace(std::size_t elements) {
  return 16 * elements + (std::size_t{64} << 20);
}

void run_thrust_sort(const DeviceInput& input, std::size_t k, const DeviceOutput& output,
                     void* workspace, void* stream) {
  const std::size_t n = input.elements;
  float* u = input.residual;
  char* const room = static_cast<char*>(workspace);
  Arena arena{room, room + thrust_workspace(n)};
  const auto on = thrust::cuda::par(arena).on(stream_of(stream));
  std::uint32_t* keys = reinterpret_cast<std::uint32_t*>(arena.allocate(4 * n));
  std::uint32_t* indices = reinterpret_cast<std::uint32_t*>(arena.allocate(4 * n));
  thrust::transform(on, input.gradient, input.gradient + n, u, u, thrust::plus<float>());
  thrust::transform(on, u, u + n, keys, KeyOf());
  thrust::sequence(on, indices, indices + n);
  thrust::sort_by_key(on, keys, keys + n, indices, thrust::greater<std::uint32_t>());
  thrust::gather(on, indices, indices + k, u, reinterpret_cast<float*>(output.message));
  const thrust::constant_iterator<float> zero(0.0f);
  thrust::scatter(on, zero, zero + static_cast<std::ptrdiff_t>(k), indices, u);
}

const Registered<DeviceBaseline> thrust_sort{{.name = "baseline-thrust-sort",
                                              .bytes_per_element = 12.5,
                                              .workspace_bytes = thrust_workspace,
                                              .run = run_thrust_sort,
                                              .check = expect_largest}};

}  // namespace
}  // namespace syncline
