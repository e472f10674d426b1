// Asynchronous decentralized parallel SGD (AD-PSGD; Lian et al., ICML 2018, arXiv 1710.06952): each
// worker has parameters of its own, and nobody waits for the slowest. A worker computes a gradient,
// averages its parameters with those of one neighbour, drawn at random, and applies the gradient to
// the mean. Both take the same mean, as if at one moment. So that no two workers wait for each
// other, only active workers ask, and only passive ones answer, while they compute: on the ring of
// the paper, workers with even and with odd numbers. The copies of an active worker travel while it
// computes; it changes its parameters only after the answer.
#include <set>
#include <string>
#include <vector>

#include "sim/schedule.h"
#include "sim/worker.h"

namespace syncline {
namespace {

// Both neighbours on the ring. An active worker sends each of them a part of its copies, and gets
// as many answers.
std::vector<Neighbour> neighbours(const Settings&, int worker, int workers) {
  std::set<int> both{(worker + 1) % workers, (worker + workers - 1) % workers};
  both.erase(worker);
  std::vector<Neighbour> all;
  for (const int other : both)
    all.push_back({other, 1.0 / static_cast<double>(both.size())});
  return all;
}

std::string refusal(const Settings&, int workers) {
  if (workers == 1 || workers % 2 == 0)
    return "";
  return "workers = " + std::to_string(workers) +
         ": in schedule ad-psgd every other worker of a "
         "ring asks and the others answer; allowed are even numbers, and 1";
}

void worker(Worker& worker) {
  const auto others = neighbours(worker.settings(), worker.rank(), worker.workers());
  const bool asks = worker.rank() % 2 == 0 && !others.empty();
  while (worker.next_iteration()) {
    const int other =
        asks ? others[index(worker.drawn(static_cast<int>(others.size())))].worker : -1;
    if (asks)
      worker.send_parameters(other);
    compute_gradient(worker);
    if (asks)
      worker.receive_parameters(other);
    worker.mix(0.5);
    worker.step_alone();
  }
}

void answer(Worker& worker) {
  while (worker.rank() % 2 == 1) {
    const auto asking = worker.receive_from_any();
    if (!asking)
      return;
    worker.send_parameters(*asking);
    worker.mix(0.5);
  }
}

const Registered<Schedule> entry{{
    .name = "ad-psgd",
    .sentence = "asynchronous: a worker averages its parameters with one random neighbour's",
    .help = {.more = "No worker waits for the slowest one. Half of the workers ask, the others "
                     "answer, so the number of workers must be even. Loss and accuracy are those "
                     "of the mean of all workers' parameters.",
             .paper = "Lian et al., ICML 2018, arXiv 1710.06952"},
    .refusal = refusal,
    .most_lead = unbounded,
    .neighbours = neighbours,
    .draws_neighbours = true,
    .worker = worker,
    .answer = answer,
}};

}  // namespace
}  // namespace syncline
