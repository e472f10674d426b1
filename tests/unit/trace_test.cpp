#include <gtest/gtest.h>
#include <sstream>
#include <vector>

#include "kernels/io/text.h"
#include "sim/report/stream_lanes.h"
#include "sim/study/names.h"
#include "sim/traces/traces.h"
#include "tests/unit/errors.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

std::vector<std::string> lines_of(const Trace& trace) {
  std::ostringstream text;
  write_csv(trace, text);
  std::vector<std::string> lines = split(text.str(), '\n');
  EXPECT_EQ(lines.back(), "") << "the last line has no end";
  lines.pop_back();
  return lines;
}

TEST(TraceCsv, HasAColumnForEachFact) {
  Trace trace;
  trace.rows = {{.start_s = 0.125,
                 .end_s = 1.5,
                 .verb = Verb::apply,
                 .stream = Stream::messages,
                 .rank = 3,
                 .bucket = 4,
                 .iteration = 5,
                 .bytes_sent = 6,
                 .bytes_received = 12345678901,
                 .version = 8,
                 .read_version = 7,
                 .worker = 9}};
  const std::vector<std::string> lines = lines_of(trace);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0],
            "start_s,end_s,rank,stream,verb,bucket,iteration,bytes_sent,bytes_received,version,"
            "read_version,worker,peer,message");
  EXPECT_EQ(lines[1], "0.125,1.5,3,messages,apply,4,5,6,12345678901,8,7,9,,");
}

TEST(TraceCsv, GivesSecondsWithTwelveDigits) {
  Trace trace;
  trace.rows = {{.start_s = 1. / 3, .end_s = 12345678.90125}};
  EXPECT_TRUE(lines_of(trace)[1].starts_with("0.333333333333,12345678.9012,"))
      << lines_of(trace)[1];
}

TEST(TraceCsv, SaysWhoSendsWhatToWhom) {
  Trace trace;
  trace.rows = {{.start_s = 1, .verb = Verb::push, .rank = 0},
                {.start_s = 2, .verb = Verb::receive, .rank = 3}};
  trace.messages = {{.from = 0, .to = 2, .sender_row = 0},
                    {.from = 0, .to = 3, .sender_row = 0, .receiver_row = 1},
                    {.from = 4, .to = 0, .receiver_row = 0}};
  const std::vector<std::string> lines = lines_of(trace);
  EXPECT_TRUE(lines[1].ends_with(",>2 >3 <4,0 1 2")) << lines[1];
  EXPECT_TRUE(lines[2].ends_with(",<0,1")) << lines[2];
}

TEST(TraceCsv, IsSortedByStartRankAndStream) {
  Trace trace;
  trace.rows = {{.start_s = 2, .verb = Verb::drop, .rank = 0},
                {.start_s = 1, .verb = Verb::compress, .rank = 2},
                {.start_s = 1, .verb = Verb::backward, .stream = Stream::communication, .rank = 1},
                {.start_s = 1, .verb = Verb::apply, .stream = Stream::compute, .rank = 1},
                {.start_s = 1, .verb = Verb::ask, .stream = Stream::compute, .rank = 1}};
  std::string verbs;
  for (const std::string& line : lines_of(trace))
    verbs += line == lines_of(trace)[0] ? "" : split(line, ',')[4] + " ";
  EXPECT_EQ(verbs, "apply ask backward compress drop ");
}

TEST(TraceCsv, NamesEveryStream) {
  EXPECT_EQ(name_of(Stream::compute), "compute");
  EXPECT_EQ(name_of(Stream::communication), "communication");
  EXPECT_EQ(name_of(Stream::messages), "messages");
  EXPECT_EQ(name_of(Stream::compression), "compression");
}

TEST(CellName, NamesTheSweptOptions) {
  const std::map<std::string, std::string> result{
      {"workers", "8"}, {"schedule", "bsp"}, {"model", "nets/my net.csv"}};
  EXPECT_EQ(cell_name(result, {}), "result");
  EXPECT_EQ(cell_name(result, {"workers", "schedule"}), "workers-8_schedule-bsp");
  EXPECT_EQ(cell_name(result, {"workers", "staleness"}), "workers-8");
  EXPECT_EQ(cell_name(result, {"model"}).find('/'), std::string::npos);
}

TEST(CellName, DiffersBetweenCells) {  // otherwise one overwrites the other
  const auto name_for = [](const std::string& model) {
    return cell_name({{"model", model}}, {"model"});
  };
  EXPECT_NE(name_for("nets/a.csv"), name_for("nets-a.csv"));
  EXPECT_NE(name_for("a b.csv"), name_for("a_b.csv"));
}

}  // namespace
}  // namespace syncline
