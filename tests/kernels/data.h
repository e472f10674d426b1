// Gradients for tests: every distribution of the automatic grid, by name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/compressor.h"

namespace syncline {

struct Distribution {
  std::string name;
  bool finite = true;  // no NaN or infinity
  std::vector<float> (*values)(std::size_t elements, std::uint64_t seed);
};

const std::vector<Distribution>& distributions();
std::vector<float> gauss(std::size_t elements, std::uint64_t seed);
std::vector<Half> halves(const std::vector<float>& values);

// Gradients with few non-zeros, of which the k largest are requested: spread, in one place, or
// none, as in an embedding's gradient. And one that misleads this draw's sample: its large values
// are where the sample does not read.
std::map<std::string, std::vector<float>> few_values(std::size_t elements, std::size_t k,
                                                     const Draw& draw);

// Bits of floats, for comparisons in which 0 differs from -0 and NaN equals NaN.
std::vector<std::uint32_t> bits_of(std::span<const float> values);
// The same for State::memory, read as floats.
std::vector<std::uint32_t> memory_bits_of(const State& state);

// Defaults of a compressor, with this density (or its nearest equivalent) if given.
Settings settings_at(const Compressor& compressor, const std::string& density);

// The message of one encoding by the fast version, and what a receiver adds for it.
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

// Messages of `count` workers with different gradients, and the reference's sum after adding them
// one after the other to ones; with a draw shared by all.
struct Mail {
  std::vector<Message> messages;
  std::vector<float> expected;

  Messages all() const {
    return Messages(std::vector<MessageBytes>(messages.begin(), messages.end()));
  }
};
Mail mail_of(const Compressor& compressor, const Settings& settings, std::size_t count,
             std::size_t elements, Precision precision, const Draw& draw);

// Numbers of messages decoded at once: one, some, as many as a kernel takes, and more.
inline constexpr std::size_t counts_of_messages[] = {1, 2, 3, 16, 64, 65};

}  // namespace syncline
