// Data that are learned are inputs like models and platforms: once, relabelled images kept the old
// loss with --resume, and `check` said that the program had changed.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/program/program.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

// MNIST's files of 2x2 images, dark for one label and bright for the other; or with labels that
// have nothing to do with them.
void write_images(const TemporaryFolder& folder, bool labels_fit,
                  const std::string& images_folder = "images") {
  for (const auto& [part, count] : {std::pair("train", 60U), {"t10k", 20U}}) {
    std::string images = big_endian({0x803, count, 2, 2});
    std::string labels = big_endian({0x801, count});
    for (unsigned i = 0; i < count; ++i) {
      const bool bright = i % 2 == 1;
      images += std::string(4, bright ? '\xf0' : '\x10');
      labels.push_back((labels_fit ? bright : i / 2 % 2 == 1) ? '\x01' : '\x00');
    }
    folder.write(images_folder + "/" + part + "-images-idx3-ubyte", images);
    folder.write(images_folder + "/" + part + "-labels-idx1-ubyte", labels);
  }
}

double loss_of(const TemporaryFolder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{
      "run",     "--platform",   "two-hosts", "--throughput",    "100", "--learn",
      "softmax", "--data",       "images",    "--learning-rate", "1",   "--batch",
      "5",       "--iterations", "60",        "--out",           "out"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Ended ended = run_program(arguments, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  return nlohmann::json::parse(text_of(folder.path("out/result.json")))["figures"]["loss"];
}

TEST(RelabelledData, AreLearnedAgainByAResumedRun) {
  const TemporaryFolder folder;
  write_images(folder, true);
  const double before = loss_of(folder, {});
  EXPECT_LT(before, 0.4);
  EXPECT_EQ(loss_of(folder, {"--resume"}), before);
  write_images(folder, false);
  const double resumed = loss_of(folder, {"--resume"});
  EXPECT_GT(resumed, 0.6);
  EXPECT_EQ(resumed, loss_of(folder, {}));
}

TEST(RelabelledData, AreTheCauseThatCheckNames) {
  const TemporaryFolder folder;
  write_images(folder, true);
  folder.write("lesson.cfg",
               "platform = two-hosts\nthroughput = 100\nlearn = softmax\ndata = images\n"
               "learning-rate = 1\nbatch = 5\niterations = 60\n");
  EXPECT_EQ(run_program({"check", ".", "--bless", "--because", "first"}, folder.path()).code, 0);
  const std::string expected = text_of(folder.path("expected.csv"));
  expect_mentions(expected, {"lesson,data_file,", "lesson,loss,"});
  const Ended met = run_program({"check", "."}, folder.path());
  EXPECT_EQ(met.code, 0) << met.out << met.err;
  write_images(folder, false);
  const Ended moved = run_program({"check", "."}, folder.path());
  EXPECT_EQ(moved.code, 1) << moved.out << moved.err;
  expect_mentions(moved.out, {"lesson", "loss", "changed: the data file"});
}

// The digits that come with the program are a file, too.
TEST(RelabelledData, OfTheProgramAreNoted) {
  const TemporaryFolder folder;
  folder.write("digits.cfg",
               "platform = two-hosts\nthroughput = 100\nlearn = digits\niterations = 3\n");
  folder.write("timed.cfg",
               "platform = two-hosts\nthroughput = 100\nmodel = resnet20\niterations = 3\n");
  EXPECT_EQ(run_program({"check", ".", "--bless", "--because", "first"}, folder.path()).code, 0);
  const std::string expected = text_of(folder.path("expected.csv"));
  expect_mentions(expected, {"digits,data_file,"});
  EXPECT_EQ(expected.find("timed,data_file"), std::string::npos);
}

// Once the folder's bytes reached the terminal, and results answered with the words of a library.
TEST(Printable, IsWhatIsShownOfDataInAnyFolder) {
  const TemporaryFolder folder;
  const std::string odd = "d\x1b[2J\xff";
  const std::string shown = "d\\x1b[2J\\xff";
  write_images(folder, true, odd);
  for (const std::string command : {"run", "explain"}) {
    std::vector<std::string> arguments{
        command, "--platform", "two-hosts", "--throughput", "100", "--learn", "softmax", "--data",
        odd,     "--batch",    "5",         "--iterations", "60"};
    if (command == "run")
      arguments.insert(arguments.end(), {"--out", "o", "--trace", "--html", "page.html"});
    for (const bool json : {false, true}) {
      if (json)
        arguments.emplace_back("--json");
      const Ended ended = run_program(arguments, folder.path());
      EXPECT_EQ(ended.code, 0) << ended.err;
      EXPECT_EQ((ended.out + ended.err).find_first_of("\x1b\xff"), std::string::npos) << command;
      expect_mentions(ended.out, {json ? "d\\\\x1b[2J\\\\xff" : shown});
    }
  }
  for (const auto& [name, text] : files_of(folder.path("o")))
    EXPECT_EQ(text.find_first_of("\x1b\xff"), std::string::npos) << name;
  const Ended none = run_program({"run", "--platform", "two-hosts", "--throughput", "100",
                                  "--learn", "softmax", "--data", "n\x1b\xff"},
                                 folder.path());
  EXPECT_EQ(none.code, 2);
  expect_mentions(none.err, {"no data 'n\\x1b\\xff'"});
}

}  // namespace
}  // namespace syncline
