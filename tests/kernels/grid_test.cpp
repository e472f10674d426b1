// The automatic grid: every registered compressor, without a list here, over sizes, densities,
// distributions and both precisions. The fast version must give the bytes of the reference (message
// and residual, two steps in a row), decoders must agree, residual and decoded message must add up
// to what was put in, and sizes must be as predicted.
#include <cmath>
#include <gtest/gtest.h>
#include <sstream>

#include "kernels/compressor.h"
#include "tests/kernels/data.h"
#include "tests/unit/parameter_name.h"

namespace syncline {
namespace {

#ifdef __SANITIZE_ADDRESS__  // takes twenty times as long
constexpr std::size_t several_tiles = 20000;
#else
constexpr std::size_t several_tiles = 200000;
#endif
const std::size_t sizes[] = {0, 1, 2, 31, 1000, 4097, several_tiles};
const std::string densities[] = {"0", "0.001", "0.01", "0.5", "1"};

bool has(const Compressor& compressor, const std::string& parameter) {
  for (const OwnOption& p : compressor.options)
    if (p.name == parameter)
      return true;
  return false;
}

std::string written(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

struct Step {
  Message message;
  std::vector<float> decoded;
  Values left;
};

Step run(const Codec& codec, const Settings& settings, const Gradient& gradient, const Draw& draw,
         State& state) {
  Step step;
  codec.encode(settings, gradient, draw, state, step.message);
  step.decoded.resize(gradient.elements());
  codec.decode(settings, step.message, gradient.precision(), draw, step.decoded);
  step.left = residual(state);
  return step;
}

// residual + decoded = gradient + old residual: to the bit for sparsifiers; up to one rounding for
// the others, whose residual is rounded once.
void expect_law_13(const Compressor& compressor, std::span<const float> before, const Step& step) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    const float after = step.left[i] + step.decoded[i];
    const float size = std::fabs(step.left[i]) + std::fabs(step.decoded[i]);
    ASSERT_NEAR(before[i], after, compressor.sparse ? 0.0f : size * 0x1p-22f) << "element " << i;
  }
}

void check(const Compressor& compressor, const Settings& settings, const Gradient& gradient,
           bool finite) {
  State plain, fast;
  Values before(gradient.elements());
  for (std::uint32_t step = 0; step < 2; ++step) {
    const Draw draw{7, step, 3};
    const Step expected = run(compressor.reference, settings, gradient, draw, plain);
    const Step got = run(compressor.cpu, settings, gradient, draw, fast);
    ASSERT_TRUE(expected.message == got.message) << "messages differ";
    ASSERT_TRUE(bits_of(expected.decoded) == bits_of(got.decoded)) << "decoders differ";
    ASSERT_TRUE(bits_of(expected.left) == bits_of(got.left)) << "residuals differ";
    const WireSize size =
        compressor.wire_bytes(settings, gradient.elements(), gradient.precision());
    const double bytes = static_cast<double>(got.message.size());
    ASSERT_TRUE(!size.exact || size.bytes == bytes) << bytes << " bytes, predicted " << size.bytes;
    ASSERT_TRUE(size.low <= size.bytes && size.bytes <= size.high);
    ASSERT_TRUE(!size.exact || size.low == size.high);
    if (!finite || !compressor.keeps_residual(settings))
      continue;
    for (std::size_t i = 0; i < before.size(); ++i)
      before[i] = gradient.at(i) + before[i];
    expect_law_13(compressor, before, got);
    before = got.left;
  }
}

class Grid : public testing::TestWithParam<std::string> {};

TEST_P(Grid, FastVersionGivesTheBytesOfTheReference) {
  const Compressor& compressor = Registered<Compressor>::find(GetParam());
  for (const std::size_t n : sizes)
    for (const Distribution& distribution : distributions()) {
      const std::vector<float> values = distribution.values(n, n + 1);
      const std::vector<Half> half_values = halves(values);
      for (const std::string& density : densities) {
        if (density != densities[0] && !has(compressor, "density"))
          continue;
        SCOPED_TRACE(distribution.name + ", " + std::to_string(n) + " elements, density " +
                     density);
        const Settings settings = settings_at(compressor, density);
        check(compressor, settings, std::span<const float>(values), distribution.finite);
        const bool fits = distribution.name != "adversarial";  // fp16 ends at 65504
        check(compressor, settings, std::span<const Half>(half_values),
              distribution.finite && fits);
        if (HasFatalFailure())
          return;
      }
    }
}

// Every parameter at its choices and ends, on one awkward tensor.
TEST_P(Grid, EverySettingGivesTheBytesOfTheReference) {
  const Compressor& compressor = Registered<Compressor>::find(GetParam());
  for (const Distribution& distribution : {distributions()[1], distributions()[3]}) {
    const std::vector<float> values = distribution.values(20011, 5);
    for (const OwnOption& parameter : compressor.options) {
      std::vector<std::string> tried = parameter.choices;
      if (tried.empty() && std::isfinite(parameter.minimum))
        tried.push_back(written(parameter.minimum));
      if (parameter.choices.empty() && std::isfinite(parameter.maximum))
        tried.push_back(written(parameter.maximum));
      for (const std::string& value : tried) {
        SCOPED_TRACE(parameter.name + " = " + value + ", " + distribution.name);
        std::map<std::string, std::string> given = {{parameter.name, value}};
        const bool law = !(parameter.name == "error-feedback" && value == "off");
        const Settings settings(compressor.options, given);
        State plain, fast;
        for (std::uint32_t step = 0; step < 3; ++step) {
          const Draw draw{11, step, 0};
          const Step expected =
              run(compressor.reference, settings, std::span<const float>(values), draw, plain);
          const Step got =
              run(compressor.cpu, settings, std::span<const float>(values), draw, fast);
          ASSERT_TRUE(expected.message == got.message) << "messages differ at step " << step;
          ASSERT_TRUE(bits_of(expected.decoded) == bits_of(got.decoded)) << "step " << step;
          ASSERT_TRUE(!law || bits_of(expected.left) == bits_of(got.left)) << "step " << step;
        }
      }
    }
  }
}

TEST_P(Grid, MisalignedSpansGiveTheSameBytes) {
  const Compressor& compressor = Registered<Compressor>::find(GetParam());
  const Settings settings = settings_at(compressor, "");
  const std::vector<float> values = gauss(10007, 3);
  State state;
  Message expected;
  compressor.cpu.encode(settings, std::span<const float>(values), {}, state, expected);
  for (std::size_t shift = 1; shift < 8; ++shift) {
    std::vector<float> room(shift, 0.0f);
    room.insert(room.end(), values.begin(), values.end());
    State other;
    Message got;
    compressor.cpu.encode(settings, std::span<const float>(room).subspan(shift), {}, other, got);
    ASSERT_TRUE(expected == got) << "shifted by " << shift;
    // The sum may also start at any address, and nothing next to it may change.
    std::vector<float> sum(values.size() + shift + 1, 5.0f);
    compressor.cpu.decode(settings, got, Precision::fp32, {},
                          std::span<float>(sum).subspan(shift, values.size()));
    for (std::size_t i = 0; i < shift; ++i)
      ASSERT_EQ(sum[i], 5.0f);
    ASSERT_EQ(sum.back(), 5.0f);
  }
}

TEST_P(Grid, ReducibleMeansMessagesCanBeSummed) {
  const Compressor& compressor = Registered<Compressor>::find(GetParam());
  ASSERT_EQ(compressor.reducible, static_cast<bool>(compressor.add));
  if (!compressor.reducible)
    return;
  const Settings settings = settings_at(compressor, "");
  const std::size_t n = 10007;
  std::vector<float> one_by_one(n), at_once(n);
  std::vector<Message> messages(3);
  std::vector<State> states(3);
  const Draw draw{9, 2, 1};
  for (std::size_t w = 0; w < messages.size(); ++w) {
    const std::vector<float> values = gauss(n, w + 1);
    const Encode& first = compressor.first_half ? compressor.first_half : compressor.cpu.encode;
    first(settings, std::span<const float>(values), draw, states[w], messages[w]);
  }
  const auto reduced = [&] {
    Message sum = messages[0];
    for (std::size_t w = 1; w < messages.size(); ++w)
      compressor.add(settings, Precision::fp32, sum, messages[w]);
    return sum;
  };
  Message sum = reduced();
  if (compressor.second_half) {
    const Message first_sum = sum;
    for (std::size_t w = 0; w < messages.size(); ++w)
      compressor.second_half(settings, first_sum, states[w], messages[w]);
    for (const Message& second : messages) {
      Message whole = first_sum;
      whole.insert(whole.end(), second.begin(), second.end());
      compressor.cpu.decode(settings, whole, Precision::fp32, draw, one_by_one);
    }
    const Message second_sum = reduced();
    sum.insert(sum.end(), second_sum.begin(), second_sum.end());
  } else {
    for (const Message& message : messages)
      compressor.cpu.decode(settings, message, Precision::fp32, draw, one_by_one);
  }
  compressor.cpu.decode(settings, sum, Precision::fp32, draw, at_once);
  for (std::size_t i = 0; i < n; ++i)
    ASSERT_NEAR(one_by_one[i], at_once[i], 1e-4) << "element " << i;
}

// With elements in few places, in some that several messages share, and in all.
TEST_P(Grid, MessagesDecodedAtOnceAreThoseAddedOneByOne) {
  const Compressor& compressor = Registered<Compressor>::find(GetParam());
  const Draw draw{7, 1, 3};
  for (const std::string density : {"0", "0.001", "0.1", "1"}) {
    if (density != "0.1" && !has_density(compressor))
      continue;
    const Settings settings = settings_at(compressor, has_density(compressor) ? density : "");
    for (const std::size_t n : {0u, 1u, 31u, 4097u, 70001u})
      for (const Precision precision : {Precision::fp32, Precision::fp16})
        for (const std::size_t count : counts_of_messages) {
          if (n > 5000 && (precision == Precision::fp16 || (count != 2 && count != 64)))
            continue;
          const Mail mail = mail_of(compressor, settings, count, n, precision, draw);
          std::vector<float> sum(n, 1.0f);
          compressor.cpu.decode(settings, mail.all(), precision, draw, sum);
          ASSERT_TRUE(bits_of(mail.expected) == bits_of(sum))
              << count << " messages of " << n << " elements, density " << density;
        }
  }
}

// A bad message after a good one is refused and not added.
TEST_P(Grid, ACorruptMessageAmongOthersIsNotAdded) {
  const Compressor& compressor = Registered<Compressor>::find(GetParam());
  const Settings settings = settings_at(compressor, has_density(compressor) ? "0.1" : "");
  const Mail good = mail_of(compressor, settings, 1, 4097, Precision::fp32, {});
  Message bad = good.messages[0];
  bad.push_back(std::byte{1});
  std::vector<float> sum(4097, 1.0f);
  EXPECT_THROW(compressor.cpu.decode(settings, Messages({good.messages[0], bad, good.messages[0]}),
                                     Precision::fp32, {}, sum),
               CorruptMessage);
  EXPECT_TRUE(bits_of(sum) == bits_of(std::vector<float>(4097, 1.0f)) ||
              bits_of(sum) == bits_of(good.expected));
}

TEST_P(Grid, RefusesATensorThatChangedItsSize) {
  const Compressor& compressor = Registered<Compressor>::find(GetParam());
  const Settings settings = settings_at(compressor, "");
  if (!compressor.keeps_residual(settings))
    return;
  const std::vector<float> five(5, 1.0f), six(6, 1.0f);
  State state;
  Message message;
  compressor.cpu.encode(settings, std::span<const float>(five), {}, state, message);
  EXPECT_THROW(compressor.cpu.encode(settings, std::span<const float>(six), {}, state, message),
               std::invalid_argument);
}

TEST_P(Grid, UnbiasedMeansTheMeanOfManyDecodingsIsTheGradient) {
  const Compressor& compressor = Registered<Compressor>::find(GetParam());
  if (!compressor.unbiased)
    return;
  const Settings settings = settings_at(compressor, "");
  const std::size_t n = 512;
  const int trials = 4000;
  const std::vector<float> values = gauss(n, 17);
  std::vector<double> mean(n), squares(n);
  for (int trial = 0; trial < trials; ++trial) {
    State state;
    const Step step = run(compressor.cpu, settings, std::span<const float>(values),
                          Draw{static_cast<std::uint64_t>(trial), 1, 1}, state);
    for (std::size_t i = 0; i < n; ++i) {
      mean[i] += step.decoded[i] / trials;
      squares[i] += step.decoded[i] * step.decoded[i] / trials;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double error = std::sqrt(std::max(squares[i] - mean[i] * mean[i], 0.0) / trials);
    ASSERT_NEAR(mean[i], values[i], 5.5 * error + 1e-4) << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryCompressor, Grid, testing::ValuesIn(Registered<Compressor>::names()),
                         name_of_parameter);

}  // namespace
}  // namespace syncline
