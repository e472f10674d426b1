// A training problem that a simulation can carry: its data, its parameters as one vector, and the
// gradient of its loss. It knows neither workers nor time. Adding one is adding one file to
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

// Examples with their answers.
struct Samples {
  std::size_t count = 0;
  std::size_t features = 0;
  std::vector<float> values;  // sample after sample, `features` of each
  std::vector<int> labels;    // 0 .. classes - 1
  // Images have features = height * width * channels, channel after channel. 0: no images.
  int height = 0, width = 0, channels = 0;

  std::span<const float> sample(std::size_t i) const {
    return {values.data() + i * features, features};
  }
};

struct Data {
  int classes = 0;
  Samples train;
  Samples held_out;    // never trained on
  std::string source;  // where it comes from, for results
};

// A part of the vector of parameters that is one tensor.
struct Tensor {
  std::string name;
  std::uint64_t parameters = 0;
  double forward_flop = 0;  // per sample; a multiplication and an addition are two
};

struct Score {
  double loss = 0;      // mean over the samples, with what the problem adds to it
  double accuracy = 0;  // share of samples that are classified right: 0 to 1
};

// A problem on its data.
struct Objective {
  std::vector<Tensor> tensors;  // in forward order: the vector of parameters is these, end to end
  Values initial;               // parameters
  // Both functions may be called from several threads.
  // Writes the gradient, with respect to `parameters`, of the mean loss over these samples of the
  // training data (which may name one more than once). The same numbers, the same bits.
  std::function<void(std::span<const float> parameters, std::span<const std::uint32_t> samples,
                     std::span<float> gradient)>
      gradient;
  // Over all training data, or all that are held out.
  std::function<Score(std::span<const float> parameters, bool held_out)> score;
  // The loss over all training data has this least value, and its second derivative this greatest
  // and least eigenvalue (at the least loss, if that is not constant), where they are known.
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
  std::vector<OwnOption> options = {};  // its own
  // Its own defaults for options of learning, with which it learns `data = digits` well.
  std::map<std::string, std::string> defaults = {};
  // Throws std::invalid_argument if it cannot work on such data. What it makes reads the data while
  // it is used: they have to stay where they are.
  std::function<Objective(const Settings&, const Data&, std::uint64_t seed)> objective;
};

}  // namespace syncline
