#include "sim/sweep/huge_pages.h"

#include <cstddef>
#include <sys/mman.h>

// jemalloc's own (man jemalloc); null in a program without it.
extern "C" int mallctl(const char* name, void* old, std::size_t* old_size, void* value,
                       std::size_t size) __attribute__((weak));

namespace syncline {
namespace {

// The first function of jemalloc's extent_hooks_t; it has eight others.
struct Hooks {
  void* (*alloc)(Hooks* hooks, void* at, std::size_t size, std::size_t alignment, bool* zero,
                 bool* commit, unsigned arena);
  void* others[8];
};

Hooks* plain = nullptr;
Hooks huge;

void* alloc_huge(Hooks*, void* at, std::size_t size, std::size_t alignment, bool* zero,
                 bool* commit, unsigned arena) {
  void* memory = plain->alloc(plain, at, size, alignment, zero, commit, arena);
  if (memory != nullptr)
    madvise(memory, size, MADV_HUGEPAGE);  // a wish: without it, pages are small
  return memory;
}

}  // namespace

void use_huge_pages() {
  std::size_t size = sizeof plain;
  if (mallctl == nullptr || plain != nullptr ||
      mallctl("arena.0.extent_hooks", &plain, &size, nullptr, 0) != 0)
    return;
  huge = *plain;
  huge.alloc = alloc_huge;
  Hooks* hooks = &huge;
  unsigned arena = 0;
  size = sizeof arena;
  if (mallctl("arenas.create", &arena, &size, &hooks, sizeof hooks) == 0)
    mallctl("thread.arena", nullptr, nullptr, &arena, sizeof arena);
}

}  // namespace syncline
