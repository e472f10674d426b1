// Outputs of all_reduce_perf: with prefixes, of other programs, broken, and published ones.
#include "sim/import/nccl_log.h"

#include <gtest/gtest.h>

#include "sim/catalogue/files.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

const std::string log_columns =
    "#  size count type redop root time algbw busbw #wrong time algbw busbw #wrong";

struct LogText {
  std::string prefix = {};  // before each line
  int nodes = 2, gpus = 2;
  std::string columns = log_columns;
  // Out of place 900 us, in place 1000 us: 1.5 MB/ms of bus bandwidth.
  std::vector<std::string> rows{"1000000 250000 float sum -1 900.0 1.11 1.67 0 1000.0 1.00 1.50 0"};
  std::string end = {};

  std::string text() const {
    std::string text = prefix + "# nThread 1 nGpus 1 minBytes 8\n";
    for (int rank = 0; rank < nodes * gpus; ++rank)
      text += prefix + "#  Rank  " + std::to_string(rank) + " Group  0 Pid  7 on  node-" +
              std::to_string(rank / gpus) + " device  " + std::to_string(rank % gpus) +
              " [0000:01:00] NVIDIA H100 on a board\n";
    text += prefix + columns + "\n" + prefix + "#  (B) (elements)\n";
    for (const std::string& row : rows)
      text += prefix + "  " + row + "\r\n";
    return text + end;
  }
};

class NcclLogs : public testing::Test {
 protected:
  NcclLog read(const std::string& text) { return read_nccl_log(folder_.write("log.txt", text)); }
  void refuses(const std::string& text, const std::string& why) {
    const std::string error = error_of([&] { read(text); });
    expect_mentions(error, {"log.txt", why});
    EXPECT_EQ(error.find('\n'), std::string::npos);
    EXPECT_EQ(error.find('\x1b'), std::string::npos);
  }
  const TemporaryFolder folder_;
};

TEST_F(NcclLogs, GiveInPlaceTimesWhateverStandsBeforeEachLine) {
  for (const char* prefix :
       {"", "0: ", "node-a: ", "node: ", "[1,0]<stdout>:", "[1,0]<stdout>: ", "[0] ",
        "[prterun-host-1@1,0]<stdout>: ", "2024-05-01T12:00:00.000000001Z ", "[launcher-0] "}) {
    const NcclLog log = read(LogText{.prefix = prefix}.text());
    EXPECT_EQ(log.ranks, 4) << prefix;
    EXPECT_EQ(log.nodes, 2) << prefix;
    ASSERT_EQ(log.rows.size(), 1U) << prefix;
    EXPECT_EQ(log.rows[0].bytes, 1000000U);
    EXPECT_EQ(log.rows[0].elements, 250000U);
    EXPECT_EQ(log.rows[0].type, "float");
    EXPECT_DOUBLE_EQ(log.rows[0].time_s, 1e-3);
  }
}

TEST_F(NcclLogs, OfAPublishedMachineAreReadWhole) {
  const NcclLog log = read_nccl_log(data_root() + "/tests/repo/fixtures/all-reduce-2x8-h100.txt");
  EXPECT_EQ(log.ranks, 16);
  EXPECT_EQ(log.nodes, 2);
  ASSERT_EQ(log.rows.size(), 31U);
  EXPECT_EQ(log.rows.back().bytes, 8589934592U);
  EXPECT_DOUBLE_EQ(log.rows.back().time_s, 47743e-6);
  EXPECT_EQ(read_nccl_log(data_root() + "/tests/repo/fixtures/all-reduce-1x2-rtx2080ti.txt").nodes,
            1);
}

// Two containers may have one host name: the same GPU is then listed twice.
TEST_F(NcclLogs, CountNodesOfOneNameByTheirGpus) {
  std::string text = LogText().text();
  for (std::size_t at; (at = text.find("node-1")) != std::string::npos;)
    text.replace(at, 6, "node-0");
  EXPECT_EQ(read(text).nodes, 2);
}

TEST_F(NcclLogs, OfSomethingElseAreRefusedWithTheLine) {
  refuses("", "no line '# Rank N");
  refuses("hello\n", "its first line begins with 'hello'");
  refuses(LogText{.nodes = 1, .gpus = 1}.text(), "one GPU");
  refuses(LogText{.rows = {}}.text(), "no row of sizes and times");
  refuses(LogText{.columns = "# size count type root time algbw busbw"}.text(),
          ":6: a column root and no column redop");
  refuses(LogText{.columns = "# size count type time algbw busbw"}.text(),
          ":6: no column redop: is it of all_reduce_perf?");
  refuses(LogText{.columns = "# size count type redop root"}.text(),
          "no columns 'time algbw busbw'");
  refuses(LogText{.end = log_columns + "\n"}.text(), ":9: a second table");
  refuses(LogText{.end = "# Rank 0 Pid 7 on n device 0\n"}.text(), ":9: a second rank 0");
  refuses(LogText{.end = "# Rank 9 Group 1 Pid 7 on n device 0\n"}.text(), ":9: group 1");
  refuses(LogText{.end = "$ ./build/all_gather_perf -b 8\n"}.text(), ":9: all_gather_perf");
}

TEST_F(NcclLogs, OfBrokenRowsAreRefusedWithTheLine) {
  const auto row = [&](const std::string& text, const std::string& why) {
    refuses(LogText{.rows = {text}}.text(), ":8: " + why);
  };
  row("1000000 250000 float sum -1 900.0 1.11", "7 fields: its columns are size count");
  row("1000000 250000 float none -1 900 1.11 1.67 0 1000 1 1.5 0", "redop none");
  row("1000000 250000 float sum 0 900 1.11 1.67 0 1000 1 1.5 0", "root 0: a broadcast");
  row("1000000 250000 float sum -1 900 1.11 1.67 0 \x1b[2J30 1 1.5 0",
      "time '\\x1b[2J30': allowed");
  row("1000000 250000 float sum -1 900 1.11 1.67 0 nan 1 1.5 0", "time 'nan': allowed");
  row("1000000 250000 float sum -1 900 1.11 1.67 0 0 1 1.5 0", "1000000 bytes in 0 us");
  row("1000000 250000 float sum -1 900 1.11 1.67 0 1000 1 3.5 0", "busbw 3.5, but 4 ranks");
  row("1000000 250000 float sum -1 900 1.11 1.67 0 1000 1 1.5 5", "5 wrong values");
  row("1000000 250000 float sum -1 900 1.11 1.67 0 1000 1 1.5 N/A", "checked out of place only");
}

}  // namespace
}  // namespace syncline
