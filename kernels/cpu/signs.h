// The sign methods on a CPU.
#pragma once

#include <span>

#include "kernels/arithmetic/signs.h"

namespace syncline {

void encode_signs_plainly(const SignFormat& format, const Gradient& gradient, bool feedback,
                          State& state, Message& message);
void encode_signs(const SignFormat& format, const Gradient& gradient, bool feedback, State& state,
                  Message& message);
void decode_signs_plainly(const SignFormat& format, std::span<const std::byte> message,
                          std::span<float> sum);
void decode_signs(const SignFormat& format, std::span<const std::byte> message,
                  std::span<float> sum);

}  // namespace syncline
