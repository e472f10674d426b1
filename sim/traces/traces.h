// A trace as files: text, and the formats of other programs.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "sim/trace.h"

namespace syncline {

// The files begin so: others are not replaced.
extern const std::string perfetto_begin;
extern const std::string goal_begin;
extern const std::string chakra_begin;

// The order in which rows are written: of start, rank, stream and recording.
std::vector<std::size_t> in_order(const Trace& trace);

// One row per line; times have twelve significant digits. If messages are kept, a row has the ranks
// that it sends to and receives from, ">2 <7", and the numbers of these messages in the same order.
void write_csv(const Trace& trace, std::ostream& out);

// Chrome's JSON, which ui.perfetto.dev and chrome://tracing open. A process per rank and a track
// per stream of it; messages that overlap are in lanes of their own. Arrows go from the slice that
// sends a message to the one that receives it. Counters: how full the eight busiest links are, and
// the staleness, in updates, of what servers apply. Times are rounded to nanoseconds. Writes event
// by event.
void write_perfetto(const Trace& trace, std::ostream& out);

// One iteration as GOAL, the text that LogGOPSim and its like replay (Hoefler, Siebert, Lumsdaine:
// Group Operation Assembly Language, ICPP 2009): the rows of the iteration that every worker has
// reached in the middle of the window, `calc` in nanoseconds, and a `send` and a `recv` for each
// message that the trace keeps. What requires what follows from the order of each stream, and from
// which row makes or uses a bucket, so another network gives other times. Messages on one host have
// one byte. With `overlap`, a bucket is sent when its gradients are there, else after backward.
void write_goal(const Trace& trace, bool overlap, std::ostream& out);

// One iteration of a worker as Chakra JSON: what the jsonizer of MLCommons Chakra 1.0 makes of an
// execution trace (schema/protobuf/et_def.proto), one object after another. Computation as
// COMP_NODEs, one after another, and an all-reduce of each bucket's bytes: when its gradients are
// there, else (without `overlap`) after backward, and after the one before. The step waits for all.
// The iteration is the one in the middle of the window.
void write_chakra(const Trace& trace, int worker, const std::vector<std::uint64_t>& bucket_bytes,
                  bool overlap, std::ostream& out);

}  // namespace syncline
