// The order in which sums are taken, which is part of what the methods mean, on every device:
// within a tile 32 running sums in float (element i goes to sum i mod 32, as a warp's lanes do),
// which are then added in double in lane order; tiles are added in double in tile order, in groups
// of 256. So CPU, GPU and any number of threads get the same bits, and the error stays that of
// short sums.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace syncline {

inline constexpr std::size_t lanes = 32;

inline constexpr std::size_t tile_elements = 8192;  // 32 KiB of floats: fits a CPU's first cache

constexpr std::size_t tiles_of(std::size_t elements) {
  return (elements + tile_elements - 1) / tile_elements;
}

// Tiles are added in groups, so that a GPU can add groups side by side.
inline constexpr std::size_t group_tiles = 256;

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

}  // namespace syncline
