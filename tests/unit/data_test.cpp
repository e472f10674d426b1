// Data sets: digits, generated ones, and files from other sources, complete and broken.
#include "sim/catalogue/data.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "sim/catalogue/csv.h"
#include "sim/catalogue/files.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

Data generated(const std::map<std::string, std::string>& given, std::uint64_t seed = 1) {
  return load_data("generated", ".", Settings(generated_options(), given), seed);
}

std::string loading_error(const std::string& path) {
  return error_of([&] { load_data(path, ".", {}, 1); });
}

TEST(Digits, LastThreeHundredAndSixtyAreHeldOut) {
  const Data data = load_data("digits", "/nowhere", {}, 1);
  EXPECT_EQ(data.classes, 10);
  EXPECT_EQ(data.train.count, 1437u);
  EXPECT_EQ(data.held_out.count, 360u);
  for (const Samples* samples : {&data.train, &data.held_out}) {
    EXPECT_EQ(samples->values.size(), samples->count * 64);
    EXPECT_EQ(samples->labels.size(), samples->count);
    EXPECT_EQ(std::vector({samples->height, samples->width, samples->channels}),
              (std::vector{8, 8, 1}));
    for (const float value : samples->values)
      ASSERT_TRUE(value >= 0 && value <= 1);
  }
  // The first row of the file: 0,0,5,13,..., a zero.
  EXPECT_EQ(data.train.sample(0)[2], 5.0F / 16);
  EXPECT_EQ(data.train.sample(0)[3], 13.0F / 16);
  EXPECT_EQ(data.train.labels[0], 0);
  EXPECT_EQ(data.train.labels[1], 1);
}

TEST(Digits, TheFileSaysWhereItComesFrom) {
  const Csv csv = read_csv(data_root() + "/models/data/digits.csv");
  EXPECT_EQ(*csv.about("samples"), std::to_string(csv.rows.size()));
  for (const char* key : {"source", "licence", "made"})
    EXPECT_NE(csv.about(key), nullptr) << key;
}

TEST(Digits, AreNoModel) {
  for (const std::string& name : names_in("models", ".csv"))
    EXPECT_NE(name, "digits");
}

TEST(Digits, ABadFileIsOneLine) {
  TemporaryFolder folder;
  expect_mentions(error_of([&] { read_digits(folder.write("a.csv", "x,label\n1,2\n")); }),
                  {"a.csv", "pixel0", "label"});
  std::string columns, row;
  for (int i = 0; i < 64; ++i) {
    columns += "pixel" + std::to_string(i) + ",";
    row += "16,";
  }
  std::string rows = columns + "label\n";
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "more than the 360",
                      error_of([&] { read_digits(folder.write("b.csv", rows + row + "9\n")); }));
  for (int i = 0; i < 400; ++i)
    rows += row + "9\n";
  EXPECT_EQ(read_digits(folder.write("c.csv", rows)).train.count, 40u);
  for (const char* label : {"10", "-1", "", "1.5", "1e0", "\xff", "100000000000000000000"})
    expect_mentions(
        error_of([&] { read_digits(folder.write("d.csv", rows + row + label + "\n")); }),
        {"d.csv:402", "label = ", "0 to 9"});
}

// The share of held-out samples of two classes whose nearer class mean is that of the other class.
double error_of_nearest_mean(const Data& data) {
  const std::size_t features = data.train.features;
  std::vector<double> means(2 * features);
  for (std::size_t i = 0; i < data.train.count; ++i)
    for (std::size_t k = 0; k < features; ++k)
      means[static_cast<std::size_t>(data.train.labels[i]) * features + k] +=
          2.0 / static_cast<double>(data.train.count) * data.train.sample(i)[k];
  int wrong = 0;
  for (std::size_t i = 0; i < data.held_out.count; ++i) {
    double nearer = 0;  // to class 0 if positive
    for (std::size_t k = 0; k < features; ++k)
      nearer += std::pow(data.held_out.sample(i)[k] - means[features + k], 2) -
                std::pow(data.held_out.sample(i)[k] - means[k], 2);
    wrong += (nearer > 0) != (data.held_out.labels[i] == 0);
  }
  return wrong / static_cast<double>(data.held_out.count);
}

TEST(Generated, TwoClassesOverlapAsTheirDifficultySays) {
  for (const char* features : {"1", "7"})
    for (const auto& [difficulty, error] :
         std::map<std::string, double>{{"0.5", 0.02275}, {"1", 0.15866}, {"2", 0.30854}})
      EXPECT_NEAR(error_of_nearest_mean(generated({{"classes", "2"},
                                                   {"samples", "50000"},
                                                   {"features", features},
                                                   {"difficulty", difficulty}})),
                  error, 0.015)
          << difficulty << " with " << features;
}

TEST(Generated, AFifthIsHeldOutAndSamplesAreAsLongAsDigits) {
  const Data data = generated({{"samples", "999"}, {"features", "50"}, {"classes", "7"}});
  EXPECT_EQ(data.held_out.count, 199u);
  EXPECT_EQ(data.train.count, 800u);
  EXPECT_EQ(data.train.height, 0);
  double squares = 0;
  for (const float value : data.train.values)
    squares += double{value} * value;
  EXPECT_NEAR(squares / 800, 16, 1.6);
  std::vector<int> of_class(7);
  for (const int label : data.train.labels)
    ++of_class[static_cast<std::size_t>(label)];
  for (const int count : of_class)
    EXPECT_NEAR(count, 800 / 7, 1);
}

TEST(Generated, TheSeedDecidesAllOfIt) {
  const std::map<std::string, std::string> given{{"samples", "50"}, {"classes", "3"}};
  EXPECT_EQ(generated(given, 5).train.values, generated(given, 5).train.values);
  EXPECT_NE(generated(given, 5).train.values, generated(given, 6).train.values);
}

TEST(Generated, WhatCannotBeIsOneLine) {
  expect_mentions(error_of([] {
                    generated({{"samples", "50"}, {"classes", "11"}});
                  }),
                  {"classes = 11", "up to 10, the number of held-out samples"});
  expect_mentions(error_of([] {
                    generated({{"samples", "100000000"}, {"features", "1000"}});
                  }),
                  {"samples * features", "2^30"});
  expect_mentions(error_of([] { generated({{"difficulty", "-1"}}); }), {"difficulty = -1"});
}

// One channel's pixels: (value - mean) / deviation, then scaled so that the mean squared length of
// an image is 15, as for digits.
void expect_standardised(const Data& data, const std::string& bytes, double features) {
  const double count = static_cast<double>(bytes.size());
  double mean = 0, square = 0, lengths = 0;
  for (const char byte : bytes)
    mean += static_cast<unsigned char>(byte) / count;
  for (const char byte : bytes)
    square += std::pow(static_cast<unsigned char>(byte) - mean, 2) / count;
  ASSERT_EQ(data.train.values.size(), bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const double wanted = (static_cast<unsigned char>(bytes[i]) - mean) / std::sqrt(square);
    EXPECT_NEAR(data.train.values[i], wanted * std::sqrt(15 / features), 1e-6) << i;
    lengths += std::pow(data.train.values[i], 2);
  }
  EXPECT_NEAR(lengths / static_cast<double>(data.train.count), 15, 1e-4);
}

// Two images to train with and one held out, of 2x3 pixels.
class Mnist : public testing::Test {
 protected:
  Mnist() {
    folder_.write("train-images-idx3-ubyte", big_endian({0x803, 2, 2, 3}) + "abcdefABCDE\xff");
    folder_.write("train-labels-idx1-ubyte", big_endian({0x801, 2}) + std::string("\x09\x00", 2));
    folder_.write("t10k-images.idx3-ubyte", big_endian({0x803, 1, 2, 3}) + "123456");
    folder_.write("t10k-labels.idx1-ubyte", big_endian({0x801, 1}) + "\x03");
  }
  void expect_refused(const std::string& file, const std::string& bytes,
                      std::vector<std::string> words) {
    const std::string whole = text_of(folder_.path(file));
    folder_.write(file, bytes);
    words.push_back(file);
    const std::string error = loading_error(folder_.path());
    expect_mentions(error, words);
    EXPECT_EQ(error.find('\n'), std::string::npos);
    folder_.write(file, whole);
  }

  TemporaryFolder folder_;
  const std::string images_ = "train-images-idx3-ubyte", labels_ = "train-labels-idx1-ubyte";
};

TEST_F(Mnist, IsReadFromAFolderOrAFileInItOrBesideAConfiguration) {
  const std::filesystem::path path = folder_.path();
  for (const Data& data : {load_data(path, ".", {}, 1), load_data(path / images_, ".", {}, 1),
                           load_data(path.filename(), path.parent_path(), {}, 1)}) {
    EXPECT_EQ(data.train.count, 2u);
    EXPECT_EQ(data.held_out.count, 1u);
    EXPECT_EQ(std::vector({data.train.height, data.train.width, data.train.channels}),
              (std::vector{2, 3, 1}));
    expect_standardised(data, "abcdefABCDE\xff", 6);
    EXPECT_EQ(data.train.labels, (std::vector{9, 0}));
    EXPECT_EQ(data.held_out.labels, (std::vector{3}));
  }
}

// Debian's package of Fashion-MNIST has packed files; if a file is also there unpacked, that one is
// used.
TEST_F(Mnist, MayBePackedByGzip) {
  const Data plain = load_data(folder_.path(), ".", {}, 1);
  const DataNeed need = need_of_data(folder_.path(), ".", {});
  ASSERT_EQ(std::system(("gzip " + folder_.path("*-ubyte")).c_str()), 0);
  const Data packed = load_data(folder_.path(), ".", {}, 1);
  EXPECT_EQ(packed.train.values, plain.train.values);
  EXPECT_EQ(packed.held_out.labels, plain.held_out.labels);
  EXPECT_GT(need_of_data(folder_.path(), ".", {}).memory_bytes, need.memory_bytes / 2);
  const auto files = data_files(folder_.path(), ".");
  EXPECT_EQ(std::ranges::count(files, folder_.path(images_ + ".gz")), 1);
  EXPECT_EQ(load_data(folder_.path(images_ + ".gz"), ".", {}, 1).train.labels, plain.train.labels);
  expect_refused(images_ + ".gz", "\x1f\x8b\x08 no more", {"not a complete gzip file"});
  expect_refused(labels_ + ".gz", "plain", {"not a complete gzip file"});
  folder_.write(images_, "x");
  expect_mentions(loading_error(folder_.path()), {images_ + ": 1 bytes"});
}

// Without a folder of that name, the word means Debian's package.
TEST_F(Mnist, OfFashionIsAWord) {
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist"))
    expect_mentions(loading_error("fashion-mnist"),
                    {"fashion-mnist", "package dataset-fashion-mnist is not installed"});
  const std::filesystem::path own = folder_.path("fashion-mnist");
  std::filesystem::create_directory(own);
  for (const char* file : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                           "t10k-images.idx3-ubyte", "t10k-labels.idx1-ubyte"})
    std::filesystem::copy(folder_.path(file), own / file);
  EXPECT_EQ(load_data("fashion-mnist", folder_.path(), {}, 1).train.count, 2U);
}

TEST_F(Mnist, BrokenFilesAreOneLineEach) {
  const std::string pixels = "abcdefABCDEF";
  expect_refused(images_, "", {"0 bytes", "at least 16"});
  expect_refused(images_, big_endian({0x803, 2, 2}), {"12 bytes", "at least 16"});
  expect_refused(images_, big_endian({0x801, 2, 2, 3}) + pixels, {"begins with 2049", "2051"});
  expect_refused(images_, "\x1f\x8b" + std::string(30, 'x'), {"begins with", "packed"});
  expect_refused(images_, big_endian({0x803, 2, 2, 3}) + "abc", {"3 bytes", "promises 12"});
  expect_refused(images_, big_endian({0x803, 2, 2, 3}) + pixels + "x", {"13 bytes", "promises 12"});
  expect_refused(images_, big_endian({0x803, 1u << 31, 2, 3}) + pixels, {"promises 12884901888"});
  expect_refused(images_, big_endian({0x803, 0xffffffff, 4096, 4096}) + pixels, {"promises 7205"});
  expect_refused(images_, big_endian({0x803, 2, 1u << 31, 1u << 31}) + pixels,
                 {"2147483648 pixels", "4096"});
  expect_refused(images_, big_endian({0x803, 2, 0, 3}), {"0 pixels"});
  expect_refused(images_, big_endian({0x803, 0, 2, 3}), {"no samples"});
  expect_refused(labels_, big_endian({0x801, 3}) + std::string(3, '\0'), {"3 labels", "2 images"});
  expect_refused(labels_, big_endian({0x801, 2}) + "\x01\x0a", {"label 10 of sample 1", "0 to 9"});
  expect_refused(labels_, big_endian({0x801, 2}) + "\xff\x01", {"label 255 of sample 0"});
  expect_refused("t10k-labels.idx1-ubyte", big_endian({0x801}), {"4 bytes", "at least 8"});
}

TEST_F(Mnist, WhatIsMissingOrOfAnotherSizeIsNamed) {
  folder_.write("t10k-images.idx3-ubyte", big_endian({0x803, 1, 1, 3}) + "123");
  expect_mentions(loading_error(folder_.path()), {"2x3", "1x3"});
  std::filesystem::remove(folder_.path("t10k-labels.idx1-ubyte"));
  expect_mentions(loading_error(folder_.path()), {"no t10k-labels-idx1-ubyte"});
  folder_.write("data_batch_1.bin", "x");
  expect_mentions(loading_error(folder_.path()), {"MNIST", "CIFAR-10", "allowed"});
}

std::string cifar_image(char label, char red) {
  std::string bytes(3073, '\x33');
  bytes[0] = label;
  bytes[1] = red;
  return bytes;
}

TEST(Cifar, BatchesThatAreThereAreRead) {
  TemporaryFolder folder;
  folder.write("data_batch_2.bin", cifar_image(1, '\xff') + cifar_image(9, 0));
  folder.write("data_batch_5.bin", cifar_image(4, 51));
  folder.write("test_batch.bin", cifar_image(7, 0));
  const Data data = load_data(folder.path(), ".", {}, 1);
  EXPECT_EQ(data.train.labels, (std::vector{1, 9, 4}));
  EXPECT_EQ(data.held_out.labels, (std::vector{7}));
  EXPECT_EQ(data.train.values.size(), 3u * 3072);
  // Red has one pixel of 255 and one of 0 among 0x33; green and blue are constant.
  EXPECT_GT(data.train.sample(0)[0], 0);
  EXPECT_LT(data.train.sample(1)[0], 0);
  EXPECT_EQ(data.train.sample(0)[1], data.train.sample(2)[0]);
  EXPECT_EQ(data.held_out.sample(0)[0], data.train.sample(1)[0]);
  EXPECT_EQ(data.train.sample(0)[1024], 0.0F);
  EXPECT_EQ(data.train.sample(2)[3071], 0.0F);
  EXPECT_EQ(std::vector({data.train.height, data.train.width, data.train.channels}),
            (std::vector{32, 32, 3}));
}

TEST(Cifar, BrokenFilesAreOneLineEach) {
  TemporaryFolder folder;
  folder.write("data_batch_1.bin", cifar_image(1, 2));
  expect_mentions(loading_error(folder.path()), {"test_batch.bin", "no such file"});
  folder.write("test_batch.bin", cifar_image(1, 2).substr(1));
  expect_mentions(loading_error(folder.path()), {"test_batch.bin", "3072 bytes", "3073"});
  folder.write("test_batch.bin", "");
  expect_mentions(loading_error(folder.path()), {"test_batch.bin", "0 bytes"});
  folder.write("test_batch.bin", cifar_image(1, 2) + cifar_image(10, 2));
  expect_mentions(loading_error(folder.path()), {"test_batch.bin", "label 10 of sample 1"});
}

// Other images are scaled to the mean squared length of the digits.
TEST(Data, DigitsHaveTheSquaredLengthThatOtherImagesGet) {
  const Data digits = load_data("digits", ".", {}, 1);
  double sum = 0;
  for (const float value : digits.train.values)
    sum += double{value} * double{value};
  EXPECT_NEAR(sum / static_cast<double>(digits.train.count), 15, 0.05);
}

TEST(Data, ValidationSamplesWereToTrainWithAndTestSamplesAreNotSeen) {
  const Data test = load_data("digits", ".", {}, 1);
  Data validation = test;
  hold_out_validation(validation);
  EXPECT_EQ(validation.train.count, 1437u - 360);
  ASSERT_EQ(validation.held_out.count, 360u);
  EXPECT_EQ(validation.train.values.size(), validation.train.count * 64);
  EXPECT_EQ(validation.held_out.values.size(), 360u * 64);
  for (const std::size_t i : {0u, 359u}) {
    EXPECT_EQ(validation.held_out.labels[i], test.train.labels[1437 - 360 + i]);
    EXPECT_TRUE(
        std::ranges::equal(validation.held_out.sample(i), test.train.sample(1437 - 360 + i)));
  }
  EXPECT_TRUE(std::ranges::equal(validation.train.sample(1076), test.train.sample(1076)));
  expect_mentions(validation.source, {"digits", "not seen", "the last 360"});
  Data few = test;
  std::swap(few.train, few.held_out);
  expect_mentions(error_of([&] { hold_out_validation(few); }),
                  {"held-out = validation", "360 samples to train with and 1437 held out"});
}

TEST(Data, WhatIsNoDataIsOneLine) {
  TemporaryFolder folder;
  expect_mentions(loading_error(folder.path()), {folder.path(), "no data", "MNIST", "CIFAR-10"});
  expect_mentions(loading_error("digit"), {"no data 'digit'", "digits", "generated"});
  expect_mentions(loading_error(""), {"no data ''"});
  expect_mentions(loading_error(std::string(100000, 'x')), {"no data", "digits"});
}

}  // namespace
}  // namespace syncline
