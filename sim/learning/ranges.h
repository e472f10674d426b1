// Each bucket of what is timed has a range of what is learned: both may be of different sizes, so
// the learned vector is divided at the timed model's cumulative fractions.
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

// The range that is in both; empty where nothing is.
Range overlap(const Range& a, const Range& b);

// These are shares first .. last - 1 of `count` equal ones.
Range shares_of(const Range& range, int count, int first, int last);

// The vector has its tensors in forward order, and buckets come in backward order: so bucket 0 is
// at its end. A bucket's range may be empty.
class BucketRanges {
 public:
  // Tensors of fewer than `dense_below` timed parameters are sent as they are; all are if nothing
  // `compresses`.
  BucketRanges(const Model& timed, const std::vector<Bucket>& buckets, std::uint64_t dense_below,
               bool compresses, std::size_t learned);

  int buckets() const { return static_cast<int>(ranges_.size()); }
  const Range& of(int bucket) const { return ranges_[index(bucket)].all; }
  // The compressor gets these of it; the others are sent as they are.
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
