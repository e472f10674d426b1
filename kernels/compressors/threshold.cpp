// Sends every element whose magnitude reaches a fixed cutoff, with error feedback ("threshold-v":
// Dutta et al., AAAI 2020; Strom 2015 before it). The cheapest sparsifier, with one pass, but the
// number of elements sent depends on the gradients without a bound, so the wire size is known only
// after encoding.
#include <cmath>

#include "kernels/cpu/sparse.h"

namespace syncline {
namespace {

std::vector<std::uint32_t> choose(const Settings& settings, const Draw&, State& state) {
  return indices_where(state.residual.size(), [&](std::size_t i) {
    const double magnitude = std::fabs(state.residual[i]);
    return magnitude >= settings.number("cutoff") || std::isnan(magnitude);
  });
}

Picks pick(const Settings& settings, const Gradient& gradient, const Draw&, State& state) {
  const std::uint32_t key = key_from(settings.number("cutoff"));
  return add_and_collect(gradient, with_feedback(settings), key, state);
}

// A guess: the wire size depends on the gradients alone; this assumes a normal distribution of the
// given deviation.
WireSize typical_bytes(const Settings& settings, std::size_t elements, Precision precision) {
  const double share =
      std::erfc(settings.number("cutoff") / settings.number("deviation") / std::sqrt(2.0));
  return {share * static_cast<double>(elements) * sparse_bytes(1, precision), false};
}

Amount reaching_cutoff(const Settings& settings, std::size_t elements) {
  return reaching(settings.number("cutoff") / settings.number("deviation"), elements);
}

// What threshold.cu enqueues.
StreamOperations encode_traffic(const Settings& settings, std::size_t elements) {
  SelectionTraffic moved(elements);
  moved.set_low_key();
  moved.add_and_collect(with_feedback(settings), reaching_cutoff(settings, elements));
  moved.write_list();
  return moved.operations;
}

const Registered<Compressor> entry{sparsifier<choose, pick, reaching_cutoff>({
    .name = "threshold",
    .sentence = "the elements whose magnitude reaches a fixed cutoff, with error feedback",
    .help = {.more = "The cheapest selection, with one pass, but the gradients decide how much is "
                     "sent.",
             .paper = "Strom, Interspeech 2015; Dutta et al., AAAI 2020"},
    .options = {number("cutoff", "smallest magnitude that is sent, in units of the gradient", "3",
                       0),
                unpriced(number("deviation",
                                "standard deviation of the gradient that size predictions assume",
                                "1", 1e-30)),
                feedback_option("on")},
    .wire_bytes = typical_bytes,
    .promise = promise_of_sent,
    .traffic = {.encode = encode_traffic, .floor = 12.1, .published = {45, 7, 1}},
})};

}  // namespace
}  // namespace syncline
