// The streams, messages and timers that sim/traffic/followed_plans.cpp follows.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "sim/plan.h"
#include "sim/platform/routes.h"

namespace syncline::followed {

inline constexpr double rounding = 1e-12;
inline constexpr double most_updates = 2e7;   // of the shares of flows and links: about 0.1 s
inline constexpr int most_ranks = 4096;       // beyond this, no plans are made
inline constexpr int most_partitions = 64;    // followed; more are extrapolated
inline constexpr double most_messages = 2e5;  // of one bucket, in all; with more, none is followed

// How much of the plans is followed.
struct FollowedPart {
  int buckets = 1;      // one after the other, each as early as possible
  int partitions = 1;   // of each pipeline, at most
  double per_byte = 1;  // scale of the plans' bytes; 0: only latencies, overheads and work
};

// A stream's job: one action of a plan.
struct Job {
  const Phase* phase = nullptr;
  double work_s = 0;  // of an action that is work
  int partitions = 1;
  int passed = 0;                      // partitions that have passed
  int before = -1;                     // index of the job whose partitions this one's follow
  bool whole = false;                  // follows all partitions of that job, not one by one
  int next = -1;                       // stream of the job that follows this job's partitions
  std::pair<int, int> after = {0, 0};  // outside pipelines: follows all jobs first .. last - 1

  // Seconds before the messages of a step of a phase.
  double software_s(int step, double step_overhead_s) const {
    return (step == 0 ? phase->before_s : 0) + (phase->sends.empty() ? 0 : step_overhead_s);
  }
};

struct FollowedStream {
  enum class State { next, together, handled, overhead, inject, moving, added };
  State state = State::next;
  int rank = 0;
  std::vector<int> jobs;
  std::size_t at = 0;
  int step = 0;
  double ready_s = 0;  // earliest time for its next state
  int pending = 0;     // own messages not yet injected, and others' not yet arrived
};

struct Message {
  int stream = 0;  // of the sender
  const Route* way = nullptr;
  double latency_part = 1;  // Phase::latency_part
  double bytes = 0;

  double latency_s() const { return latency_part * way->latency_s; }
};

struct MovingMessage {
  int stream = 0;  // of the sender
  int mailbox = 0;
  double latency_s = 0;
};

struct Mailbox {
  int stream = 0;  // of the receiver
  int arrived = 0;
  int asked = 0;
  int set_out = 0;
  std::deque<Message> waiting;  // until the receiver asks
};

struct Timer {
  double at_s;
  bool arrival;
  int index;  // of a mailbox or a stream
  bool operator>(const Timer& other) const { return at_s > other.at_s; }
};

}  // namespace syncline::followed
