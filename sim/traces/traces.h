// Writes a trace as files: as text, and in the formats of other programs.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "sim/trace.h"

namespace syncline {

// The first text of each format; a file that begins differently is not replaced.
extern const std::string perfetto_begin;
extern const std::string goal_begin;
extern const std::string chakra_begin;

// The order in which rows are written: by start, rank, stream and time of recording.
std::vector<std::size_t> in_order(const Trace& trace);

// One row per line; times have twelve significant digits. If messages are kept, a row also has the
// ranks to which it sends and from which it receives, ">2 <7", and the numbers of these messages in
// the same order.
void write_csv(const Trace& trace, std::ostream& out);

// Chrome's JSON, which ui.perfetto.dev and chrome://tracing open. Each rank is a process, and each
// of its streams a track; overlapping messages are in separate lanes. Arrows lead from the slice
// that sends a message to the slice that receives it. Counters show how full the eight busiest
// links are, and the staleness, in updates, of the gradients that servers apply. Times are rounded
// to nanoseconds. Writes event by event.
void write_perfetto(const Trace& trace, std::ostream& out);

// One iteration as GOAL, the text that LogGOPSim and similar programs replay (Hoefler, Siebert,
// Lumsdaine: Group Operation Assembly Language, ICPP 2009): the rows of the iteration that every
// worker has reached in the middle of the window, as `calc` in nanoseconds, and a `send` and a
// `recv` for each message that the trace keeps. Dependencies follow from the order in each stream,
// and from the rows that make or use a bucket, so another network gives other times. Messages
// within a host have one byte. With `overlap`, a bucket is sent when its gradients are ready, else
// after backward.
void write_goal(const Trace& trace, bool overlap, std::ostream& out);

// One iteration of a worker as Chakra JSON, in the form that the jsonizer of MLCommons Chakra 1.0
// makes of an execution trace (schema/protobuf/et_def.proto), one object after another. Computation
// is a sequence of COMP_NODEs. Each bucket's bytes are all-reduced when its gradients are ready,
// else (without `overlap`) after backward, and after the all-reduce before. The step waits for all
// of them. The iteration is the one in the middle of the window.
void write_chakra(const Trace& trace, int worker, const std::vector<std::uint64_t>& bucket_bytes,
                  bool overlap, std::ostream& out);

}  // namespace syncline
