// A CPU runs a kernel like this: the elements are cut into tiles, and tiles are run by however many
// threads there are. Thrust runs tiles and nothing else: its element-wise selections are some
// twenty times slower with OpenMP (its scan is serial there), and it stays out of every interface
// because objects with different Thrust back-ends define the same symbols differently.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

#include "kernels/arithmetic/order.h"

namespace syncline {

// Runs work(0) .. work(count - 1), in any order and in parallel. `work` must not throw.
void run_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

// Runs work(tile, begin, elements in it) for every tile.
template <class Work>
void for_each_tile(std::size_t elements, const Work& work) {
  run_in_parallel(tiles_of(elements), [&](std::size_t tile) {
    const std::size_t begin = tile * tile_elements;
    work(tile, begin, std::min(tile_elements, elements - begin));
  });
}

// The same sum as sum_plainly gives, of tiles in parallel.
template <class SumsOf>
auto sum_in_parallel(std::size_t elements, const SumsOf& sums_of) {
  std::vector<decltype(sums_of(elements, elements))> tiles(tiles_of(elements));
  for_each_tile(elements, [&](std::size_t tile, std::size_t begin, std::size_t count) {
    tiles[tile] = sums_of(begin, count);
  });
  return in_order(tiles);
}

// What comes from memory is taken in strips, one value after the other: a core fetches ahead by
// itself, and what it fetches past a strip's end is little of the strip. (Walking along four places
// of a strip at once, with prefetches of our own, takes 1.2 to 3 times as long on a Zen 5.)
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

// Threads that run_in_parallel uses, and a way to change that (measurements name their threads).
int threads();
void use_threads(int count);

}  // namespace syncline
