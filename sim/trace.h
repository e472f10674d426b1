// A trace says what happened, in rows. Each row is one activity of one rank, with its time, verb,
// bucket, iteration and bytes, but not its reason. Reports are functions of a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/bandwidth.h"
#include "sim/learned.h"
#include "sim/verb.h"

namespace syncline {

// Rows of one rank, stream and Row::stage never overlap, except on `messages` (transfers in
// flight). `compression` is used only if a host has a second core.
enum class Stream : std::uint8_t { compute, communication, messages, compression };

struct Row {
  double start_s = 0;
  double end_s = 0;
  Verb verb = Verb::forward;
  Stream stream = Stream::compute;
  // Of `communication`: number of the rank's communication stream (stage of a pipeline, channel, or
  // stream of groups).
  std::uint8_t stage = 0;
  std::int32_t rank = 0;
  std::int32_t bucket = -1;     // -1: all buckets
  std::int32_t iteration = -1;  // -1: none
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  // Number of updates that the parameters have after this row; after a `take`, number of the
  // worker's own gradients, those of its first iterations. -1: not about parameters.
  std::int64_t version = -1;
  // Of an `apply`: version of the parameters that the gradient used.
  std::int64_t read_version = -1;
  // Of an `apply`: whose gradient of `iteration` it is. Of a `mix`, and of a copy that neighbours
  // send each other: the other worker.
  std::int32_t worker = -1;
};

// A time within a row of this rank's communication stream in which nothing moves that the rank
// sends or receives.
struct Pause {
  double start_s = 0;
  double end_s = 0;
  std::int32_t rank = 0;
  std::uint8_t stage = 0;
};

// A message from one rank to another. Its number is its place in Trace::messages.
struct TracedMessage {
  double sent_s = 0;
  double arrived_s = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::uint64_t bytes = 0;  // on the network; 0 between ranks on one host
  // The rows that send and receive it; a row may be about several messages.
  std::int64_t sender_row = -1;
  std::int64_t receiver_row = -1;
};

// A link of the platform and what crossed it.
struct LinkUse {
  std::string name;
  Bandwidth bandwidth;
  double bytes = 0;           // of the whole run
  double measured_bytes = 0;  // of the window
  // A FATPIPE link limits each flow by itself. Of the bytes in the window: the most that one rank
  // has sent to another.
  bool fatpipe = false;
  double measured_flow_bytes = 0;
  // In intervals of Trace::sample_s, from the start; empty if messages are not kept.
  std::vector<double> sampled_bytes = {};
};

// The part of the run that figures are about.
struct Window {
  double from_s = 0;
  double to_s = 0;
  bool warm = true;  // it begins after the warm-up of every worker
};

struct Trace {
  std::vector<Row> rows;                // in the order in which they were recorded
  std::vector<Pause> pauses;            // of one rank and stage in the order of time
  std::vector<TracedMessage> messages;  // in the order in which they were sent; empty unless kept
  std::vector<LinkUse> links;
  double sample_s = 0;  // interval of LinkUse::sampled_bytes
  double end_s = 0;     // simulated time when everything had ended
  std::uint64_t flows = 0;
  bool in_step = true;  // every worker waits for all others in every round
  // Workers have parameters of their own, so an iteration counts at its step although they are not
  // in step.
  bool own_parameters = false;
  int round = 1;  // iterations after which the workers' actions repeat
  Window window;
  bool cut_short = false;  // by max-iterations, before throughput had the required interval
  double profiles_s = 0;   // until the platform's profiles have shown all that they do
  // Iterations/s of all workers in the long run if each only computed: a property of the platform
  // and the number of workers, whatever the schedule and the window.
  double alone_per_s = 0;
  // The parts of a backward, by bucket, and of an `accumulate`, in which forward is computed again;
  // empty and 0: nothing is.
  std::vector<double> again_in_backward;
  double again_in_accumulate = 0;
  std::optional<Learned> learned;

  bool counts_steps() const { return in_step || own_parameters; }

  // Ranks 0 .. workers - 1 are workers; then come servers, then node aggregators.
  std::vector<std::string> rank_names;
  int workers = 0;
  int servers = 0;
  // The worker whose device a rank uses, by rank (-1: none). With one core, compression on another
  // stream shares the device with computation.
  std::vector<int> on_worker;
  std::vector<bool> one_core;  // by worker
  // By rank: of the bytes that it sends in the whole run, the part that leaves its node.
  std::vector<double> off_node;
  std::vector<int> node_of;  // by worker
};

}  // namespace syncline
