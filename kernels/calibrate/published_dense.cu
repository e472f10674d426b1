// The published quantisers as chains of operations (as in GRACE, github.com/sands-lab/grace). Codes
// are sent as one byte each, unpacked, as in those codes.
#include "kernels/calibrate/published.cuh"
#include "kernels/compressors/powersgd.h"
#include "kernels/gpu/device.cuh"

namespace syncline {
namespace {

struct Times {
  float factor;
  __device__ float operator()(float x) const { return x * factor; }
};
struct Floor {
  __device__ float operator()(float x) const { return floorf(x); }
};
struct RoundsUp {  // is the fraction larger than the random number?
  __device__ float operator()(float x, float random) const {
    return random < x - floorf(x) ? 1.0f : 0.0f;
  }
};
struct Signed {
  __device__ float operator()(float level, float x) const { return x < 0 ? -level : level; }
};
struct Byte {
  __device__ signed char operator()(float x) const { return static_cast<signed char>(x); }
};
struct Sign {
  __device__ float operator()(float x) const { return x >= 0 ? 1.0f : -1.0f; }
};
struct Less {
  float scale;
  __device__ float operator()(float u, float sign) const { return u - scale * sign; }
};

// u| times the factor, rounded at random, with its sign: one operation after the other.
void round_levels(Published& p, const float* u, float factor) {
  signed char* const codes = reinterpret_cast<signed char*>(p.values);
  float* const random = reinterpret_cast<float*>(p.indices);
  float* const floors = random + p.n;
  const thrust::counting_iterator<std::int64_t> first(0);
  thrust::transform(p.on(), u, u + p.n, p.a, Absolute());
  thrust::transform(p.on(), p.a, p.a + p.n, p.a, Times{factor});
  thrust::transform(p.on(), p.a, p.a + p.n, floors, Floor());
  thrust::transform(p.on(), first, first + p.n, random, Uniform());
  thrust::transform(p.on(), p.a, p.a + p.n, random, p.b, RoundsUp());
  thrust::transform(p.on(), floors, floors + p.n, p.b, p.b, thrust::plus<float>());
  thrust::transform(p.on(), p.b, p.b + p.n, u, p.b, Signed());
  thrust::transform(p.on(), p.b, p.b + p.n, codes, Byte());
}

// QSGD with one norm for the tensor, seven levels, no feedback.
void run_qsgd(Published& p, std::size_t) {
  const float* g = p.input.gradient;
  const float norm = sqrtf(thrust::transform_reduce(p.on(), g, g + p.n, SquaredDistance{0}, 0.0f,
                                                    thrust::plus<float>()));
  round_levels(p, g, norm > 0 ? 7 / norm : 0.0f);
}

void run_terngrad(Published& p, std::size_t) {
  const float* g = p.input.gradient;
  thrust::transform(p.on(), g, g + p.n, p.a, Absolute());
  const float top = thrust::reduce(p.on(), p.a, p.a + p.n, 0.0f, thrust::maximum<float>());
  round_levels(p, g, top > 0 ? 1 / top : 0.0f);
}

// EF-signSGD: the mean magnitude, a byte per sign, and the residual in an operation of its own.
void run_efsign(Published& p, std::size_t) {
  p.add();
  p.magnitudes();
  const float scale = p.mean(p.a, p.n);
  thrust::transform(p.on(), p.u, p.u + p.n, p.b, Sign());
  thrust::transform(p.on(), p.b, p.b + p.n, reinterpret_cast<signed char*>(p.values), Byte());
  thrust::transform(p.on(), p.u, p.u + p.n, p.b, p.u, Less{scale});
}

struct Negative {
  __device__ bool operator()(float x) const { return x < 0; }
};
struct Positive {
  __device__ bool operator()(float x) const { return !(x < 0); }
};
struct Mask {
  __device__ signed char operator()(float x) const { return x < 0 ? 1 : 0; }
};
struct Mean {
  float negative, positive;
  __device__ float operator()(float u) const { return u < 0 ? negative : positive; }
};

// 1-bit SGD: each side is compacted and summed, and the host reads its count and its sum.
void run_onebit(Published& p, std::size_t) {
  p.add();
  thrust::transform(p.on(), p.u, p.u + p.n, reinterpret_cast<signed char*>(p.values), Mask());
  const std::ptrdiff_t negatives = thrust::copy_if(p.on(), p.u, p.u + p.n, p.a, Negative()) - p.a;
  const float negative = negatives > 0 ? p.mean(p.a, negatives) : 0.0f;
  const std::ptrdiff_t positives = thrust::copy_if(p.on(), p.u, p.u + p.n, p.a, Positive()) - p.a;
  const float positive = positives > 0 ? p.mean(p.a, positives) : 0.0f;
  thrust::transform(p.on(), p.u, p.u + p.n, p.b, Mean{negative, positive});
  thrust::transform(p.on(), p.u, p.u + p.n, p.b, p.u, thrust::minus<float>());
}

// out = m q, or m^T q: one thread per element, without a library.
template <bool transposed>
__global__ void factor_kernel(const float* m, std::size_t n, Shape s, const float* q, float* out) {
  const std::size_t length = transposed ? s.columns : s.rows;
  const std::size_t terms = transposed ? s.rows : s.columns;
  const std::size_t at = grid_thread();
  const std::size_t i = transposed ? at % length : at / s.rank;
  const std::size_t c = transposed ? at / length : at % s.rank;
  if (i >= length || c >= s.rank)
    return;
  float sum = 0;
  for (std::size_t j = 0; j < terms; ++j) {
    const std::size_t place = transposed ? j * s.columns + i : i * s.columns + j;
    if (place >= n)
      break;
    sum += m[place] * q[j * s.rank + c];
  }
  out[i * s.rank + c] = sum;
}

// out = p q^T.
__global__ void product_kernel(const float* p, const float* q, std::size_t n, Shape s, float* out) {
  const std::size_t i = grid_thread();
  if (i < n)
    out[i] = low_rank(p + i / s.columns * s.rank, q + i % s.columns * s.rank, s.rank);
}

// Subtracts from column c its component along column `other`, or normalises c if they are the same.
__global__ void reduce_column_kernel(float* p, Shape s, std::size_t c, std::size_t other,
                                     const float* product) {
  const std::size_t i = grid_thread();
  if (i >= s.rows)
    return;
  float& value = p[i * s.rank + c];
  value = c == other ? value / (sqrtf(*product) + 1e-8f) : value - *product * p[i * s.rank + other];
}

__global__ void __launch_bounds__(1024)
    column_product_kernel(const float* p, Shape s, std::size_t a, std::size_t b, float* product) {
  __shared__ float sums[1024];
  float sum = 0;
  for (std::size_t i = threadIdx.x; i < s.rows; i += blockDim.x)
    sum += p[i * s.rank + a] * p[i * s.rank + b];
  sums[threadIdx.x] = sum;
  for (unsigned step = 512; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step)
      sums[threadIdx.x] += sums[threadIdx.x + step];
  }
  if (threadIdx.x == 0)
    *product = sums[0];
}

// PowerSGD with k as its rank: three products, Gram-Schmidt column by column, and the residual in
// an operation of its own. (The published code uses cuBLAS for the products.)
void run_powersgd(Published& p, std::size_t k) {
  const std::size_t n = p.input.elements;
  const Shape s = shape_of(n, k > 0 ? k : 1);
  float* const left = p.values;
  float* const right = left + s.rows * s.rank;
  float* const product = p.b;
  const thrust::counting_iterator<std::int64_t> first(0);
  p.add();
  thrust::transform(p.on(), first, first + static_cast<std::ptrdiff_t>(s.columns * s.rank), right,
                    Uniform());
  launch(factor_kernel<false>, blocks_of(s.rows * s.rank), 256, p.stream, p.u, n, s, right, left);
  for (std::size_t c = 0; c < s.rank; ++c)
    for (std::size_t other = 0; other <= c; ++other) {
      launch(column_product_kernel, 1, 1024, p.stream, left, s, c, other, product);
      launch(reduce_column_kernel, blocks_of(s.rows), 256, p.stream, left, s, c, other, product);
    }
  launch(factor_kernel<true>, blocks_of(s.columns * s.rank), 256, p.stream, p.u, n, s, left, right);
  launch(product_kernel, blocks_of(n), 256, p.stream, left, right, n, s, p.a);
  thrust::transform(p.on(), p.u, p.u + p.n, p.a, p.u, thrust::minus<float>());
}

const Registered<DeviceBaseline> qsgd{published_chain("published-qsgd", 4.51, run_qsgd)};
const Registered<DeviceBaseline> terngrad{
    published_chain("published-terngrad", 8.25, run_terngrad)};
const Registered<DeviceBaseline> efsign{published_chain("published-efsign", 12.13, run_efsign)};
const Registered<DeviceBaseline> onebit{published_chain("published-onebit", 12.13, run_onebit)};
const Registered<DeviceBaseline> powersgd{published_chain("published-powersgd", 16, run_powersgd)};

}  // namespace
}  // namespace syncline
