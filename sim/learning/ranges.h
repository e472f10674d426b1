// Each bucket of the timed model has a range of the learned vector. The two may have different
// sizes, so the learned vector is divided at the timed model's cumulative fractions.
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

// The intersection; empty if the ranges do not overlap.
Range overlap(const Range& a, const Range& b);

// Shares first .. last - 1 of `count` equal shares of a range.
Range shares_of(const Range& range, int count, int first, int last);

// The vector has its tensors in forward order, and buckets come in backward order, so bucket 0 is
// at the vector's end. A bucket's range may be empty.
class BucketRanges {
 public:
  // Tensors of fewer than `dense_below` timed parameters are sent uncompressed; all tensors are if
  // `compresses` is false.
  BucketRanges(const Model& timed, const std::vector<Bucket>& buckets, std::uint64_t dense_below,
               bool compresses, std::size_t learned);

  int buckets() const { return static_cast<int>(ranges_.size()); }
  const Range& of(int bucket) const { return ranges_[index(bucket)].all; }
  // The ranges of a bucket that the compressor gets; plain(): the ranges sent uncompressed.
  const std::vector<Range>& compressed(int bucket) const {
    return ranges_[index(bucket)].compressed;
  }
  const std::vector<Range>& plain(int bucket) const { return ranges_[index(bucket)].plain; }

 private:
  struct Ranges {
    Range all;
    std::vector<Range> compressed;
    std::vector<Range> plain;
  };
  std::vector<Ranges> ranges_;
};

std::size_t values_in(const std::vector<Range>& ranges);

}  // namespace syncline
