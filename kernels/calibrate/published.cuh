// Shared by the "as published" chains: one Thrust call per framework operation, temporaries of a
// whole tensor, and a host synchronisation wherever the published code reads a number. The chains
// cost what the published codes cost; their bits are not compared.
#pragma once

#include <cuda_runtime.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/scatter.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>

#include "kernels/gpu/device.h"
#include "kernels/philox.h"

namespace syncline {

inline std::size_t published_workspace(std::size_t elements) {
  return 40 * elements + (std::size_t{64} << 20);
}

// Serves Thrust's temporaries from one allocation, reset for every run: frameworks keep freed
// memory for the next operation, so no cudaMalloc must be timed here.
struct Arena {
  using value_type = char;
  char* next = nullptr;
  char* end = nullptr;

  char* allocate(std::ptrdiff_t bytes) {
    char* const at = next;
    if (bytes > end - next)
      throw std::runtime_error("a published chain needs more memory than it was given");
    next += (bytes + 255) / 256 * 256;
    return at;
  }
  void deallocate(char*, std::size_t) {}
};

struct Absolute {
  __device__ float operator()(float x) const { return fabsf(x); }
};
struct Above {
  float threshold;
  __device__ bool operator()(float x) const { return x > threshold; }
};
struct Uniform {
  __device__ float operator()(std::int64_t i) const {
    return static_cast<float>(uniform(Draw{}, static_cast<std::uint64_t>(i)));
  }
};
struct SquaredDistance {
  float mean;
  __device__ float operator()(float x) const { return (x - mean) * (x - mean); }
};

// The tensors of one run, with room for three of floats, one of 64-bit indices, and Thrust's
// temporaries.
struct Published {
  Published(const DeviceInput& in, const DeviceOutput& out, void* workspace, void* on_stream)
      : input(in),
        n(static_cast<std::ptrdiff_t>(in.elements)),
        u(in.residual),
        values(reinterpret_cast<float*>(out.message)),
        indices(static_cast<std::int64_t*>(workspace)),
        a(reinterpret_cast<float*>(indices + in.elements)),
        b(a + in.elements),
        stream(static_cast<cudaStream_t>(on_stream)) {
    arena.next = reinterpret_cast<char*>(b + in.elements);
    arena.end = static_cast<char*>(workspace) + published_workspace(in.elements);
    arena.next += 256 - reinterpret_cast<std::uintptr_t>(arena.next) % 256;
  }

  auto on() { return thrust::cuda::par(arena).on(stream); }
  void add() {
    thrust::transform(on(), input.gradient, input.gradient + n, u, u, thrust::plus<float>());
  }
  void magnitudes() { thrust::transform(on(), u, u + n, a, Absolute()); }
  float mean(const float* x, std::ptrdiff_t count) {
    return thrust::reduce(on(), x, x + count) / static_cast<float>(count);
  }
  float deviation(const float* x, std::ptrdiff_t count, float mean) {
    return sqrtf(thrust::transform_reduce(on(), x, x + count, SquaredDistance{mean}, 0.0f,
                                          thrust::plus<float>()) /
                 static_cast<float>(count > 1 ? count - 1 : 1));
  }
  // Finds where magnitudes exceed the threshold; waits for the count.
  std::ptrdiff_t nonzero(float threshold) {
    const thrust::counting_iterator<std::int64_t> first(0);
    return thrust::copy_if(on(), first, first + n, a, indices, Above{threshold}) - indices;
  }
  // Gathers the values, writes a whole new residual, with zeros where values were sent.
  void finish(std::ptrdiff_t count) {
    const thrust::constant_iterator<float> zero(0.0f);
    thrust::gather(on(), indices, indices + count, u, values);
    thrust::copy(on(), u, u + n, b);
    thrust::scatter(on(), zero, zero + count, indices, b);
    thrust::copy(on(), b, b + n, u);
  }

  DeviceInput input;
  std::ptrdiff_t n;
  float* u;
  float* values;
  std::int64_t* indices;
  float *a, *b;
  Arena arena;
  cudaStream_t stream;
};

// A registry entry for a chain: its name, the bytes per element that the task needs, and its
// function.
inline DeviceBaseline published_chain(const char* name, double bytes,
                                      void (*run)(Published&, std::size_t k),
                                      const decltype(DeviceBaseline::check)& check = {}) {
  return {.name = name,
          .bytes_per_element = bytes,
          .workspace_bytes = published_workspace,
          .run =
              [=](const DeviceInput& input, std::size_t k, const DeviceOutput& output,
                  void* workspace, void* stream) {
                Published chain(input, output, workspace, stream);
                run(chain, k);
              },
          .check = check};
}

}  // namespace syncline
