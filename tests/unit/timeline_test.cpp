// The picture of an iteration, from traces small enough to draw by hand.
#include "sim/report/timeline.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>

#include "sim/page/canvas.h"
#include "sim/page/svg.h"
#include "sim/report/result_json.h"

namespace syncline {
namespace {

Trace one_iteration() {
  Trace trace;
  trace.workers = 1;
  trace.servers = 1;
  trace.rank_names = {"worker 0", "server 0"};
  trace.window = {.from_s = 0, .to_s = 1};
  trace.rows = {
      {.start_s = 0, .end_s = 0.25, .verb = Verb::forward, .iteration = 0},
      {.start_s = 0.25, .end_s = 0.5, .verb = Verb::backward, .bucket = 0, .iteration = 0},
      {.start_s = 0.75, .end_s = 1, .verb = Verb::step, .iteration = 0}};
  return trace;
}

TEST(Timeline, FillsWhatStandsStillWithWaiting) {
  const Timeline timeline = timeline_of(one_iteration());
  ASSERT_EQ(timeline.tracks.size(), 1U);
  EXPECT_EQ(to_json(Result{.timeline = timeline})["timeline"].dump(),
            R"({"from_s":0.0,"to_s":1.0,"tracks":[{"name":"worker 0","kind":"worker",)"
            R"("stream":"compute","slices":[[0.0,0.25,"forward",-1,0],[0.25,0.5,"backward",0,0],)"
            R"([0.5,0.75,"wait",-1,-1],[0.75,1.0,"step",-1,0]]}]})");
}

// As in the report: exposed while its bytes move, else waiting; the row of a stream is cut where
// none of its messages moves.
TEST(Timeline, SaysWhatIsExposedAndWhatIsWaiting) {
  Trace trace = one_iteration();
  trace.rows.push_back({.start_s = 0.5,
                        .end_s = 0.75,
                        .verb = Verb::all_reduce,
                        .stream = Stream::communication,
                        .bucket = 0,
                        .iteration = 0,
                        .bytes_sent = 8});
  trace.pauses = {{.start_s = 0.6, .end_s = 0.7}};
  const auto slices = to_json(Result{.timeline = timeline_of(trace)})["timeline"]["tracks"];
  EXPECT_EQ(slices[0]["slices"].dump(),
            R"([[0.0,0.25,"forward",-1,0],[0.25,0.5,"backward",0,0],[0.5,0.6,"exposed",-1,-1],)"
            R"([0.6,0.7,"wait",-1,-1],[0.7,0.75,"exposed",-1,-1],[0.75,1.0,"step",-1,0]])");
  EXPECT_EQ(slices[1]["slices"].dump(),
            R"([[0.5,0.6,"all-reduce",0,0],[0.6,0.7,"wait",0,0],[0.7,0.75,"all-reduce",0,0]])");
}

TEST(Timeline, DrawsMessagesThatOverlapInLanes) {
  Trace trace = one_iteration();
  for (const double start_s : {0.1, 0.2, 0.3})
    trace.rows.push_back({.start_s = start_s,
                          .end_s = start_s + 0.15,
                          .verb = Verb::receive,
                          .stream = Stream::messages,
                          .rank = 1,
                          .bucket = 7});
  const Timeline timeline = timeline_of(trace);
  ASSERT_EQ(timeline.tracks.size(), 3U);
  EXPECT_EQ(timeline.tracks[1].stream, "messages");
  EXPECT_EQ(timeline.tracks[1].kind, "server");
  EXPECT_EQ(timeline.tracks[1].slices.size(), 2U);
  EXPECT_EQ(timeline.tracks[2].stream, "messages-2");
  EXPECT_EQ(timeline.tracks[2].slices.size(), 1U);
}

TEST(Timeline, ShowsAllMessagesWhereThereAreMoreThanLanes) {
  Trace trace = one_iteration();
  for (int i = 0; i < 20; ++i)
    trace.rows.push_back({.start_s = 0.1 + 0.01 * i,
                          .end_s = 0.5 + 0.01 * i,
                          .verb = Verb::receive,
                          .stream = Stream::messages,
                          .rank = 1,
                          .bucket = i});
  const Timeline timeline = timeline_of(trace);
  ASSERT_EQ(timeline.tracks.size(), 1U + 16);
  const Slice& rest = timeline.tracks.back().slices.back();
  EXPECT_EQ(rest.verb, Verb::several);
  EXPECT_DOUBLE_EQ(rest.start_s, 0.1 + 0.15);
  EXPECT_DOUBLE_EQ(rest.end_s, 0.5 + 0.19);
}

TEST(Timeline, MergesWhatIsTooShortToSeeOfOneVerbOnly) {
  Trace trace = one_iteration();
  for (int i = 0; i < 100; ++i)
    trace.rows.push_back({.start_s = 0.5 + 1e-4 * i,
                          .end_s = 0.5 + 1e-4 * (i + 1),
                          .verb = i < 60 ? Verb::update : Verb::sum,
                          .rank = 1,
                          .bucket = 3});
  const Timeline timeline = timeline_of(trace);
  ASSERT_EQ(timeline.tracks.size(), 2U);
  double updating_s = 0;
  for (const Slice& slice : timeline.tracks[1].slices) {
    EXPECT_NE(slice.verb, Verb::several);
    EXPECT_EQ(slice.bucket, 3);
    updating_s += slice.verb == Verb::update ? slice.end_s - slice.start_s : 0;
  }
  EXPECT_LT(timeline.tracks[1].slices.size(), 30U);
  EXPECT_NEAR(updating_s, 60e-4, 1e-12);
}

// Once, updates that took 1.5 % of a server's time were drawn, and labelled, as 34 %: gaps too
// short to be visible were included.
TEST(Timeline, MergedSlicesAreAsLongAsAllOfThemWere) {
  Trace trace = one_iteration();
  for (int i = 0; i < 4000; ++i)
    trace.rows.push_back({.start_s = 0.1 + 2e-4 * i,
                          .end_s = 0.1 + 2e-4 * i + 2e-5,
                          .verb = Verb::update,
                          .rank = 1,
                          .bucket = i % 2});
  const Timeline timeline = timeline_of(trace);
  ASSERT_EQ(timeline.tracks.size(), 2U);
  double updating_s = 0;
  double last_s = 0;
  for (const Slice& slice : timeline.tracks[1].slices) {
    EXPECT_GE(slice.start_s, last_s);
    last_s = slice.end_s;
    updating_s += slice.end_s - slice.start_s;
  }
  EXPECT_LT(timeline.tracks[1].slices.size(), 1501U);
  EXPECT_NEAR(updating_s, 4000 * 2e-5, 1e-9);
  EXPECT_NEAR(last_s, 0.9, 0.005);  // where it was, as far as visible
}

// The names of all activities take more than one line.
TEST(Timeline, LegendEndsWhereTheDrawingDoes) {
  DrawnTimeline timeline{"all of it", 1, {{"worker 0", "compute", {}}}};
  for (const Activity activity : {Activity::forward, Activity::backward, Activity::compress,
                                  Activity::communicate, Activity::serve, Activity::wait})
    timeline.tracks.front().slices.push_back({.end_s = 1, .activity = activity});
  const std::string svg = svg_of(timeline, "a subject");
  const std::regex text(R"re(<text x="([0-9.]+)" y="[0-9.]+" text-anchor="start"[^>]*>([^<]*)<)re");
  std::vector<std::string> names;
  for (std::sregex_iterator one(svg.begin(), svg.end(), text), end; one != end; ++one) {
    names.push_back((*one)[2]);
    EXPECT_LE(std::stod((*one)[1]) + width_of(names.back()), canvas_width) << names.back();
  }
  EXPECT_GE(names.size(), 6U);
}

TEST(Timeline, OfNothingIsEmpty) {
  EXPECT_TRUE(timeline_of({}).tracks.empty());
}

}  // namespace
}  // namespace syncline
