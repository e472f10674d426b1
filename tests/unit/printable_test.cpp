// Names come from files and folders, which may hold any byte: none reaches a terminal or a result
// that would move the cursor or is no UTF-8.
#include <gtest/gtest.h>

#include "kernels/text.h"
#include "tests/unit/errors.h"
#include "tests/unit/program.h"

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

TEST(Printable, KeepsTextAndEscapesTheRest) {
  EXPECT_EQ(printable("Größe 节点"), "Größe 节点");
  EXPECT_EQ(printable("a\nb\tc\x1b[2J\x7f"), "a\\x0ab\\x09c\\x1b[2J\\x7f");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae") << "it turns the direction of writing";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair is no character";
}

}  // namespace
}  // namespace syncline
