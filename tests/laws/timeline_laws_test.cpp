// Law 18 (tests/laws/README.md): the picture of an iteration shows what happened, for every
// schedule.
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "sim/report/result_json.h"
#include "sim/report/timeline.h"
#include "tests/laws/every_schedule.h"

namespace syncline {
namespace {

double seconds_of(const Track& track, const std::set<std::string_view>& verbs) {
  double sum = 0;
  for (const Slice& slice : track.slices)
    sum += verbs.contains(name_of(slice.verb)) ? slice.end_s - slice.start_s : 0;
  return sum;
}

TEST(Law18, SlicesOfATrackDoNotOverlapAndFillAWorkersTime) {
  for (const auto& [name, options] : every_schedule()) {
    const Timeline timeline = timeline_of(simulated(options).trace);
    const double seconds = timeline.to_s - timeline.from_s;
    ASSERT_GT(seconds, 0) << name;
    std::set<std::pair<std::string, std::string>> streams;
    std::map<std::string, int> computing;
    for (const Track& track : timeline.tracks) {
      EXPECT_TRUE(streams.emplace(track.name, track.stream).second)
          << name << ": " << track.name << " has two tracks " << track.stream;
      EXPECT_TRUE(track.name.starts_with(track.kind + " ")) << name << ": " << track.name;
      ASSERT_FALSE(track.slices.empty()) << name;
      double sum = 0;
      double now_s = timeline.from_s;
      for (const Slice& slice : track.slices) {
        EXPECT_GE(slice.start_s, now_s) << name << ": " << track.name << " " << name_of(slice.verb);
        EXPECT_GT(slice.end_s, slice.start_s) << name << ": " << name_of(slice.verb);
        now_s = slice.end_s;
        sum += slice.end_s - slice.start_s;
      }
      EXPECT_LE(now_s, timeline.to_s) << name;
      if (track.kind != "worker" || !track.stream.starts_with("compute"))
        continue;
      EXPECT_EQ(track.stream, "compute") << name << ": a worker computes two things at a time";
      EXPECT_NEAR(sum, seconds, 1e-9 * seconds) << name << ": " << track.name;
      ++computing[track.name];
    }
    EXPECT_EQ(computing.size(), 4U) << name;
  }
}

// If one iteration is typical of all, its parts are those of the report.
TEST(Law18, ATimelineHasTheSecondsOfTheReport) {
  const Simulated run = simulated({{"platform", star_platform({.nodes = 4, .slow_speed = 0.5})},
                                   {"model", model_of({40'000'000})}});
  const Timeline timeline = timeline_of(run.trace);
  EXPECT_NEAR(timeline.to_s - timeline.from_s, run.figures.iteration_mean_s, 1e-9);
  double compute_s = 0;
  double exposed_s = 0;
  double wait_s = 0;
  for (const Track& track : timeline.tracks)
    if (track.stream == "compute") {
      compute_s += seconds_of(track, {"forward", "backward", "step"}) / 4;
      exposed_s += seconds_of(track, {"exposed"}) / 4;
      wait_s += seconds_of(track, {"wait"}) / 4;
    }
  EXPECT_NEAR(compute_s, run.figures.compute_s, 1e-9);
  EXPECT_NEAR(exposed_s, run.figures.exposed_communication_s, 1e-9);
  EXPECT_NEAR(wait_s, run.figures.waiting_s, 1e-9);
}

// Shares of the time of the drawn workers.
struct Shares {
  double exposed = 0;
  double waiting = 0;
};

Shares shares_in(const Timeline& timeline) {
  Shares shares;
  double workers = 0;
  for (const Track& track : timeline.tracks)
    if (track.kind == "worker" && track.stream == "compute") {
      shares.exposed += seconds_of(track, {"exposed"});
      shares.waiting += seconds_of(track, {"wait"});
      ++workers;
    }
  const double all_s = workers * (timeline.to_s - timeline.from_s);
  return {shares.exposed / all_s, shares.waiting / all_s};
}

// The picture has the shares of the bars and the table. Jitter makes the iterations of a run
// differ; some schedules average in every fourth one only.
TEST(Law18, WhatABarHasIsInThePicture) {
  for (const auto& [name, options] : every_schedule()) {
    const Simulated run = simulated(options);
    const Shares shares = shares_in(timeline_of(run.trace));
    const double iteration_s = run.figures.iteration_mean_s;
    EXPECT_NEAR(shares.exposed, run.figures.exposed_communication_s / iteration_s, 0.05) << name;
    EXPECT_NEAR(shares.waiting, run.figures.waiting_s / iteration_s, 0.05) << name;
  }
}

// The last of four is half as fast for 0.1 s in every 0.5 s: three wait for it in some iterations,
// nobody in others. Once, the picture showed the middle iteration, whichever that was.
TEST(Law18, WhoIsSlowNowAndThenIsInThePicture) {
  for (const char* iterations : {"10", "11", "12", "13", "14"}) {
    const Simulated run = simulated({{"platform", star_platform({.nodes = 4,
                                                                 .profile = "0 1\n0.4 0.5\n"
                                                                            "PERIODICITY 0.5"})},
                                     {"model", model_of({1'000'000})},
                                     {"iterations", iterations}});
    const double waiting = run.figures.waiting_s / run.figures.iteration_mean_s;
    EXPECT_GT(waiting, 0.05) << iterations;
    EXPECT_NEAR(shares_in(timeline_of(run.trace)).waiting, waiting, 0.05) << iterations;
  }
}

// In a round of twelve iterations workers exchange once: 12 x 0.1 s of computation, and 0.24 s of
// 160 MB over a ring of four. A single iteration would show none of the exchange, or mostly that.
TEST(Law18, ARoundIsInThePicture) {
  const Simulated run = simulated({{"platform", star_platform({.nodes = 4})},
                                   {"model", model_of({40'000'000})},
                                   {"schedule", "local-sgd"},
                                   {"local-steps", "12"},
                                   {"iterations", "48"}});
  EXPECT_NEAR(shares_in(timeline_of(run.trace)).exposed, 0.24 / (1.2 + 0.24), 0.02);
}

// A student should see this: the slow worker computes for 0.2 s, others for 0.1 s; they wait until
// it has finished, and all exchange together.
TEST(Law18, ABarrierIsWaitingForTheSlowWorker) {
  const Timeline timeline =
      timeline_of(simulated({{"platform", star_platform({.nodes = 4, .slow_speed = 0.5})},
                             {"model", model_of({40'000'000})}})
                      .trace);
  double exchange_s = 0;
  double slow_exposed_s = 0;
  std::set<double> exchanges_begin;
  for (const Track& track : timeline.tracks) {
    if (track.stream == "communication") {
      const double of_track_s = seconds_of(track, {"all-reduce"});
      EXPECT_NEAR(of_track_s, 2 * 3 * (160e6 / 4 / 1e9 + 2e-5), 1e-6);
      exchange_s = of_track_s;
      for (const Slice& slice : track.slices)
        if (slice.verb == Verb::all_reduce)
          exchanges_begin.insert(slice.start_s);
    } else if (track.stream == "compute" && track.name == "worker 3") {
      slow_exposed_s = seconds_of(track, {"exposed"});
      EXPECT_NEAR(seconds_of(track, {"wait"}), 0, 1e-9);
    }
  }
  EXPECT_EQ(exchanges_begin.size(), 1U);
  EXPECT_NEAR(slow_exposed_s, exchange_s, 1e-9);
  for (const Track& track : timeline.tracks)
    if (track.stream == "compute" && track.name != "worker 3") {
      EXPECT_NEAR(seconds_of(track, {"wait"}), 0.1, 1e-9) << track.name;
      EXPECT_NEAR(seconds_of(track, {"exposed"}), exchange_s, 1e-9) << track.name;
    }
}

// A server that adds more slowly than gradients arrive is busy without a pause, and several
// messages are on their way to it at a time.
TEST(Law18, AQueueAtAServerIsABusyServer) {
  const Timeline timeline =
      timeline_of(simulated({{"platform", star_platform({.nodes = 4, .servers = 1})},
                             {"model", model_of({10'000'000})},
                             {"schedule", "asp"},
                             {"servers", "1"},
                             {"host-memory-bandwidth", "1e9"},
                             {"iterations", "20"}})
                      .trace);
  const double seconds = timeline.to_s - timeline.from_s;
  double updating_s = 0;
  int lanes = 0;
  for (const Track& track : timeline.tracks)
    if (track.kind == "server") {
      EXPECT_EQ(track.name, "server 0");
      updating_s += track.stream == "compute" ? seconds_of(track, {"update"}) : 0;
      lanes += track.stream.starts_with("messages") ? 1 : 0;
    }
  EXPECT_NEAR(updating_s, seconds, 0.02 * seconds);
  EXPECT_GE(lanes, 1);
}

TEST(Law18, EightOfManyWorkersAreShownAndTheSlowestIsAmongThem) {
  const Simulated run = simulated(
      {{"platform",
        star_platform({.nodes = 10, .workers_per_node = 2, .slow_speed = 0.5, .slow_worker = 9})},
       {"model", model_of({1'000'000})}});
  std::set<std::string> workers;
  for (const Track& track : timeline_of(run.trace).tracks)
    workers.insert(track.name);
  EXPECT_EQ(workers.size(), 8U);
  // Seven of the eight drawn wait for half of the time; of all workers, 19 of 20 do.
  EXPECT_GT(shares_in(timeline_of(run.trace)).waiting, 0.38);
  for (const char* name : {"worker 0", "worker 9", "worker 19"})
    EXPECT_TRUE(workers.contains(name)) << name;
}

// A result contains a timeline, so it must stay small: thousands of messages become few slices of
// the same total time.
TEST(Law18, ATimelineIsSmallHoweverMuchHappens) {
  std::vector<std::uint64_t> tensors(200, 100'000);
  const Simulated run = simulated({{"platform", star_platform({.nodes = 8, .nic_Bps = 1e10})},
                                   {"model", model_of(tensors)},
                                   {"bucket-bytes", "0"},
                                   {"iterations", "2"},
                                   {"schedule", "asp"}});
  ASSERT_GT(run.rows("receive").size(), 25'000U);
  const Timeline timeline = timeline_of(run.trace);
  std::size_t slices = 0;
  for (const Track& track : timeline.tracks)
    slices += track.slices.size();
  EXPECT_LE(slices, 1500U);
  EXPECT_GT(slices, 150U);
  EXPECT_LT(text_of(Result{.timeline = timeline}).size(), 100'000U);
}

}  // namespace
}  // namespace syncline
