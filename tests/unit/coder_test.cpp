// Messages of real values: their sizes, their random bits, what they leave out, and DGC's momentum.
#include "sim/learning/coder.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

#include "tests/unit/coded.h"

namespace syncline {
namespace {

// A compressor in an exchange that carries it, for four workers.
Coded coded(const std::string& compressor, WrittenOptions words = {}) {
  words.emplace("exchange", "allgather");
  words["compressor"] = compressor;
  return {words, {2, 2}};
}

TEST(Coder, MakesMessagesOfTheSizeThatTheCompressorFixes) {
  const Gradients gradients(Gradients::Kind::real);
  int fixed = 0;
  for (const std::string& name : Registered<Compressor>::names())
    for (const std::string precision : {"fp32", "fp16"})
      for (const std::size_t elements : {0, 1, 3, 1000}) {
        const Coded here = coded(name, {{"precision", precision}});
        Coder coder = here.coder();
        const WireSize size = coder.expected(elements, 0);
        const Message message = coder.encode({.rank = 3}, 0, gradients.of(3, 0, 0, elements));
        if (size.exact) {
          EXPECT_EQ(static_cast<double>(message.size()), size.bytes) << name << " " << elements;
          ++fixed;
        }
        if (elements == 0) {
          EXPECT_TRUE(message.empty());
        }
      }
  EXPECT_GE(fixed, 8 * 7);
}

TEST(Coder, FollowsTheDensitiesOfAWarmUp) {
  const Coded here = coded("topk", {{"schedule", "topk-sgd"},
                                    {"density", "0.001"},
                                    {"warm-up-densities", "dgc"},
                                    {"epoch-iterations", "2"}});
  Coder coder = here.coder();
  const Gradients gradients(Gradients::Kind::real);
  std::vector<std::size_t> values, wanted;
  for (int iteration = 0; iteration < 10; ++iteration) {
    const auto all = gradients.of_all(4, 0, iteration, 1000);
    std::vector<std::size_t> bytes;
    const Contributions contributions = coder.contributions(0, iteration, all, bytes);
    here.combined(contributions);
    values.push_back(bytes[2] / 8);
    wanted.push_back(contributions.wanted);
  }
  EXPECT_EQ(values, (std::vector<std::size_t>{250, 250, 62, 62, 15, 15, 4, 4, 1, 1}));
  EXPECT_EQ(wanted, values);
}

// DGC's momentum applies to gradients; sums of messages and changes of parameters already contain
// it.
TEST(Coder, GivesMomentumToGradientsAlone) {
  const Gradients gradients(Gradients::Kind::real);
  const Coded here = coded("dgc", {{"density", "0.1"}, {"momentum", "0.9"}});
  const Coded plain = coded("dgc", {{"density", "0.1"}, {"momentum", "0"}});
  for (const int stage : {0, 1, 2}) {
    Coder with = here.coder(), without = plain.coder();
    bool same = true;
    for (int iteration = 0; iteration < 4; ++iteration) {
      const std::span<const float> values = gradients.of(0, 0, iteration, 1000);
      const Sender sender{.rank = 0, .stage = stage};
      same = with.encode(sender, iteration, values) == without.encode(sender, iteration, values) &&
             same;
    }
    EXPECT_EQ(same, stage > 0);
  }
}

// Messages of different senders and iterations have different random bits.
TEST(Coder, SharesNoRandomBitsBetweenMessages) {
  const Gradients gradients(Gradients::Kind::real);
  const std::span<const float> values = gradients.of(0, 0, 0, 1000);
  const Coded here = coded("terngrad");
  Coder coder = here.coder(), same = here.coder(), other = here.coder(2);
  std::set<Message> messages;
  std::size_t made = 0;
  for (int rank = 0; rank < 3; ++rank)
    for (int stage = 0; stage < 3; ++stage)
      for (int bucket = 0; bucket < 3; ++bucket)
        for (const std::size_t first : {0, 1, 1000})
          for (int iteration = 0; iteration < 3; ++iteration) {
            const Sender sender{.rank = rank, .stage = stage, .bucket = bucket, .first = first};
            messages.insert(coder.encode(sender, iteration, values));
            messages.insert(other.encode(sender, iteration, values));
            made += 2;
            EXPECT_TRUE(messages.contains(same.encode(sender, iteration, values)));
          }
  EXPECT_EQ(messages.size(), made);
}

TEST(Coder, DrawsTheSameForAllWorkersWhereMessagesAreAdded) {
  const Gradients gradients(Gradients::Kind::real);
  const std::span<const float> values = gradients.of(0, 0, 0, 1000);
  const Coded here = coded("randomk", {{"density", "0.1"}});
  Coder coder = here.coder();
  const auto encoded = [&](int rank, int bucket, int iteration) {
    return coder.encode({.rank = rank, .bucket = bucket}, iteration, values);
  };
  const Message first = encoded(0, 0, 5);
  EXPECT_EQ(encoded(3, 0, 5), first);
  EXPECT_NE(encoded(1, 1, 5), first);
  EXPECT_NE(encoded(2, 0, 6), first);
}

// Each sender has its own residual, and receivers see only what was decoded.
TEST(Coder, KeepsWhatIsLeftOutForEachSender) {
  const Coded here = coded("topk", {{"density", "0.5"}});
  Coder coder = here.coder();
  const Values values{4, 1}, nothing{0, 0};
  const Sender worker{.rank = 1}, answer{.rank = 1, .stage = 1, .first = 2};
  EXPECT_EQ(coder.sent(worker, 0, values), (Values{4, 0}));
  EXPECT_EQ(coder.sent(answer, 0, values), (Values{4, 0}));
  Values left(4);
  add_residuals(coder, 0, left);
  EXPECT_EQ(left, (Values{0, 1, 0, 1}));
  coder.give_back(worker, 0, 0, 3);
  EXPECT_EQ(coder.sent(worker, 1, nothing), (Values{3, 0}));
  EXPECT_EQ(coder.sent(worker, 2, nothing), (Values{0, 1}));
  EXPECT_EQ(coder.sent({.rank = 1, .bucket = 1}, 3, nothing), nothing);
  left.assign(4, 0);
  add_residuals(coder, 0, left);
  EXPECT_EQ(left, (Values{0, 0, 0, 1}));
}

// Values given back join the residual also where it is stored as signs and scales.
TEST(Coder, GivesBackToSignsToo) {
  const Coded here = coded("onebit");
  Coder coder = here.coder();
  const Gradients gradients(Gradients::Kind::real);
  const std::span<const float> values = gradients.of(0, 0, 0, 100);
  const Values sent = coder.sent({}, 0, values);
  coder.give_back({}, 0, 7, 0.5f);
  Values left(100);
  add_residuals(coder, 0, left);
  for (std::size_t i = 0; i < left.size(); ++i)
    EXPECT_NEAR(left[i] + sent[i], values[i] + (i == 7 ? 0.5f : 0.0f), 1e-5);
}

// What fp16 cannot represent in sums is not lost: 2049 becomes 2048, and 1 stays in the residual.
TEST(Coder, LeavesWhatFp16CannotHoldInTheResidual) {
  const Coded here = coded("topk", {{"density", "1"}, {"precision", "fp16"}});
  Coder coder = here.coder();
  const Sender aggregator{.rank = 5, .stage = 1};
  std::size_t bytes = 0;
  EXPECT_EQ(coder.sent(aggregator, 0, Values{2049, 0}, &bytes), (Values{2048, 0}));
  EXPECT_EQ(bytes, 12U);
  EXPECT_EQ(coder.sent(aggregator, 1, Values{0, 0}), (Values{1, 0}));
}

TEST(Losses, OfTopKAreTheSmallValuesSquared) {
  const Coded here = coded("topk", {{"density", "0.25"}});
  Coder coder = here.coder();
  const Values first{3, 0, 4, 0}, second{0, 0, 0, 1};
  coder.sent({}, 0, first);
  EXPECT_EQ(coder.measures().all().messages, 1);
  EXPECT_DOUBLE_EQ(coder.measures().all().left_out, 9.0 / 25);
  EXPECT_DOUBLE_EQ(coder.measures().all().bits_per_value, 16);  // 4 + 4 bytes for four values
  coder.sent({}, 1, second);                                    // with the 3 left before
  EXPECT_DOUBLE_EQ(coder.measures().all().left_out, (9.0 / 25 + 1.0 / 10) / 2);
  coder.sent({.stage = 1}, 2, first);  // not a gradient
  coder.sent({.rank = 1}, 2, Values{});
  coder.sent({.rank = 2}, 2, Values{1, NAN, 0, 0});
  EXPECT_EQ(coder.measures().all().messages, 2);
}

// 8,192 values make two chunks with 32 coefficients each, to which all values contribute.
TEST(Losses, OfTransformedValuesCountTheCoefficientsThatWereSent) {
  for (const char* precision : {"fp32", "fp16"}) {
    const Coded here = coded("dct-topk", {{"precision", precision}});
    Coder coder = here.coder();
    const Gradients gradients(Gradients::Kind::real);
    coder.sent({}, 0, gradients.of(0, 0, 0, 8192));
    EXPECT_EQ(coder.measures().all().sent_values, 64) << precision;
    EXPECT_EQ(coder.measures().all().target_values, 64) << precision;
    coder.sent({.rank = 1}, 0, Values(8192));
    EXPECT_EQ(coder.measures().all().least_sent_values, 0) << precision;
  }
}

TEST(Losses, OfRandomKAreWhatItDoesNotChoose) {
  const Coded here = coded("randomk", {{"density", "0.2"}});
  Coder coder = here.coder();
  const Gradients gradients(Gradients::Kind::real);
  for (int iteration = 0; iteration < 200; ++iteration)
    coder.sent({.rank = iteration}, iteration, gradients.of(iteration, 0, iteration, 1000));
  EXPECT_NEAR(coder.measures().all().left_out, 1 - 0.2, 0.005);
  EXPECT_NEAR(coder.measures().all().bits_per_value, 32 * 0.2, 1e-12);
}

// Without feedback u is the gradient: QSGD's variance is not zero, and below its bound min(n / s^2,
// sqrt(n) / s) for s levels of a bucket's 2-norm.
TEST(Losses, OfQsgdAreItsVariance) {
  const Coded here = coded("qsgd", {{"norm", "two"}, {"quant-bucket", "512"}, {"bits", "4"}});
  Coder coder = here.coder();
  const Gradients gradients(Gradients::Kind::real);
  for (int iteration = 0; iteration < 50; ++iteration)
    coder.sent({}, iteration, gradients.of(0, 0, iteration, 512));
  EXPECT_LT(coder.measures().all().left_out, std::sqrt(512.0) / 7);
  EXPECT_GT(coder.measures().all().left_out, 0.3 * std::sqrt(512.0) / 7);
  EXPECT_DOUBLE_EQ(coder.measures().all().bits_per_value, 4 + 32.0 / 512);
}

TEST(Losses, AreWhatTheResidualSays) {
  const Gradients gradients(Gradients::Kind::real);
  for (const std::string name : {"onebit", "efsign", "powersgd", "gaussiank", "cat"}) {
    const Coded here = coded(name);
    Coder coder = here.coder();
    double expected = 0;
    for (int iteration = 0; iteration < 3; ++iteration) {
      const std::span<const float> values = gradients.of(0, 0, iteration, 1000);
      Values before(1000), after(1000);
      add_residuals(coder, 0, before);
      coder.sent({}, iteration, values);
      add_residuals(coder, 0, after);
      double all = 0, left = 0;
      for (std::size_t i = 0; i < 1000; ++i) {
        all += std::pow(double{values[i]} + before[i], 2);
        left += std::pow(double{after[i]}, 2);
      }
      expected += left / all;
    }
    EXPECT_NEAR(coder.measures().all().left_out, expected / 3, 1e-5) << name;
    EXPECT_GT(expected, 0.01) << name;
  }
}

// CAT's stochastic rule keeps nothing: the mean of what it sends is the gradient.
TEST(Losses, OfUnbiasedCatAreItsVariance) {
  const Coded here = coded("cat", {{"rule", "stochastic"}});
  Coder coder = here.coder();
  const Gradients gradients(Gradients::Kind::real);
  const std::span<const float> values = gradients.of(0, 0, 0, 1000);
  const Values sent = coder.sent({}, 0, values);
  double all = 0, left = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    all += std::pow(double{values[i]}, 2);
    left += std::pow(double{values[i]} - sent[i], 2);
  }
  EXPECT_GT(left, 0);
  EXPECT_NEAR(coder.measures().all().left_out, left / all, 1e-6);
  Values nothing(1000);
  add_residuals(coder, 0, nothing);
  EXPECT_EQ(nothing, Values(1000));
}

// Velocity v = m v + g is summed into u; both are cleared where a value is sent (Lin et al. 2018).
TEST(DgcMomentum, FollowsItsOwnRecurrence) {
  constexpr float momentum = 0.5f;  // multiplying by it is exact
  const Coded here = coded("dgc", {{"density", "0.05"}, {"momentum", "0.5"}, {"sample", "1"}});
  Coder coder = here.coder();
  const Gradients gradients(Gradients::Kind::whole);
  Values velocity(1000), sum(1000);
  std::size_t values = 0;
  for (int iteration = 0; iteration < 20; ++iteration) {
    const std::span<const float> gradient = gradients.of(0, 0, iteration, 1000);
    const Values sent = coder.sent({}, iteration, gradient);
    for (std::size_t i = 0; i < 1000; ++i) {
      velocity[i] = momentum * velocity[i] + gradient[i];
      sum[i] += velocity[i];
      if (sent[i] == 0)
        continue;
      EXPECT_EQ(sent[i], sum[i]);
      velocity[i] = sum[i] = 0;
      ++values;
    }
    Values left(1000);
    add_residuals(coder, 0, left);
    EXPECT_EQ(left, sum);
  }
  EXPECT_GE(values, 20U * 50);
}

// With equal gradients, the factors of the sum are those of one worker, times n.
TEST(PowerSgd, OfEqualGradientsIsThatOfOne) {
  const Gradients gradients(Gradients::Kind::real);
  const Coded here({{"exchange", "ring"}, {"compressor", "powersgd"}}, {2, 2});
  Coder coder = here.coder(), alone = here.coder();
  for (int iteration = 0; iteration < 4; ++iteration) {
    const std::span<const float> one = gradients.of(0, 0, iteration, 1000);
    std::vector<std::size_t> bytes;
    const Values sum = here.combined(coder.contributions(0, iteration, std::vector(4, one), bytes));
    std::size_t expected = 0;
    const Values sent = alone.sent({.rank = 2}, iteration, one, &expected);
    for (std::size_t i = 0; i < sum.size(); ++i)
      EXPECT_NEAR(sum[i], 4 * sent[i], 1e-4);
    EXPECT_EQ(bytes, std::vector<std::size_t>(4, expected));
  }
}

}  // namespace
}  // namespace syncline
