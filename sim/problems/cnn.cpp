// A convolutional classifier for images: twice a 3x3 convolution, ReLU and 2x2 max pooling, then a
// linear map and softmax cross-entropy.
#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/minibatch.h"

namespace syncline {
namespace {

// A convolution of images of this size, padded with zeros, with its ReLU and pooling.
struct Stage {
  Index channels = 0, filters = 0;
  Index height = 0, width = 0;
  std::size_t begin = 0;  // of its parameters: filters, then biases

  Index pixels() const { return height * width; }
  Index patch() const { return channels * 9; }
  Index pooled() const { return (height / 2) * (width / 2); }
  std::size_t parameters() const { return static_cast<std::size_t>(filters * (patch() + 1)); }
};

// Layout of images: a plane of pixels per channel and sample, ordered by sample or by channel
// first.
struct Planes {
  Index of_sample = 0, of_channel = 0;  // strides
};

// For one position (y, x) in a patch: calls `move` for the part of each row of pixels that stays
// inside the image when shifted by (y, x).
template <class Move>
void for_each_row(const Stage& stage, Index y, Index x, const Move& move) {
  for (Index row = std::max<Index>(0, -y); row < std::min(stage.height, stage.height - y); ++row) {
    const Index first = std::max<Index>(0, -x), last = std::min(stage.width, stage.width - x);
    move(row * stage.width + first, (row + y) * stage.width + first + x, last - first);
  }
}

// Calls visit(column of the patches, index of a plane's first pixel, first row, y, x).
template <class Visit>
void for_each_shift(const Stage& stage, const Planes& planes, Index samples, const Visit& visit) {
  for (Index c = 0; c < stage.channels; ++c)
    for (Index place = 0; place < 9; ++place)
      for (Index i = 0; i < samples; ++i)
        visit(c * 9 + place, i * planes.of_sample + c * planes.of_channel, i * stage.pixels(),
              place / 3 - 1, place % 3 - 1);
}

// A matrix with a row for each pixel of each sample: the pixels that its filter sees.
Matrix patches_of(const Stage& stage, const float* images, const Planes& planes, Index samples) {
  Matrix patches = zeros(samples * stage.pixels(), stage.patch());
  for_each_shift(stage, planes, samples,
                 [&](Index column, Index plane, Index first_row, Index y, Index x) {
                   float* to = &patches(first_row, column);
                   for_each_row(stage, y, x, [&](Index pixel, Index seen, Index count) {
                     std::copy_n(images + plane + seen, count, to + pixel);
                   });
                 });
  return patches;
}

// The derivative with respect to the images, planes by channel first, computed from the derivative
// of the patches.
Matrix images_of(const Stage& stage, const Matrix& patches, const Planes& planes, Index samples) {
  Matrix images = zeros(samples * stage.pixels(), stage.channels);
  for_each_shift(stage, planes, samples,
                 [&](Index column, Index plane, Index first_row, Index y, Index x) {
                   const float* from = &patches(first_row, column);
                   float* to = images.data() + plane;
                   for_each_row(stage, y, x, [&](Index pixel, Index seen, Index count) {
                     for (Index k = 0; k < count; ++k)
                       to[seen + k] += from[pixel + k];
                   });
                 });
  return images;
}

// The results of a stage for a batch.
struct Staged {
  Matrix patches;
  Matrix values;              // a column per filter: its planes, sample after sample
  std::vector<Index> chosen;  // per value: index of the largest pixel in its column
};

Staged apply(const Stage& stage, std::span<const float> parameters, const float* images,
             const Planes& planes, Index samples) {
  Staged done{.patches = patches_of(stage, images, planes, samples), .values = {}, .chosen = {}};
  const Weights filters(parameters.data(), stage.filters, stage.patch());
  const float* biases = parameters.data() + filters.size();
  const Matrix seen = product(done.patches, filters.transpose());
  done.values.resize(samples * stage.pooled(), stage.filters);
  done.chosen.reserve(static_cast<std::size_t>(done.values.size()));
  for (Index f = 0; f < stage.filters; ++f) {
    Index row = 0;
    for (Index i = 0; i < samples; ++i)
      for (Index y = 0; y < stage.height / 2; ++y)
        for (Index x = 0; x < stage.width / 2; ++x) {
          const Index corner = i * stage.pixels() + 2 * y * stage.width + 2 * x;
          Index best = corner;
          for (const Index other : {corner + 1, corner + stage.width, corner + stage.width + 1})
            if (seen(other, f) > seen(best, f))
              best = other;
          // Max pooling commutes with ReLU, so the maximum is taken first.
          const float value = seen(best, f) + biases[f];
          done.values(row++, f) = value < 0 ? 0.0F : value;
          done.chosen.push_back(best);
        }
  }
  return done;
}

// Adds to the stage's part of the gradient; returns the derivative with respect to the convolution.
Matrix back(const Stage& stage, const Staged& done, const Matrix& slopes,
            std::span<float> gradient) {
  Matrix seen = zeros(done.patches.rows(), stage.filters);
  WeightGradient filters(gradient.data(), stage.patch(), stage.filters);
  float* biases = gradient.data() + filters.size();
  for (Index f = 0; f < stage.filters; ++f) {
    double sum = 0;
    for (Index row = 0; row < slopes.rows(); ++row)
      if (done.values(row, f) != 0) {
        const Index value = f * slopes.rows() + row;
        seen(done.chosen[static_cast<std::size_t>(value)], f) = slopes(row, f);
        sum += slopes(row, f);
      }
    biases[f] += static_cast<float>(sum);
  }
  add_product(done.patches.transpose(), seen, filters);
  return seen;
}

// Converts from a column per channel to a column per sample, and back.
Matrix by_sample(const Matrix& by_channel, Index pixels, Index samples) {
  Matrix made(by_channel.cols() * pixels, samples);
  for (Index c = 0; c < by_channel.cols(); ++c)
    for (Index i = 0; i < samples; ++i)
      std::copy_n(&by_channel(i * pixels, c), pixels, &made(c * pixels, i));
  return made;
}

Matrix by_channel(const Matrix& by_sample, Index pixels, Index channels) {
  Matrix made(by_sample.cols() * pixels, channels);
  for (Index c = 0; c < channels; ++c)
    for (Index i = 0; i < by_sample.cols(); ++i)
      std::copy_n(&by_sample(c * pixels, i), pixels, &made(i * pixels, c));
  return made;
}

struct Cnn {
  Stage first, second;
  std::size_t linear_begin = 0;
  Index classes = 0;

  Outputs forward(std::span<const float> parameters, const Batch& batch) const {
    const Index samples = batch.cols();
    const Planes between{first.pooled(), samples * first.pooled()};
    Staged low = apply(first, parameters.subspan(first.begin), batch.data(),
                       {batch.rows(), first.pixels()}, samples);
    Staged high =
        apply(second, parameters.subspan(second.begin), low.values.data(), between, samples);
    Matrix inputs = by_sample(high.values, second.pooled(), samples);
    Matrix values = linear(parameters.subspan(linear_begin), inputs, classes);
    auto backward = [this, parameters, samples, between, low = std::move(low),
                     high = std::move(high),
                     inputs = std::move(inputs)](const Matrix& slopes, std::span<float> gradient) {
      linear_backward(inputs, slopes, gradient.subspan(linear_begin));
      const Matrix of_inputs =
          linear_slopes(parameters.subspan(linear_begin), slopes, inputs.rows());
      const Matrix seen = back(second, high, by_channel(of_inputs, second.pooled(), second.filters),
                               gradient.subspan(second.begin));
      const Weights filters(parameters.data() + second.begin, second.filters, second.patch());
      const Matrix patches = product(seen, filters);
      back(first, low, images_of(second, patches, between, samples), gradient.subspan(first.begin));
    };
    return {std::move(values), std::move(backward)};
  }
};

void add_stage(std::vector<Tensor>& tensors, const std::string& name, const Stage& stage) {
  const Index weights = stage.filters * stage.patch();
  tensors.push_back({name + ".weight", static_cast<std::uint64_t>(weights),
                     2.0 * static_cast<double>(weights) * static_cast<double>(stage.pixels())});
  tensors.push_back({name + ".bias", static_cast<std::uint64_t>(stage.filters), 0});
}

Objective cnn(const Settings& settings, const Data& data, std::uint64_t seed) {
  const Samples& images = data.train;
  if (images.height < 4 || images.width < 4)
    throw std::invalid_argument("learn = cnn: " + data.source +
                                " has no images of 4x4 pixels or "
                                "more: allowed are data = digits, MNIST and CIFAR-10");
  const Index filters = static_cast<Index>(settings.number("filters"));
  const Stage first{images.channels, filters, images.height, images.width, 0};
  const Stage second{filters, 2 * filters, first.height / 2, first.width / 2, first.parameters()};
  const std::size_t inputs = static_cast<std::size_t>(second.filters * second.pooled());
  const Cnn layers{first, second, second.begin + second.parameters(), data.classes};
  Classifier classifier;
  add_stage(classifier.tensors, "conv1", first);
  add_stage(classifier.tensors, "conv2", second);
  add_linear(classifier.tensors, "output", inputs, static_cast<std::size_t>(data.classes));
  classifier.initial = he_initial(classifier.tensors,
                                  {static_cast<std::size_t>(first.patch()), 0,
                                   static_cast<std::size_t>(second.patch()), 0, inputs, 0},
                                  seed);
  classifier.forward = [layers](std::span<const float> parameters, const Batch& batch) {
    return layers.forward(parameters, batch);
  };
  return objective_of(std::move(classifier), data, cross_entropy, 0, 64);
}

const Registered<Problem> entry{{
    .name = "cnn",
    .sentence = "convolutional classifier for images: twice 3x3 convolution, ReLU and 2x2 pooling, "
                "then softmax",
    .help = {.more = "Learns digits better than mlp, with fewer parameters and more arithmetic.",
             .paper = "LeCun et al. 1998; initial weights: He et al. 2015"},
    .options = {whole_number(
        "filters", "filters of the first convolution; the second has twice as many", "8", 1, 4096)},
    .defaults = {{"learning-rate", "0.2"}, {"momentum", "0"}, {"weight-decay", "0.001"}},
    .objective = cnn,
}};

}  // namespace
}  // namespace syncline
