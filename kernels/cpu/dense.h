// Messages that contain only values, which an all-reduce can sum.
#pragma once

#include <span>

#include "kernels/arithmetic/values.h"
#include "kernels/cpu/tiles.h"

namespace syncline {

// sum += message, both arrays of values.
inline void add_values(const Settings&, Precision precision, std::span<std::byte> sum,
                       std::span<const std::byte> message) {
  expect_bytes("summed", message.size(), sum.size());
  const std::size_t width = value_bytes(precision);
  for_each_tile(sum.size() / width, [&](std::size_t, std::size_t begin, std::size_t count) {
    for (std::size_t i = begin; i < begin + count; ++i)
      put_value(get_value(sum.data() + width * i, precision) +
                    get_value(message.data() + width * i, precision),
                precision, sum.data() + width * i);
  });
}

}  // namespace syncline
