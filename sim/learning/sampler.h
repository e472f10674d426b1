// The samples with which a worker computes an iteration's gradient.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/problem.h"

namespace syncline {

// Without skew, iteration t of all workers is the t-th range of one permutation, and rank r takes
// the r-th share of that range, so n workers see the same samples as one worker with n times the
// batch. With skew each worker has its own samples: the samples of every label are divided by a
// draw from Dirichlet(skew), as in Yurochkin et al., arXiv 1905.12022. A worker without samples
// borrows one of another worker's.
class Sampler {
 public:
  Sampler(const Data& data, int workers, int batch, std::uint64_t seed, std::optional<double> skew);

  std::vector<std::uint32_t> samples(int worker, int iteration) const;
  int workers_without_any() const { return without_any_; }

 private:
  int batch_;
  int without_any_ = 0;  // workers that borrow
  std::uint64_t step_;   // samples per iteration of all workers that share an order
  std::vector<std::vector<std::uint32_t>> orders_;  // of all workers, or of each worker
};

}  // namespace syncline
