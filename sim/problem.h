// A training problem that a simulation can carry out: its data, its parameters as one vector, and
// the gradient of its loss. A problem knows neither workers nor time. To add one, add one file to
// sim/problems/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/compressor.h"
#include "kernels/registry.h"

namespace syncline {

// Examples with their labels.
struct Samples {
  std::size_t count = 0;
  std::size_t features = 0;
  std::vector<float> values;  // sample after sample, `features` of each
  std::vector<int> labels;    // 0 .. classes - 1
  // Images have features = height * width * channels, channel after channel. 0: not images.
  int height = 0, width = 0, channels = 0;

  std::span<const float> sample(std::size_t i) const {
    return {values.data() + i * features, features};
  }
};

struct Data {
  int classes = 0;
  Samples train;
  Samples held_out;    // never trained on
  std::string source;  // where the data come from, for results
};

// One tensor: a part of the vector of parameters.
struct Tensor {
  std::string name;
  std::uint64_t parameters = 0;
  double forward_flop = 0;  // per sample; a multiplication and an addition are two
};

struct Score {
  double loss = 0;      // mean over the samples, plus the problem's own terms, such as l2
  double accuracy = 0;  // share of samples that are classified right: 0 to 1
};

// A problem with its data.
struct Objective {
  std::vector<Tensor> tensors;  // in forward order; end to end they are the vector of parameters
  Values initial;               // parameters
  // Both functions may be called from several threads.
  // `gradient` writes the gradient, with respect to `parameters`, of the mean loss over these
  // samples of the training data, which may repeat. Equal inputs give equal bits.
  std::function<void(std::span<const float> parameters, std::span<const std::uint32_t> samples,
                     std::span<float> gradient)>
      gradient;
  // Over all training data, or over all held-out data.
  std::function<Score(std::span<const float> parameters, bool held_out)> score;
  // Where they are known: the least loss over all training data, and the greatest and the least
  // eigenvalue of its second derivative (at the least loss, if it is not constant).
  std::optional<double> least_loss;
  std::optional<double> greatest_curvature;
  std::optional<double> least_curvature;

  std::size_t parameters() const { return initial.size(); }
};

struct Problem {
  static constexpr const char* kind = "problem";
  std::string name;
  std::string sentence;
  Help help = {};
  std::vector<OwnOption> options = {};
  // The problem's own defaults for options of learning, with which it learns `data = digits` well.
  std::map<std::string, std::string> defaults = {};
  // Throws std::invalid_argument if the problem cannot work on such data. The objective reads the
  // data in place: they must outlive it and must not move.
  std::function<Objective(const Settings&, const Data&, std::uint64_t seed)> objective;
};

}  // namespace syncline
