// TernGrad (Wen, Xu, Yan, Wu, Wang, Chen, Li, NeurIPS 2017): every element becomes -s, 0 or +s at
// random, so that its expectation is the element; s is the largest magnitude of the tensor. With
// clip > 0 magnitudes are first limited to clip standard deviations, as in the paper with 2.5: this
// reduces the scale and the variance, but biases clipped elements. Off by default.
//
// Message: s (fp32), then two bits per element: whether it is sent, and whether it is negative.
#include "kernels/compressors/terngrad.h"

#include "kernels/arithmetic/packing.h"
#include "kernels/arithmetic/values.h"
#include "kernels/cpu/feedback.h"
#include "kernels/gpu/selection_traffic.h"
#include "kernels/philox.h"

namespace syncline {
namespace {

float scale_of(const Moments& moments, double clip) {
  return ternary_scale(moments, clip, std::sqrt(ternary_variance(moments)));
}

void encode_plainly(const Settings& settings, const Gradient& gradient, const Draw& draw,
                    State& state, Message& message) {
  const std::size_t n = gradient.elements();
  State unused;
  State& kept = with_feedback(settings) ? state : unused;
  add_plainly(gradient, with_feedback(settings), kept);
  const float scale = scale_of(moments_of(kept.residual), settings.number("clip"));
  message.assign(4 + packed_bytes(n, 2), std::byte{0});
  put_value(scale, Precision::fp32, message.data());
  for (std::size_t i = 0; i < n; ++i) {
    float& u = kept.residual[i];
    const std::uint8_t code = ternary_code(u, inverse_unit(scale, 1), random16(draw, i));
    put_number(code, i, 2, message.data() + 4);
    u = left_behind(u, from_ternary(code, scale));
  }
}

void encode(const Settings& settings, const Gradient& gradient, const Draw& draw, State& state,
            Message& message) {
  const std::size_t n = gradient.elements();
  const bool feedback = with_feedback(settings);
  if (feedback)
    fit(state.residual, n);
  message.resize(4 + packed_bytes(n, 2));
  const Moments moments = sum_in_parallel(n, [&](std::size_t begin, std::size_t count) {
    float scratch[tile_elements];
    if (feedback)
      add_strip(gradient, true, begin, count, state.residual.data());
    return tile_moments(
        feedback ? state.residual.data() + begin : gradient.tile(begin, count, scratch), count);
  });
  const float scale = scale_of(moments, settings.number("clip"));
  const float inverse = inverse_unit(scale, 1);
  put_value(scale, Precision::fp32, message.data());
  for_each_tile(n, [&](std::size_t, std::size_t begin, std::size_t count) {
    float scratch[tile_elements];
    std::uint32_t random[tile_elements / 2];
    std::uint8_t codes[tile_elements];
    float* rest = feedback ? state.residual.data() + begin : nullptr;
    const float* u = feedback ? rest : gradient.tile(begin, count, scratch);
    random_words_of_tile(draw, begin, count, u, random);
    const std::size_t whole = count - count % lane_width;
    for (std::size_t i = 0; i < whole; i += lane_width)
      narrow(ternary_codes(load(u + i), inverse, sixteen_random16_in(random, i)), codes + i);
    for (std::size_t i = whole; i < count; ++i)
      codes[i] = ternary_code(u[i], inverse, random16_in(random, i));
    for (std::size_t i = 0; feedback && i < count; ++i)
      rest[i] = left_behind(rest[i], from_ternary(codes[i], scale));
    pack(codes, count, 2, message.data() + 4 + begin / 4);
  });
}

float checked_scale(std::span<const std::byte> message, std::size_t elements) {
  expect_bytes("terngrad", message.size(), 4 + packed_bytes(elements, 2));
  const float scale = get_float(message.data());
  unsigned wrong = 0;  // negative, but not sent
  for (const std::byte byte : message.subspan(4)) {
    const unsigned bits = std::to_integer<unsigned>(byte);
    wrong |= bits >> 1 & ~bits & 0x55u;
  }
  if (elements % 4 != 0)
    wrong |= std::to_integer<unsigned>(message.back()) >> 2 * (elements % 4);
  if (scale < 0 || wrong != 0)
    throw CorruptMessage("corrupt terngrad message: allowed are a scale from 0 and codes 0, 1, 3");
  return scale;
}

void decode_plainly(const Settings&, std::span<const std::byte> message, Precision, const Draw&,
                    std::span<float> sum) {
  const float scale = checked_scale(message, sum.size());
  for (std::size_t i = 0; i < sum.size(); ++i)
    sum[i] += from_ternary(get_number(message.data() + 4, i, 2), scale);
}

void decode(const Settings&, const Messages& messages, Precision, const Draw&,
            std::span<float> sum) {
  std::vector<float> scales;
  for (const MessageBytes message : messages)
    scales.push_back(checked_scale(message, sum.size()));
  for_each_tile(sum.size(), [&](std::size_t, std::size_t begin, std::size_t count) {
    std::uint8_t codes[tile_elements];
    for (std::size_t m = 0; m < messages.size(); ++m) {
      unpack(messages[m].data() + 4 + begin / 4, count, 2, codes);
      for (std::size_t i = 0; i < count; ++i)
        sum[begin + i] += from_ternary(codes[i], scales[m]);
    }
  });
}

WireSize bytes(const Settings&, std::size_t elements, Precision) {
  return {static_cast<double>(4 + packed_bytes(elements, 2)), true};
}

// What terngrad.cu enqueues.
StreamOperations encode_traffic(const Settings& settings, std::size_t elements) {
  const bool feedback = with_feedback(settings);
  const Amount tensor = sectors(4 * elements);
  SelectionTraffic moved(elements);
  moved.add_and_sum(feedback, feedback);
  moved.enqueue("scale_kernel", 2 * sector_bytes, sector_bytes);
  moved.enqueue("ternary_kernel", tensor + sector_bytes,
                sectors(4 + packed_bytes(elements, 2)) + (feedback ? tensor : 0.0),
                65 * static_cast<double>(elements));
  return moved.operations;
}

StreamOperations decode_traffic(const Settings&, std::size_t elements, std::size_t messages) {
  return dense_sum(4 + packed_bytes(elements, 2), elements, messages, 17);
}

const Registered<Compressor> entry{{
    .name = "terngrad",
    .sentence = "minus, zero or plus the largest magnitude, at random, unbiased",
    .help = {.more = "Two bits per element are sent, and the expectation is the gradient.",
             .paper = "Wen et al., NeurIPS 2017"},
    .options = {number("clip", "limit of a magnitude in standard deviations; 0: no limit", "0", 0,
                       1000),
                feedback_option("off")},
    .unbiased = true,
    .feedback = with_feedback,
    .wire_bytes = bytes,
    .reference = {encode_plainly, one_by_one<decode_plainly>},
    .cpu = {encode, decode},
    .traffic = {.encode = encode_traffic,
                .decode = decode_traffic,
                .floor = 8.25,
                .published = {30, 8, 2}},
}};

}  // namespace
}  // namespace syncline
