// A view of one gradient, in fp32 or fp16. All arithmetic is in fp32, as in the published codes;
// fp16 only changes what is read and what is sent.
//
// Functions here and in the other core headers are `constexpr`, so that the same text runs on the
// CPU and, through nvcc's --expt-relaxed-constexpr, on the GPU, without a host/device macro.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace syncline {

enum class Precision { fp32, fp16 };

struct Half {  // IEEE 754 binary16, as bits: g++ 12 and clang 14 have no common type for it
  std::uint16_t bits = 0;
};

constexpr std::size_t value_bytes(Precision precision) {
  return precision == Precision::fp32 ? 4 : 2;
}

constexpr float to_float(Half half) {
  const std::uint32_t magnitude = half.bits & 0x7fffu;
  const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000u) << 16;
  // Multiplying by 2^112 moves the exponent from fp16's bias to fp32's, subnormals included.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  const std::uint32_t finite = std::bit_cast<std::uint32_t>(scaled);
  const std::uint32_t special = 0x7f800000u | (magnitude << 13);  // infinity or NaN
  return std::bit_cast<float>(sign | (magnitude >= 0x7c00u ? special : finite));
}

// Rounds to nearest, ties to even. Finite values beyond 65504 saturate: an infinity made by the
// wire format would look like a diverged gradient. Infinities and NaN stay.
constexpr Half to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  std::uint32_t rounded = 0;
  if (magnitude > 0x7f800000u)
    return Half{0x7e00u};  // one NaN for all, without a sign
  if (magnitude == 0x7f800000u)
    rounded = 0x7c00u;
  else if (magnitude >= 0x477ff000u)  // from 65520 on, rounding would give infinity
    rounded = 0x7bffu;
  else if (magnitude >= 0x38800000u)  // normal in fp16: round off 13 bits
    rounded = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  else  // subnormal: adding 0.5 leaves the rounded value in the low bits of the sum
    rounded = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  return Half{static_cast<std::uint16_t>(sign | rounded)};
}

// The value that a receiver gets when `value` is sent in `precision`.
constexpr float as_sent(float value, Precision precision) {
  return precision == Precision::fp32 ? value : to_float(to_half(value));
}

class Gradient {
 public:
  Gradient(std::span<const float> values) : floats_(values.data()), elements_(values.size()) {}
  Gradient(std::span<const Half> values)
      : halves_(values.data()), elements_(values.size()), precision_(Precision::fp16) {}

  std::size_t elements() const { return elements_; }
  Precision precision() const { return precision_; }
  float at(std::size_t i) const {
    return precision_ == Precision::fp32 ? floats_[i] : to_float(halves_[i]);
  }
  const void* data() const {
    return precision_ == Precision::fp32 ? static_cast<const void*>(floats_) : halves_;
  }
  // The elements from `begin` on as floats: in place, or converted into `scratch`.
  const float* tile(std::size_t begin, std::size_t count, float* scratch) const {
    if (precision_ == Precision::fp32)
      return floats_ + begin;
    for (std::size_t i = 0; i < count; ++i)
      scratch[i] = to_float(halves_[begin + i]);
    return scratch;
  }

 private:
  const float* floats_ = nullptr;
  const Half* halves_ = nullptr;
  std::size_t elements_ = 0;
  Precision precision_ = Precision::fp32;
};

}  // namespace syncline
