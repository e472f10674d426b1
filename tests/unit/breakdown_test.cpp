// Seconds, bytes and links of an iteration, and its lower bounds, computed by hand.
#include <gtest/gtest.h>

#include "tests/unit/errors.h"
#include "tests/unit/trace_builder.h"

namespace syncline {
namespace {

TEST(Breakdown, SeparatesExposedFromWaiting) {
  // 4 s of computation, then 3 s of waiting; bytes move from 3 to 6 s.
  TraceBuilder builder(1);
  builder.iterates(0, 0, 4, 3).moves(0, 0, 3, 6);
  const Figures figures = builder.report(1, 0);
  EXPECT_DOUBLE_EQ(figures.compute_s, 4);
  EXPECT_DOUBLE_EQ(figures.exposed_communication_s, 2);
  EXPECT_DOUBLE_EQ(figures.waiting_s, 1);
}

TEST(Breakdown, CountsOverlappingTransfersOnce) {
  TraceBuilder builder(1);
  builder.iterates(0, 0, 4, 4).moves(0, 0, 5, 6).moves(0, 0, 5.5, 6.5).moves(0, 0, 7.5, 9);
  EXPECT_DOUBLE_EQ(builder.report(1, 0).exposed_communication_s, 2);
}

TEST(Breakdown, DoesNotCountAWaitingStreamAsMoving) {
  TraceBuilder builder(1);
  builder.iterates(0, 0, 4, 3).moves(0, 0, 4, 6, 0, "wait").moves(0, 0, 6, 7);
  const Figures figures = builder.report(1, 0);
  EXPECT_DOUBLE_EQ(figures.exposed_communication_s, 1);
  EXPECT_DOUBLE_EQ(figures.waiting_s, 2);
}

TEST(Breakdown, WaitsWhileNoMessageOfAnExchangeMoves) {
  // An exchange from 4 to 7 s that moves nothing from 5 to 6.5 s.
  TraceBuilder builder(1);
  builder.iterates(0, 0, 4, 3).moves(0, 0, 4, 7);
  builder.trace().pauses = {{.start_s = 1, .end_s = 2}, {.start_s = 5, .end_s = 6.5}};
  const Figures figures = builder.report(1, 0);
  EXPECT_DOUBLE_EQ(figures.exposed_communication_s, 1.5);
  EXPECT_DOUBLE_EQ(figures.waiting_s, 1.5);
  builder.trace().pauses[1].stage = 1;  // of another stream
  EXPECT_DOUBLE_EQ(builder.report(1, 0).exposed_communication_s, 3);
}

TEST(Breakdown, AddsUpToTheMeanIteration) {
  TraceBuilder builder(2);
  for (int i = 0; i < 5; ++i)
    for (int rank = 0; rank < 2; ++rank) {
      builder.computes(rank, i, "forward", 1 + rank)
          .computes(rank, i, "backward", 2)
          .computes(rank, i, "compress", 0.5)
          .computes(rank, i, "wait", 0.25 * (i + 1))
          .computes(rank, i, "decompress", 0.125)
          .computes(rank, i, "step", 0);
      builder.moves(rank, i, 4.0 * i, 4.0 * i + 3.6);
    }
  const Figures figures = builder.report(1, 1);
  EXPECT_NEAR(
      figures.compute_s + figures.compress_s + figures.exposed_communication_s + figures.waiting_s,
      figures.iteration_mean_s, 1e-12);
  EXPECT_DOUBLE_EQ(figures.compress_s, 0.625);
  EXPECT_DOUBLE_EQ(figures.compute_s, 3.5);
}

TEST(Bytes, ArePerWorkerAndIteration) {
  TraceBuilder builder(2);
  for (int i = 0; i < 3; ++i)
    builder.iterates(0, i, 1)
        .iterates(1, i, 1)
        .moves(0, i, i, i + 1, 300)
        .moves(1, i, i, i + 1, 100);
  Figures figures = builder.report(1, 1);
  EXPECT_DOUBLE_EQ(figures.bytes_sent, 200);
  EXPECT_DOUBLE_EQ(figures.bytes_received, 400);
  // A server's bytes do not count for workers, a node aggregator's do.
  builder.trace().servers = 1;
  builder.trace().rows.push_back({.rank = 2, .iteration = 0, .bytes_sent = 999});
  figures = builder.report(1, 1);
  EXPECT_DOUBLE_EQ(figures.bytes_sent, 200);
  builder.trace().rows.push_back({.rank = 3, .iteration = 1, .bytes_sent = 400});
  figures = builder.report(1, 1);
  EXPECT_DOUBLE_EQ(figures.bytes_sent, 300);
  EXPECT_DOUBLE_EQ(figures.bytes_sent_in_node, 0);
  // A quarter of the bytes that worker 0 sends leaves its node, none of worker 1's.
  builder.trace().off_node = {0.25, 0, 1, 1};
  figures = builder.report(1, 1);
  EXPECT_DOUBLE_EQ(figures.bytes_sent, 300);
  EXPECT_DOUBLE_EQ(figures.bytes_sent_off_node, (2 * 75 + 400) / 4.0);
  EXPECT_DOUBLE_EQ(figures.bytes_sent_in_node, (2 * 225 + 2 * 100) / 4.0);
}

TEST(Links, AreTheThreeBusiestInOrder) {
  TraceBuilder builder(1);
  builder.iterates(0, 0, 5).iterates(0, 1, 5);
  builder.trace().links = {
      {"a", 100, 100, 50}, {"b", 10, 80, 40}, {"d", 10, 50, 25}, {"c", 10, 50, 25}};
  const Figures figures = builder.report(1, 1);
  ASSERT_EQ(figures.busiest_links.size(), 3U);
  EXPECT_EQ(figures.busiest_links[0].name, "b");
  EXPECT_EQ(figures.busiest_links[1].name, "c");
  EXPECT_EQ(figures.busiest_links[2].name, "d");
  EXPECT_DOUBLE_EQ(figures.busiest_links[0].utilisation, 0.8);  // 4 s of the 5
  EXPECT_DOUBLE_EQ(figures.busiest_links[0].bytes_per_iteration, 40);
  EXPECT_DOUBLE_EQ(figures.bound_link_s, 4);
}

// Bytes at the ends of a window are approximate: once, a link was 101 % full.
TEST(Links, AreNeverMoreThanFull) {
  TraceBuilder builder(1);
  builder.iterates(0, 0, 5).iterates(0, 1, 5);
  builder.trace().links = {{"a", 10, 100, 50.5}};
  const Figures figures = builder.report(1, 1);
  EXPECT_DOUBLE_EQ(figures.busiest_links[0].utilisation, 1);
  EXPECT_DOUBLE_EQ(figures.bound_link_s, figures.iteration_mean_s);
}

TEST(Bound, WarnsIfARunIsFaster) {
  TraceBuilder builder(1);
  builder.iterates(0, 0, 1).iterates(0, 1, 1);
  builder.trace().links = {{"wire", 10, 20}};  // 2 s for two iterations: exactly the bound
  EXPECT_TRUE(builder.report(1, 0).warnings.empty());
  builder.trace().links = {{"wire", 10, 30}};
  const Figures figures = builder.report(1, 0);
  ASSERT_EQ(figures.warnings.size(), 1U);
  expect_mentions(figures.warnings[0].text, {"bound", "1.5"});
}

TEST(Bound, OfComputationIsTheSlowestWorkers) {
  TraceBuilder builder(2);
  builder.iterates(0, 0, 1, 2).iterates(1, 0, 3);
  EXPECT_DOUBLE_EQ(builder.report(1, 0).bound_compute_s, 3);
}

TEST(Bound, IsOfTheWindowThatTheIterationIsOf) {
  // A worker that is slow only in its warm-up: from 8 s on it computes for 1 s of every 2.
  TraceBuilder builder(2);
  builder.apart().iterates(0, 0, 2).iterates(1, 0, 8);
  for (int i = 1; i < 9; ++i)
    builder.iterates(0, i, 1, 1);
  for (int i = 1; i < 6; ++i)
    builder.iterates(1, i, 1, 1);
  const Figures figures = builder.report(10, 1);
  EXPECT_DOUBLE_EQ(figures.iteration_mean_s, 2);
  EXPECT_DOUBLE_EQ(figures.bound_compute_s, 1);
  EXPECT_DOUBLE_EQ(figures.throughput_samples_per_s * figures.iteration_mean_s, 2 * 10);
}

}  // namespace
}  // namespace syncline
