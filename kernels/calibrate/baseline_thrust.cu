// Error feedback and top-k as one would write it with Thrust: add, magnitudes, sort everything with
// its index, take the first k, set the residual to zero there.
#include <cuda_runtime.h>
#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include "kernels/arithmetic/keys.h"
#include "kernels/gpu/device.h"

namespace syncline {
namespace {

struct KeyOf {
  __device__ std::uint32_t operator()(float value) const { return magnitude_key(value); }
};

void run_thrust_sort(const DeviceInput& input, std::size_t k, const DeviceOutput& output,
                     void* workspace, void* stream) {
  const auto on = thrust::cuda::par.on(static_cast<cudaStream_t>(stream));
  const std::size_t n = input.elements;
  float* u = input.residual;
  std::uint32_t* keys = static_cast<std::uint32_t*>(workspace);
  std::uint32_t* indices = keys + n;
  thrust::transform(on, input.gradient, input.gradient + n, u, u, thrust::plus<float>());
  thrust::transform(on, u, u + n, keys, KeyOf());
  thrust::sequence(on, indices, indices + n);
  thrust::sort_by_key(on, keys, keys + n, indices, thrust::greater<std::uint32_t>());
  thrust::gather(on, indices, indices + k, u, reinterpret_cast<float*>(output.message));
  const thrust::constant_iterator<float> zero(0.0f);
  thrust::scatter(on, zero, zero + static_cast<std::ptrdiff_t>(k), indices, u);
}

std::size_t thrust_workspace(std::size_t elements) {
  return 8 * elements;
}

const Registered<DeviceBaseline> thrust_sort{{.name = "baseline-thrust-sort",
                                              .bytes_per_element = 12.5,
                                              .workspace_bytes = thrust_workspace,
                                              .run = run_thrust_sort}};

}  // namespace
}  // namespace syncline
