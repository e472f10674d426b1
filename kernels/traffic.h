// What an operation makes a GPU do, launch by launch: the formulas behind the modelled cost tables.
// tests/kernels/emulator counts the same in the kernels and compares.
//
// Bytes are counted as the distinct 32-byte sectors that one launch reads plus those that it
// writes: what memory moves if a launch's own rereads hit a cache and nothing stays there for the
// next launch. An atomic counts as a read and a write. Not counted: polling (a look-back that
// waits), what nvcc merges, and what a cache keeps between launches.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

namespace syncline {

// An amount that is known exactly, or depends on the data: for a gradient with a standard normal
// distribution (mean 0, deviation 1) it lies within mean +- spread.
struct Amount {
  double mean = 0, spread = 0;
  double alone = 0;  // part of the mean: sectors without a neighbour in their line of 128 bytes

  constexpr Amount() = default;
  template <class Number>
  requires std::is_arithmetic_v<Number>
  constexpr Amount(Number known) : mean(static_cast<double>(known)) {}
  constexpr Amount(double of_mean, double of_spread, double of_alone = 0)
      : mean(of_mean), spread(of_spread), alone(of_alone) {}
};

constexpr Amount operator+(const Amount& a, const Amount& b) {
  return {a.mean + b.mean, a.spread + b.spread, a.alone + b.alone};
}
constexpr Amount operator*(double factor, const Amount& amount) {
  return {factor * amount.mean, factor * amount.spread, factor * amount.alone};
}

constexpr Amount between(double low, double high) {
  return {(low + high) / 2, (high - low) / 2};
}

inline constexpr double sector_bytes = 32;

// Traffic of neighbouring bytes that start at a sector.
inline Amount sectors(const Amount& bytes) {
  return {sector_bytes * std::ceil(bytes.mean / sector_bytes),
          bytes.spread > 0 ? bytes.spread + sector_bytes : 0};
}

// Traffic of `count` among `among` 4-byte words at random places; a sector with several of them
// moves once.
Amount scattered(const Amount& count, double among);

// One kernel, memset or copy in a stream.
struct StreamOperation {
  std::string name;
  Amount read, written;
  // Beside the bytes: slots in which schedulers could issue an instruction for a lane, with those
  // lost to stalls, which count where they take longer than the bytes; and how often a block waits
  // for memory or at a barrier, one after the other, while nothing streams. Both were fitted to the
  // measured encodings and decodings of an H100 (kernels/profiles/h100.csv) unless a comment says
  // otherwise.
  double slots = 0, waits = 0;
};
using StreamOperations = std::vector<StreamOperation>;

double bytes_of(const StreamOperations& operations);  // read and written

// The operations `times` times in a row.
StreamOperations repeated(const StreamOperations& operations, std::size_t times);

// How many messages one decoding kernel takes at most.
inline constexpr std::size_t most_messages_at_once = 64;

}  // namespace syncline
