// Every exchange with real gradients: nothing is lost on the way, and small examples leave what
// arithmetic says.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <set>

#include "kernels/cpu/tiles.h"
#include "tests/unit/coded.h"
#include "tests/unit/collective.h"
#include "tests/unit/parameter_name.h"

namespace syncline {
namespace {

struct Coding {
  std::string exchange;
  std::string compressor;
  WrittenOptions words;
};

std::string name_of(const Coding& pair) {
  std::string name = pair.exchange + " " + pair.compressor;
  for (const auto& [key, value] : pair.words)
    name += ", " + key + " = " + value;
  return name;
}

WrittenOptions with_density(const std::string& compressor, const std::string& density) {
  for (const OwnOption& parameter : Registered<Compressor>::find(compressor).options)
    if (parameter.name == "density")
      return {{"density", density}};
  return {};
}

// All pairs of this exchange and a compressor that a simulation allows, with both values of
// `in-node`.
std::vector<Coding> pairs_of(const std::string& exchange) {
  std::vector<Coding> pairs;
  for (const std::string& compressor : Registered<Compressor>::names())
    for (const std::string in_node : {"", "dense", "compressed"}) {
      WrittenOptions words = with_density(compressor, "0.1");
      if (!in_node.empty())
        words["in-node"] = in_node;
      WrittenOptions all = words;
      all["exchange"] = exchange;
      all["compressor"] = compressor;
      std::vector<Conflict> conflicts;
      scenario_of(all, conflicts);
      if (conflicts.empty() && compressor != "none")
        pairs.push_back({exchange, compressor, words});
    }
  return pairs;
}

Coded coded(const Coding& pair, const std::vector<int>& workers_in_node,
            WrittenOptions words = {}) {
  words.insert(pair.words.begin(), pair.words.end());
  words["exchange"] = pair.exchange;
  words["compressor"] = pair.compressor;
  return {words, workers_in_node};
}

std::vector<std::vector<int>> topologies_of(const std::string& exchange) {
  std::vector<std::vector<int>> all{{2}, {1, 1, 1}, {2, 2}, {4, 4}, {1, 1, 1, 1, 1}, {1}};
  if (!needs_even_nodes(exchange))
    all.push_back({3, 1, 2});
  return all;
}

double worse(double a, double b) {
  return std::isnan(b) ? std::numeric_limits<double>::infinity() : std::max(a, b);
}

// Gradients made, and what was applied and is left, after every iteration.
struct Books {
  std::vector<double> made, kept, magnitude;

  explicit Books(std::size_t elements) : made(elements), kept(elements), magnitude(elements) {}

  void add(const std::vector<std::span<const float>>& gradients, const Values& applied) {
    for (std::size_t i = 0; i < made.size(); ++i) {
      for (const std::span<const float> gradient : gradients) {
        made[i] += gradient[i];
        magnitude[i] += std::abs(gradient[i]);
      }
      kept[i] += applied[i];
    }
  }
  // Values that merging lists has lost must not count as errors of later iterations.
  void forget_what_merges_lost(const Values& applied, const Coder& coder, int bucket) {
    Values left(made.size());
    add_residuals(coder, bucket, left);
    for (std::size_t i = 0; i < made.size(); ++i)
      if (applied[i] != 0)
        made[i] = kept[i] + left[i];
  }
  // The largest error, as a share of the largest sum of magnitudes.
  double error(const Coder& coder, int bucket) const {
    Values left(made.size());
    add_residuals(coder, bucket, left);
    double most = 0, scale = 0;
    for (std::size_t i = 0; i < made.size(); ++i) {
      most = worse(most, std::abs(kept[i] + left[i] - made[i]));
      scale = std::max(scale, magnitude[i]);
    }
    return scale > 0 ? most / scale : most;
  }
};

// gTop-k counts a worker's value as sent if its element is in the last list, even if a merge had
// dropped the value. Two workers merge once, so that dropped values are in no list.
bool merges_lose(const Coded& here) {
  return here.scenario.exchange->name == "gtopk" && here.topology.workers() > 2;
}

// The largest error of 20 iterations with buckets of these sizes.
double combination_error(const Coded& here, const Gradients& gradients) {
  const std::vector<std::size_t> sizes{1000, 0, 3, 1};
  Coder coder = here.coder();
  std::vector<Books> books(sizes.begin(), sizes.end());
  double most = 0;
  for (int iteration = 0; iteration < 20; ++iteration)
    for (int bucket = 0; bucket < 4; ++bucket) {
      const auto b = static_cast<std::size_t>(bucket);
      std::vector<std::size_t> bytes;
      const Contributions all = coder.contributions(
          bucket, iteration, gradients.of_all(here.topology.workers(), bucket, iteration, sizes[b]),
          bytes);
      const Values applied = here.combined(all);
      EXPECT_EQ(applied.size(), sizes[b]);
      books[b].add(all.gradients, applied);
      if (merges_lose(here))
        books[b].forget_what_merges_lost(applied, coder, bucket);
      most = worse(most, books[b].error(coder, bucket));
    }
  return most;
}

class EveryCombine : public testing::TestWithParam<std::string> {};

TEST_P(EveryCombine, LosesNothing) {
  const Gradients real(Gradients::Kind::real), whole(Gradients::Kind::whole);
  int checked = 0;
  for (const Coding& pair : pairs_of(GetParam())) {
    const Compressor& compressor = Registered<Compressor>::find(pair.compressor);
    if (!compressor.keeps_residual(Settings(compressor.options, {})))
      continue;
    // Methods that send values unchanged keep sums of whole numbers exact.
    const bool exact = compressor.sparse || pair.compressor == "randomk";
    for (const std::vector<int>& nodes : topologies_of(pair.exchange)) {
      SCOPED_TRACE(name_of(pair) + testing::PrintToString(nodes));
      const Coded here = coded(pair, nodes);
      EXPECT_LT(combination_error(here, real), 1e-5);
      if (exact && !merges_lose(here)) {  // whole numbers may cancel in the last list
        EXPECT_EQ(combination_error(here, whole), 0);
      }
      ++checked;
    }
  }
  EXPECT_GE(checked, 12);
}

// In fp16, messages that are added on the way are rounded; in all other cases nothing is.
TEST_P(EveryCombine, LosesNothingInFp16) {
  const Gradients real(Gradients::Kind::real);
  for (const Coding& pair : pairs_of(GetParam())) {
    const Compressor& compressor = Registered<Compressor>::find(pair.compressor);
    if (!compressor.keeps_residual(Settings(compressor.options, {})))
      continue;
    const bool rounds = compressor.reducible && !compressor.first_half;
    for (const std::vector<int>& nodes : {std::vector<int>{2, 2}, {1, 1, 1}}) {
      SCOPED_TRACE(name_of(pair) + testing::PrintToString(nodes));
      EXPECT_LT(combination_error(coded(pair, nodes, {{"precision", "fp16"}}), real),
                rounds ? 1e-2 : 1e-5);
    }
  }
}

TEST_P(EveryCombine, AddsInTheOrderOfRanksWhatNothingCompresses) {
  const Gradients gradients(Gradients::Kind::real);
  const Exchange& exchange = Registered<Exchange>::find(GetParam());
  const Settings settings(exchange.options, {});
  for (const std::string precision : {"fp32", "fp16"})
    for (const std::vector<int>& nodes : topologies_of(GetParam())) {
      const Coded here({{"precision", precision}}, nodes);
      Coder coder = here.coder();
      for (const std::size_t elements : {0, 1, 3, 1000}) {
        std::vector<std::size_t> bytes;
        const auto all = gradients.of_all(here.topology.workers(), 1, 2, elements);
        std::vector<Values> sent;
        for (const std::span<const float> gradient : all) {
          sent.emplace_back(gradient.begin(), gradient.end());
          for (float& value : sent.back())
            value = as_sent(value, here.scenario.precision);
        }
        const Values sum =
            combine(exchange, here.topology, settings, coder.contributions(1, 2, all, bytes));
        EXPECT_EQ(bits_of(sum), bits_of(added({sent.begin(), sent.end()})));
        EXPECT_EQ(bytes, std::vector<std::size_t>(all.size(), Coder::no_message));
        EXPECT_EQ(bits_of(coder.sent({.rank = 1}, 2, all.back())),
                  bits_of(added({std::span<const float>(sent.back())})));
      }
    }
}

// At density 1 nothing is left out. Exchanges that send partial sums add in another order, so only
// sums of whole numbers are equal to the bit.
TEST_P(EveryCombine, OfAllValuesIsTheDenseSum) {
  const bool of_partial_sums =
      std::set<std::string>{"gtopk", "hitopk", "hierarchical", "hierarchical-compressed"}.contains(
          GetParam());
  const Gradients real(Gradients::Kind::real), whole(Gradients::Kind::whole);
  for (Coding pair : pairs_of(GetParam())) {
    if (pair.compressor != "topk" && pair.compressor != "mstopk" && pair.compressor != "randomk")
      continue;
    pair.words["density"] = "1";
    for (const std::vector<int>& nodes : topologies_of(GetParam())) {
      SCOPED_TRACE(name_of(pair) + testing::PrintToString(nodes));
      const Coded here = coded(pair, nodes);
      Coder coder = here.coder();
      std::vector<std::size_t> bytes;
      for (int iteration = 0; iteration < 3; ++iteration)
        for (const Gradients* gradients : {&whole, &real}) {
          const auto all = gradients->of_all(here.topology.workers(), 0, iteration, 1000);
          const Values sum = here.combined(coder.contributions(0, iteration, all, bytes));
          const Values dense = added(all);
          if (gradients == &whole || !of_partial_sums || nodes.size() == 1) {
            EXPECT_TRUE(std::ranges::equal(sum, dense));
          }
          for (std::size_t i = 0; i < dense.size(); ++i)
            EXPECT_NEAR(sum[i], dense[i], 1e-5);
        }
    }
  }
}

// A small example with the same gradients for its only bucket in every iteration.
struct Example {
  Coded coded;
  std::vector<Values> gradients;
  Coder coder = coded.coder();
  std::vector<std::size_t> bytes = {};

  Values next(int iteration, const std::vector<Values>& made) {
    gradients = made;
    return coded.combined(
        coder.contributions(0, iteration, {gradients.begin(), gradients.end()}, bytes));
  }
  Values left() const {
    Values sum(gradients.front().size());
    add_residuals(coder, 0, sum);
    return sum;
  }
};

Example example(const std::string& exchange, const std::string& compressor,
                const std::vector<int>& nodes, const WrittenOptions& words) {
  return {.coded = coded({exchange, compressor, words}, nodes), .gradients = {}};
}

const std::vector<Values> nothing_of_three{{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};

// Three workers with four values, each sending one. Ranks 0 and 1 merge first, then rank 2.
TEST(GlobalTopK, MergesListsAndReturnsWhatItDrops) {
  Example example = syncline::example("gtopk", "topk", {1, 1, 1}, {{"density", "0.25"}});
  // 0 sends (0: 5), 1 sends (1: 4), 2 sends (1: 3): first 4 is dropped, then 3 loses against 5.
  EXPECT_EQ(example.next(0, {{5, 0, 0, 1}, {0, 4, 0, 0}, {0, 3, 2, 0}}), (Values{5, 0, 0, 0}));
  EXPECT_EQ(example.bytes, (std::vector<std::size_t>{8, 8, 8}));
  EXPECT_EQ(example.left(), (Values{0, 7, 2, 1}));
  // Ranks 1 and 2 got their own values back, although rank 0 has merged both. So -5 meets 4 and
  // then 3; if rank 0 had the 7, it would not send it at all.
  EXPECT_EQ(example.next(1, {{0, -5, 3, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}), (Values{0, 2, 0, 0}));
  EXPECT_EQ(example.left(), (Values{0, 0, 5, 1}));
}

// Ranks 0 and 1 merge first, and 4 is dropped; then rank 2 brings the element of that 4. Only
// elements that the last list lacks come back.
TEST(GlobalTopK, CountsAsSentWhatIsInTheLastListThoughAMergeHadDroppedIt) {
  Example example = syncline::example("gtopk", "topk", {1, 1, 1}, {{"density", "0.25"}});
  EXPECT_EQ(example.next(0, {{5, 0, 0, 0}, {0, 4, 0, 1}, {0, 6, 0, 0}}), (Values{0, 6, 0, 0}));
  EXPECT_EQ(example.left(), (Values{5, 0, 0, 1}));
  EXPECT_EQ(example.next(1, nothing_of_three), (Values{5, 0, 0, 0}));
  EXPECT_EQ(example.left(), (Values{0, 0, 0, 1}));
}

TEST(GlobalTopK, WithoutErrorFeedbackReturnsNothing) {
  Example example = syncline::example("gtopk", "topk", {1, 1, 1},
                                      {{"density", "0.25"}, {"error-feedback", "off"}});
  EXPECT_EQ(example.next(0, {{5, 0, 0, 1}, {0, 4, 0, 0}, {0, 3, 2, 0}}), (Values{5, 0, 0, 0}));
  EXPECT_EQ(example.left(), (Values{0, 0, 0, 0}));
  EXPECT_EQ(example.next(1, nothing_of_three), (Values{0, 0, 0, 0}));
}

// The same values: their sums are 5 and 7, of which 7 is the largest.
TEST(RegionsTopK, KeepTheLargestOfAllSums) {
  Example example = syncline::example("oktopk", "topk", {1, 1, 1}, {{"density", "0.25"}});
  EXPECT_EQ(example.next(0, {{5, 0, 0, 1}, {0, 4, 0, 0}, {0, 3, 2, 0}}), (Values{0, 7, 0, 0}));
  EXPECT_EQ(example.left(), (Values{5, 0, 2, 1}));
  EXPECT_EQ(example.next(1, nothing_of_three), (Values{5, 0, 0, 0}));
  // Rank 0 sends 6, the others 9 and 2, which make 11. The 6 stays with rank 0 and meets -5,
  // although rank 2 owns that region: rank 2 sends -5, which is larger than its 4.
  EXPECT_EQ(example.next(2, {{0, 0, 0, 5}, {0, 0, 9, 0}, {0, 0, 0, 0}}), (Values{0, 0, 11, 0}));
  EXPECT_EQ(example.left(), (Values{0, 0, 0, 6}));
  EXPECT_EQ(example.next(3, {{0, 0, 0, 0}, {0, 0, 0, 0}, {4, 0, 0, -5}}), (Values{0, 0, 0, 1}));
  EXPECT_EQ(example.left(), (Values{4, 0, 0, 0}));
}

// Two nodes of two workers. Shares are halves; of each half, a node sends the larger value of its
// sum.
TEST(Shares, AreSelectedFromTheSumsOfNodes) {
  const std::vector<Values> gradients{{1, 2, 0, 1}, {1, -1, 2, 4}, {5, 0, 0, 0}, {0, 3, 1, 0}};
  for (const std::string exchange : {"hitopk", "hierarchical", "hierarchical-compressed"}) {
    Example example = syncline::example(exchange, "topk", {2, 2}, {{"density", "0.5"}});
    // Sums: 2 1 2 5 and 5 3 1 0.
    EXPECT_EQ(example.next(0, gradients), (Values{7, 0, 1, 5})) << exchange;
    EXPECT_EQ(example.left(), (Values{0, 4, 2, 0}));
    EXPECT_EQ(example.bytes, (std::vector<std::size_t>(4, 16)));  // two shares of 8 bytes
    EXPECT_EQ(example.next(1, std::vector<Values>(4, Values(4))), (Values{0, 4, 2, 0}));
  }
}

TEST(Shares, OfOneNodeAreCompressedByHiTopKOnly) {
  const std::vector<Values> gradients{{1, 2, 0, 1}, {1, -1, 2, 4}};
  Example hitopk = example("hitopk", "topk", {2}, {{"density", "0.5"}});
  EXPECT_EQ(hitopk.next(0, gradients), (Values{2, 0, 0, 5}));
  Example hierarchical = example("hierarchical", "topk", {2}, {{"density", "0.5"}});
  EXPECT_EQ(hierarchical.next(0, gradients), (Values{2, 1, 2, 5}));
  EXPECT_EQ(hierarchical.bytes, (std::vector<std::size_t>(2, Coder::no_message)));
}

// Two workers, one half of the sum each, of which one value is sent again.
TEST(AllToAll, CompressesSumsAgainWithResidualsOfTheirOwn) {
  for (const std::string exchange : {"alltoall", "hierarchical-compressed"}) {
    Example example = syncline::example(exchange, "topk", {1, 1}, {{"density", "0.5"}});
    EXPECT_EQ(example.next(0, {{4, 3, 1, 0}, {0, 5, 0, 6}}), (Values{0, 8, 0, 6})) << exchange;
    EXPECT_EQ(example.left(), (Values{4, 0, 1, 0}));  // the 4 was sent only once
    EXPECT_EQ(example.next(1, {{0, 0, 0, 0}, {0, 0, 0, 0}}), (Values{4, 0, 1, 0}));
  }
}

// The bits are those of encoding and decoding each message with the kernels, one after the other.
TEST(AllGather, IsTheSumOfDecodedMessages) {
  const Gradients gradients(Gradients::Kind::real);
  const Compressor& topk = Registered<Compressor>::find("topk");
  const Settings settings(topk.options, {{"density", "0.01"}});
  const Coded here = coded({"allgather", "topk", {{"density", "0.01"}}}, {3, 1});
  Coder coder = here.coder();
  std::vector<State> states(4);
  for (int iteration = 0; iteration < 5; ++iteration) {
    const auto all = gradients.of_all(4, 0, iteration, 20000);
    Values expected(20000);
    for (std::size_t worker = 0; worker < 4; ++worker) {
      Message message;
      topk.reference.encode(settings, all[worker], {}, states[worker], message);
      topk.reference.decode(settings, message, Precision::fp32, {}, expected);
    }
    std::vector<std::size_t> bytes;
    EXPECT_EQ(bits_of(here.combined(coder.contributions(0, iteration, all, bytes))),
              bits_of(expected));
    EXPECT_EQ(bytes, std::vector<std::size_t>(4, 1600));
  }
}

// All exchanges that add messages on the way give the same bits, with any number of threads.
TEST(Sums, AreTheSameInEveryExchangeThatAddsMessages) {
  const Gradients gradients(Gradients::Kind::real);
  for (const std::string compressor : {"randomk", "powersgd"}) {
    std::vector<std::uint32_t> first;
    for (const std::string exchange : {"ring", "tree", "halving-doubling", "ps", "hierarchical"})
      for (const int count : {1, 3}) {
        const Coded here =
            coded({exchange, compressor, with_density(compressor, "0.1")}, {2, 2},
                  exchange == "hierarchical" ? WrittenOptions{{"in-node", "compressed"}}
                                             : WrittenOptions{});
        Coder coder = here.coder();
        use_threads(count);
        std::vector<std::size_t> bytes;
        Values sum;
        for (int iteration = 0; iteration < 3; ++iteration)
          sum = here.combined(
              coder.contributions(0, iteration, gradients.of_all(4, 0, iteration, 20000), bytes));
        if (first.empty())
          first = bits_of(sum);
        EXPECT_EQ(bits_of(sum), first) << exchange << ", " << count << " threads";
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, EveryCombine, testing::ValuesIn(Registered<Exchange>::names()),
                         name_of_parameter);

}  // namespace
}  // namespace syncline
