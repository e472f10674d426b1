// No compression: the gradient as it is, the reference for every other compressor.
#include "kernels/cpu/dense.h"
#include "kernels/gpu/selection_traffic.h"

namespace syncline {
namespace {

void encode_plainly(const Settings&, const Gradient& gradient, const Draw&, State&,
                    Message& message) {
  const std::byte* const values = static_cast<const std::byte*>(gradient.data());
  message.assign(values, values + gradient.elements() * value_bytes(gradient.precision()));
}

void encode(const Settings&, const Gradient& gradient, const Draw&, State&, Message& message) {
  const std::size_t width = value_bytes(gradient.precision());
  message.resize(gradient.elements() * width);
  for_each_tile(gradient.elements(), [&](std::size_t, std::size_t begin, std::size_t count) {
    std::memcpy(message.data() + width * begin,
                static_cast<const std::byte*>(gradient.data()) + width * begin, width * count);
  });
}

void decode_plainly(const Settings&, std::span<const std::byte> message, Precision precision,
                    const Draw&, std::span<float> sum) {
  const std::size_t width = value_bytes(precision);
  expect_bytes("none", message.size(), width * sum.size());
  for (std::size_t i = 0; i < sum.size(); ++i)
    sum[i] += get_value(message.data() + width * i, precision);
}

void decode(const Settings&, const Messages& messages, Precision precision, const Draw&,
            std::span<float> sum) {
  const std::size_t width = value_bytes(precision);
  for (const MessageBytes message : messages)
    expect_bytes("none", message.size(), width * sum.size());
  for_each_tile(sum.size(), [&](std::size_t, std::size_t begin, std::size_t count) {
    for (const MessageBytes message : messages)
      for (std::size_t i = begin; i < begin + count; ++i)
        sum[i] += get_value(message.data() + width * i, precision);
  });
}

WireSize bytes(const Settings&, std::size_t elements, Precision precision) {
  return {static_cast<double>(elements * value_bytes(precision)), true};
}

StreamOperations encode_traffic(const Settings&, std::size_t elements) {
  return {{"copy", sectors(4 * elements), sectors(4 * elements)}};
}

StreamOperations decode_traffic(const Settings&, std::size_t elements, std::size_t messages) {
  return dense_sum(4 * elements, elements, messages, 5);
}

const Registered<Compressor> entry{{
    .name = "none",
    .sentence = "no compression: every element as it is",
    .help = {.more = "Every other compressor is compared with this one."},
    .reducible = true,
    .unbiased = true,
    .wire_bytes = bytes,
    .reference = {encode_plainly, one_by_one<decode_plainly>},
    .cpu = {encode, decode},
    .add = add_values,
    .traffic =
        {.encode = encode_traffic, .decode = decode_traffic, .floor = 8, .published = {8, 1, 0}},
}};

}  // namespace
}  // namespace syncline
