// Error feedback: what a compressor did not send is added to the next gradient (Seide et al. 2014;
// Karimireddy et al. 2019). Every encoder first turns the residual, in place, into u = g + e,
// chooses from u what to send, and subtracts what it sent. Without feedback g overwrites the
// residual, so that the rest of the encoder is the same.
#pragma once

#include <string>

#include "kernels/arithmetic/keys.h"
#include "kernels/compressor.h"

namespace syncline {

// The option of every method that works with and without error feedback.
inline constexpr const char* feedback_name = "error-feedback";
inline OwnOption feedback_option(const std::string& fallback) {
  return choice(feedback_name, "add what was not sent to the next gradient", fallback,
                {"on", "off"});
}

inline bool with_feedback(const Settings& settings) {
  return settings.word(feedback_name) == "on";
}

// Sizes a per-element memory at its first use; refuses a tensor whose size has changed.
inline void fit(Values& memory, std::size_t elements) {
  if (memory.empty())
    memory.resize(elements);
  if (memory.size() != elements)
    throw std::invalid_argument("a tensor of " + std::to_string(memory.size()) +
                                " elements now has " + std::to_string(elements) +
                                ": their number must not change");
}

// u minus what the receiver gets of it: zero in fp32; in fp16 the rounding error, which fp32 holds
// exactly. A non-finite value leaves nothing behind: it would stay in the residual for ever.
constexpr float sent_off(float u, Precision precision) {
  return precision == Precision::fp32 || magnitude_key(u) >= infinite_key
             ? 0.0f
             : u - as_sent(u, precision);
}

}  // namespace syncline
