// The published sparsifiers as chains of operations (as in GaussianK-SGD,
// github.com/hclhkbu/GaussianK-SGD, and, for SIDCo, its authors' code; MSTopK after the paper).
#include <thrust/extrema.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

#include "kernels/arithmetic/normal.h"
#include "kernels/calibrate/published.cuh"
#include "kernels/calibrate/rival.cuh"

namespace syncline {
namespace {

double share_of(std::size_t k, std::ptrdiff_t n) {
  return static_cast<double>(k) / static_cast<double>(n);
}

// Sorts all of b, largest first, with the places. (A radix sort: thrust::sort_by_key uses CUB's
// radix sort of pairs for these types.)
void sort_pairs(Published& p) {
  thrust::sequence(p.on(), p.indices, p.indices + p.n);
  thrust::sort_by_key(p.on(), p.b, p.b + p.n, p.indices, thrust::greater<float>());
}

// The answer of torch.topk is sorted, with 64-bit indices; here by sorting everything, as torch did
// for a while with one long slice.
void run_topk(Published& p, std::size_t k) {
  p.add();
  p.magnitudes();
  thrust::copy(p.on(), p.a, p.a + p.n, p.b);
  sort_pairs(p);
  p.finish(static_cast<std::ptrdiff_t>(k));
}

// torch.randperm sorts n random keys; the elements of the first k are sent.
void run_randomk(Published& p, std::size_t k) {
  const thrust::counting_iterator<std::int64_t> first(0);
  p.add();
  thrust::transform(p.on(), first, first + p.n, p.b, Uniform());
  sort_pairs(p);
  p.finish(static_cast<std::ptrdiff_t>(k));
}

struct PerPacketCost {  // of the T = i + 1 largest, with cat's default costs
  double element_bits;
  __device__ float operator()(float squares, std::int64_t i) const {
    const double packets = ceil(static_cast<double>(i + 1) * element_bits / 512);
    return static_cast<float>(squares / (576 * packets + 64));
  }
};

// CAT: sorts everything, makes running sums and finds the best ratio, which the host reads.
void run_cat(Published& p, std::size_t) {
  const thrust::counting_iterator<std::int64_t> first(0);
  p.add();
  p.magnitudes();
  thrust::copy(p.on(), p.a, p.a + p.n, p.b);
  sort_pairs(p);
  thrust::transform(p.on(), p.b, p.b + p.n, p.a, SquaredDistance{0});
  thrust::inclusive_scan(p.on(), p.a, p.a + p.n, p.a);
  const PerPacketCost ratio{32 + ceil(log2(static_cast<double>(p.n)))};
  thrust::transform(p.on(), p.a, p.a + p.n, first, p.b, ratio);
  p.finish(thrust::max_element(p.on(), p.b, p.b + p.n) - p.b + 1);
}

void run_threshold(Published& p, std::size_t k) {
  p.add();
  p.magnitudes();
  p.finish(p.nonzero(static_cast<float>(normal_quantile(1 - share_of(k, p.n) / 2))));
}

void run_gaussiank(Published& p, std::size_t k) {
  p.add();
  const float mean = p.mean(p.u, p.n), deviation = p.deviation(p.u, p.n, mean);
  float t = mean + deviation * static_cast<float>(normal_quantile(1 - share_of(k, p.n) / 2));
  p.magnitudes();
  std::size_t count = 0;
  for (int pass = 0; pass < 3; ++pass) {
    count = static_cast<std::size_t>(p.nonzero(t));
    if (3 * count >= 2 * k && 3 * count <= 4 * k)
      break;
    t *= 3 * count < 2 * k ? 0.5f : 1.5f;
  }
  p.finish(static_cast<std::ptrdiff_t>(count));
}

struct Strided {
  std::int64_t step;
  __device__ std::int64_t operator()(std::int64_t i) const { return i * step; }
};

// DGC: sorts a sample of one hundredth; if too many are selected, sorts those as well.
void run_dgc(Published& p, std::size_t k) {
  p.add();
  p.magnitudes();
  const std::ptrdiff_t step = p.n < 25600 ? 1 : 100, samples = p.n / step;
  const auto places =
      thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), Strided{step});
  thrust::gather(p.on(), places, places + samples, p.a, p.b);
  thrust::sort(p.on(), p.b, p.b + samples, thrust::greater<float>());
  float threshold = 0;
  const std::ptrdiff_t rank = static_cast<std::ptrdiff_t>(k) / step;
  cudaMemcpyAsync(&threshold, p.b + (rank < samples ? rank : samples - 1), sizeof threshold,
                  cudaMemcpyDeviceToHost, p.stream);
  cudaStreamSynchronize(p.stream);
  std::ptrdiff_t count = p.nonzero(threshold);
  if (3 * static_cast<std::size_t>(count) > 4 * k) {
    thrust::gather(p.on(), p.indices, p.indices + count, p.a, p.b);
    thrust::sort_by_key(p.on(), p.b, p.b + count, p.indices, thrust::greater<float>());
    count = static_cast<std::ptrdiff_t>(k);
  }
  p.finish(count);
}

// MSTopK: thirty counts of the whole tensor, each read by the host.
void run_mstopk(Published& p, std::size_t k) {
  p.add();
  p.magnitudes();
  const float mean = p.mean(p.a, p.n);
  const float top = thrust::reduce(p.on(), p.a, p.a + p.n, 0.0f, thrust::maximum<float>());
  float low = 0, high = 1;
  for (int round = 0; round < 30; ++round) {
    const float ratio = low + (high - low) / 2;
    const std::ptrdiff_t count =
        thrust::count_if(p.on(), p.a, p.a + p.n, Above{mean + ratio * (top - mean)});
    (static_cast<std::size_t>(count) <= k ? high : low) = ratio;
  }
  const std::ptrdiff_t count = p.nonzero(mean + low * (top - mean));
  p.finish(static_cast<std::size_t>(count) < k ? count : static_cast<std::ptrdiff_t>(k));
}

struct Over {
  float divisor;
  __device__ float operator()(float x) const { return fabsf(x) / divisor; }
};

// SIDCo: the exponential fit in three stages.
void run_sidco(Published& p, std::size_t k) {
  p.add();
  const float norm = sqrtf(thrust::transform_reduce(p.on(), p.u, p.u + p.n, SquaredDistance{0},
                                                    0.0f, thrust::plus<float>()));
  thrust::transform(p.on(), p.u, p.u + p.n, p.a, Over{norm});
  thrust::copy(p.on(), p.a, p.a + p.n, p.b);
  const double density = share_of(k, p.n);
  float threshold = -p.mean(p.b, p.n) * logf(0.25f);
  std::ptrdiff_t left = p.n;
  for (int stage = 1; stage < 3; ++stage) {
    float* const kept = stage == 1 ? p.values : p.b;  // compaction in place is not allowed
    const float* const from = stage == 1 ? p.b : p.values;
    left = thrust::copy_if(p.on(), from, from + left, kept, Above{threshold}) - kept;
    if (left == 0)
      break;
    const float least =
        thrust::reduce(p.on(), kept, kept + left, 3.4e38f, thrust::minimum<float>());
    threshold = least - (p.mean(kept, left) - least) * static_cast<float>(log(density / 0.25) / 2);
  }
  p.finish(p.nonzero(threshold));
}

const Registered<DeviceBaseline> topk{
    published_chain("published-topk", 12.5, run_topk, expect_largest)};
const Registered<DeviceBaseline> randomk{published_chain("published-randomk", 12.7, run_randomk)};
const Registered<DeviceBaseline> cat{published_chain("published-cat", 16.4, run_cat)};
const Registered<DeviceBaseline> threshold{
    published_chain("published-threshold", 12.1, run_threshold)};
const Registered<DeviceBaseline> gaussiank{
    published_chain("published-gaussiank", 16.4, run_gaussiank)};
const Registered<DeviceBaseline> dgc{published_chain("published-dgc", 12.8, run_dgc)};
const Registered<DeviceBaseline> mstopk{published_chain("published-mstopk", 16.4, run_mstopk)};
const Registered<DeviceBaseline> sidco{published_chain("published-sidco", 16.4, run_sidco)};

}  // namespace
}  // namespace syncline
