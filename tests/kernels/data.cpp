#include "tests/kernels/data.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/arithmetic/permutation.h"

namespace syncline {
namespace {

std::vector<float> filled(std::size_t elements, std::uint64_t seed,
                          const std::function<float(std::mt19937_64&, std::size_t)>& draw) {
  std::mt19937_64 random(seed);
  std::vector<float> values(elements);
  for (std::size_t i = 0; i < elements; ++i)
    values[i] = draw(random, i);
  return values;
}

float normal(std::mt19937_64& random) {
  return std::normal_distribution<float>(0.01f, 1.0f)(random);
}

std::vector<float> laplace(std::size_t elements, std::uint64_t seed) {
  return filled(elements, seed, [](std::mt19937_64& random, std::size_t) {
    const float size = std::exponential_distribution<float>(1.0f)(random);
    return random() % 2 == 0 ? size : -size;
  });
}

std::vector<float> student(std::size_t elements, std::uint64_t seed) {
  return filled(elements, seed, [](std::mt19937_64& random, std::size_t) {
    return std::student_t_distribution<float>(3.0f)(random);
  });
}

std::vector<float> layered(std::size_t elements, std::uint64_t seed) {
  return filled(elements, seed, [elements](std::mt19937_64& random, std::size_t i) {
    return normal(random) * std::pow(10.0f, -static_cast<float>(i * 6 / (elements + 1)));
  });
}

std::vector<float> ties(std::size_t elements, std::uint64_t seed) {
  return filled(elements, seed, [](std::mt19937_64& random, std::size_t) {
    return static_cast<float>(static_cast<int>(random() % 7) - 3);
  });
}

std::vector<float> rounded(std::size_t elements, std::uint64_t seed) {  // as in bf16
  return filled(elements, seed, [](std::mt19937_64& random, std::size_t) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(normal(random)) & 0xffff0000u);
  });
}

std::vector<float> all_equal(std::size_t elements, std::uint64_t) {
  return std::vector<float>(elements, -0.25f);
}

std::vector<float> mostly_zero(std::size_t elements, std::uint64_t seed) {
  return filled(elements, seed, [](std::mt19937_64& random, std::size_t) {
    return random() % 10 != 0 ? 0.0f : normal(random);
  });
}

std::vector<float> denormals(std::size_t elements, std::uint64_t seed) {
  return filled(elements, seed, [](std::mt19937_64& random, std::size_t) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(random()) & 0x807fffffu);
  });
}

std::vector<float> zeros(std::size_t elements, std::uint64_t seed) {  // of both signs
  return filled(elements, seed, [](std::mt19937_64& random, std::size_t) {
    return random() % 2 == 0 ? 0.0f : -0.0f;
  });
}

std::vector<float> with_special(std::size_t elements, std::uint64_t seed) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = gauss(elements, seed);
  for (std::size_t i = 0; i < elements; i += 97)
    values[i] = i % 3 == 0 ? infinity : i % 3 == 1 ? -infinity : std::nanf("");
  return values;
}

std::vector<float> any_bits(std::size_t elements, std::uint64_t seed) {
  return filled(elements, seed, [](std::mt19937_64& random, std::size_t) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  });
}

// Hides the large values where a sample of one element per stratum is least likely to read.
std::vector<float> adversarial(std::size_t elements, std::uint64_t seed) {
  std::vector<float> values = gauss(elements, seed);
  for (std::size_t i = 0; i < elements; ++i)
    values[i] = i < elements / 100 ? values[i] * 1e4f : values[i] * 1e-4f;
  return values;
}

}  // namespace

std::vector<float> gauss(std::size_t elements, std::uint64_t seed) {
  return filled(elements, seed,
                [](std::mt19937_64& random, std::size_t) { return normal(random); });
}

std::map<std::string, std::vector<float>> few_values(std::size_t n, std::size_t k,
                                                     const Draw& draw) {
  const std::vector<float> values = gauss(n + 1, n);
  std::map<std::string, std::vector<float>> all;
  for (const char* name : {"none", "k - 1", "k", "k + 1", "one tile", "the end", "misleading"})
    all[name].assign(n, -0.0f);
  std::fill_n(all["none"].begin(), n / 2, 0.0f);
  for (std::size_t i = 0; i <= k; ++i) {
    const std::size_t at = (i * 7919 + 13) % n;  // a prime, so that places differ
    all["k - 1"][at] = i < k - 1 ? values[i] : 0.0f;
    all["k"][at] = i < k ? values[i] : 0.0f;
    all["k + 1"][at] = values[i];
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(n, 8192); ++i)
    all["one tile"][n / 3 + i % (n - n / 3)] = values[i];
  for (std::size_t i = n - n / 50; i < n; ++i)
    all["the end"][i] = values[i];
  std::vector<float>& misleading = all["misleading"];
  for (std::size_t i = 0; i < n; i += 3)
    misleading[i] = 1 + std::abs(values[i]);
  for (std::size_t i = 0; n > 1 << 12 && i < 1 << 12; ++i) {
    const std::size_t first = std::min(sampled_element(draw, n, 1 << 12, i), n - 16) / 16 * 16;
    for (std::size_t j = first; j < std::min(n, first + 16); ++j)
      misleading[j] = 1e-3f * values[j];
  }
  return all;
}

const std::vector<Distribution>& distributions() {
  static const std::vector<Distribution> all = {
      {"gauss", true, gauss},
      {"laplace", true, laplace},
      {"student", true, student},
      {"layered", true, layered},
      {"ties", true, ties},
      {"rounded", true, rounded},
      {"all-equal", true, all_equal},
      {"mostly-zero", true, mostly_zero},
      {"denormals", true, denormals},
      {"zeros", true, zeros},
      {"adversarial", true, adversarial},
      {"special", false, with_special},
      {"any-bits", false, any_bits},
  };
  return all;
}

std::vector<Half> halves(const std::vector<float>& values) {
  std::vector<Half> converted;
  for (const float value : values)
    converted.push_back(to_half(value));
  return converted;
}

std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values)
    bits.push_back(value == value ? std::bit_cast<std::uint32_t>(value) : 0x7fc00000u);
  return bits;
}

std::vector<std::uint32_t> memory_bits_of(const State& state) {
  State copy = state;
  return bits_of(memory_of<float>(copy, state.memory.size() / sizeof(float)));
}

Settings settings_at(const Compressor& compressor, const std::string& density) {
  std::map<std::string, std::string> given;
  if (!density.empty())
    given["density"] = density;
  return Settings(compressor.options, given);
}

Sent sent_by(const std::string& name, const std::map<std::string, std::string>& given,
             const std::vector<float>& values, const Draw& draw, State& state) {
  const Compressor& compressor = Registered<Compressor>::find(name);
  const Settings settings(compressor.options, given);
  Sent sent;
  compressor.cpu.encode(settings, std::span<const float>(values), draw, state, sent.message);
  sent.decoded.resize(values.size());
  compressor.cpu.decode(settings, sent.message, Precision::fp32, draw, sent.decoded);
  return sent;
}

Sent sent_by(const std::string& name, const std::map<std::string, std::string>& given,
             const std::vector<float>& values, const Draw& draw) {
  State state;
  return sent_by(name, given, values, draw, state);
}

double squared(const std::vector<float>& x) {
  double sum = 0;
  for (const float value : x)
    sum += static_cast<double>(value) * value;
  return sum;
}

double squared_error(const std::vector<float>& x, const std::vector<float>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += (static_cast<double>(x[i]) - y[i]) * (static_cast<double>(x[i]) - y[i]);
  return sum;
}

Mail mail_of(const Compressor& compressor, const Settings& settings, std::size_t count,
             std::size_t elements, Precision precision, const Draw& draw) {
  Mail mail{std::vector<Message>(count), std::vector<float>(elements, 1.0f)};
  for (std::size_t w = 0; w < count; ++w) {
    const std::vector<float> values = gauss(elements, w + 1);
    const std::vector<Half> half_values = halves(values);
    const Gradient gradient = precision == Precision::fp16
                                  ? Gradient(std::span<const Half>(half_values))
                                  : Gradient(std::span<const float>(values));
    State state;
    compressor.cpu.encode(settings, gradient, draw, state, mail.messages[w]);
    compressor.reference.decode(settings, mail.messages[w], precision, draw, mail.expected);
  }
  return mail;
}

std::size_t pairs(const Sent& sent) {
  return sent.message.size() / 8;
}

}  // namespace syncline
