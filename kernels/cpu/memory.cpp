// Memory of tensors. With pages of 4 KiB, a pass looks up the page tables for every eighth of a
// tile and for each value read at a scattered place: with large pages exact top-k takes a fifth
// less time.
#include <cstdint>
#include <new>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "kernels/compressor.h"

namespace syncline {
namespace {

constexpr std::align_val_t cache_line{64};

void ask_for_large_pages([[maybe_unused]] std::byte* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)  // only a request: if refused, pages stay small
  constexpr std::uintptr_t page = 4096, large_page = std::uintptr_t{1} << 21;
  const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(memory);
  if (const std::uintptr_t begin = (at + page - 1) / page * page; bytes >= 2 * large_page)
    madvise(reinterpret_cast<void*>(begin), at + bytes - begin, MADV_HUGEPAGE);
#endif
}

}  // namespace

std::byte* line_aligned(std::size_t bytes) {
  std::byte* const memory = static_cast<std::byte*>(::operator new(bytes, cache_line));
  ask_for_large_pages(memory, bytes);
  return memory;
}

void free_line_aligned(std::byte* memory) {
  ::operator delete(memory, cache_line);
}

}  // namespace syncline
