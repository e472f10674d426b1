// Checks the answers of rivals of top-k.
#pragma once

#include <algorithm>
#include <functional>

#include "kernels/gpu/device.cuh"

namespace syncline {

inline std::vector<float> floats_on_device(const void* from, std::size_t count) {
  std::vector<float> values(count);
  check_cuda(cudaMemcpy(values.data(), from, 4 * count, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return values;
}

// Throws std::runtime_error unless the k values of the message, and the k values cleared in the
// residual, are the k largest magnitudes, in any order.
inline void expect_largest(std::span<const float> gradient, std::size_t k, const DeviceInput& input,
                           const DeviceOutput& output) {
  std::vector<std::uint32_t> wanted, sent, lost;
  const std::vector<float> left = floats_on_device(input.residual, gradient.size());
  for (const float value : floats_on_device(output.message, k))
    sent.push_back(magnitude_key(value));
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    wanted.push_back(magnitude_key(gradient[i]));
    if (left[i] != gradient[i])
      lost.push_back(magnitude_key(gradient[i] - left[i]));
  }
  std::ranges::nth_element(wanted, wanted.begin() + static_cast<std::ptrdiff_t>(k),
                           std::greater<>());
  wanted.resize(k);
  for (auto* keys : {&wanted, &sent, &lost})
    std::ranges::sort(*keys);
  if (sent != wanted || lost != wanted)
    throw std::runtime_error("its " + std::to_string(k) + " values are not the largest");
}

}  // namespace syncline
