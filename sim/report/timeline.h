// One iteration as a picture: who did what when. A pure function of the trace, small enough to be
// kept with each result.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace.h"

namespace syncline {

struct Slice {
  double start_s = 0;
  double end_s = 0;
  std::string_view verb;  // of the trace's rows; `several` where it is of more than one
  int bucket = -1;        // -1: all of them, or several
  int iteration = -1;     // -1: none, or several
};

// A stream of a rank. Its slices are in order and do not overlap.
struct Track {
  std::string name;  // of the rank
  std::string kind;  // worker, server or node
  // As in the CSV; messages that overlap are in lanes of their own, "messages-2" and so on.
  std::string stream;
  std::vector<Slice> slices;
};

struct Timeline {
  double from_s = 0;
  double to_s = 0;
  std::vector<Track> tracks;
};

// An iteration in the middle of the window: of up to eight workers spread over all, the one that
// computes longest among them, and of up to eight servers and nodes. Where not all wait for all it
// is the longest iteration of these workers at that time, but at most four times the shortest. The
// compute track of a worker that stands still has a slice `wait`.
//
// What is too short to be seen is merged: slices of one verb below 1/2000 of the iteration and,
// until 1,500 slices are left, whatever is short, as `several`. So are messages that overlap, where
// a rank has more of them than its lanes: 16 for all servers and nodes, at least two for each.
// Slices that are merged are as long as all of them were; gaps that cannot be seen are left out.
Timeline timeline_of(const Trace& trace);

// The last iteration in which every worker is at the middle of the window, or was before it.
int iteration_in_the_middle(const Trace& trace);

// {from_s, to_s, tracks: [{name, kind, stream, slices: [[start_s, end_s, verb, bucket, iteration],
// ...]}, ...]}, with times rounded to a millionth of the iteration or less.
nlohmann::ordered_json to_json(const Timeline& timeline);

}  // namespace syncline
