#include "sim/setup/model.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <set>

#include "sim/catalogue/csv.h"
#include "sim/catalogue/files.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

const std::string columns = "layer,parameters,forward_flop\n";

// The error of reading this text as a model, without the folder's name.
std::string error_message(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = folder.write("net.csv", text);
  const std::string error = error_of([&] { read_model(path); });
  const std::size_t begin = error.find("net.csv");
  EXPECT_NE(begin, std::string::npos) << error << ": does not name the file";
  return begin == std::string::npos ? error : error.substr(begin);
}

TEST(ReadModel, ReadsLayersInForwardOrder) {
  const TemporaryFolder folder;
  const Model model = read_model(folder.write(
      "tiny.csv", "# sample: 28x28 image\n# parameters: 30\n" + columns + "a,10,2.5\nb,20,0\n"));
  EXPECT_EQ(model.name, "tiny");
  EXPECT_EQ(model.sample, "28x28 image");
  ASSERT_EQ(model.layers.size(), 2U);
  EXPECT_EQ(model.layers[0].name, "a");
  EXPECT_EQ(model.layers[0].parameters, 10U);
  EXPECT_EQ(model.layers[1].name, "b");
  EXPECT_EQ(model.parameters(), 30U);
  EXPECT_DOUBLE_EQ(model.forward_flop(), 2.5);
}

TEST(ReadModel, NamesAMissingColumnAndTheOthers) {
  expect_mentions(error_message("layer,forward_flop\na,1\n"),
                  {"'parameters'", "layer", "forward_flop"});
  expect_mentions(error_message("layer,parameters\na,1\n"), {"'forward_flop'"});
  expect_mentions(error_message("parameters,forward_flop\n1,1\n"), {"'layer'"});
}

TEST(ReadModel, NamesFileAndLineOfABadNumber) {
  for (const char* bad : {"-1", "0", "nan", "1.5", "1e400", "inf", "many", ""})
    expect_mentions(error_message("# a comment\n" + columns + "a,1,1\nb," + bad + ",1\n"),
                    {"net.csv:4: parameters = " + std::string(bad) + ": allowed are"});
  for (const char* bad : {"-1", "nan", "1e400", "-inf", "fast"})
    expect_mentions(error_message(columns + "a,1," + bad + "\n"),
                    {"net.csv:2: forward_flop = " + std::string(bad) + ": allowed are"});
}

TEST(ReadModel, NamesTheLineOfARowWithTooFewOrTooManyFields) {
  expect_mentions(error_message(columns + "a,1\n"), {"net.csv:2"});
  expect_mentions(error_message(columns + "a,1,1\nb,1,1,1\n"), {"net.csv:3"});
}

TEST(ReadModel, NamesBothTotalsWhenTheyDiffer) {
  expect_mentions(error_message("# parameters: 31\n" + columns + "a,10,1\nb,20,1\n"), {"30", "31"});
  expect_mentions(error_message("# flop: 3\n" + columns + "a,10,1\nb,20,1\n"),
                  {"2 forward_flop", "declares 3"});
}

TEST(ReadModel, RefusesAModelThatTakesNoTimeOrHasNoLayers) {
  expect_mentions(error_message(columns + "a,10,0\nb,20,0\n"), {"forward_flop"});
  expect_mentions(error_message(columns), {"net.csv", "no rows"});
  expect_mentions(error_message(""), {"column"});
}

TEST(ReadModel, RefusesSumsThatNoNetworkHas) {
  const auto rows = [](int count, const std::string& row) {
    std::string text = columns;
    for (int i = 0; i < count; ++i)
      text += row;
    return text;
  };
  expect_mentions(error_message(rows(20000, "a,1000000000000,1\n")),
                  {"net.csv: its layers have 2e+16 parameters: allowed are up to 1e+12 in total"});
  expect_mentions(error_message(columns + "a,1e15,1\n"), {"net.csv:2: parameters = 1e15"});
  expect_mentions(error_message(rows(3, "a,1,1e24\n")), {"net.csv", "3e+24 forward_flop"});
  expect_mentions(error_message(rows(3, "a,1,1e-320\n")), {"net.csv", "forward_flop", "or more"});
  expect_mentions(error_message(rows(100'001, "a,1,1\n")), {"net.csv", "100001 layers"});
}

TEST(ReadModel, RefusesActivationsThatCannotBe) {
  const std::string more = "layer,parameters,forward_flop,activation_bytes,attention_bytes\n";
  expect_mentions(error_message(more + "a,1,1,-1,0\n"), {"net.csv:2: activation_bytes = -1"});
  expect_mentions(error_message(more + "a,1,1,1e16,0\n"), {"net.csv:2: activation_bytes = 1e16"});
  expect_mentions(error_message(more + "a,1,1,2,3\n"), {"net.csv:2: attention_bytes = 3"});
}

TEST(ReadModel, RefusesShapesThatCannotBe) {
  const std::string more = "layer,parameters,forward_flop,shape\n";
  for (const std::string shape : {"", "x", "2x", "0x3", "2.5x2", "-3x-2", "2*3", "1e30x1"})
    expect_mentions(error_message(more + "a,6,1," + shape + "\n"), {"net.csv:2: shape = "});
  expect_mentions(error_message(more + "a,6,1,2x2\n"),
                  {"net.csv:2: shape = 2x2: allowed are dimensions whose product is the row's "
                   "parameters, 6"});
}

TEST(Models, AllLoadAndDeclareTheirTotals) {
  const std::vector<std::string> names = names_in("models", ".csv");
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const std::string path = data_root() + "/models/" + name + ".csv";
    const Model model = read_model(path);  // compares the sum with the declared total
    const Csv csv = read_csv(path);
    EXPECT_TRUE(csv.header.contains("parameters"));
    EXPECT_TRUE(csv.header.contains("source"));
    EXPECT_TRUE(csv.header.contains("sample"));
    EXPECT_EQ(*csv.about("model"), name);
    std::set<std::string> layers;
    for (const Layer& layer : model.layers)
      EXPECT_TRUE(layers.insert(layer.name).second) << layer.name << " is there twice";
  }
  for (const char* promised :
       {"alexnet", "vgg16", "vgg19", "vgg16-cifar10", "resnet20", "resnet50", "resnet101",
        "resnet152", "googlenet", "bn-inception", "inception-v3", "inception-v4", "lstm-ptb",
        "bert-base", "bert-large", "gpt2"})
    EXPECT_TRUE(std::ranges::binary_search(names, promised)) << promised;
}

Model model_of(const std::vector<std::uint64_t>& parameters) {
  Model model;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    model.layers.push_back(
        {"l" + std::to_string(i), parameters[i], 1.0 + static_cast<double>(i % 3)});
  return model;
}

// Every tensor is in one bucket, in order from the last layer to the first.
void expect_conserved(const Model& model, const std::vector<Bucket>& buckets) {
  auto layer = model.layers.rbegin();
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    EXPECT_EQ(buckets[i].index, static_cast<int>(i));
    ASSERT_GT(buckets[i].tensors, 0);
    std::uint64_t parameters = 0;
    double flop = 0;
    for (int tensor = 0; tensor < buckets[i].tensors; ++tensor, ++layer) {
      ASSERT_NE(layer, model.layers.rend());
      parameters += layer->parameters;
      flop += layer->forward_flop;
    }
    EXPECT_EQ(buckets[i].parameters, parameters);
    EXPECT_DOUBLE_EQ(buckets[i].forward_flop, flop);
  }
  EXPECT_EQ(layer, model.layers.rend());
}

TEST(FusedBuckets, FillBucketsUpToTheLimit) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    std::vector<std::uint64_t> parameters(1 + random() % 20);
    for (std::uint64_t& count : parameters)
      count = 1 + random() % 100;
    const Model model = model_of(parameters);
    const double cap = static_cast<double>(random() % 800);
    const std::vector<Bucket> buckets = fused_buckets(model, {.bytes = cap}, 4);
    expect_conserved(model, buckets);
    std::size_t next = 0;  // tensor in backward order
    for (const Bucket& bucket : buckets) {
      EXPECT_TRUE(bucket.tensors == 1 || static_cast<double>(4 * bucket.parameters) <= cap);
      next += static_cast<std::size_t>(bucket.tensors);
      if (next < parameters.size()) {
        const std::uint64_t more = parameters[parameters.size() - 1 - next];
        EXPECT_GT(static_cast<double>(4 * (bucket.parameters + more)), cap) << "room for one more";
      }
    }
  }
}

TEST(FusedBuckets, OneBucketPerTensorForZeroAndOneForAll) {
  const Model model = model_of({3, 1, 4, 1, 5});
  expect_conserved(model, fused_buckets(model, {.bytes = 0}, 4));
  EXPECT_EQ(fused_buckets(model, {.bytes = 0}, 4).size(), 5U);
  EXPECT_EQ(fused_buckets(model, {.bytes = 0}, 4).front().parameters,
            5U);  // the last layer comes first
  const auto one = fused_buckets(model, {.kind = Fusion::Kind::all}, 4);
  expect_conserved(model, one);
  EXPECT_EQ(one.size(), 1U);
}

TEST(FusedBuckets, CountBytesInThePrecisionOfTheGradient) {
  const Model model = model_of({10, 10, 10, 10});
  EXPECT_EQ(fused_buckets(model, {.bytes = 40}, 4).size(), 4U);
  EXPECT_EQ(fused_buckets(model, {.bytes = 40}, 2).size(), 2U);
}

// When the last exchange of these buckets ends, in seconds from the start of backward.
double finish_s(const Model& model, const std::vector<Bucket>& buckets, double backward_s,
                double startup_s, double seconds_per_byte, double compress_seconds_per_byte) {
  double ready_s = 0;
  double free_s = 0;
  for (const Bucket& bucket : buckets) {
    ready_s += backward_s * bucket.forward_flop / model.forward_flop() +
               4 * static_cast<double>(bucket.parameters) * compress_seconds_per_byte;
    free_s = std::max(free_s, ready_s) + startup_s +
             4 * static_cast<double>(bucket.parameters) * seconds_per_byte;
  }
  return free_s;
}

struct Case {
  Model model;
  double startup_s;
  double seconds_per_byte;
  double compress_seconds_per_byte = 0;
  double finish_of(const std::vector<Bucket>& buckets) const {
    return finish_s(model, buckets, 100, startup_s, seconds_per_byte, compress_seconds_per_byte);
  }
  std::vector<Bucket> merged() const {
    return merged_buckets(model, 4, 100, startup_s, seconds_per_byte, compress_seconds_per_byte);
  }
};

// `tensors` tensors of random sizes, whose exchanges together take about as long as backward, 100
// s.
Case random_case(std::mt19937& random, std::size_t tensors) {
  Case one{model_of(std::vector<std::uint64_t>(tensors)), 0, 0};
  for (Layer& layer : one.model.layers) {
    layer.parameters = 1 + random() % 50;
    layer.forward_flop = static_cast<double>(random() % 20) + 1;
  }
  one.startup_s = static_cast<double>(random() % 40);
  one.seconds_per_byte = static_cast<double>(random() % 20) / 20;
  one.compress_seconds_per_byte = static_cast<double>(random() % 3) / 20;
  return one;
}

// The earliest end among all 2^(n-1) ways to merge n neighbours: bit i of `merge` puts tensor i (in
// backward order) into the bucket of tensor i + 1.
double best_finish_s(const Case& one) {
  const std::size_t n = one.model.layers.size();
  double best_s = std::numeric_limits<double>::infinity();
  for (std::size_t merge = 0; merge < std::size_t{1} << (n - 1); ++merge) {
    std::vector<Bucket> buckets(1);
    for (std::size_t i = 0; i < n; ++i) {
      const Layer& layer = one.model.layers[n - 1 - i];
      buckets.back().parameters += layer.parameters;
      buckets.back().forward_flop += layer.forward_flop;
      if (i + 1 < n && (merge >> i & 1) == 0)
        buckets.emplace_back();
    }
    best_s = std::min(best_s, one.finish_of(buckets));
  }
  return best_s;
}

TEST(MergedBuckets, AreTheBestOfAllMerges) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    const Case one = random_case(random, 1 + random() % 9);
    const std::vector<Bucket> merged = one.merged();
    expect_conserved(one.model, merged);
    EXPECT_NEAR(one.finish_of(merged), best_finish_s(one), 1e-9) << "case " << i;
  }
}

TEST(MergedBuckets, AreTheBestOfAnExampleByHand) {
  // Gradients exist after 9, 17 and 26 s; their bytes take 8, 2 and 4 s, and a start takes 9 s. The
  // first alone ends at 26 s, and the other two together at 26 + 9 + 6 = 41 s. All three together
  // end at 49 s; the first two and then the third at 36 + 9 + 4 = 49 s; each alone at 50 s.
  const Model model{
      .name = "", .sample = "", .layers = {{"c", 2, 9e9}, {"b", 1, 8e9}, {"a", 4, 9e9}}};
  const std::vector<Bucket> buckets = merged_buckets(model, 4, 26, 9, 0.5);
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].tensors, 1);
  EXPECT_NEAR(finish_s(model, buckets, 26, 9, 0.5, 0), 41, 1e-9);
}

// The dynamic programme without shortcuts: each tensor looks at all before it.
double quadratic_finish_s(const Case& one) {
  const std::size_t n = one.model.layers.size();
  std::vector<double> ended(n + 1, 0);
  double ready_s = 0;
  for (std::size_t i = 1; i <= n; ++i) {
    const Layer& added = one.model.layers[n - i];
    ready_s += 100 * added.forward_flop / one.model.forward_flop() +
               4 * static_cast<double>(added.parameters) * one.compress_seconds_per_byte;
    double bytes = 0;
    ended[i] = std::numeric_limits<double>::infinity();
    for (std::size_t first = i; first-- > 0;) {
      bytes += 4 * static_cast<double>(one.model.layers[n - 1 - first].parameters);
      ended[i] = std::min(
          ended[i], std::max(ended[first], ready_s) + one.startup_s + bytes * one.seconds_per_byte);
    }
  }
  return ended[n];
}

TEST(MergedBuckets, OfHundredsOfTensorsAreTheBestToo) {
  std::mt19937 random(8);
  for (int i = 0; i < 200; ++i) {
    Case one = random_case(random, 100 + random() % 200);
    // All bytes take from a fiftieth of backward to twenty times it, so that there are many
    // buckets, few, or one.
    one.seconds_per_byte = std::pow(10, -4 + static_cast<double>(random() % 300) / 100);
    one.startup_s = std::pow(10, -2 + static_cast<double>(random() % 400) / 100);
    one.compress_seconds_per_byte *= i % 2 == 0 ? 0 : 0.01;
    const double best_s = quadratic_finish_s(one);
    EXPECT_NEAR(one.finish_of(one.merged()) / best_s, 1, 1e-9) << "case " << i;
  }
}

// Once, a pass over all tensors for each of them took 10 s.
TEST(MergedBuckets, OfAHundredThousandTensorsTakeNoTime) {
  std::mt19937 random(9);
  Case one = random_case(random, 100'000);
  one.startup_s = 0.01;
  one.seconds_per_byte = 1e-6;
  const std::clock_t began = std::clock();
  const std::vector<Bucket> merged = one.merged();
  EXPECT_LT(static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC, 1.5);
  EXPECT_GT(merged.size(), 1U);
}

TEST(MergedBuckets, OneBucketPerTensorWhenExchangesAreFree) {
  const Model model = model_of({3, 1, 4, 1, 5, 9});
  EXPECT_EQ(merged_buckets(model, 4, 10, 0, 0).size(), 6U);
}

TEST(MergedBuckets, OneBucketWhenStartupIsExpensive) {
  const Model model = model_of({3, 1, 4, 1, 5, 9});
  const auto buckets = merged_buckets(model, 4, 10, 1e6, 1e-9);
  expect_conserved(model, buckets);
  EXPECT_EQ(buckets.size(), 1U);
}

TEST(ReadModel, KnowsAttentionWhereTheFileHasAColumnOfIt) {
  const TemporaryFolder folder;
  const std::string with = "layer,parameters,forward_flop,attention_flop\n";
  const Model model = read_model(folder.write("net.csv", with + "a,10,5,0\nb,20,8,3\n"));
  EXPECT_DOUBLE_EQ(model.attention_flop(), 3);
  EXPECT_DOUBLE_EQ(model.again_flop(), 0);
  EXPECT_EQ(error_message(with + "a,10,5,6\n"),
            "net.csv:2: attention_flop = 6: allowed are numbers from 0 to 5");
  // 12 blocks of 4 s^2 h, with s tokens and h features.
  EXPECT_DOUBLE_EQ(read_model(data_root() + "/models/gpt2.csv").attention_flop(),
                   12.0 * 4 * 1024 * 1024 * 768);
}

Model model_with(const std::vector<std::pair<std::string, std::uint64_t>>& tensors) {
  Model model;
  for (const auto& [name, parameters] : tensors)
    model.layers.push_back({name, parameters, 1});
  return model;
}

std::vector<std::string> firsts(const std::vector<Bucket>& units) {
  std::vector<std::string> names;
  for (const Bucket& unit : units)
    names.push_back(unit.first + " " + std::to_string(unit.tensors));
  return names;
}

TEST(UnitBuckets, AreTheBlocksThatNamesShowAndWhatIsBetween) {
  const Model model = model_with({{"wte", 9},
                                  {"wpe", 2},
                                  {"h.0.attn.w", 1},
                                  {"h.0.mlp.0.w", 1},
                                  {"h.1.attn.w", 1},
                                  {"h.10.attn.w", 1},
                                  {"ln_f.weight", 1},
                                  {"head.0", 1}});
  EXPECT_EQ(firsts(unit_buckets(model, std::nullopt)),
            (std::vector<std::string>{"head.0 2", "h.10.attn.w 1", "h.1.attn.w 1", "h.0.mlp.0.w 2",
                                      "wpe 2"}));
  // Hugging Face's BERT has embeddings, 12 blocks and heads; VGG has no blocks: a number before the
  // last word counts layers.
  EXPECT_EQ(unit_buckets(read_model(data_root() + "/models/bert-base.csv"), std::nullopt).size(),
            14U);
  EXPECT_EQ(unit_buckets(read_model(data_root() + "/models/vgg16.csv"), std::nullopt).size(), 2U);
}

TEST(UnitBuckets, AreOfEqualSizeWhereTheyAreCounted) {
  const Model model = model_with({{"a", 4}, {"b", 1}, {"c", 1}, {"d", 2}, {"e", 8}});
  EXPECT_EQ(firsts(unit_buckets(model, 2)), (std::vector<std::string>{"e 1", "d 4"}));
  EXPECT_EQ(firsts(unit_buckets(model, 4)), (std::vector<std::string>{"e 1", "d 3", "a 1"}));
  EXPECT_EQ(unit_buckets(model, 1).size(), 1U);
  EXPECT_EQ(unit_buckets(model, 100'000).size(), 5U);
  std::uint64_t parameters = 0;
  for (const Bucket& unit : unit_buckets(model, 3))
    parameters += unit.parameters;
  EXPECT_EQ(parameters, model.parameters());
}

}  // namespace
}  // namespace syncline
