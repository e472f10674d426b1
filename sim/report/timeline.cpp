#include "sim/report/timeline.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "sim/report/readable.h"
#include "sim/report/stream_lanes.h"
#include "sim/report/typical.h"

namespace syncline {
namespace {

constexpr std::size_t most_workers = 8;
constexpr std::size_t most_others = 8;
constexpr std::size_t most_lanes = 16;  // for messages of all servers and nodes
constexpr std::size_t most_slices = 1500;
constexpr double visible_part = 1.0 / 2000;

bool computes(const Trace& trace, const Row& row) {
  return row.rank < trace.workers && row.stream == Stream::compute && row.iteration >= 0;
}

// By worker: its iteration at the middle of the window. Workers in step all count as being in the
// first worker's.
std::vector<int> numbers_in_the_middle(const Trace& trace) {
  const double middle_s = (trace.window.from_s + trace.window.to_s) / 2;
  std::vector<int> numbers(static_cast<std::size_t>(trace.workers));
  for (const Row& row : trace.rows)
    if (computes(trace, row) && row.verb == Verb::forward && row.start_s <= middle_s)
      numbers[static_cast<std::size_t>(row.rank)] = row.iteration;
  if (trace.in_step && !numbers.empty())
    numbers.assign(numbers.size(), numbers.front());
  return numbers;
}

// Servers with something to show between these times, and the nodes of these workers.
std::vector<int> shown_others(const Trace& trace, double from_s, double to_s,
                              const std::vector<int>& workers) {
  const int first_node = trace.workers + trace.servers;
  std::set<int> nodes_of_workers;
  for (const int worker : workers)
    if (static_cast<std::size_t>(worker) < trace.node_of.size())
      nodes_of_workers.insert(first_node + trace.node_of[static_cast<std::size_t>(worker)]);
  std::set<int> servers;
  std::set<int> nodes;
  for (const Row& row : trace.rows)
    if (row.rank >= trace.workers && row.end_s > row.start_s && row.end_s > from_s &&
        row.start_s < to_s) {
      if (row.rank < first_node)
        servers.insert(row.rank);
      else if (nodes_of_workers.contains(row.rank))
        nodes.insert(row.rank);
    }
  const std::size_t most_servers = most_others - std::min(nodes.size(), most_others / 2);
  std::vector<int> shown = spread<int>({servers.begin(), servers.end()}, most_servers);
  const std::vector<int> shown_nodes =
      spread<int>({nodes.begin(), nodes.end()}, most_others - shown.size());
  shown.insert(shown.end(), shown_nodes.begin(), shown_nodes.end());
  return shown;
}

// Joins a slice with the next one, without the gap between them: sums of seconds stay the same.
void join(Slice& slice, const Slice& next) {
  slice.end_s = next.start_s > slice.end_s ? slice.end_s + (next.end_s - next.start_s)
                                           : std::max(slice.end_s, next.end_s);
  if (slice.verb != next.verb)
    slice.verb = Verb::several;
  if (slice.bucket != next.bucket)
    slice.bucket = -1;
  if (slice.iteration != next.iteration)
    slice.iteration = -1;
}

bool moves_bytes(const Slice& slice) {
  return MovingTimes::has_any({.verb = slice.verb, .stream = Stream::messages});
}

// Adds a slice to a lane whose last slice still goes on. While messages go on, nothing else is
// shown.
void overlay(std::vector<Slice>& lane, Slice slice) {
  Slice& last = lane.back();
  if (moves_bytes(last) == moves_bytes(slice)) {
    last.verb = Verb::several;
    join(last, slice);
    return;
  }
  if (moves_bytes(last))
    slice.start_s = last.end_s;
  else
    last.end_s = slice.start_s;
  if (slice.end_s > slice.start_s)
    lane.push_back(std::move(slice));
}

// Spreads slices that overlap over lanes. The last lane has all slices that fit into no other.
std::vector<std::vector<Slice>> in_lanes(std::vector<Slice> slices, std::size_t most) {
  std::ranges::stable_sort(slices, {}, &Slice::start_s);
  Lanes places;
  std::vector<std::vector<Slice>> lanes;
  for (const Slice& slice : slices) {
    const std::size_t lane = std::min(places.place(slice.start_s, slice.end_s), most - 1);
    if (lane == lanes.size())
      lanes.emplace_back();
    std::vector<Slice>& in_lane = lanes[lane];
    if (!in_lane.empty() && slice.start_s < in_lane.back().end_s)
      overlay(in_lane, slice);
    else
      in_lane.push_back(slice);
  }
  return lanes;
}

// Fills the times in which no slice goes on with slices of this verb.
void fill(std::vector<Slice>& slices, Verb verb, double from_s, double to_s) {
  std::vector<Slice> filled;
  double now_s = from_s;
  const auto until = [&](double s) {
    if (s > now_s)
      filled.push_back({.start_s = now_s, .end_s = s, .verb = verb});
  };
  for (const Slice& slice : slices) {
    until(slice.start_s);
    filled.push_back(slice);
    now_s = slice.end_s;
  }
  until(to_s);
  slices = std::move(filled);
}

// Gives this verb to slices of waiting, as far as `others` go on.
void name_waiting(std::vector<Slice>& slices, const std::vector<Interval>& others, Verb verb) {
  std::vector<Slice> named;
  for (const Slice& slice : slices) {
    if (slice.verb != Verb::wait) {
      named.push_back(slice);
      continue;
    }
    Slice rest = slice;
    const auto cut = [&](double until_s, Verb as) {
      if (until_s <= rest.start_s)
        return;
      named.push_back(rest);
      named.back().end_s = until_s;
      named.back().verb = as;
      rest.start_s = until_s;
    };
    for (auto other = std::ranges::upper_bound(others, slice.start_s, {}, &Interval::end_s);
         other != others.end() && other->start_s < slice.end_s; ++other) {
      cut(other->start_s, Verb::wait);
      cut(std::min(other->end_s, slice.end_s), verb);
    }
    cut(slice.end_s, Verb::wait);
  }
  slices = std::move(named);
}

// Merges neighbours of one verb if one of them is shorter than `visible_s`; if verbs do not matter,
// also neighbours of different verbs if both are shorter.
void merge(std::vector<Slice>& slices, double visible_s, bool verbs_matter) {
  std::vector<Slice> merged;
  for (const Slice& slice : slices) {
    const auto is_short = [&](const Slice& one) { return one.end_s - one.start_s < visible_s; };
    if (!merged.empty() && slice.start_s - merged.back().end_s < visible_s) {
      Slice& last = merged.back();
      if (slice.verb == last.verb ? is_short(slice) || is_short(last)
                                  : !verbs_matter && is_short(slice) && is_short(last)) {
        join(last, slice);
        continue;
      }
    }
    merged.push_back(slice);
  }
  slices = std::move(merged);
}

void merge(std::vector<Track>& tracks, double seconds) {
  const auto count = [&] {
    std::size_t slices = 0;
    for (const Track& track : tracks)
      slices += track.slices.size();
    return slices;
  };
  double visible_s = seconds * visible_part;
  for (Track& track : tracks)
    merge(track.slices, visible_s, true);
  for (; count() > most_slices && visible_s < seconds; visible_s *= 1.25)
    for (Track& track : tracks)
      merge(track.slices, visible_s, false);
}

// Rounds times to a power of ten, so that they have few digits.
void round_times(Timeline& timeline) {
  const double seconds = timeline.to_s - timeline.from_s;
  const double steps_per_s =
      seconds > 0 ? std::pow(10, 6 + std::max(0.0, std::ceil(-std::log10(seconds)))) : 1;
  const auto round = [&](double& s) { s = std::round(s * steps_per_s) / steps_per_s; };
  round(timeline.from_s);
  round(timeline.to_s);
  for (Track& track : timeline.tracks) {
    for (Slice& slice : track.slices) {
      round(slice.start_s);
      round(slice.end_s);
    }
    std::erase_if(track.slices, [](const Slice& slice) { return slice.start_s >= slice.end_s; });
  }
  std::erase_if(timeline.tracks, [](const Track& track) { return track.slices.empty(); });
}

}  // namespace

int iteration_in_the_middle(const Trace& trace) {
  const std::vector<int> numbers = numbers_in_the_middle(trace);
  return numbers.empty() ? 0 : std::ranges::min(numbers);
}

Timeline timeline_of(const Trace& trace) {
  return trace.workers == 0 || trace.rows.empty() ? Timeline()
                                                  : timeline_of(trace, TraceByWorker(trace));
}

Timeline timeline_of(const Trace& trace, const TraceByWorker& by_worker) {
  const std::vector<WorkerRows>& rows = by_worker.workers;
  const Typical typical = typical_of(trace, rows, most_workers);
  const std::vector<int>& workers = typical.workers;
  Timeline timeline{.from_s = typical.from_s, .to_s = typical.to_s, .tracks = {}};

  std::vector<int> ranks = workers;
  const std::vector<int> others = shown_others(trace, timeline.from_s, timeline.to_s, workers);
  ranks.insert(ranks.end(), others.begin(), others.end());

  std::map<std::tuple<std::ptrdiff_t, Stream, int>, std::vector<Slice>> streams;
  const MovingTimes moving(trace);
  for (const Row& row : trace.rows) {
    const auto shown = std::ranges::find(ranks, row.rank);
    if (shown == ranks.end() || row.end_s <= timeline.from_s || row.start_s >= timeline.to_s)
      continue;
    std::vector<Slice> slices{{.start_s = row.start_s,
                               .end_s = row.end_s,
                               .verb = row.verb,
                               .bucket = row.bucket,
                               .iteration = row.iteration}};
    if (MovingTimes::has_any(row)) {
      slices.front().verb = Verb::wait;
      name_waiting(slices, moving.of(row), row.verb);
    }
    for (Slice& slice : slices) {
      slice.start_s = std::max(slice.start_s, timeline.from_s);
      slice.end_s = std::min(slice.end_s, timeline.to_s);
      if (slice.end_s > slice.start_s)
        streams[{shown - ranks.begin(), row.stream, row.stage}].push_back(std::move(slice));
    }
  }
  const std::size_t lanes_of_each =
      std::max<std::size_t>(2, most_lanes / std::max<std::size_t>(1, others.size()));
  for (auto& [key, slices] : streams) {
    const auto& [place, stream, stage] = key;
    const int rank = ranks[static_cast<std::size_t>(place)];
    std::vector<std::vector<Slice>> lanes = in_lanes(std::move(slices), lanes_of_each);
    if (rank < trace.workers && stream == Stream::compute) {
      fill(lanes.front(), Verb::wait, timeline.from_s, timeline.to_s);
      // The same seconds as in the report.
      const BesideComputing& of_worker = rows[static_cast<std::size_t>(rank)].beside;
      name_waiting(lanes.front(), of_worker.compression, Verb::compress);
      name_waiting(lanes.front(), of_worker.moving, Verb::exposed);
    }
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
      timeline.tracks.push_back({.name = trace.rank_names[static_cast<std::size_t>(rank)],
                                 .kind = rank < trace.workers                   ? "worker"
                                         : rank < trace.workers + trace.servers ? "server"
                                                                                : "node",
                                 .stream = name_of(stream, stage + static_cast<int>(lane)),
                                 .slices = std::move(lanes[lane])});
  }
  merge(timeline.tracks, timeline.to_s - timeline.from_s);
  round_times(timeline);
  return timeline;
}

}  // namespace syncline
