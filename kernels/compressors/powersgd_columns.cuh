// PowerSGD on a GPU: makes the columns of P orthonormal, with the bits of the CPU (low_rank.h).
#pragma once

#include "kernels/arithmetic/low_rank.h"
#include "kernels/gpu/device.cuh"

namespace syncline {

inline constexpr unsigned deep_batch = 16;    // where few threads must keep many bytes in flight
inline constexpr unsigned column_warps = 16;  // warps that take columns of P in parallel

// Calls work(first, left) for every `count` elements that lie `step` apart. `left`, the number
// present, is a compile-time constant for a full batch: without tests in between, all loads are
// issued together.
template <unsigned count, unsigned step, class Work>
__device__ void for_each_batch(std::size_t first, std::size_t end, const Work& work) {
  for (; first + (count - 1) * step < end; first += count * step)
    work(first, std::integral_constant<unsigned, count>());
  if (first < end)
    work(first, static_cast<unsigned>((end - first + step - 1) / step));
}

// Calls work(row, value of a, value of b) for this lane's rows of two columns.
template <class Work>
__device__ void for_each_pair(const double* a, const double* b, std::size_t rows,
                              const Work& work) {
  for_each_batch<deep_batch, 32>(lane_of_warp(), rows, [&](std::size_t first, auto left) {
    double of_a[deep_batch], of_b[deep_batch];
#pragma unroll
    for (unsigned r = 0; r < deep_batch; ++r)
      if (r < left) {
        of_a[r] = a[first + r * 32];
        of_b[r] = b[first + r * 32];
      }
#pragma unroll
    for (unsigned r = 0; r < deep_batch; ++r)
      if (r < left)
        work(first + r * 32, of_a[r], of_b[r]);
  });
}

// One block, one warp for each column of P (and for every 16th after it). When a column is final,
// its component is subtracted from all later ones: each goes through the operations of low_rank.h,
// in the same order.
static __global__ void __launch_bounds__(32 * column_warps)
    orthogonalise_kernel(const float* p, Shape s, double* columns, float* out) {
  __shared__ double before[most_rank], after[most_rank];  // squared lengths
  const unsigned lane = lane_of_warp(), warp = threadIdx.x / 32, step = blockDim.x / 32;
  for (std::size_t k = warp; k < s.rank; k += step) {
    double partial = 0;
    for_each_batch<deep_batch, 32>(lane, s.rows, [&](std::size_t first, auto left) {
      float values[deep_batch];
#pragma unroll
      for (unsigned r = 0; r < deep_batch; ++r)
        if (r < left)
          values[r] = p[(first + r * 32) * s.rank + k];
#pragma unroll
      for (unsigned r = 0; r < deep_batch; ++r)
        if (r < left) {
          const double value = values[r];
          columns[k * s.rows + first + r * 32] = value;
          partial += value * value;
        }
    });
    const double square = ordered_sum(partial);
    if (lane == 0)
      before[k] = after[k] = square;
  }
  for (std::size_t c = 0; c < s.rank; ++c) {
    __syncthreads();
    const double* const column = columns + c * s.rows;
    const double scale = column_scale(before[c], after[c], sqrt(after[c]));
    if (c % step == warp)
      for_each_pair(column, column, s.rows, [&](std::size_t i, double value, double) {
        out[i * s.rank + c] = static_cast<float>(value * scale);
      });
    for (std::size_t k = warp; k < s.rank; k += step) {
      if (k <= c)
        continue;
      double* const later = columns + k * s.rows;
      double partial = 0;
      for_each_pair(later, column, s.rows, [&](std::size_t, double mine, double other) {
        partial += mine * (other * scale);
      });
      const double dot = ordered_sum(partial);
      partial = 0;
      for_each_pair(later, column, s.rows, [&](std::size_t i, double mine, double other) {
        const double left = mine - dot * (other * scale);
        later[i] = left;
        partial += left * left;
      });
      const double square = ordered_sum(partial);
      if (lane == 0)
        after[k] = square;
    }
  }
}

}  // namespace syncline
