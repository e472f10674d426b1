// Which samples a worker computes an iteration's gradient on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/problem.h"

namespace syncline {

// Without skew, iteration t of all workers is the t-th slice of one permutation, and rank r's part
// of it the r-th: so n workers see what one with n times the batch sees. With it each worker has
// samples of its own, for which every label is shared out by a draw from Dirichlet(skew), as in Hsu
// et al., arXiv 1909.06335; a worker that would have none gets one.
class Sampler {
 public:
  Sampler(const Data& data, int workers, int batch, std::uint64_t seed, std::optional<double> skew);

  std::vector<std::uint32_t> samples(int worker, int iteration) const;

 private:
  int batch_;
  std::uint64_t step_;                              // samples of an iteration, of all who share
  std::vector<std::vector<std::uint32_t>> orders_;  // of all workers, or of each
};

}  // namespace syncline
