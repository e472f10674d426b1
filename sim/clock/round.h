// The verbs that a worker calls in a round, in order, recorded from its schedule's own function. In
// a schedule whose workers wait for all others, these calls do not depend on time, so they are
// recorded once, and clock.h computes how long they take. With neighbours they differ by worker,
// and neighbours.h computes how long they take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/plan.h"
#include "sim/setup/setup.h"

namespace syncline {

enum class Call : std::uint8_t {
  forward,         // of the whole model
  forward_bucket,  // of the layers of one bucket
  backward,
  step,
  step_together,
  start_average,
  finish_averages,
  start_gather,
  finish_gather,
  start_reduce_scatter,
  send_parameters,
  receive_parameters,
  mix,
};

struct Act {
  Call call = Call::forward;
  Among group = Among::all;
  int bucket = -1;
  int other = -1;  // the worker to which parameters are sent, or from which they are received

  bool operator==(const Act&) const = default;
};

// Consecutive iterations that are alike.
struct AlikeIterations {
  std::vector<Act> acts;  // of one iteration
  int times = 1;

  bool operator==(const AlikeIterations&) const = default;
};

struct Round {
  // Of the second round, because the first round may reach into it.
  std::vector<AlikeIterations> parts;
  int iterations = 1;
  bool repeats = true;  // all later rounds are the same; else `parts` has several rounds

  // Acts per iteration. An act that starts a collective counts `of_collective` times.
  double acts(double of_collective) const;
  // How often the round makes this call, by bucket, for the first `buckets` buckets.
  std::vector<int> calls(Call call, Among group, std::size_t buckets) const;
};

// The calls of every worker, where all average with each other. Throws std::runtime_error if a
// round has more than most_acts, and std::logic_error if the schedule's workers do not average with
// each other.
constexpr std::int64_t most_acts = 16'000'000;
Round recorded_round(const Setup& setup);

// The calls of a worker in each of its first iterations, where workers send neighbours parameters.
// Throws likewise.
struct RecordedIterations {
  std::vector<std::vector<Act>> kinds;  // different iterations
  std::vector<std::size_t> kind_of;     // by iteration
};
RecordedIterations recorded_iterations(const Setup& setup, int rank, std::int64_t iterations);

// Buckets, and how often each is sent in `traffic.round` iterations.
struct Moved {
  const Traffic& traffic;
  std::vector<Bucket> buckets;
  double times = 1;
  int stream = 0;  // equal for traffic that moves one after the other
};

// All traffic between workers, or between workers and servers. Refers to the setup, which must
// outlive the result.
std::vector<Moved> moved(const Setup& setup);

}  // namespace syncline
