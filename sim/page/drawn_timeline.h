// The timeline of a result (sim/report/timeline.h) as it is drawn. No number of the timeline is
// trusted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/result.h"
#include "sim/study/comparison.h"
#include "sim/study/ranking.h"

namespace syncline {

constexpr std::size_t most_timelines = 12;  // in one page

// What a slice shows to a reader; decides its colour.
enum class Activity { forward, backward, compress, communicate, serve, exposed, wait };

struct DrawnSlice {
  double start_s = 0, end_s = 0;  // from the timeline's start
  Verb verb = Verb::wait;
  Activity activity = Activity::communicate;
  std::int64_t bucket = -1, iteration = -1;  // -1: all, or none
};

struct DrawnTrack {
  std::string name;
  std::string stream;
  std::vector<DrawnSlice> slices;  // in order, without overlap, within the timeline
};

struct DrawnTimeline {
  std::string sentence;
  double seconds = 0;
  std::vector<DrawnTrack> tracks;
};

// The drawing; none if nothing can be drawn. `figures` are of the same result.
std::optional<DrawnTimeline> drawn_timeline(const Timeline& timeline, const Figures& figures);

// The cells whose timelines are drawn, by their places in the ranking, the most important first:
// the best of each case, the slowest of each case, then the next best of each. Up to
// most_timelines, but at least two of each case.
std::vector<std::size_t> drawn_cells(const Comparison& compared, const Ranking& ranking);

}  // namespace syncline
