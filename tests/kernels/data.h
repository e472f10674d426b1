// Gradients to test with: every distribution of the automatic grid, by name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/compressor.h"

namespace syncline {

struct Distribution {
  std::string name;
  bool finite = true;  // holds neither NaN nor infinity
  std::vector<float> (*values)(std::size_t elements, std::uint64_t seed);
};

const std::vector<Distribution>& distributions();
std::vector<float> gauss(std::size_t elements, std::uint64_t seed);
std::vector<Half> halves(const std::vector<float>& values);

// Of these the k largest are asked for: few values that are not zero, as an embedding's gradient
// has, spread, at one place, or none. And one that misleads the sample of this draw: what is large
// lies where it does not look.
std::map<std::string, std::vector<float>> few_values(std::size_t elements, std::size_t k,
                                                     const Draw& draw);

// Bits of floats, for comparisons in which 0 is not -0 and NaN is NaN.
std::vector<std::uint32_t> bits_of(std::span<const float> values);
// State::memory in the same way, as if all of it were floats.
std::vector<std::uint32_t> memory_bits_of(const State& state);

// Defaults of one compressor, with a density (or the nearest thing it has) where that is given.
Settings settings_at(const Compressor& compressor, const std::string& density);

// What one encoding of the fast version makes, and what a receiver adds for it.
struct Sent {
  Message message;
  std::vector<float> decoded;
};

Sent sent_by(const std::string& name, const std::map<std::string, std::string>& given,
             const std::vector<float>& values, const Draw& draw, State& state);
Sent sent_by(const std::string& name, const std::map<std::string, std::string>& given,
             const std::vector<float>& values, const Draw& draw = {});
double squared(const std::vector<float>& x);
double squared_error(const std::vector<float>& x, const std::vector<float>& y);
std::size_t pairs(const Sent& sent);  // (index, value) pairs of a sparse message

// Messages of `count` workers, each of a gradient of its own, and the sum of adding one after the
// other to ones as the reference does. With a draw that all share.
struct Mail {
  std::vector<Message> messages;
  std::vector<float> expected;

  Messages all() const {
    return Messages(std::vector<MessageBytes>(messages.begin(), messages.end()));
  }
};
Mail mail_of(const Compressor& compressor, const Settings& settings, std::size_t count,
             std::size_t elements, Precision precision, const Draw& draw);

// How many messages are decoded at once: one, some, as many as a kernel takes, and more.
inline constexpr std::size_t counts_of_messages[] = {1, 2, 3, 16, 64, 65};

}  // namespace syncline
