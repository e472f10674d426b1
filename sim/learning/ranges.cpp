#include "sim/learning/ranges.h"

#include <algorithm>
#include <cmath>

#include "sim/collectives.h"

namespace syncline {
namespace {

// The number of `learned` values that the first `some` of `all` timed values stand for.
std::size_t in_proportion(std::size_t learned, std::uint64_t some, std::uint64_t all) {
  if (some == all || all == learned)
    return some == all ? learned : static_cast<std::size_t>(some);
  return static_cast<std::size_t>(std::floor(static_cast<double>(learned) *
                                             static_cast<double>(some) / static_cast<double>(all)));
}

void append(std::vector<Range>& ranges, const Range& range) {
  if (range.size() == 0)
    return;
  if (!ranges.empty() && ranges.back().end == range.begin)
    ranges.back().end = range.end;
  else
    ranges.push_back(range);
}

}  // namespace

Range overlap(const Range& a, const Range& b) {
  const std::size_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

Range shares_of(const Range& range, int count, int first, int last) {
  return {range.begin + shares(range.size(), count, 0, first),
          range.begin + shares(range.size(), count, 0, last)};
}

std::size_t values_in(const std::vector<Range>& ranges) {
  std::size_t values = 0;
  for (const Range& range : ranges)
    values += range.size();
  return values;
}

BucketRanges::BucketRanges(const Model& timed, const std::vector<Bucket>& buckets,
                           std::uint64_t dense_below, bool compresses, std::size_t learned) {
  const std::uint64_t all = timed.parameters();
  std::uint64_t done = 0;  // timed parameters of earlier layers, in backward order
  auto layer = timed.layers.rbegin();
  const auto place = [&] { return learned - in_proportion(learned, done, all); };
  for (const Bucket& bucket : buckets) {
    Ranges of_bucket;
    of_bucket.all.end = place();
    for (int i = 0; i < bucket.tensors; ++i, ++layer) {
      Range tensor{.begin = 0, .end = place()};
      done += layer->parameters;
      tensor.begin = place();
      const bool plain = !compresses || layer->parameters < dense_below;
      append(plain ? of_bucket.plain : of_bucket.compressed, tensor);
    }
    of_bucket.all.begin = place();
    ranges_.push_back(std::move(of_bucket));
  }
  // Puts the ranges in the order of values; so far they go from the last tensor to the first.
  for (Ranges& of_bucket : ranges_)
    for (std::vector<Range>* ranges : {&of_bucket.compressed, &of_bucket.plain}) {
      std::ranges::reverse(*ranges);
      std::vector<Range> joined;
      for (const Range& range : *ranges)
        append(joined, range);
      *ranges = std::move(joined);
    }
}

}  // namespace syncline
