// TopK-SGD (Shi, Chu, Cheung, See, arXiv 1911.08772, as its authors run it; Alistarh et al.,
// NeurIPS 2018): every worker sends only the largest values of the sum of its gradient and its
// residual (the values left out before); all workers gather and add all messages. All tensors are
// one fused buffer, so compression begins after backward and overlaps with nothing; with
// `bucket-bytes` tensors go layer by layer instead (LAGS-SGD, OMGS-SGD). The compressor chooses
// which values are the largest.
#include <cmath>

#include "sim/schedule.h"
#include "sim/worker.h"

namespace syncline {
namespace {

void worker(Worker& worker) {
  while (worker.next_iteration()) {
    worker.forward();
    for (const Bucket& bucket : worker.buckets()) {
      worker.backward(bucket);
      worker.start_average(bucket);
    }
    worker.finish_averages();
    worker.step();
  }
}

WarmUp warm_up(const Settings& settings) {
  const double iterations = settings.number("epoch-iterations");
  return {.option = "warm-up-densities",
          .compressor = settings.word("warm-up-densities"),
          .epoch_iterations = std::isfinite(iterations)
                                  ? std::optional(static_cast<int>(iterations))
                                  : std::nullopt};
}

const Registered<Schedule> entry{{
    .name = "topk-sgd",
    .sentence = "every worker gathers the largest values of every worker's gradient",
    .help = {.more = "Values that are not sent are added to the next gradient, so little is lost, "
                     "but compression begins only when backward has ended.",
             .paper = "Shi et al., arXiv 1911.08772; Alistarh et al., NeurIPS 2018"},
    .options = {choice("warm-up-densities",
                       "densities of the first epochs, if above density: 0.015625, 0.004 "
                       "(gaussiank), or from 0.25 by quarters (dgc)",
                       "none", {"none", "gaussiank", "dgc"}),
                or_word(whole_number("epoch-iterations",
                                     "iterations of one epoch, for warm-up-densities; auto: from "
                                     "the learned data, or 1 without learn",
                                     "auto", 1, 1e9),
                        "auto")},
    .sparsifiers_only = true,
    .exchange = "allgather",
    .defaults = {{"compressor", "topk"}, {"bucket-bytes", "all"}},
    .warm_up = warm_up,
    .worker = worker,
}};

}  // namespace
}  // namespace syncline
