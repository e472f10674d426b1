// What happened, in rows: every verb of a schedule is one activity and one row. Rows know when,
// who, what, which bucket and iteration, and how many bytes; never why. Reports are functions of
// this.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace syncline {

// Rows of one rank and one stream never overlap, but for `messages`: those are transfers in flight.
// `compression` is there where a host has a second core for it.
enum class Stream : std::uint8_t { compute, communication, messages, compression };

struct Row {
  double start_s = 0;
  double end_s = 0;
  std::string_view verb;  // a string literal
  Stream stream = Stream::compute;
  std::int32_t rank = 0;
  std::int32_t bucket = -1;     // -1: all of them
  std::int32_t iteration = -1;  // -1: none
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::int64_t version = -1;       // of the parameters: after this row; -1: not about parameters
  std::int64_t read_version = -1;  // of an `apply`: what the gradient was computed at
};

// A link of the platform and what crossed it.
struct LinkUse {
  std::string name;
  double bandwidth_Bps = 0;
  double bytes = 0;
};

struct Trace {
  std::vector<Row> rows;  // in the order in which they were begun
  std::vector<LinkUse> links;
  double end_s = 0;  // simulated time at which everything had ended
  std::uint64_t flows = 0;

  // Who is who: ranks 0 .. workers - 1 are workers, then servers, then node aggregators.
  std::vector<std::string> rank_names;
  int workers = 0;
  int servers = 0;
  // On which worker's device a rank runs, its own or one it shares; -1: none. With one core, what
  // compresses there on another stream shares it with what computes.
  std::vector<int> on_worker;
  std::vector<bool> one_core;  // by worker
};

}  // namespace syncline
