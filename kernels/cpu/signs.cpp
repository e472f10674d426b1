#include "kernels/cpu/signs.h"

#include <cmath>

#include "kernels/arithmetic/moments.h"
#include "kernels/arithmetic/packing.h"
#include "kernels/arithmetic/values.h"
#include "kernels/cpu/feedback.h"
#include "kernels/gpu/selection_traffic.h"

namespace syncline {
namespace {

std::size_t bytes_of(const SignFormat& format, std::size_t elements) {
  return 4 * (format.scales + sign_words(elements));
}

struct SignLanes {
  float positive[lanes] = {}, negative[lanes] = {};
  std::uint32_t positives[lanes] = {};

  void add(float u, std::size_t lane) {
    positive[lane] += u >= 0 ? u : 0.0f;
    negative[lane] += u >= 0 ? 0.0f : u;
    positives[lane] += u >= 0 ? 1u : 0u;
  }
};

SignSums total_of(const SignLanes& partial, std::size_t count) {
  SignSums sums;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    sums.positive += partial.positive[lane];
    sums.negative += partial.negative[lane];
    sums.positives += partial.positives[lane];
  }
  sums.negatives = static_cast<double>(count) - sums.positives;
  return sums;
}

SignSums tile_sums_plainly(const float* u, std::size_t count) {
  SignLanes partial;
  for (std::size_t i = 0; i < count; ++i)
    partial.add(u[i], i % lanes);
  return total_of(partial, count);
}

// Partial sums of one tile.
struct SignVectors {
  Floats positive[2] = {}, negative[2] = {};
  Masks positives[2] = {};
};

// Processes 32 elements: u = g + r with r = c - (what was sent of c), where `u` holds c at first.
// Adds them to the sums; returns their signs.
std::uint32_t add_word(const float* g, bool feedback, SignScales sent, float* u,
                       SignVectors& sums) {
  const Floats zero = {}, if_positive = zero + sent.positive, if_negative = zero + sent.negative;
  std::uint32_t word = 0;
  for (std::size_t half = 0; half < 2; ++half) {
    const std::size_t at = half * lane_width;
    const Floats c = load(u + at);
    const Floats rest = c - (c >= zero ? if_positive : if_negative);
    const Floats sum = feedback ? load(g + at) + rest : load(g + at);
    store(sum, u + at);
    const Masks set = sum >= zero;
    sums.positive[half] += set ? sum : zero;
    sums.negative[half] += set ? zero : sum;
    sums.positives[half] -= set;
    word |= bits_of(set) << at;
  }
  return word;
}

// Returns the sums of one tile and writes its signs.
SignSums add_and_pack(const float* g, bool feedback, SignScales sent, std::size_t count, float* u,
                      std::byte* out) {
  SignVectors sums;
  const std::size_t whole = count - count % lanes;
  for (std::size_t i = 0; i < whole; i += lanes) {
    const std::uint32_t word = add_word(g + i, feedback, sent, u + i, sums);
    std::memcpy(out + i / 8, &word, 4);
  }
  SignLanes partial;
  std::memcpy(partial.positive, sums.positive, sizeof partial.positive);
  std::memcpy(partial.negative, sums.negative, sizeof partial.negative);
  std::memcpy(partial.positives, sums.positives, sizeof partial.positives);
  std::uint32_t word = 0;
  for (std::size_t i = whole; i < count; ++i) {
    u[i] = feedback ? g[i] + (u[i] - sent.of(u[i])) : g[i];
    partial.add(u[i], i - whole);
    word |= (u[i] >= 0 ? 1u : 0u) << (i - whole);
  }
  if (whole < count)
    std::memcpy(out + whole / 8, &word, 4);
  return total_of(partial, count);
}

// Writes the scales, and remembers them as sent.
void finish(const SignFormat& format, const SignSums& sums, bool feedback, State& state,
            Message& message) {
  const SignScales scales = format.scales_of(sums);
  state.sent = scales;
  // A non-finite scale would stay in the residual for ever; the message has told the receivers.
  if (!std::isfinite(scales.positive) || !std::isfinite(scales.negative) || !feedback) {
    state.sent = {};
    if (feedback)
      std::fill(state.residual.begin(), state.residual.end(), 0.0f);
  }
  put_value(scales.positive, Precision::fp32, message.data());
  if (format.scales == 2)
    put_value(scales.negative, Precision::fp32, message.data() + 4);
}

SignScales checked_scales(const SignFormat& format, std::span<const std::byte> message,
                          std::size_t elements) {
  expect_bytes(format.name, message.size(), bytes_of(format, elements));
  SignScales scales{get_float(message.data())};
  scales.negative = format.scales == 2 ? get_float(message.data() + 4) : -scales.positive;
  const std::uint32_t spare = elements % 32 == 0 ? 0 : ~std::uint32_t{0} << elements % 32;
  std::uint32_t last = 0;
  if (elements > 0)
    std::memcpy(&last, message.data() + message.size() - 4, 4);
  if (scales.positive < 0 || scales.negative > 0 || (last & spare) != 0)
    throw CorruptMessage("corrupt " + format.name +
                         " message: allowed are scales of the right sign and zeros after the end");
  return scales;
}

void encode_plainly(const SignFormat& format, const Gradient& gradient, bool feedback, State& state,
                    Message& message) {
  const std::size_t n = gradient.elements();
  fit(state.residual, n);
  state.residual = residual(state);
  add_plainly(gradient, feedback, state);
  message.assign(bytes_of(format, n), std::byte{0});
  for (std::size_t i = 0; i < n; ++i)
    put_number(state.residual[i] >= 0, i, 1, message.data() + 4 * format.scales);
  const SignSums sums = sum_plainly(n, [&](std::size_t begin, std::size_t count) {
    return tile_sums_plainly(state.residual.data() + begin, count);
  });
  finish(format, sums, feedback, state, message);
}

void encode(const SignFormat& format, const Gradient& gradient, bool feedback, State& state,
            Message& message) {
  const std::size_t n = gradient.elements();
  fit(state.residual, n);
  message.resize(bytes_of(format, n));
  std::byte* words = message.data() + 4 * format.scales;
  std::vector<SignSums> tiles(tiles_of(n));
  for_each_strip(n, [&](std::size_t begin, std::size_t count) {
    for_tiles_in(begin, count, [&](std::size_t t, std::size_t first, std::size_t elements) {
      float scratch[tile_elements];
      tiles[t] = add_and_pack(gradient.tile(first, elements, scratch), feedback, state.sent,
                              elements, state.residual.data() + first, words + first / 8);
    });
  });
  finish(format, in_order(tiles), feedback, state, message);
}

void decode_plainly(const SignFormat& format, const Messages& messages, std::span<float> sum) {
  for (const MessageBytes message : messages) {
    const SignScales scales = checked_scales(format, message, sum.size());
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const bool set = get_number(message.data() + 4 * format.scales, i, 1) != 0;
      sum[i] += set ? scales.positive : scales.negative;
    }
  }
}

void decode(const SignFormat& format, const Messages& messages, std::span<float> sum) {
  std::vector<SignScales> scales;
  for (const MessageBytes message : messages)
    scales.push_back(checked_scales(format, message, sum.size()));
  for_each_tile(sum.size(), [&](std::size_t, std::size_t begin, std::size_t count) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
      const std::byte* const words = messages[m].data() + 4 * format.scales;
      const float if_set = scales[m].positive, if_not = scales[m].negative;
      for (std::size_t i = begin; i < begin + count; i += 32) {
        std::uint32_t word = 0;
        std::memcpy(&word, words + i / 8, 4);
        const std::size_t end = std::min<std::size_t>(32, begin + count - i);
        for (std::size_t j = 0; j < end; ++j)
          sum[i + j] += (word >> j & 1u) != 0 ? if_set : if_not;
      }
    }
  });
}

// What signs.cu enqueues.
StreamOperations encode_traffic(const SignFormat& format, bool feedback, std::size_t elements) {
  const Amount tensor = sectors(4 * elements), scales = 4 * format.scales,
               sums = sums_of_groups(tiles_of(elements), sizeof(SignSums));
  return {{"sign_kernel", (feedback ? 2 : 1) * tensor + sector_bytes,
           tensor + sectors(scales + 4 * sign_words(elements)) +
               sectors(sizeof(SignSums) * tiles_of(elements)),
           0, 4},
          groups_added(tiles_of(elements), sizeof(SignSums)),
          {"scale_kernel", sums, 2 * sector_bytes}};
}

template <auto encode, auto decode>
Codec codec(const SignFormat& format) {
  return {
      [=](const Settings& settings, const Gradient& gradient, const Draw&, State& state,
          Message& message) { encode(format, gradient, with_feedback(settings), state, message); },
      [=](const Settings&, const Messages& messages, Precision, const Draw&, std::span<float> sum) {
        decode(format, messages, sum);
      }};
}

}  // namespace

Compressor sign_method(const SignFormat& format, const std::string& sentence, const Help& help,
                       const MemoryTraffic::Chain& published) {
  return {.name = format.name,
          .sentence = sentence,
          .help = help,
          .options = {feedback_option("on")},
          .feedback = with_feedback,
          .wire_bytes = [=](const Settings&, std::size_t elements, Precision) -> WireSize {
            return {static_cast<double>(bytes_of(format, elements)), true};
          },
          .reference = codec<encode_plainly, decode_plainly>(format),
          .cpu = codec<encode, decode>(format),
          .traffic = {.encode =
                          [=](const Settings& settings, std::size_t elements) {
                            return encode_traffic(format, with_feedback(settings), elements);
                          },
                      .decode =
                          [=](const Settings&, std::size_t elements, std::size_t messages) {
                            return dense_sum(bytes_of(format, elements), elements, messages, 17);
                          },
                      .floor = 12.13,
                      .published = published}};
}

}  // namespace syncline
