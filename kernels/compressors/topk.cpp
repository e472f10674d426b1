// Exact top-k sparsification: the k = max(floor(density * n), 1) elements of largest magnitude,
// with error feedback (Shi, Chu, Cheung, See, arXiv 1911.08772). Ties go to the smallest indices.
//
// The fast version reads the tensor once: a sample bounds the k-th magnitude from below, one pass
// adds the residual and collects what reaches the bound (about 1.2 k elements), and a radix select
// on those finds the exact k. If the sample misled, a histogram gives a bound that is certain.
#include "kernels/cpu/select.h"

namespace syncline {
namespace {

std::vector<std::uint32_t> choose(const Settings& settings, const Draw&, State& state) {
  const Values& u = state.residual;
  return largest_plainly(u, wanted(density_of(settings), u.size()));
}

Picks pick(const Settings& settings, const Gradient& gradient, const Draw& draw, State& state) {
  const std::size_t k = wanted(density_of(settings), gradient.elements());
  return add_and_pick_largest(gradient, with_feedback(settings), k, draw, state);
}

// What topk.cu enqueues.
StreamOperations encode_traffic(const Settings& settings, std::size_t elements) {
  const std::size_t k = wanted(density_of(settings), elements);
  const bool feedback = with_feedback(settings);
  SelectionTraffic moved(elements);
  if (k == 0) {
    moved.set_low_key();
    moved.add_and_collect(feedback, 0);
    moved.write_list();
    return moved.operations;
  }
  const Amount found = moved.sample_low_key(feedback, k);
  moved.add_and_collect(feedback, found);
  moved.ensure_collected();
  moved.write_largest(k);
  return moved.operations;
}

const Registered<Compressor> entry{sparsifier<choose, pick, pairs_at_density>({
    .name = "topk",
    .sentence = "the elements of largest magnitude, exactly, with error feedback",
    .help = {.more = "Finding exactly the largest can take longer on a GPU than sending "
                     "everything.",
             .paper = "Shi et al., arXiv 1911.08772; Aji and Heafield, EMNLP 2017"},
    .options = {density_option(), feedback_option("on")},
    .wire_bytes = bytes_at_density,
    .promise = promise_at_density,
    .traffic = {.encode = encode_traffic,
                .floor = 12.5,
                // 49 by its operations; torch.topk with error feedback took as long as 85 for 2^26
                // values on an H100 (kernels/profiles/h100.csv)
                .published = {85, 8, 0}},
})};

}  // namespace
}  // namespace syncline
