// What a worker does in a round, told by its schedule's own function: the verbs that it calls, in
// their order. Of a schedule in which workers wait for all others they do not depend on time, so
// they are recorded once, and clock.h says how long they take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/plan.h"
#include "sim/setup/setup.h"

namespace syncline {

enum class Call : std::uint8_t {
  forward,         // of the whole model
  forward_bucket,  // of the layers of one
  backward,
  step,
  start_average,
  finish_averages,
  start_gather,
  finish_gather,
  start_reduce_scatter,
};

struct Act {
  Call call = Call::forward;
  Among group = Among::all;
  int bucket = -1;

  bool operator==(const Act&) const = default;
};

// Iterations that follow each other and are alike.
struct AlikeIterations {
  std::vector<Act> acts;  // of one
  int times = 1;

  bool operator==(const AlikeIterations&) const = default;
};

struct Round {
  std::vector<AlikeIterations> parts;  // of the second round: the first may reach into it
  int iterations = 1;
  bool repeats = true;  // those after it are the same; else `parts` has several

  // Acts of an iteration; one that starts a collective counts this often.
  double acts(double of_collective) const;
  // How often it makes the call, by bucket, of the first so many.
  std::vector<int> calls(Call call, Among group, std::size_t buckets) const;
};

// Throws std::runtime_error if a round has more than most_acts, and std::logic_error if its workers
// do not average with each other.
constexpr std::int64_t most_acts = 16'000'000;
Round recorded_round(const Setup& setup);

// In an iteration each of these buckets moves so often.
struct Moved {
  const Traffic& traffic;
  std::vector<Bucket> buckets;
  double times = 1;  // for each of the traffic's rounds
  int stream = 0;    // the same for what moves one after the other
};

// All that workers send each other, or servers. The setup must live as long.
std::vector<Moved> moved(const Setup& setup);

}  // namespace syncline
