#include "sim/learning/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/elementary.h"
#include "kernels/philox.h"

namespace syncline {
namespace {

// A stream of random numbers for one purpose.
class Stream32 {
 public:
  Stream32(std::uint64_t seed, std::uint32_t purpose)
      : draw_{.seed = seed, .step = purpose, .tensor = 0x73616d70} {}

  double uniform() { return (random_words(draw_, next_++)[0] + 0.5) * 0x1p-32; }
  // A number below `end`, which must be far below 2^32.
  std::size_t below(std::size_t end) {
    return static_cast<std::size_t>(uniform() * static_cast<double>(end));
  }
  // Marsaglia's polar method.
  double normal() {
    for (;;) {
      const double x = 2 * uniform() - 1;
      const double y = 2 * uniform() - 1;
      const double square = x * x + y * y;
      if (square > 0 && square < 1)
        return x * std::sqrt(-2 * steady_log(square) / square);
    }
  }
  // The logarithm of a gamma variate (Marsaglia and Tsang 2000), because small shapes would
  // underflow.
  double log_gamma_variate(double shape) {
    const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
    const double c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double z = normal();
      const double v = 1 + c * z;
      const double u = uniform();
      if (v > 0 && steady_log(u) < z * z / 2 + d - d * v * v * v + 3 * d * steady_log(v))
        return steady_log(d) + 3 * steady_log(v) + (shape < 1 ? steady_log(uniform()) / shape : 0);
    }
  }

 private:
  Draw draw_;
  std::uint64_t next_ = 0;
};

void shuffle(std::vector<std::uint32_t>& order, Stream32 random) {
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
}

std::vector<double> dirichlet(double concentration, int parts, Stream32& random) {
  std::vector<double> shares;
  for (int i = 0; i < parts; ++i)
    shares.push_back(random.log_gamma_variate(concentration));
  const double most = *std::ranges::max_element(shares);
  for (double& share : shares)
    share = steady_exp(share - most);
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares)
    share /= sum;
  return shares;
}

}  // namespace

Sampler::Sampler(const Data& data, int workers, int batch, std::uint64_t seed,
                 std::optional<double> skew)
    : batch_(batch) {
  std::vector<std::uint32_t> all(data.train.count);
  std::iota(all.begin(), all.end(), 0u);
  shuffle(all, Stream32(seed, 0));
  if (!skew) {
    step_ = static_cast<std::uint64_t>(workers) * static_cast<std::uint64_t>(batch);
    orders_.push_back(std::move(all));
    return;
  }
  step_ = static_cast<std::uint64_t>(batch);
  orders_.resize(static_cast<std::size_t>(workers));
  for (int label = 0; label < data.classes; ++label) {
    Stream32 random(seed, 1 + static_cast<std::uint32_t>(label));
    std::vector<std::uint32_t> of_label;
    std::ranges::copy_if(all, std::back_inserter(of_label),
                         [&](std::uint32_t sample) { return data.train.labels[sample] == label; });
    double before = 0;
    std::size_t begin = 0;
    const std::vector<double> shares = dirichlet(*skew, workers, random);
    for (std::size_t worker = 0; worker < orders_.size(); ++worker) {
      before += shares[worker];
      const std::size_t end =
          worker + 1 == orders_.size()
              ? of_label.size()
              : std::min(of_label.size(), static_cast<std::size_t>(std::lround(
                                              before * static_cast<double>(of_label.size()))));
      for (; begin < end; ++begin)
        orders_[worker].push_back(of_label[begin]);
    }
  }
  for (std::size_t worker = 0; worker < orders_.size(); ++worker) {
    if (orders_[worker].empty()) {
      orders_[worker].push_back(all[worker % all.size()]);
      ++without_any_;
    }
    shuffle(orders_[worker], Stream32(seed, 0x10000 + static_cast<std::uint32_t>(worker)));
  }
}

std::vector<std::uint32_t> Sampler::samples(int worker, int iteration) const {
  const bool shared = orders_.size() == 1;
  const auto& order = orders_[shared ? 0 : static_cast<std::size_t>(worker)];
  const std::uint64_t first =
      static_cast<std::uint64_t>(iteration) * step_ +
      (shared ? static_cast<std::uint64_t>(worker) * static_cast<std::uint64_t>(batch_) : 0);
  std::vector<std::uint32_t> samples(static_cast<std::size_t>(batch_));
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = order[(first + i) % order.size()];
  return samples;
}

}  // namespace syncline
