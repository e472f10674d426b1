// SIDCo's fits and decisions (sidco.cpp names the paper), shared by its versions. The host computes
// logarithms of settings once; the rest uses elementary.h, so that every device gets the same
// threshold.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/arithmetic/moments.h"
#include "kernels/compressor.h"
#include "kernels/elementary.h"

namespace syncline {

inline constexpr double first_ratio = 0.25;
inline constexpr int encodings_between = 5;

struct Exceedances {  // sums over the elements that reach a key
  double count = 0, absolute = 0, squares = 0;
  std::uint32_t nearness = 0;  // no_key - the smallest key, so that zero means none
};

constexpr Exceedances operator+(const Exceedances& a, const Exceedances& b) {
  return {a.count + b.count, a.absolute + b.absolute, a.squares + b.squares,
          a.nearness > b.nearness ? a.nearness : b.nearness};
}

enum class Fit { exponential, pareto, gamma };  // gamma: with pareto for later stages

struct Sidco {
  Fit fit = Fit::exponential;
  int first_stages = 1, most_stages = 1;
  bool single = false;  // always use one stage
  double log_density = 0, log_first = 0, log_rest = 0;

  // log of the share of the exceedances that stage `stage` of `stages` keeps.
  constexpr double log_ratio(int stage, int stages) const {
    return stages == 1 ? log_density : stage == 0 ? log_first : log_rest / (stages - 1);
  }
};

inline Sidco sidco_of(const Settings& settings) {
  const double density = density_of(settings);
  Sidco sidco;
  sidco.fit = settings.word("fit") == "gamma"    ? Fit::gamma
              : settings.word("fit") == "pareto" ? Fit::pareto
                                                 : Fit::exponential;
  sidco.first_stages = static_cast<int>(settings.number("stages"));
  sidco.single = density >= first_ratio;
  if (density > 0) {
    sidco.most_stages =
        std::max(1, static_cast<int>(std::ceil(steady_log(density) / steady_log(0.5))));
    sidco.log_density = steady_log(density);
    sidco.log_rest = steady_log(density / first_ratio);
  }
  sidco.log_first = steady_log(first_ratio);
  return sidco;
}

// The logarithm whose mean the gamma fit needs; the authors' epsilon keeps it finite for zeros.
// (They add it to |u| / ||u||; here |u| is divided by its mean, which has no squares that could
// underflow.)
constexpr double fit_logarithm(float u, double mean) {
  return steady_log(absolute_value(u) / mean + 0x1p-52);
}

// beta (-log ratio - log Gamma(alpha)), the closed form the authors use for the gamma's tail.
constexpr double gamma_threshold(double mean, double logs_mean, double log_ratio) {
  const double s = -logs_mean;  // log(mean / mean) - mean of the logs
  if (s <= 0)                   // all magnitudes are equal: the gamma distribution is a point
    return mean;
  const double alpha = (3 - s + steady_sqrt((s - 3) * (s - 3) + 24 * s)) / (12 * s);
  return -mean / alpha * (log_ratio + steady_log_gamma(alpha));
}

// The threshold that leaves the share exp(log_ratio) of the exceedances over `base`.
constexpr double tail_threshold(const Exceedances& e, double base, double log_ratio, Fit fit) {
  const double mean = e.absolute / e.count - base;
  const double raw = e.absolute / e.count;
  const double variance = e.squares / e.count - raw * raw;
  const double shape = 0.5 * (1 - mean * mean / variance);
  if (fit == Fit::exponential || !(variance > 0) || (shape < 1e-6 && shape > -1e-6))
    return base - mean * log_ratio;
  const double scale = 0.5 * mean * (mean * mean / variance + 1);
  return base + scale / shape * (steady_exp(-shape * log_ratio) - 1);
}

// The key of stage `stage`; at least 1, so that zeros are never sent. `logs`: sum of fit_logarithm,
// for a gamma fit.
constexpr std::uint32_t stage_key(const Sidco& sidco, int stage, int stages, const Exceedances& e,
                                  double logs) {
  if (!(e.count > 0))
    return no_key;
  const double base = stage == 0 ? 0.0 : std::bit_cast<float>(no_key - e.nearness);
  const double log_ratio = sidco.log_ratio(stage, stages);
  const double mean = e.absolute / e.count;
  const double threshold = stage == 0 && sidco.fit == Fit::gamma && mean > 0
                               ? gamma_threshold(mean, logs / e.count, log_ratio)
                               : tail_threshold(e, base, log_ratio, sidco.fit);
  const std::uint32_t key = key_from(static_cast<float>(threshold));
  return key > 1 ? key : 1;
}

struct SidcoMemory {
  int stages = 0;         // number of fits; 0 before the first encoding
  int encodings = 0;      // since `stages` was last adapted
  double kept_share = 0;  // sum of selected / wanted over these encodings
};

// The tensor's memory, ready for an encoding.
inline SidcoMemory& sidco_memory_of(State& state, const Sidco& sidco) {
  SidcoMemory& memory = memory_of<SidcoMemory>(state, 1).front();
  if (memory.stages == 0)
    memory.stages = sidco.first_stages;
  return memory;
}

constexpr SidcoMemory adapted(const Sidco& sidco, SidcoMemory memory, std::size_t sent,
                              std::size_t k) {
  memory.kept_share += static_cast<double>(sent) / static_cast<double>(k);
  if (++memory.encodings < encodings_between)
    return memory;
  const double share = memory.kept_share / encodings_between;
  const int stages = memory.stages + (share < 0.8 ? 1 : share > 1.2 ? -1 : 0);
  return {stages < 1 ? 1 : stages > sidco.most_stages ? sidco.most_stages : stages, 0, 0};
}

}  // namespace syncline
