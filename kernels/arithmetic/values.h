// Values on the wire, in the gradient's precision.
#pragma once

#include <cstring>
#include <string>

#include "kernels/compressor.h"

namespace syncline {

inline void put_value(float value, Precision precision, std::byte* out) {
  if (precision == Precision::fp32) {
    // One NaN for all: which of two NaNs a sum keeps differs between compilers and devices.
    if (value != value)
      value = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(out, &value, sizeof value);
  } else {
    const Half half = to_half(value);
    std::memcpy(out, &half, sizeof half);
  }
}

inline float get_value(const std::byte* in, Precision precision) {
  if (precision == Precision::fp32) {
    float value = 0;
    std::memcpy(&value, in, sizeof value);
    return value;
  }
  Half half;
  std::memcpy(&half, in, sizeof half);
  return to_float(half);
}

inline float get_float(const std::byte* in) {
  return get_value(in, Precision::fp32);
}

inline void expect_bytes(const std::string& name, std::size_t bytes, std::size_t expected) {
  if (bytes != expected)
    throw CorruptMessage("corrupt " + name + " message: " + std::to_string(bytes) +
                         " bytes, allowed are " + std::to_string(expected));
}

}  // namespace syncline
