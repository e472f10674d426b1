// --limit-memory and --limit-seconds: a run that is too large is refused before it is built.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/program/program.h"
#include "tests/unit/errors.h"

namespace syncline {
namespace {

using Arguments = std::vector<std::string>;

Arguments large_run(const Arguments& more) {
  Arguments arguments{"run",          "--platform", "fat-tree-1024", "--model", "resnet50",
                      "--throughput", "100"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// Ten seconds of CPU time, which suffice with sanitizers, too.
void have_little_time() {
  const rlimit limit{10, 10};
  setrlimit(RLIMIT_CPU, &limit);
}

TEST(Limits, WhatTakesTooLongIsRefusedBeforeItIsBuilt) {
  const TemporaryFolder folder;
  for (const Arguments& more : {
           Arguments{"--schedule", "bsp", "--iterations", "1000000"},
           Arguments{"--schedule", "bsp", "--exchange", "tree", "--chunk-bytes", "1", "--fidelity",
                     "step"},
           Arguments{"--schedule", "bsp", "--exchange", "ps", "--partition-bytes", "1",
                     "--fidelity", "step"},
           Arguments{"--schedule", "bsp", "--exchange", "alltoall", "--fidelity", "step",
                     "--bucket-bytes", "0", "--iterations", "1000"},
           Arguments{"--schedule", "asp", "--partition-bytes", "1", "--fidelity", "step"},
           Arguments{"--schedule", "ssp", "--staleness", "3", "--compressor", "topk", "--device",
                     "h100-modelled", "--density", "0.01", "--bucket-bytes", "0"},
           Arguments{"--schedule", "inhad", "--compressor", "topk", "--device", "h100-modelled",
                     "--density", "0.01"},
       }) {
    Arguments all = large_run(more);
    all.insert(all.end(), {"--out", "results"});
    const Ended ended = run_program(all, folder.path(), have_little_time);
    EXPECT_EQ(ended.code, 2) << more.back();
    EXPECT_EQ(lines_in(ended.err), 1) << ended.err;
    expect_mentions(ended.err, {"messages", "allowed are", "--limit-seconds", "fewer workers"});
    EXPECT_EQ(listing_of(folder.path()).size(), 0) << more.back();
  }
}

TEST(Limits, MemoryIsThatOfAllProcessesThatRunAtATime) {
  const Arguments small{"--workers", "8", "--iterations", "2", "--schedule", "bsp"};
  const auto ended_with = [&](const Arguments& more) {
    Arguments all = large_run(small);
    all.insert(all.end(), more.begin(), more.end());
    return run_program(all);
  };
  EXPECT_EQ(ended_with({"--limit-memory", "60e6"}).code, 0);
  EXPECT_EQ(ended_with({"--limit-memory", "60e6", "--batch", "8,16", "--jobs", "1"}).code, 0);
  const Ended two = ended_with({"--limit-memory", "60e6", "--batch", "8,16", "--jobs", "2"});
  EXPECT_EQ(two.code, 2);
  expect_mentions(two.err, {"each of 2 at a time", "--limit-memory", "--jobs"});
  const Ended one = ended_with({"--limit-memory", "30e6"});
  EXPECT_EQ(one.code, 2);
  expect_mentions(one.err, {"GB", "--limit-memory"});
}

TEST(Limits, APlatformThatNeedsMoreMemoryThanAllowedIsRefused) {
  const TemporaryFolder folder;
  folder.write("large.xml", R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <cluster id="c" prefix="h" suffix="" radical="0-199999" speed="1Gf" bw="1GBps" lat="1us"/>
  </zone>
</platform>
)");
  const Ended ended =
      run_program({"run", "--platform", "large.xml", "--model", "resnet50", "--throughput", "100",
                   "--workers", "2", "--limit-memory", "100e6"},
                  folder.path());
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(lines_in(ended.err), 1) << ended.err;
  expect_mentions(ended.err, {"memory", "fewer hosts"});
}

TEST(Limits, AreNumbersFromOne) {
  for (const char* flag : {"--limit-memory", "--limit-seconds"})
    for (const char* value : {"0", "-1", "nan", "inf", "", "much", "1e30"}) {
      const Ended ended = run_program(large_run({flag, value}));
      EXPECT_EQ(ended.code, 2) << flag << ' ' << value;
      expect_mentions(ended.err, {flag, "allowed are"});
    }
}

TEST(Limits, AnIterationHasNoMoreComputationThanSecondsCanTell) {
  for (const Arguments& more : {Arguments{"--throughput", "1e-6", "--batch", "1000000000"},
                                Arguments{"--efficiency", "1e-12"}}) {
    Arguments arguments{"run",     "--platform", "fat-tree-1024", "--workers", "2",
                        "--model", "resnet50",   "--schedule",    "bsp"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = run_program(arguments);
    EXPECT_EQ(ended.code, 2) << more.front();
    expect_mentions(ended.err, {"s of computation on host", "allowed are up to 1e7 s"});
  }
}

// A million pairs of a worker and a server, each with 161 buckets: once, a route was searched for
// every bucket, and explain never finished.
TEST(Explain, AnswersWhereEveryTensorGoesToAThousandServers) {
  Arguments arguments = large_run({"--schedule", "asp", "--bucket-bytes", "1"});
  arguments.front() = "explain";
  const Ended ended = run_program(arguments, ".", have_little_time);
  EXPECT_EQ(ended.code, 0) << ended.err;
  expect_mentions(ended.out, {"buckets, in backward order (161 of 161 tensors)", "busiest link"});
}

TEST(Explain, SaysWhatASimulationTakes) {
  Arguments arguments = large_run({"--workers", "8"});
  arguments.front() = "explain";
  const std::string text = run_program(arguments).out;
  expect_mentions(text, {"simulating this as steps, about (modelled)", "11 iterations: ",
                         "or up to 1001 iterations: ", "s of one core", "GB of memory"});
}

}  // namespace
}  // namespace syncline
