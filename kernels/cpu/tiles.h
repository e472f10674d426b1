// How a CPU runs a kernel: elements are cut into tiles, and the available threads run the tiles.
// Thrust only runs tiles: its element-wise selections are some twenty times slower with OpenMP (its
// scan is serial there). Thrust stays out of every interface, because objects with different Thrust
// back-ends define the same symbols differently.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

#include "kernels/arithmetic/order.h"

namespace syncline {

// Runs work(0) .. work(count - 1), in any order and in parallel. `work` must not throw.
void run_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

// The same in order, for references.
inline void run_in_order(std::size_t count, const std::function<void(std::size_t)>& work) {
  for (std::size_t i = 0; i < count; ++i)
    work(i);
}

// Runs work(tile, begin, elements in it) for every tile.
template <class Work>
void for_each_tile(std::size_t elements, const Work& work) {
  run_in_parallel(tiles_of(elements), [&](std::size_t tile) {
    const std::size_t begin = tile * tile_elements;
    work(tile, begin, std::min(tile_elements, elements - begin));
  });
}

// The sum that sum_plainly returns, with tiles in parallel.
template <class SumsOf>
auto sum_in_parallel(std::size_t elements, const SumsOf& sums_of) {
  std::vector<decltype(sums_of(elements, elements))> tiles(tiles_of(elements));
  for_each_tile(elements, [&](std::size_t tile, std::size_t begin, std::size_t count) {
    tiles[tile] = sums_of(begin, count);
  });
  return in_order(tiles);
}

// Data from memory are read in strips, one value after the other: a core prefetches by itself, and
// what it prefetches past a strip's end is a small part of the strip. (Reading four places of a
// strip at once, with explicit prefetches, takes 1.2 to 3 times as long on a Zen 5.)
inline constexpr std::size_t strip_tiles = 4;
inline constexpr std::size_t strip_elements = strip_tiles * tile_elements;

// Runs work(begin, elements in it) for every strip.
template <class Work>
void for_each_strip(std::size_t elements, const Work& work) {
  run_in_parallel((elements + strip_elements - 1) / strip_elements, [&](std::size_t strip) {
    const std::size_t begin = strip * strip_elements;
    work(begin, std::min(strip_elements, elements - begin));
  });
}

// Runs work(tile, begin, elements in it) for every tile of a strip.
template <class Work>
void for_tiles_in(std::size_t begin, std::size_t count, const Work& work) {
  for (std::size_t at = 0; at < count; at += tile_elements)
    work((begin + at) / tile_elements, begin + at, std::min(tile_elements, count - at));
}

// Returns and sets the number of threads that run_in_parallel uses (measurements name it).
int threads();
void use_threads(int count);

}  // namespace syncline
