#include "kernels/cpu/tiles.h"

#include <atomic>
#include <memory>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>

#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_TBB
#include <tbb/global_control.h>
#include <tbb/info.h>
#else
#include <omp.h>
#endif

namespace syncline {

void run_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  if (count < 2) {  // waking threads costs more than a tile
    if (count == 1)
      work(0);
    return;
  }
  // Each thread takes the next free task: fixed shares would wait for the slowest thread, which on
  // a shared machine may not run at all.
  std::atomic<std::size_t> next{0};
  const thrust::counting_iterator<int> first(0);
  thrust::for_each(thrust::device, first, first + threads(), [&](int) {
    for (std::size_t i = next++; i < count; i = next++)
      work(i);
  });
}

#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_TBB
namespace {
std::unique_ptr<tbb::global_control> limit;
}

int threads() {
  return static_cast<int>(
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

void use_threads(int count) {
  limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                static_cast<std::size_t>(count));
}
#else
int threads() {
  return omp_get_max_threads();
}

void use_threads(int count) {
  omp_set_num_threads(count);
}
#endif

}  // namespace syncline
