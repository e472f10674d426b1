// Large pages for buffers of gigabytes that are used from begin to end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>

namespace syncline {

// Asks the system to use pages of 2 MiB for the whole such pages within these bytes. The system may
// refuse; then nothing changes.
inline void use_large_pages(void* begin, std::size_t bytes) {
  constexpr std::uintptr_t page = 2 << 20;
  const auto from = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
  const auto to = (reinterpret_cast<std::uintptr_t>(begin) + bytes) / page * page;
  if (from < to)
    madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
}

}  // namespace syncline
