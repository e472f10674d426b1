// A deadlock in a schedule is reported with who waits, in what call, and for whom.
#include <gtest/gtest.h>
#include <stdexcept>

#include "sim/schedule.h"
#include "sim/server.h"
#include "sim/worker.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

std::string deadlock_of(const Schedule& schedule, Options options) {
  options.emplace("model", model_of({1'000'000, 1'000'000}));
  options.emplace("bucket-bytes", "0");
  try {
    simulated_by(schedule, std::move(options));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "it ends";
}

void push_and_pull(Worker& worker) {
  while (worker.next_iteration()) {
    worker.forward();
    for (const Bucket& bucket : worker.buckets()) {
      worker.backward(bucket);
      worker.push(bucket);
    }
    worker.pull();
    worker.step();
  }
}

// A server that answers only gradients of the first iteration.
void tires(Server& server) {
  while (const auto push = server.next_push()) {
    server.apply(*push);
    if (push->iteration == 0)
      server.reply(*push);
  }
}

TEST(Deadlock, OfServersThatDoNotAnswerNamesThem) {
  const Schedule schedule{
      .name = "tired", .sentence = "", .worker = push_and_pull, .server = tires};
  EXPECT_EQ(
      deadlock_of(schedule, {{"platform", star_platform({.nodes = 3, .servers = 2})},
                             {"schedule", "asp"},
                             {"servers", "2"},
                             {"workers", "3"}}),
      "the schedule has a deadlock: worker 0 in iteration 1 waits in pull() for server 0 or "
      "server 1; worker 1 in iteration 1 waits in pull() for server 0 or server 1; worker 2 in "
      "iteration 1 waits in pull() for server 0 or server 1; server 0 waits for a push; and 1 "
      "more");
}

int averaging = 0;  // workers, in this process

void average_but_the_first(Worker& worker) {
  const bool averages = averaging++ > 0;
  while (worker.next_iteration()) {
    worker.forward();
    for (const Bucket& bucket : worker.buckets()) {
      worker.backward(bucket);
      if (averages)
        worker.start_average(bucket);
    }
    worker.finish_averages();
    worker.step();
  }
}

TEST(Deadlock, OfAnAverageNamesWhoHasNotCome) {
  const Schedule schedule{.name = "alone", .sentence = "", .worker = average_but_the_first};
  Options options{{"platform", star_platform({.nodes = 3})}, {"schedule", "bsp"}};
  EXPECT_EQ(
      deadlock_of(schedule, options),
      "the schedule has a deadlock: worker 1 in iteration 0 waits in finish_averages() for 1 of "
      "3 ranks to begin all-reduce of bucket 0; worker 2 in iteration 0 waits in "
      "finish_averages() for 1 of 3 ranks to begin all-reduce of bucket 0");
  options["exchange"] = "halving-doubling";
  options["platform"] = star_platform({.nodes = 2});
  EXPECT_EQ(deadlock_of(schedule, options),
            "the schedule has a deadlock: worker 1 in iteration 0 waits in finish_averages() for "
            "worker 0 in halve of bucket 0");
}

}  // namespace
}  // namespace syncline
