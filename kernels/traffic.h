// What an operation makes a GPU do, launch by launch: the formulas behind the modelled cost tables.
// tests/kernels/emulator counts the same in the kernels themselves and holds these to it.
//
// Bytes are those of the distinct 32-byte sectors that one launch reads, and of those that it
// writes: what memory moves where a launch's own rereads hit a cache and nothing is left there for
// the next. An atomic is a read and a write. Left out: polling (a look-back that waits), time that
// one thread or warp takes by itself, and what nvcc merges or a cache keeps between launches.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

namespace syncline {

// Known, or decided by the data: for a gradient of a normal distribution (mean 0, deviation 1) it
// then lies within mean +- spread.
struct Amount {
  double mean = 0, spread = 0;

  constexpr Amount() = default;
  template <class Number>
  requires std::is_arithmetic_v<Number>
  constexpr Amount(Number known) : mean(static_cast<double>(known)) {}
  constexpr Amount(double of_mean, double of_spread) : mean(of_mean), spread(of_spread) {}
};

constexpr Amount operator+(const Amount& a, const Amount& b) {
  return {a.mean + b.mean, a.spread + b.spread};
}
constexpr Amount operator*(double factor, const Amount& amount) {
  return {factor * amount.mean, factor * amount.spread};
}

constexpr Amount between(double low, double high) {
  return {(low + high) / 2, (high - low) / 2};
}

inline constexpr double sector_bytes = 32;

// Neighbouring bytes, from the start of a sector.
inline Amount sectors(const Amount& bytes) {
  return {sector_bytes * std::ceil(bytes.mean / sector_bytes),
          bytes.spread > 0 ? bytes.spread + sector_bytes : 0};
}

// `count` of `among` 4-byte words, wherever they are: with many in a sector it moves once.
Amount scattered(const Amount& count, double among);

// One kernel, memset or copy of a stream.
struct StreamOperation {
  std::string name;
  Amount read, written;
  // Where they may take longer than bytes: additions, multiplications and other instructions that
  // an fp32 unit does; and how often a block waits for memory once more, each time for the answer
  // to what it asked after the wait before.
  double instructions = 0, waits = 0;
};
using StreamOperations = std::vector<StreamOperation>;

double bytes_of(const StreamOperations& operations);  // read and written

// One after the other, as often as this.
StreamOperations repeated(const StreamOperations& operations, std::size_t times);

// The messages that a kernel which decodes several takes at once.
inline constexpr std::size_t most_messages_at_once = 64;

}  // namespace syncline
