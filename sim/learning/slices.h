// Where the parts of what is timed lie in what is learned: both may be of different sizes, so the
// learned vector is cut at the timed model's cumulative fractions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/setup/model.h"

namespace syncline {

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
};

// What is in both; empty where nothing is.
Range overlap(const Range& a, const Range& b);

// Parts first .. last - 1 of `parts` equal ones.
Range part_of(const Range& range, int parts, int first, int last);

// The vector has its tensors in forward order, and buckets come in backward order: so bucket 0 is
// at its end. A slice may be empty.
class Slices {
 public:
  // Tensors of fewer than `dense_below` timed parameters are sent as they are; all are if nothing
  // `compresses`.
  Slices(const Model& timed, const std::vector<Bucket>& buckets, std::uint64_t dense_below,
         bool compresses, std::size_t learned);

  int buckets() const { return static_cast<int>(slices_.size()); }
  const Range& of(int bucket) const { return slices_[static_cast<std::size_t>(bucket)].all; }
  // Of this, what the compressor gets, and what is sent as it is.
  const std::vector<Range>& compressed(int bucket) const {
    return slices_[static_cast<std::size_t>(bucket)].compressed;
  }
  const std::vector<Range>& plain(int bucket) const {
    return slices_[static_cast<std::size_t>(bucket)].plain;
  }

 private:
  struct Slice {
    Range all;
    std::vector<Range> compressed;
    std::vector<Range> plain;
  };
  std::vector<Slice> slices_;
};

std::size_t values_in(const std::vector<Range>& ranges);

}  // namespace syncline
