// The published quantisers as chains of operations (GRACE's; kernels.md section 2). Codes leave as
// a byte each, unpacked, as theirs do.
#include <cuda_runtime.h>

#include "kernels/philox.h"
#include "kernels/published.cuh"

namespace syncline {
namespace {

struct Uniform {
  __device__ float operator()(std::int64_t i) const {
    return static_cast<float>(uniform(Draw{}, static_cast<std::uint64_t>(i)));
  }
};
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

// |u| times the factor, rounded at random, with its sign: one operation after the other.
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

// One norm for the tensor, seven levels, no feedback.
void run_qsgd(const DeviceInput& input, std::size_t, const DeviceOutput& output, void* workspace,
              void* stream) {
  Published p(input, output, workspace, stream);
  const float* g = input.gradient;
  const float norm = sqrtf(thrust::transform_reduce(p.on(), g, g + p.n, SquaredDistance{0}, 0.0f,
                                                    thrust::plus<float>()));
  round_levels(p, g, norm > 0 ? 7 / norm : 0.0f);
}

void run_terngrad(const DeviceInput& input, std::size_t, const DeviceOutput& output,
                  void* workspace, void* stream) {
  Published p(input, output, workspace, stream);
  const float* g = input.gradient;
  thrust::transform(p.on(), g, g + p.n, p.a, Absolute());
  const float top = thrust::reduce(p.on(), p.a, p.a + p.n, 0.0f, thrust::maximum<float>());
  round_levels(p, g, top > 0 ? 1 / top : 0.0f);
}

// EF-signSGD: the mean magnitude, a byte per sign, and the residual in an operation of its own.
void run_efsign(const DeviceInput& input, std::size_t, const DeviceOutput& output, void* workspace,
                void* stream) {
  Published p(input, output, workspace, stream);
  p.add();
  p.magnitudes();
  const float scale = p.mean(p.a, p.n);
  thrust::transform(p.on(), p.u, p.u + p.n, p.b, Sign());
  thrust::transform(p.on(), p.b, p.b + p.n, reinterpret_cast<signed char*>(p.values), Byte());
  thrust::transform(p.on(), p.u, p.u + p.n, p.b, p.u, Less{scale});
}

DeviceBaseline chain(const char* name, double bytes,
                     void (*run)(const DeviceInput&, std::size_t, const DeviceOutput&, void*,
                                 void*)) {
  return {
      .name = name, .bytes_per_element = bytes, .workspace_bytes = published_workspace, .run = run};
}

const Registered<DeviceBaseline> qsgd{chain("published-qsgd", 4.51, run_qsgd)};
const Registered<DeviceBaseline> terngrad{chain("published-terngrad", 8.25, run_terngrad)};
const Registered<DeviceBaseline> efsign{chain("published-efsign", 12.13, run_efsign)};

}  // namespace
}  // namespace syncline
