// Every registered problem: its gradient, its sums, its known optimum, and its defaults.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

#include "kernels/philox.h"
#include "sim/catalogue/data.h"
#include "sim/problem.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"
#include "tests/unit/parameter_name.h"

namespace syncline {
namespace {

// Small values, none of them a default.
const std::map<std::string, std::string> small{
    {"hidden", "5"}, {"hidden-layers", "2"}, {"filters", "2"}, {"l2", "0.01"}};

const Data& all_digits() {
  static const Data data = load_data("digits", ".", {}, 1);
  return data;
}

// The first 300 samples, more than any problem processes at a time.
const Data& digits() {
  static const Data data = [] {
    Data first = all_digits();
    first.train.count = 300;
    first.train.values.resize(first.train.count * first.train.features);
    first.train.labels.resize(first.train.count);
    return first;
  }();
  return data;
}

Objective objective_of(const std::string& name, const std::map<std::string, std::string>& given,
                       const Data& data = digits(), std::uint64_t seed = 1) {
  const Problem& problem = Registered<Problem>::find(name);
  return problem.objective(Settings(problem.options, given), data, seed);
}

Values point_of(const Objective& objective) {
  Values point(objective.parameters());
  for (std::size_t i = 0; i < point.size(); ++i)
    point[i] = static_cast<float>(0.3 * normals({7, 0, 1}, i)[0]);
  return point;
}

std::vector<std::uint32_t> numbers(std::size_t count, std::uint32_t first = 0) {
  std::vector<std::uint32_t> made(count);
  std::iota(made.begin(), made.end(), first);
  return made;
}

Values gradient_of(const Objective& objective, std::span<const float> point,
                   const std::vector<std::uint32_t>& samples) {
  Values gradient(point.size(), std::nanf(""));  // earlier contents must be ignored
  objective.gradient(point, samples, gradient);
  return gradient;
}

double most(const Values& values) {
  double greatest = 0;
  for (const float value : values)
    greatest = std::max(greatest, std::abs(double{value}));
  return greatest;
}

double difference(const Values& a, const Values& b) {
  Values apart(a.size());
  std::ranges::transform(a, b, apart.begin(), std::minus<>());
  return most(apart);
}

void expect_same_bits(const Values& a, const Values& b, const std::string& name) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0) << name;
}

// Gradient descent with all samples.
Values descended(const Objective& objective, const Data& data, double rate, int steps) {
  Values point = objective.initial;
  const auto all = numbers(data.train.count);
  for (int step = 0; step < steps; ++step) {
    const Values gradient = gradient_of(objective, point, all);
    for (std::size_t i = 0; i < point.size(); ++i)
      point[i] -= static_cast<float>(rate * gradient[i]);
  }
  return point;
}

class EveryProblem : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, EveryProblem, testing::ValuesIn(Registered<Problem>::names()),
                         name_of_parameter);

TEST_P(EveryProblem, ItsTensorsAreItsParameters) {
  const Objective objective = objective_of(GetParam(), small);
  std::uint64_t sum = 0;
  double flop = 0;
  for (const Tensor& tensor : objective.tensors) {
    EXPECT_GT(tensor.parameters, 0u) << tensor.name;
    sum += tensor.parameters;
    flop += tensor.forward_flop;
  }
  EXPECT_EQ(sum, objective.parameters());
  EXPECT_GT(flop, 0);
}

TEST_P(EveryProblem, ItsGradientIsTheSlopeOfItsLoss) {
  const Objective objective = objective_of(GetParam(), small);
  Values point = point_of(objective);
  const Values gradient = gradient_of(objective, point, numbers(digits().train.count));
  const double step = 3e-5;  // small, so that few samples cross the edge of a ReLU
  for (std::size_t i = 0; i < point.size(); ++i) {
    const float there = point[i];
    point[i] = static_cast<float>(there + step);
    const double above = objective.score(point, false).loss, high = point[i];
    point[i] = static_cast<float>(there - step);
    const double slope = (above - objective.score(point, false).loss) / (high - point[i]);
    point[i] = there;
    ASSERT_NEAR(gradient[i], slope, 4e-3 * most(gradient)) << "parameter " << i;
  }
}

TEST_P(EveryProblem, AGradientIsTheMeanOverItsSamples) {
  const Objective objective = objective_of(GetParam(), small);
  const Values point = point_of(objective);
  const std::vector<std::uint32_t> samples{3, 299, 3, 17, 0};  // one of them twice
  Values mean(point.size());
  for (const std::uint32_t sample : samples) {
    const Values gradient = gradient_of(objective, point, {sample});
    for (std::size_t i = 0; i < mean.size(); ++i)
      mean[i] += gradient[i] / 5;
  }
  const Values whole = gradient_of(objective, point, samples);
  EXPECT_LE(difference(mean, whole), 1e-6 * most(whole));
}

TEST_P(EveryProblem, WorkersAverageToOneWithAllTheirSamples) {
  const Objective objective = objective_of(GetParam(), small);
  const Values point = point_of(objective);
  Values mean(point.size());
  for (std::uint32_t worker = 0; worker < 3; ++worker) {  // three is not a power of two
    const Values gradient = gradient_of(objective, point, numbers(100, 100 * worker));
    for (std::size_t i = 0; i < mean.size(); ++i)
      mean[i] += gradient[i] / 3;
  }
  const Values whole = gradient_of(objective, point, numbers(300));
  EXPECT_LE(difference(mean, whole), 1e-6 * std::max(1.0, most(whole)));
}

// Neither threads nor memory addresses may change a result.
TEST_P(EveryProblem, TheSameNumbersGiveTheSameBits) {
  const Objective objective = objective_of(GetParam(), small);
  const Values point = point_of(objective);
  for (const std::size_t count : {1u, 3u, 32u, 300u}) {
    const auto samples = numbers(count);
    const Values once = gradient_of(objective, point, samples);
    std::vector<Values> again(4);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < again.size(); ++i)
      threads.emplace_back([&, i] {
        Values elsewhere(i + point.size()), gradient(i + point.size());
        std::ranges::copy(point, elsewhere.begin() + static_cast<std::ptrdiff_t>(i));
        objective.gradient(std::span(elsewhere).subspan(i), samples,
                           std::span(gradient).subspan(i));
        again[i].assign(gradient.begin() + static_cast<std::ptrdiff_t>(i), gradient.end());
      });
    for (std::thread& thread : threads)
      thread.join();
    for (const Values& other : again)
      expect_same_bits(once, other, GetParam() + " of " + std::to_string(count));
  }
  expect_same_bits(objective.initial, objective_of(GetParam(), small).initial, GetParam());
}

// NaN parameters must show in the loss, so that a diverging run ends.
TEST_P(EveryProblem, NotANumberStaysThat) {
  const Objective objective = objective_of(GetParam(), small);
  const Values lost(objective.parameters(), std::nanf(""));
  EXPECT_FALSE(std::isfinite(objective.score(lost, false).loss));
  EXPECT_TRUE(std::isnan(gradient_of(objective, lost, numbers(10))[0]));
}

// Parameters after `steps` steps of 256 samples with the problem's defaults.
Values learned(const std::string& name, const Objective& objective, const Data& data,
               std::size_t steps) {
  const auto option = [&](const char* word) {
    return std::stod(Registered<Problem>::find(name).defaults.at(word));
  };
  const double rate = option("learning-rate"), momentum = option("momentum");
  const double decay = option("weight-decay");
  Values point = objective.initial, moved(point.size());
  auto order = numbers(data.train.count);
  for (std::size_t i = order.size() - 1; i > 0; --i)
    std::swap(order[i], order[random_words({1, 0, 2}, i)[0] % (i + 1)]);
  std::size_t next = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<std::uint32_t> samples;
    for (int i = 0; i < 256; ++i)
      samples.push_back(order[next++ % order.size()]);
    const Values gradient = gradient_of(objective, point, samples);
    for (std::size_t i = 0; i < point.size(); ++i) {
      moved[i] = static_cast<float>(momentum * moved[i] + gradient[i] + decay * point[i]);
      point[i] -= static_cast<float>(rate * moved[i]);
    }
  }
  return point;
}

// Held-out accuracy after a number of epochs; each reached a few points more.
TEST_P(EveryProblem, ItLearnsWithItsDefaults) {
  const std::map<std::string, std::pair<int, double>> wanted{{"least-squares", {5, 0.81}},
                                                             {"logistic", {20, 0.79}},
                                                             {"softmax", {10, 0.85}},
                                                             {"mlp", {15, 0.85}},
                                                             {"cnn", {20, 0.85}}};
  const auto found = wanted.find(GetParam());
  const auto [epochs, accuracy] = found == wanted.end() ? std::pair{10, 0.5} : found->second;
  const Data& data = all_digits();
  const Objective objective = objective_of(GetParam(), {}, data);
  const Values point = learned(GetParam(), objective, data,
                               static_cast<std::size_t>(epochs) * data.train.count / 256);
  EXPECT_LT(objective.score(point, false).loss,
            0.5 * objective.score(objective.initial, false).loss + 0.1);
  EXPECT_GE(objective.score(point, true).accuracy, accuracy);
}

// A bright image with one of ten patterns of blocks of 4x4 pixels and channels, and noise.
std::string made_image(std::uint32_t label, std::uint32_t number, std::size_t side,
                       std::size_t channels) {
  std::string bytes;
  for (std::size_t i = 0; i < channels * side * side; ++i) {
    const std::size_t block =
        i / (side * side) * 4096 + i % (side * side) / side / 4 * 64 + i % side / 4;
    const double pattern = random_words({9, 0, label}, block)[0] % 2 == 0 ? -40 : 40;
    const double value = 150 + pattern + 20 * normals({8, 0, number}, i)[0];
    bytes.push_back(static_cast<char>(static_cast<unsigned char>(std::clamp(value, 0.0, 255.0))));
  }
  return bytes;
}

// Folders of such images in the formats of MNIST and CIFAR-10, for training and held out.
const TemporaryFolder& made_images() {
  static const TemporaryFolder folder;
  const char* mnist[] = {"mnist/train", "mnist/t10k"};
  const char* cifar[] = {"cifar/data_batch_1.bin", "cifar/test_batch.bin"};
  std::uint32_t number = 0;
  for (const std::size_t part : {0U, 1U}) {
    const std::uint32_t count = part == 0 ? 256 : 60;
    std::string images, labels, records;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t label = ++number * 7 % 10;
      images += made_image(label, number, 28, 1);
      labels.push_back(static_cast<char>(label));
      records += labels.back() + made_image(label, number, 32, 3);
    }
    folder.write(mnist[part] + std::string("-images-idx3-ubyte"),
                 big_endian({0x803, count, 28, 28}) + images);
    folder.write(mnist[part] + std::string("-labels-idx1-ubyte"),
                 big_endian({0x801, count}) + labels);
    folder.write(cifar[part], records);
  }
  return folder;
}

// Without standardisation, learning rates that suit digits of 8x8 pixels end at a loss of 2.3 here,
// or diverge.
TEST_P(EveryProblem, ItLearnsImagesOfMnistsAndCifarsSizesWithItsDefaults) {
  for (const char* kind : {"mnist", "cifar"}) {
    const Data data = load_data(made_images().path(kind), ".", {}, 1);
    const Objective objective = objective_of(GetParam(), {}, data);
    const Values point = learned(GetParam(), objective, data, 40);
    EXPECT_LT(objective.score(point, false).loss,
              0.5 * objective.score(objective.initial, false).loss + 0.1)
        << kind;
    EXPECT_GT(objective.score(point, true).accuracy, 0.7) << kind;
  }
}

TEST(Cnn, RefusesWhatIsNoImages) {
  const Data generated = load_data("generated", ".", Settings(generated_options(), {}), 1);
  expect_mentions(error_of([&] { objective_of("cnn", {}, generated); }),
                  {"learn = cnn", "generated", "no images", "digits"});
}

// If colours were mixed up with rows, at most half of the samples would be classified correctly.
TEST(Cnn, LearnsImagesOfSeveralColours) {
  Data data{.classes = 3, .train = {}, .held_out = {}, .source = "stripes"};
  for (Samples* samples : {&data.train, &data.held_out}) {
    *samples = {.count = 90,
                .features = 3 * 6 * 7,
                .values = {},
                .labels = {},
                .height = 6,
                .width = 7,
                .channels = 3};
    for (int i = 0; i < 90; ++i) {
      samples->labels.push_back(i % 3);
      for (int channel = 0; channel < 3; ++channel)
        for (int p = 0; p < 42; ++p)
          samples->values.push_back(channel == i % 3 && (p / 7 + i / 3) % 2 == 0 ? 1.0F : 0.2F);
    }
  }
  Objective objective = objective_of("cnn", {{"filters", "4"}}, data);
  EXPECT_EQ(objective.parameters(), 4u * 28 + 8 * 37 + (8 * 1 * 1 + 1) * 3);
  const Values end = descended(objective, data, 0.2, 100);
  EXPECT_GT(objective.score(end, true).accuracy, 0.99);
}

// Counted by hand: 64 to 5 to 5 to 10; two flop for a multiplication and its addition.
TEST(Mlp, HasTheTensorsOfItsLayers) {
  const Objective objective = objective_of("mlp", small);
  std::vector<std::pair<std::uint64_t, double>> counted;
  for (const Tensor& tensor : objective.tensors)
    counted.emplace_back(tensor.parameters, tensor.forward_flop);
  EXPECT_EQ(counted, (std::vector<std::pair<std::uint64_t, double>>{
                         {320, 640}, {5, 0}, {25, 50}, {5, 0}, {50, 100}, {10, 0}}));
}

TEST(Mlp, BeginsWithTheVarianceThatItsInputsAskFor) {
  const Objective objective = objective_of("mlp", {{"hidden", "500"}});
  double squares = 0;
  for (std::size_t i = 0; i < 64 * 500; ++i)
    squares += double{objective.initial[i]} * objective.initial[i];
  EXPECT_NEAR(squares / (64 * 500), 2.0 / 64, 0.02 * 2 / 64);
  EXPECT_EQ(objective.initial[64 * 500], 0);  // a bias
  EXPECT_NE(objective.initial, objective_of("mlp", {{"hidden", "500"}}, digits(), 2).initial);
}

}  // namespace
}  // namespace syncline
