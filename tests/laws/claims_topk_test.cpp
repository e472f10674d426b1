// Claims of the TopK paper (Shi et al., arXiv 1911.08772) about the values that its operators
// choose from, checked in our runs: confirmed or not. The experiment topk-contraction shows more.
#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "kernels/arithmetic/normal.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

constexpr const char* seeds[] = {"1", "2", "3"};

// The setting of experiments/topk-contraction, with the learning rates that its tune.cfg chose.
Options mlp(const char* density, const char* rate, const char* seed, const char* iterations) {
  return {{"learn", "mlp"},           {"platform", star_platform({.nodes = 16, .nic_Bps = 1e8})},
          {"throughput", "1000"},     {"batch", "8"},
          {"iterations", iterations}, {"evaluate-every", "5000"},
          {"schedule", "topk-sgd"},   {"density", density},
          {"learning-rate", rate},    {"seed", seed}};
}

Learned trained(const std::string& compressor, Options options) {
  options["compressor"] = compressor;
  return *simulated(options).trace.learned;
}

struct Shape {
  double middle = 0;            // share of values within a quarter of a deviation
  double tails = 0;             // share beyond three deviations
  double squares_in_tails = 0;  // their share of the sum of squares
};

Shape shape(const Learned& run, int iteration) {
  Shape of{.tails = 1, .squares_in_tails = 1};
  for (const HistogramBin& bin : run.histogram) {
    if (bin.iteration != iteration || !bin.from || !bin.to || *bin.from < -3 || *bin.to > 3)
      continue;
    of.tails -= bin.share;
    of.squares_in_tails -= bin.square_share;
    if (*bin.from >= -0.25 && *bin.to <= 0.25)
      of.middle += bin.share;
  }
  return of;
}

// The share of the iterations for which `holds` is true.
template <class Holds>
double part(const Learned& run, const Holds& holds) {
  double count = 0;
  for (const Compressed& row : run.each_compressed)
    count += holds(row) ? 1 : 0;
  return count / static_cast<double>(run.each_compressed.size());
}

// "Bell-shaped": gradients have one peak, but not that of a normal distribution, which has 19.7 %
// of its values within a quarter of a deviation, and 0.27 % beyond three, with 2.9 % of the
// squares.
TEST(Claims, GradientsArePeakedAndHaveHeavyTailsWithThreeSeeds) {
  for (const char* seed : seeds) {
    const Learned gradients = trained("topk", mlp("1", "1", seed, "66"));
    for (const int iteration : {0, 8, 64}) {
      const Shape all = shape(gradients, iteration);
      EXPECT_GT(all.middle, 0.55) << iteration;
      EXPECT_GT(all.tails, 0.015) << iteration;
      EXPECT_GT(all.squares_in_tails, 0.4) << iteration;
    }
  }
}

// Large values are sent and small ones add up. The result is not a bell: the peak stays twice as
// high as that of a normal distribution.
TEST(Claims, ResidualsTakeTheTailsAwayAndNotThePeakWithThreeSeeds) {
  for (const char* seed : seeds) {
    const Learned run = trained("topk", mlp("0.01", "2", seed, "66"));
    const Shape first = shape(run, 0), later = shape(run, 64);
    EXPECT_GT(first.squares_in_tails, 0.4);
    EXPECT_LT(later.squares_in_tails, 0.1);
    EXPECT_LT(later.tails, 0.01);
    EXPECT_LT(later.middle, first.middle - 0.1);
    EXPECT_GT(later.middle, 0.39);
  }
}

// Confirmed with room to spare: the share kept is several times what even the square of the bound
// says.
TEST(Claims, TheSquareOfTheBoundHoldsInEveryIterationWithThreeSeeds) {
  for (const auto& [density, rate] : {std::pair("0.001", "4"), {"0.01", "2"}, {"0.1", "1"}})
    for (const char* seed : seeds) {
      const Learned run = trained("topk", mlp(density, rate, seed, "100"));
      EXPECT_EQ(
          part(run,
               [](const Compressed& row) { return row.left_out > *row.left_out_bound_squared; }),
          0)
          << density;
      const Compressed& all = run.compressed;
      EXPECT_GT(1 - all.left_out, 3 * (1 - *all.left_out_bound_squared)) << density;
    }
}

// "Near k" holds only if k is not small compared with the number of values.
TEST(Claims, GaussianKSelectsAboutKOfTenPercentWithThreeSeeds) {
  for (const char* seed : seeds) {
    const Compressed all = trained("gaussiank", mlp("0.1", "1", seed, "200")).compressed;
    EXPECT_NEAR(all.sent_values / *all.target_values, 1, 0.12);
  }
}

// Contradicted: the selection of the third threshold is sent whatever its size, and it may be
// empty. The next message then has the same shape.
TEST(Claims, GaussianKMaySendNothingOfOneInAThousandWithThreeSeeds) {
  for (const char* seed : seeds) {
    const Learned gaussian = trained("gaussiank", mlp("0.001", "1", seed, "400"));
    EXPECT_GT(part(gaussian, [](const Compressed& row) { return row.most_sent_values == 0; }),
              0.15);
    EXPECT_GT(gaussian.curve.back().loss, 0.05);
    EXPECT_LT(trained("topk", mlp("0.001", "4", seed, "400")).curve.back().loss, 0.005);
  }
}

// How the thresholds of Gaussian_k's messages moved: sums over messages whose threshold changed in
// the same way after the first and after the second mask. In shared memory, because simulations run
// in processes of their own.
struct Walks {
  static constexpr std::array<double, 3> changes{1, 1.5, 0.5};
  struct Sums {
    double messages = 0, sent = 0, deviations = 0;  // deviations: where the threshold ended
  };
  Sums sums[changes.size()][changes.size()] = {};
  double messages = 0, sent = 0, wanted = 0;

  Sums& of(double once, double twice) {
    const auto place = [](double change) {
      return static_cast<std::size_t>(std::ranges::find(changes, change) - changes.begin());
    };
    return sums[place(once)][place(twice)];
  }
};

// The compressor, with the walk of its thresholds repeated next to it by counting what is above
// them.
Compressor walked(Walks& walks) {
  Compressor compressor = Registered<Compressor>::find("gaussiank");
  compressor.cpu.encode = [&walks, encode = compressor.cpu.encode, promise = compressor.promise](
                              const Settings& settings, const Gradient& gradient, const Draw& draw,
                              State& state, Message& message) {
    std::vector<float> u(gradient.elements());
    const double n = static_cast<double>(u.size());
    const Values before = residual(state);
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < u.size(); ++i) {
      u[i] = gradient.at(i) + (before.empty() ? 0 : before[i]);
      sum += u[i];
      squares += static_cast<double>(u[i]) * u[i];
    }
    const double mean = sum / n, deviation = std::sqrt((squares - sum * mean) / (n - 1));
    const auto above = [&](double threshold) {
      return static_cast<double>(
          std::ranges::count_if(u, [&](float value) { return std::fabs(value) > threshold; }));
    };
    const double k = *promise(settings, u.size(), 0).values;
    const auto change = [&](double threshold) {
      return above(threshold) < 2 * k / 3 ? 0.5 : above(threshold) > 4 * k / 3 ? 1.5 : 1;
    };
    double threshold = mean + deviation * normal_quantile(1 - density_of(settings) / 2);
    const double once = change(threshold);
    threshold *= once;
    const double twice = once == 1 ? 1 : change(threshold);
    threshold *= twice;
    encode(settings, gradient, draw, state, message);
    const double sent = static_cast<double>(message.size()) / 8;
    EXPECT_NEAR(sent, above(threshold), 1);
    Walks::Sums& sums = walks.of(once, twice);
    sums.messages += 1;
    sums.sent += sent;
    sums.deviations += (threshold - mean) / deviation;
    walks.messages += 1;
    walks.sent += sent;
    walks.wanted += k;
  };
  return compressor;
}

Walks walks_of(Options options) {
  void* shared =
      mmap(nullptr, sizeof(Walks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Walks& walks = *new (shared) Walks;
  options["compressor"] = "gaussiank";
  simulated_by(walked(walks), options);
  const Walks result = walks;
  munmap(shared, sizeof(Walks));
  return result;
}

// At density 0.01 thresholds begin at 2.58 deviations. Few messages are within the band there; for
// most the threshold grows to 3.86. Of these, messages with too few values halve it to 1.93, and
// send what that selects: eight times k, and most of all that is sent. The others grow it again, to
// 5.8, and send nearly nothing.
TEST(Claims, GaussianKSendsMostWhereItsThresholdGoesUpAndDownWithThreeSeeds) {
  for (const char* seed : seeds) {
    Walks walks = walks_of(mlp("0.01", "2", seed, "400"));
    const Walks::Sums& down_again = walks.of(1.5, 0.5);
    EXPECT_NEAR(down_again.deviations / down_again.messages, 1.93, 0.02);
    EXPECT_NEAR(down_again.sent / down_again.messages / 48, 8.4, 0.4);
    EXPECT_LT(down_again.messages, 0.25 * walks.messages);
    EXPECT_GT(down_again.sent, 0.6 * walks.sent);
    const Walks::Sums& up_twice = walks.of(1.5, 1.5);
    EXPECT_NEAR(up_twice.deviations / up_twice.messages, 5.79, 0.03);
    EXPECT_GT(up_twice.messages, 0.4 * walks.messages);
    EXPECT_LT(up_twice.sent, 0.15 * 48 * up_twice.messages);
  }
}

// At the problem's default learning rate four times k is sent: for half of the messages the
// threshold goes up and down.
TEST(Claims, GaussianKSendsFourTimesKAtTheDefaultRateWithOneSeed) {
  Walks walks = walks_of(mlp("0.01", "0.5", "1", "400"));
  EXPECT_NEAR(walks.sent / walks.wanted, 4, 0.3);
  EXPECT_NEAR(walks.of(1.5, 0.5).messages / walks.messages, 0.48, 0.03);
  EXPECT_LT(walks.of(1.5, 1.5).messages, 0.12 * walks.messages);
}

}  // namespace
}  // namespace syncline
