// Random-k: k elements chosen at random without replacement, with error feedback. The choice
// follows from (seed, step, tensor) alone, so workers that share those choose the same elements:
// only values travel, no indices, and an all-reduce can sum them. Every element is sent with
// probability k/n, so the expectation of ||u - C(u)||^2 is (1 - k/n) ||u||^2. Values are sent
// unscaled, as error feedback requires.
#include "kernels/arithmetic/keys.h"
#include "kernels/arithmetic/permutation.h"
#include "kernels/cpu/dense.h"
#include "kernels/cpu/feedback.h"
#include "kernels/cpu/sparse.h"
#include "kernels/gpu/selection_traffic.h"

namespace syncline {
namespace {

void encode_plainly(const Settings& settings, const Gradient& gradient, const Draw& draw,
                    State& state, Message& message) {
  add_plainly(gradient, with_feedback(settings), state);
  const std::size_t n = gradient.elements(), width = value_bytes(gradient.precision());
  message.resize(wanted(density_of(settings), n) * width);
  for (std::size_t i = 0; i * width < message.size(); ++i) {
    float& u = state.residual[permuted(permutation(draw, n), i)];
    put_value(u, gradient.precision(), message.data() + width * i);
    u = sent_off(u, gradient.precision());
  }
}

void encode(const Settings& settings, const Gradient& gradient, const Draw& draw, State& state,
            Message& message) {
  const std::size_t n = gradient.elements(), width = value_bytes(gradient.precision());
  const std::size_t k = wanted(density_of(settings), n);
  const bool feedback = with_feedback(settings);
  const Precision precision = gradient.precision();
  const Permutation order = permutation(draw, n);
  message.resize(k * width);
  add_then(gradient, feedback, state, [](std::size_t, std::size_t, std::size_t) {});
  float* u = state.residual.data();
  for_each_tile(k, [&](std::size_t, std::size_t begin, std::size_t count) {
    for (std::size_t i = begin; i < begin + count; ++i) {
      const std::uint64_t element = permuted(order, i);
      put_value(u[element], precision, message.data() + width * i);
      u[element] = sent_off(u[element], precision);
    }
  });
}

void decode(const Settings& settings, std::span<const std::byte> message, Precision precision,
            const Draw& draw, std::span<float> sum) {
  const std::size_t width = value_bytes(precision);
  const std::size_t k = wanted(density_of(settings), sum.size());
  expect_bytes("randomk", message.size(), k * width);
  const Permutation order = permutation(draw, sum.size());
  for_each_tile(k, [&](std::size_t, std::size_t begin, std::size_t count) {
    for (std::size_t i = begin; i < begin + count; ++i)
      sum[permuted(order, i)] += get_value(message.data() + width * i, precision);
  });
}

WireSize bytes(const Settings& settings, std::size_t elements, Precision precision) {
  const std::size_t k = wanted(density_of(settings), elements);
  return {static_cast<double>(k * value_bytes(precision)), true};
}

// The choice ignores the values, so only the mean is known, also for a bell shape.
Promise promise(const Settings& settings, std::size_t elements, std::size_t sent) {
  Promise promise = promise_at_density(settings, elements, sent);
  promise.left_out_of_a_bell.reset();
  return promise;
}

// Sectors of the places, each fetched alone: they are not in order.
Amount drawn_sectors(std::size_t k, std::size_t elements) {
  const Amount drawn = scattered(k, static_cast<double>(elements));
  return {drawn.mean, drawn.spread, drawn.mean};
}

// What randomk.cu enqueues.
StreamOperations encode_traffic(const Settings& settings, std::size_t elements) {
  const std::size_t k = wanted(density_of(settings), elements);
  const Amount tensor = sectors(4 * elements), drawn = drawn_sectors(k, elements);
  StreamOperations operations{{"add_kernel", (with_feedback(settings) ? 2 : 1) * tensor, tensor}};
  if (k > 0)
    operations.push_back({"gather_kernel", drawn, drawn + sectors(4 * k)});
  return operations;
}

StreamOperations decode_traffic(const Settings& settings, std::size_t elements,
                                std::size_t messages) {
  const std::size_t k = wanted(density_of(settings), elements);
  StreamOperations sum = sparse_sum(k, elements, 0, 1);  // all messages have the same places
  if (sum.empty())
    return sum;
  sum.front().read = drawn_sectors(k, elements) + static_cast<double>(messages) * sectors(4 * k);
  sum.front().written = drawn_sectors(k, elements);
  sum.front().waits = static_cast<double>(messages - 1) / 4;  // four messages are loaded at once
  return sum;
}

const Registered<Compressor> entry{{
    .name = "randomk",
    .sentence = "elements chosen at random, the same on every worker, with error feedback",
    .help = {.more =
                 "No indices travel and messages can be added, so any all-reduce carries them, "
                 "but large values are sent no more often than small ones. With error feedback it "
                 "diverges at learning rates above about density / curvature.",
             .paper = "Stich, Cordonnier and Jaggi, NeurIPS 2018; Vogels et al., NeurIPS 2019"},
    .options = {density_option(), feedback_option("on")},
    .reducible = true,
    .shared_draw = true,
    .feedback = with_feedback,
    .wire_bytes = bytes,
    .promise = promise,
    .reference = {encode_plainly, one_by_one<decode>},
    .cpu = {encode, one_by_one<decode>},
    .add = add_values,
    .traffic = {.encode = encode_traffic,
                .decode = decode_traffic,
                .floor = 12.65,
                .published = {60, 12, 0}},
}};

}  // namespace
}  // namespace syncline
