// The compared cells: exchanges and schedules on drawn platforms and on those of this repository.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/reference/cells.h"
#include "tests/reference/platforms.h"

namespace syncline::reference {

// Every exchange, dense or with a quarter of the values, and every place for servers, with 1 KB, 1
// MB, 100 MB, and 100 MB in buckets beside computation. The first three have hardly any
// computation, so that errors are those of the exchange.
std::vector<Cell> drawn_cells(const Drawn& drawn);

// A ring, a tree or `fsdp` on nodes of 1 to 8 GPUs and 1 to 8 network cards: nodes alike or of two
// kinds, on one network, on leaf switches with narrow uplinks, or on two sites. Has channels.
Cell drawn_machine(std::uint64_t seed);

// Models on the platforms of this repository, at default options with at most 16 workers.
std::vector<Cell> shipped_cells();

// Rings of 64 with 1 KB to 1 GB: equal cards, unequal cards, two sites, and four workers on each
// bus.
std::vector<Cell> long_rings();

}  // namespace syncline::reference
