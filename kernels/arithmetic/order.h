// The order of sums, which is part of each method's meaning on every device: within a tile, 32
// running sums in float (element i goes to sum i mod 32, as in the lanes of a warp), added in
// double in lane order; then tiles, added in double in tile order, in groups of 256. CPU, GPU and
// any number of threads so get the same bits, and the error stays that of short sums.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace syncline {

inline constexpr std::size_t lanes = 32;

inline constexpr std::size_t tile_elements = 8192;  // 32 KiB of floats: fit a CPU's L1 cache

constexpr std::size_t tiles_of(std::size_t elements) {
  return (elements + tile_elements - 1) / tile_elements;
}

// Tiles are added in groups so that a GPU can add groups in parallel.
inline constexpr std::size_t group_tiles = 256;

template <class Number>
double in_lane_order(const Number (&partial)[lanes]) {
  double total = 0;
  for (const Number lane : partial)
    total += lane;
  return total;
}

template <class Sums>
Sums in_order(const std::vector<Sums>& tiles) {
  Sums total{};
  for (std::size_t begin = 0; begin < tiles.size(); begin += group_tiles) {
    Sums group{};
    for (std::size_t t = begin; t < std::min(tiles.size(), begin + group_tiles); ++t)
      group = group + tiles[t];
    total = total + group;
  }
  return total;
}

// Adds sums_of(begin, elements in it) of every tile, one after the other.
template <class SumsOf>
auto sum_plainly(std::size_t elements, const SumsOf& sums_of) {
  std::vector<decltype(sums_of(elements, elements))> tiles;
  for (std::size_t begin = 0; begin < elements; begin += tile_elements)
    tiles.push_back(sums_of(begin, std::min(tile_elements, elements - begin)));
  return in_order(tiles);
}

// The first of `count` places where before(place) is false; it is true at all places before.
template <class Place, class Before>
constexpr Place first_after(Place count, const Before& before) {
  Place low = 0;
  while (low < count) {
    const Place middle = low + (count - low) / 2;
    if (before(middle))
      low = middle + 1;
    else
      count = middle;
  }
  return low;
}

}  // namespace syncline
