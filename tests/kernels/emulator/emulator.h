// Runs CUDA kernels on one CPU thread: the parts that the emulator's cuda_runtime.h is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

struct uint3 {
  unsigned x = 0, y = 0, z = 0;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1)
      : x(of_x), y(of_y), z(of_z) {}
};
extern uint3 threadIdx, blockIdx;  // of the running thread
extern dim3 blockDim, gridDim;

namespace emulator {

inline constexpr unsigned warp_lanes = 32, most_threads = 1024;  // of a block

// Runs every thread of every block. Returns false without running if a device would refuse the
// grid.
bool run(const dim3& grid, const dim3& block, const std::function<void()>& thread);

// Where threads of a block wait for each other; `line` is the caller's. All lanes of a warp must
// meet at the same line, and all threads of a block at the same barrier; otherwise the process ends
// and says where.
const std::uint64_t* exchange(std::uint64_t value, int line);  // the values of the warp's 32 lanes
unsigned barrier(bool value, int line);  // how many threads of the block set it

// Operations on the stream between `count` and `counted`: kernels, memsets and copies, in order,
// with the bytes of the distinct 32-byte sectors of device memory that each reads and writes.
// `waits`: the host waited for the stream there.
struct Operation {
  std::size_t read = 0, written = 0;
  bool waits = false;
};
void count();
std::vector<Operation> counted();

// Called by the runtime to report what it does.
void allocated(const void* data, std::size_t bytes);
void freed(const void* data);
void begin_operation();
void end_operation();
void access(const void* data, std::size_t bytes, bool writes);
void wait();

}  // namespace emulator
