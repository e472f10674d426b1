// The emulated device's memory, and its launches. Every allocation has an inaccessible page before
// and after it: a kernel that accesses these ends the process. New memory is filled with non-zero
// bytes: tiny numbers, or NaN.
#include <cuda_runtime.h>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

namespace {

struct Pages {
  void* begin;
  std::size_t bytes;
};

std::map<void*, Pages> allocations;
cudaError_t last_error = cudaSuccess;

}  // namespace

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t used = (bytes + 15) / 16 * 16, room = (used + page - 1) / page * page;
  void* const begin = mmap(nullptr, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED)
    return cudaErrorMemoryAllocation;
  char* const first = static_cast<char*>(begin) + page;
  mprotect(first, room, PROT_READ | PROT_WRITE);
  static bool nan = false;
  nan = !nan;
  std::memset(first, nan ? 0xff : 0xa5, room);
  *data = first + room - used;
  allocations[*data] = {begin, room + 2 * page};
  emulator::allocated(*data, used);
  return cudaSuccess;
}

cudaError_t cudaFree(void* data) {
  const auto found = allocations.find(data);
  if (found != allocations.end()) {
    munmap(found->second.begin, found->second.bytes);
    allocations.erase(found);
    emulator::freed(data);
  }
  return cudaSuccess;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  emulator::begin_operation();
  emulator::access(from, bytes, false);
  emulator::access(to, bytes, true);
  emulator::end_operation();
  std::memmove(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  emulator::wait();
  std::memmove(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  emulator::begin_operation();
  emulator::access(to, bytes, true);
  emulator::end_operation();
  std::memset(to, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  emulator::wait();
  std::memset(to, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  emulator::wait();
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t) {
  emulator::wait();
  return cudaSuccess;
}

cudaError_t emulated_launch(const cudaLaunchConfig_t& config, const std::function<void()>& thread) {
  emulator::begin_operation();
  const bool possible = emulator::run(config.gridDim, config.blockDim, thread);
  emulator::end_operation();
  if (possible)
    return cudaSuccess;
  last_error = cudaErrorInvalidConfiguration;
  return last_error;
}
