// What sim/traffic/followed_plans.cpp keeps of the streams, messages and timers that it follows.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "sim/plan.h"
#include "sim/platform/routes.h"

namespace syncline::followed {

inline constexpr double rounding = 1e-12;
inline constexpr double most_updates = 2e7;   // of flows and links: about 0.1 s
inline constexpr int most_ranks = 256;        // whose plans are made
inline constexpr int most_partitions = 64;    // that are followed
inline constexpr double most_messages = 2e5;  // in memory at a time

// So much of the plans is followed.
struct Followed {
  int buckets = 1;      // one after the other, as early as each can be
  int partitions = 1;   // of each pipeline, at most
  double per_byte = 1;  // that a byte of the plans counts; 0: latencies, overheads and work only
};

// A stream does this for one action of a plan.
struct Job {
  const Phase* phase = nullptr;
  double work_s = 0;  // of an action that is no phase
  int partitions = 1;
  int passed = 0;                      // of these
  int before = -1;                     // index of the job whose partitions this one's follow
  bool whole = false;                  // they follow all of its partitions
  int next = -1;                       // stream of the job that follows this one's partitions
  std::pair<int, int> after = {0, 0};  // no pipeline: it follows all jobs first .. last - 1
};

struct FollowedStream {
  enum class State { next, together, handled, overhead, inject, moving, added };
  State state = State::next;
  int rank = 0;
  std::vector<int> jobs;
  std::size_t at = 0;
  int step = 0;
  double ready_s = 0;  // it waits for nothing else until then
  int pending = 0;     // own messages that are not injected, and others' that have not arrived
};

struct Message {
  int stream = 0;  // of the sender
  const Route* way = nullptr;
  double bytes = 0;
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
  std::deque<Message> waiting;  // for the receiver to ask
};

struct Timer {
  double at_s;
  bool arrival;
  int index;  // of a mailbox or a stream
  bool operator>(const Timer& other) const { return at_s > other.at_s; }
};

}  // namespace syncline::followed
