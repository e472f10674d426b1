// Lists of message sizes, such as 8,1M,16M or 8,...,1G.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/options/user_input.h"

namespace syncline {

constexpr std::uint64_t value_of_message_bytes = 4;  // of a float
constexpr double largest_message_bytes = 0x1p40;

// Bytes, in the given order. `...` between two sizes stands for the first one's doubles below the
// second, as by `all_reduce_perf -f 2`. K, M, G and T are 1024 and its powers, as in nccl-tests;
// kB, MiB and the like are as in all options. Throws std::invalid_argument that says where.
std::vector<std::uint64_t> message_sizes(const Given& list);

}  // namespace syncline
