// Every element whose magnitude reaches a fixed cutoff, with error feedback ("threshold-v": Dutta
// et al., AAAI 2020; Strom 2015 before it). The cheapest sparsifier, one pass, but how much it
// sends is up to the gradients: nothing bounds it, so the wire size is only known once it has run.
#include <cmath>

#include "kernels/cpu/sparse.h"

namespace syncline {
namespace {

void encode_plainly(const Settings& settings, const Gradient& gradient, const Draw&, State& state,
                    Message& message) {
  add_plainly(gradient, with_feedback(settings), state);
  std::vector<std::uint32_t> chosen;
  for (std::size_t i = 0; i < gradient.elements(); ++i) {
    const double magnitude = std::fabs(state.residual[i]);
    if (magnitude >= settings.number("cutoff") || std::isnan(magnitude))
      chosen.push_back(static_cast<std::uint32_t>(i));
  }
  write_sparse_plainly(chosen, gradient.precision(), state.residual, message);
}

void encode(const Settings& settings, const Gradient& gradient, const Draw&, State& state,
            Message& message) {
  const std::size_t n = gradient.elements();
  Picks picks = room_for_picks(n, state.scratch);
  const std::uint32_t key = key_from(settings.number("cutoff"));
  add_then(gradient, with_feedback(settings), state,
           [&](std::size_t t, std::size_t begin, std::size_t count) {
             collect_tile(state.residual.data(), t, begin, count, key, picks);
           });
  write_sparse(picks, gradient.precision(), state.residual, message);
}

// Nothing but the gradients can say; a bell curve of the given width is a way to state a guess.
WireSize typical_bytes(const Settings& settings, std::size_t elements, Precision precision) {
  const double share =
      std::erfc(settings.number("cutoff") / settings.number("deviation") / std::sqrt(2.0));
  return {share * static_cast<double>(elements) * sparse_bytes(1, precision), false};
}

const Registered<Compressor> entry{{
    .name = "threshold",
    .sentence = "the elements whose magnitude reaches a fixed cutoff, with error feedback",
    .help = {.more = "It is the cheapest selection, one pass, but how much it sends is up to the "
                     "gradients.",
             .paper = "Strom, Interspeech 2015; Dutta et al., AAAI 2020"},
    .options = {number("cutoff", "smallest magnitude that is sent, in units of the gradient", "3",
                       0),
                unpriced(number("deviation",
                                "standard deviation of the gradient that size predictions assume",
                                "1", 1e-30)),
                feedback_option("on")},
    .sparse = true,
    .feedback = with_feedback,
    .wire_bytes = typical_bytes,
    .promise = promise_of_sent,
    .reference = {encode_plainly, decode_sparse},
    .cpu = {encode, decode_sparse},
    .traffic = {.encode = {12.1, 1}, .published = {45, 7, 1}, .sum_bytes_per_selected = 64},
}};

}  // namespace
}  // namespace syncline
