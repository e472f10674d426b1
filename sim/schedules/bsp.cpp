// Bulk synchronous parallel: in every iteration all workers average their gradients and take the
// same step (Valiant 1990; synchronous SGD as in Goyal et al. 2017). Buckets are averaged during
// backward (wait-free backpropagation, Zhang et al. 2017; PyTorch DDP) unless `overlap = off`.
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

const Registered<Schedule> entry{{
    .name = "bsp",
    .sentence = "bulk synchronous: all workers average gradients in every iteration",
    .help = {.more = "Every worker waits for the slowest worker and for the whole exchange, but no "
                     "gradient is stale.",
             .paper =
                 "Valiant 1990; Goyal et al. 2017; overlap as in PyTorch DDP (Li et al. 2020)"},
    .worker = worker,
}};

}  // namespace
}  // namespace syncline
