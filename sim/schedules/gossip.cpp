// Decentralized parallel SGD (D-PSGD; Lian et al., NIPS 2017, arXiv 1705.09056): each worker has
// parameters of its own. In every iteration it computes a gradient at them, while copies travel,
// replaces them by their mean with those of its neighbours in a graph, and applies the gradient to
// this mean. Graphs: the paper's ring; the one-peer exponential graph, where in iteration k a
// worker sends only to the one 2^k places further on, with k modulo the logarithm of the number of
// workers; the complete graph. Weights are equal, so every matrix of them is doubly stochastic.
#include <bit>
#include <set>
#include <vector>

#include "sim/schedule.h"
#include "sim/worker.h"

namespace syncline {
namespace {

int round(const Settings& settings, int workers) {
  const auto hops = static_cast<int>(std::bit_width(static_cast<unsigned>(workers - 1)));
  return settings.word("graph") == "exponential" && hops > 0 ? hops : 1;
}

// To which workers a worker sends in an iteration, as places further on.
std::set<int> distances(const Settings& settings, int workers, int iteration) {
  if (workers == 1)
    return {};
  if (settings.word("graph") == "exponential")
    return {1 << iteration % round(settings, workers)};
  std::set<int> all{1, workers - 1};
  for (int i = 2; settings.word("graph") == "complete" && i < workers; ++i)
    all.insert(i);
  return all;
}

std::vector<Neighbour> neighbours(const Settings& settings, int worker, int workers) {
  const int iterations = round(settings, workers);
  std::vector<Neighbour> all;
  for (int i = 0; i < iterations; ++i)
    for (const int distance : distances(settings, workers, i))
      all.push_back({(worker + distance) % workers, 1.0 / iterations});
  return all;
}

void worker(Worker& worker) {
  const int all = worker.workers();
  for (int iteration = 0; worker.next_iteration(); ++iteration) {
    const std::set<int> others = distances(worker.settings(), all, iteration);
    for (const int distance : others)
      worker.send_parameters((worker.rank() + distance) % all);
    compute_gradient(worker);
    for (const int distance : others)
      worker.receive_parameters((worker.rank() + all - distance) % all);
    worker.mix(1.0 / static_cast<double>(others.size() + 1));
    worker.step_alone();
  }
}

const Registered<Schedule> entry{{
    .name = "gossip",
    .sentence = "decentralised: each worker averages its parameters with its neighbours'",
    .help = {.more = "A slow worker delays its neighbours at first, and others later. Loss and "
                     "accuracy are those of the mean of all workers' parameters.",
             .paper = "D-PSGD, Lian et al., NIPS 2017, arXiv 1705.09056; exponential graph: "
                      "Ying et al., NeurIPS 2021, arXiv 2110.13363"},
    .options = {choice("graph",
                       "whose parameters a worker averages with its own: both neighbours' on a "
                       "ring, one's at a distance of 1, 2, 4, ... in turn, or everybody's",
                       "ring", {"ring", "exponential", "complete"})},
    .round = round,
    .settles_slowly = true,
    .neighbours = neighbours,
    .worker = worker,
}};

}  // namespace
}  // namespace syncline
