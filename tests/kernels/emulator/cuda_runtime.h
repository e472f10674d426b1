// Replaces CUDA's own header: the part that the kernels use, on a CPU (see README.md).
#pragma once

#include <bit>
#include <cstring>
#include <math.h>

#include "tests/kernels/emulator/emulator.h"

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __shared__ static  // one block runs after the other

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) float4 {
  float x, y, z, w;
};

// Functions of one thread.

inline unsigned __float_as_uint(float value) {
  return std::bit_cast<unsigned>(value);
}
inline float __uint_as_float(unsigned bits) {
  return std::bit_cast<float>(bits);
}
inline float __int_as_float(int bits) {
  return std::bit_cast<float>(bits);
}
inline int __popc(unsigned bits) {
  return std::popcount(bits);
}
inline int __ffs(int bits) {
  return __builtin_ffs(bits);
}
inline long long clock64() {
  static long long cycles = 0;
  return cycles += 100000;
}
template <class T>
T atomicAdd(T* to, T value) {
  const T old = *to;
  *to = old + value;
  return old;
}
template <class T>
T atomicOr(T* to, T value) {
  const T old = *to;
  *to = old | value;
  return old;
}
template <class T>
T atomicExch(T* to, T value) {
  const T old = *to;
  *to = value;
  return old;
}

// Functions of a warp. Masks are ignored: the emulator requires every lane.

inline unsigned __match_any_sync(unsigned, unsigned value, int line = __builtin_LINE()) {
  const std::uint64_t* values = emulator::exchange(value, line);
  unsigned mask = 0;
  for (unsigned lane = 0; lane < emulator::warp_lanes; ++lane)
    mask |= values[lane] == value ? 1u << lane : 0u;
  return mask;
}
inline unsigned __ballot_sync(unsigned, bool value, int line = __builtin_LINE()) {
  const std::uint64_t* values = emulator::exchange(value ? 1 : 0, line);
  unsigned mask = 0;
  for (unsigned lane = 0; lane < emulator::warp_lanes; ++lane)
    mask |= values[lane] != 0 ? 1u << lane : 0u;
  return mask;
}
template <class T>
T __shfl_sync(unsigned, T value, unsigned from, int line = __builtin_LINE()) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  std::memcpy(&value, emulator::exchange(bits, line) + from % emulator::warp_lanes, sizeof value);
  return value;
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, unsigned with, int line = __builtin_LINE()) {
  return __shfl_sync(mask, value, threadIdx.x ^ with, line);
}
inline void __syncwarp(int line = __builtin_LINE()) {
  emulator::exchange(0, line);
}

// Functions of a block.

inline void __syncthreads(int line = __builtin_LINE()) {
  emulator::barrier(true, line);
}
inline void __threadfence() {}  // blocks run one after the other
inline int __syncthreads_count(bool value, int line = __builtin_LINE()) {
  return static_cast<int>(emulator::barrier(value, line));
}
inline int __syncthreads_and(bool value, int line = __builtin_LINE()) {
  return emulator::barrier(value, line) == blockDim.x ? 1 : 0;
}

// Functions of the host. There is one stream, and enqueued work is done at once.

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9
};
using cudaStream_t = void*;
using cudaEvent_t = void*;
enum cudaMemcpyKind { cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount, cudaDevAttrL2CacheSize };
struct cudaDeviceProp {
  char name[256];
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
};

cudaError_t cudaMalloc(void** data, std::size_t bytes);
cudaError_t cudaFree(void* data);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemset(void* to, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaGetLastError();  // of launches
cudaError_t emulated_launch(const cudaLaunchConfig_t& config, const std::function<void()>& thread);

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  return emulated_launch(*config, [&] { kernel(arguments...); });
}

inline const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation       ? "out of memory"
         : error == cudaErrorInvalidConfiguration ? "invalid configuration argument"
                                                  : "no error";
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  // Few processors, so that persistent blocks have many tiles each; a small cache, which is soon
  // emptied.
  *value = attribute == cudaDevAttrL2CacheSize ? 65536 : 2;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::strcpy(properties->name, "emulator");
  return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = 0;
  return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 0;
  return cudaSuccess;
}

// Time has no meaning here.
inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t) {
  return cudaSuccess;
}
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1;
  return cudaSuccess;
}
