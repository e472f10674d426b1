// Names of files and folders may contain any byte: characters that would move a terminal's cursor,
// and bytes that are not UTF-8, reach neither terminals nor results.
#include <gtest/gtest.h>

#include "kernels/io/text.h"
#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

TEST(Printable, IsWhatMessagesAndResultsShow) {
  const TemporaryFolder folder;
  const std::string odd = "p\x1b[2J\xff";
  const std::string shown = "p\\x1b[2J\\xff";
  folder.write(odd + "/p.xml", text_of(SYNCLINE_SOURCE_DIR "/platforms/two-hosts.xml"));
  const auto run_file = [&](const std::string& file) {
    return run_program({"run", "--model", "resnet50", "--throughput", "10", "--iterations", "3",
                        "--platform", odd + file, "--out", "o"},
                       folder.path());
  };
  const Ended bad = run_file("/none.xml");
  EXPECT_EQ(bad.code, 2);
  expect_mentions(bad.err, {shown + "/none.xml"});
  EXPECT_EQ(bad.err.find('\x1b'), std::string::npos);
  const Ended good = run_file("/p.xml");
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_EQ(good.out.find('\x1b'), std::string::npos);
  expect_mentions(text_of(folder.path("o/results.csv")), {shown + "/p.xml"});
}

// JSON only allows UTF-8.
TEST(Printable, IsWhatResultsNameAfterAnyFile) {
  const TemporaryFolder folder;
  const std::string odd = "n\xff\xc3\x1b";
  std::string table = text_of(SYNCLINE_SOURCE_DIR "/kernels/profiles/v100-modelled.csv");
  table.replace(table.find("# device: ") + 10, 0, odd);
  folder.write(odd + ".csv", table);
  folder.write(odd + "/net.csv",
               "# sample: " + odd + "\nlayer,parameters,forward_flop\n" + odd + ",1000,1e9\n");
  for (const std::string command : {"run", "explain"}) {
    std::vector<std::string> arguments{
        command,        "--model",   odd + "/net.csv", "--platform", "two-hosts",
        "--throughput", "10",        "--iterations",   "3",          "--compressor",
        "topk",         "--density", "0.01",           "--device",   odd + ".csv"};
    if (command == "run")
      arguments.insert(arguments.end(), {"--out", "o", "--trace"});
    const Ended ended = run_program(arguments, folder.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out.find_first_of("\xff\xc3\x1b"), std::string::npos) << command;
    expect_mentions(ended.out, {"n\\xff\\xc3\\x1b"});
  }
  expect_mentions(text_of(folder.path("o/result.json")), {"n\\\\xff\\\\xc3\\\\x1b.csv"});
}

TEST(Printable, KeepsTextAndEscapesTheRest) {
  EXPECT_EQ(printable("Größe 节点"), "Größe 节点");
  EXPECT_EQ(printable("a\nb\tc\x1b[2J\x7f"), "a\\x0ab\\x09c\\x1b[2J\\x7f");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae") << "it turns the direction of writing";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair is no character";
}

}  // namespace
}  // namespace syncline
