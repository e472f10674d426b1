// Counts what kernels read and write in device memory. They are compiled as if for ThreadSanitizer,
// with a function call before every load and store; this file defines those functions.
#include <algorithm>

#include "tests/kernels/emulator/emulator.h"

namespace emulator {
namespace {

constexpr std::size_t sector = 32;
enum Access : unsigned char { reading = 1, writing = 2 };

struct Memory {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::vector<unsigned char> accesses = {};  // for each sector, by the running operation
};

std::vector<Memory> memories;
std::vector<Operation> operations;
bool counting = false, running = false;

void mark(Memory& memory, std::size_t begin, std::size_t bytes, Access access) {
  for (std::size_t at = begin / sector; at * sector < begin + bytes; ++at) {
    unsigned char& before = memory.accesses[at];
    if ((before & access) == 0)
      (access == reading ? operations.back().read : operations.back().written) += sector;
    before = static_cast<unsigned char>(before | access);
  }
}

}  // namespace

void allocated(const void* data, std::size_t bytes) {
  memories.push_back({reinterpret_cast<std::uintptr_t>(data), bytes,
                      std::vector<unsigned char>((bytes + sector - 1) / sector)});
}

void freed(const void* data) {
  std::erase_if(memories, [=](const Memory& memory) {
    return memory.begin == reinterpret_cast<std::uintptr_t>(data);
  });
}

void begin_operation() {
  if (!counting)
    return;
  for (Memory& memory : memories)
    std::fill(memory.accesses.begin(), memory.accesses.end(), 0);
  operations.emplace_back();
  running = true;
}

void end_operation() {
  running = false;
}

void access(const void* data, std::size_t bytes, bool writes) {
  if (!running)
    return;
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(data);
  for (Memory& memory : memories)
    if (at - memory.begin < memory.bytes) {
      mark(memory, at - memory.begin, bytes, writes ? writing : reading);
      return;
    }
}

void wait() {
  if (counting)
    operations.push_back({.waits = true});
}

void count() {
  counting = true;
  operations.clear();
}

std::vector<Operation> counted() {
  counting = false;
  return std::move(operations);
}

}  // namespace emulator

// The functions that the compiler calls. (GCC knows the types of some.)
extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit(void*) {}
void __tsan_vptr_update(void*, void*) {}

#define COUNTED(bytes)                             \
  void __tsan_read##bytes(void* data) {            \
    if (emulator::running)                         \
      emulator::access(data, bytes, false);        \
  }                                                \
  void __tsan_write##bytes(void* data) {           \
    if (emulator::running)                         \
      emulator::access(data, bytes, true);         \
  }                                                \
  void __tsan_unaligned_read##bytes(void* data) {  \
    __tsan_read##bytes(data);                      \
  }                                                \
  void __tsan_unaligned_write##bytes(void* data) { \
    __tsan_write##bytes(data);                     \
  }
COUNTED(1)
COUNTED(2)
COUNTED(4)
COUNTED(8)
COUNTED(16)
#undef COUNTED

void __tsan_read_range(void* data, long bytes) {
  emulator::access(data, static_cast<std::size_t>(bytes), false);
}
void __tsan_write_range(void* data, long bytes) {
  emulator::access(data, static_cast<std::size_t>(bytes), true);
}

// Used only by host code.
unsigned char __tsan_atomic8_load(const volatile void* data, int order) {
  return __atomic_load_n(static_cast<const volatile unsigned char*>(data), order);
}
unsigned __tsan_atomic32_fetch_add(volatile void* data, unsigned value, int order) {
  return __atomic_fetch_add(static_cast<volatile unsigned*>(data), value, order);
}

}  // extern "C"
