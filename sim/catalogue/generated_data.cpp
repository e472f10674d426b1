// Generated data: classes that are normally distributed around their centres. The centres are drawn
// from a normal distribution, too. The number of samples and features, and the overlap of classes,
// can be chosen.
#include <cmath>
#include <fmt/format.h>

#include "kernels/philox.h"
#include "sim/catalogue/data.h"
#include "sim/catalogue/refuse.h"

namespace syncline {
namespace {

constexpr std::uint32_t centre_draws = 0x20000000;  // no compressor and no problem draws with these
constexpr std::uint32_t sample_draws = 0x20000001;
constexpr double most_values = 1u << 30;
constexpr double mean_square_length = 16;  // about the digits': the same rates suit them

// The i-th vector of `features` normal numbers.
std::vector<double> normal_vector(const Draw& draw, std::size_t i, std::size_t features) {
  std::vector<double> vector(features);
  const std::uint64_t groups = (features + 3) / 4;
  for (std::size_t k = 0; k < features; k += 4) {
    const auto drawn = normals(draw, i * groups + k / 4);
    for (std::size_t j = k; j < features && j < k + 4; ++j)
      vector[j] = drawn[j - k];
  }
  return vector;
}

// Centres around zero with a mean square distance of 4 over all pairs.
std::vector<std::vector<double>> centres_of(std::size_t classes, std::size_t features,
                                            std::uint64_t seed) {
  std::vector<std::vector<double>> centres;
  std::vector<double> mean(features);
  for (std::size_t c = 0; c < classes; ++c) {
    centres.push_back(normal_vector({seed, 0, centre_draws}, c, features));
    for (std::size_t k = 0; k < features; ++k)
      mean[k] += centres[c][k] / static_cast<double>(classes);
  }
  double squares = 0;
  for (std::vector<double>& centre : centres)
    for (std::size_t k = 0; k < features; ++k) {
      centre[k] -= mean[k];
      squares += centre[k] * centre[k];
    }
  // The mean square distance of pairs is 2 / (classes - 1) times this sum.
  const double scale = std::sqrt(2 * (static_cast<double>(classes) - 1) / squares);
  for (std::vector<double>& centre : centres)
    for (double& value : centre)
      value *= scale;
  return centres;
}

}  // namespace

const std::vector<OwnOption>& generated_options() {
  static const std::vector<OwnOption> parameters{
      whole_number("samples", "data = generated: number of samples; a fifth of them are held out",
                   "10000", 10, 1e8),
      whole_number("features", "data = generated: number of values of a sample", "64", 1, 1e6),
      whole_number("classes", "data = generated: number of classes", "10", 2, 10000),
      number("difficulty",
             "data = generated: standard deviation of the noise, relative to half the distance "
             "between the centres of two classes; the best classifier of two classes errs with the "
             "probability that a normal number exceeds 1 / difficulty",
             "0.4", 0, 1000)};
  return parameters;
}

namespace {

struct Sizes {
  std::size_t samples = 0, held_out = 0, features = 0, classes = 0;
};

Sizes sizes_of(const Settings& settings) {
  const std::size_t samples = static_cast<std::size_t>(settings.number("samples"));
  const Sizes sizes{.samples = samples,
                    .held_out = samples / 5,
                    .features = static_cast<std::size_t>(settings.number("features")),
                    .classes = static_cast<std::size_t>(settings.number("classes"))};
  if (static_cast<double>(samples) * static_cast<double>(sizes.features) > most_values)
    refuse("data = generated: samples * features = {}: allowed are up to 2^30",
           number_text(settings.number("samples") * settings.number("features")));
  if (sizes.classes > sizes.held_out)
    refuse("data = generated: classes = {}: allowed are up to {}, the number of held-out samples",
           sizes.classes, sizes.held_out);
  return sizes;
}

}  // namespace

DataNeed need_of_generated(const Settings& settings) {
  const Sizes sizes = sizes_of(settings);
  constexpr double seconds_per_number = 1.5e-8;
  const auto samples = static_cast<double>(sizes.samples);
  const auto features = static_cast<double>(sizes.features);
  const double of_centres = static_cast<double>(sizes.classes) * features;
  return {.memory_bytes =
              samples * (features * sizeof(float) + sizeof(int)) + of_centres * sizeof(double),
          .seconds = (samples * features + of_centres) * seconds_per_number};
}

Data generate_data(const Settings& settings, std::uint64_t seed) {
  const auto [samples, held_out, features, classes] = sizes_of(settings);
  const double difficulty = settings.number("difficulty");
  const auto centres = centres_of(classes, features, seed);
  // Centres are sqrt(2 (classes - 1) / classes) from zero; noise is `difficulty` in each feature.
  const double square = 2 * (static_cast<double>(classes) - 1) / static_cast<double>(classes) +
                        difficulty * difficulty * static_cast<double>(features);
  const double scale = std::sqrt(mean_square_length / square);
  Data data{.classes = static_cast<int>(classes)};
  data.train.values.reserve((samples - held_out) * features);
  data.held_out.values.reserve(held_out * features);
  for (std::size_t i = 0; i < samples; ++i) {
    Samples& part = i + held_out < samples ? data.train : data.held_out;
    const std::vector<double> noise = normal_vector({seed, 0, sample_draws}, i, features);
    const std::vector<double>& centre = centres[i % classes];
    for (std::size_t k = 0; k < features; ++k)
      part.values.push_back(static_cast<float>(scale * (centre[k] + difficulty * noise[k])));
    part.labels.push_back(static_cast<int>(i % classes));
    ++part.count;
  }
  data.train.features = data.held_out.features = features;
  data.source =
      fmt::format("generated: {} samples of {} features in {} classes, difficulty {}, {} held out",
                  samples, features, classes, number_text(difficulty), held_out);
  return data;
}

}  // namespace syncline
