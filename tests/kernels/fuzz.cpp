#include "tests/kernels/fuzz.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernels/compressor.h"

namespace syncline {
namespace {

void require(bool holds, const std::string& what) {
  if (holds)
    return;
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

constexpr float canary = 12345.0f;

// Decodes between canaries. Returns whether the message was accepted; a refused one must change
// nothing.
bool survives(const Compressor& compressor, const Codec& codec, const Settings& settings,
              std::span<const std::byte> message, Precision precision, std::size_t elements) {
  std::vector<float> room(elements + 16, canary);
  const std::span<float> sum = std::span<float>(room).subspan(8, elements);
  bool taken = true;
  try {
    codec.decode(settings, message, precision, {}, sum);
  } catch (const CorruptMessage&) {
    taken = false;
  }
  for (std::size_t i = 0; i < room.size(); ++i)
    if (i < 8 || i >= 8 + elements || !taken)
      require(room[i] == canary, compressor.name + " wrote where it must not");
  return taken;
}

// Settings derived from the first bytes: every parameter at one of its choices or ends, or its
// default.
Settings settings_from(const Compressor& compressor, std::uint32_t dice) {
  std::map<std::string, std::string> given;
  for (const OwnOption& parameter : compressor.options) {
    dice = dice * 1664525u + 1013904223u;
    if (!parameter.choices.empty())
      given[parameter.name] = parameter.choices[(dice >> 16) % parameter.choices.size()];
  }
  if (dice >> 28 < 4)
    given["density"] = "0.5";
  if (dice >> 28 > 12)
    given["density"] = "0.1";
  return Settings(compressor.options, given);
}

void fuzz_encode(const Compressor& compressor, const Settings& settings, const Gradient& gradient) {
  State plain, fast;
  for (std::uint32_t step = 0; step < 2; ++step) {
    Message expected, got;
    compressor.reference.encode(settings, gradient, {1, step, 0}, plain, expected);
    compressor.cpu.encode(settings, gradient, {1, step, 0}, fast, got);
    require(expected == got, compressor.name + " differs from its reference");
    require(survives(compressor, compressor.cpu, settings, got, gradient.precision(),
                     gradient.elements()),
            compressor.name + " refuses its own message");
    // A message that is one byte shorter must be refused; one that is longer is refused or read as
    // another message.
    if (!got.empty())
      survives(compressor, compressor.cpu, settings, std::span(got).first(got.size() - 1),
               gradient.precision(), gradient.elements());
    got.push_back(std::byte{1});
    survives(compressor, compressor.cpu, settings, got, gradient.precision(), gradient.elements());
  }
}

}  // namespace

void fuzz_once(std::span<const std::uint8_t> input) {
  if (input.size() < 8)
    return;
  std::uint32_t dice = 0;
  std::memcpy(&dice, input.data() + 2, 4);
  const auto& all = Registered<Compressor>::all();
  const auto& [name, compressor] =
      *std::next(all.begin(), static_cast<std::ptrdiff_t>(input[0] % all.size()));
  const Settings settings = settings_from(compressor, dice);
  const Precision precision = input[1] % 2 == 0 ? Precision::fp32 : Precision::fp16;
  const std::span<const std::uint8_t> payload = input.subspan(8);
  const std::size_t elements = (input[6] + 256u * input[7]) % 3000;
  const std::span<const std::byte> message = std::as_bytes(payload);
  const bool plain =
      survives(compressor, compressor.reference, settings, message, precision, elements);
  const bool fast = survives(compressor, compressor.cpu, settings, message, precision, elements);
  require(plain == fast, compressor.name + "'s decoders disagree on what is corrupt");

  std::vector<float> floats(payload.size() / 4);
  std::vector<Half> halves(payload.size() / 2);
  if (!floats.empty())
    std::memcpy(floats.data(), payload.data(), 4 * floats.size());
  if (!halves.empty())
    std::memcpy(halves.data(), payload.data(), 2 * halves.size());
  if (precision == Precision::fp32)
    fuzz_encode(compressor, settings, std::span<const float>(floats));
  else
    fuzz_encode(compressor, settings, std::span<const Half>(halves));
}

}  // namespace syncline
