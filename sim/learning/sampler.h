// The sampler says on which samples a worker computes an iteration's gradient.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/problem.h"

namespace syncline {

// Without skew, iteration t of all workers is the t-th range of one permutation, and rank r's share
// of it the r-th: so n workers see what one with n times the batch sees. With it each worker has
// samples of its own, for which every label is shared out by a draw from Dirichlet(skew), as in
// Yurochkin et al., arXiv 1905.12022; a worker that would have none borrows one of another's.
class Sampler {
 public:
  Sampler(const Data& data, int workers, int batch, std::uint64_t seed, std::optional<double> skew);

  std::vector<std::uint32_t> samples(int worker, int iteration) const;
  int workers_without_any() const { return without_any_; }

 private:
  int batch_;
  int without_any_ = 0;                             // who borrow
  std::uint64_t step_;                              // samples of an iteration, of all who share
  std::vector<std::vector<std::uint32_t>> orders_;  // of all workers, or of each
};

}  // namespace syncline
