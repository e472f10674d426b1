// Top-k sparsification, exact: the k = max(floor(density * n), 1) elements of largest magnitude,
// with error feedback (Shi, Chu, Cheung, See, arXiv 1911.08772). Of equal magnitudes the smallest
// indices.
//
// The fast version reads the tensor once: a sample brackets the k-th magnitude from below, one pass
// adds the residual and collects what reaches the bracket (about 1.2 k elements), and a radix
// select on those finds the exact k. When the sample misled, a histogram bounds the threshold for
// certain.
#include "kernels/cpu/select.h"

namespace syncline {
namespace {

void encode_plainly(const Settings& settings, const Gradient& gradient, const Draw&, State& state,
                    Message& message) {
  add_plainly(gradient, with_feedback(settings), state);
  const std::size_t k = wanted(density_of(settings), gradient.elements());
  write_sparse_plainly(largest_plainly(state.residual, k), gradient.precision(), state.residual,
                       message);
}

void encode(const Settings& settings, const Gradient& gradient, const Draw& draw, State& state,
            Message& message) {
  const std::size_t k = wanted(density_of(settings), gradient.elements());
  const Picks picks = add_and_pick_largest(gradient, with_feedback(settings), k, draw, state);
  write_sparse(picks, gradient.precision(), state.residual, message);
}

const Registered<Compressor> entry{{
    .name = "topk",
    .sentence = "the elements of largest magnitude, exactly, with error feedback",
    .help = {.more = "Finding exactly the largest takes time on a GPU that can be more than "
                     "sending everything would take.",
             .paper = "Shi et al., arXiv 1911.08772; Aji and Heafield, EMNLP 2017"},
    .options = {density_option(), feedback_option("on")},
    .sparse = true,
    .feedback = with_feedback,
    .wire_bytes = bytes_at_density,
    .promise = promise_at_density,
    .reference = {encode_plainly, decode_sparse},
    .cpu = {encode, decode_sparse},
    .traffic = {.encode = {12.5, 6}, .published = {49, 8, 0}, .sum_bytes_per_selected = 64},
}};

}  // namespace
}  // namespace syncline
