#include "sim/page/drawn_timeline.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/report/readable.h"

namespace syncline {
namespace {

constexpr double least_seconds = 1e-12;
constexpr std::size_t most_tracks = 400;
constexpr std::size_t most_slices = 20'000;

std::int64_t number_or_none(std::int64_t number) {
  return number >= 0 && number < 1'000'000'000'000'000 ? number : -1;
}

Activity activity_of(const std::string& kind, const std::string& stream, Verb verb) {
  if (verb == Verb::wait)
    return Activity::wait;
  if (verb == Verb::exposed)
    return Activity::exposed;
  if (is_compression(verb))
    return Activity::compress;
  if (stream != "compute")
    return kind != "worker" && (verb == Verb::sum || verb == Verb::handle) &&
                   stream.starts_with("communication")
               ? Activity::serve  // on `messages` a sum is a message on its way
               : Activity::communicate;
  if (kind != "worker")
    return Activity::serve;
  return verb == Verb::forward ? Activity::forward : Activity::backward;
}

DrawnTrack drawn_track(const Track& track, double from_s, double seconds, std::size_t& left) {
  DrawnTrack drawn{track.name, track.stream, {}};
  double now_s = 0;
  for (const Slice& one : track.slices) {
    DrawnSlice slice{.start_s = std::max(one.start_s - from_s, now_s),
                     .end_s = std::min(one.end_s - from_s, seconds),
                     .verb = one.verb,
                     .activity = activity_of(track.kind, track.stream, one.verb),
                     .bucket = number_or_none(one.bucket),
                     .iteration = number_or_none(one.iteration)};
    if (left == 0 || !(slice.end_s > slice.start_s))
      continue;
    now_s = slice.end_s;
    drawn.slices.push_back(std::move(slice));
    --left;
  }
  return drawn;
}

double seconds_of(const DrawnTrack& track, Activity activity) {
  double seconds = 0;
  for (const DrawnSlice& slice : track.slices)
    if (slice.activity == activity)
      seconds += slice.end_s - slice.start_s;
  return seconds;
}

double still_s(const DrawnTrack& track) {
  return seconds_of(track, Activity::exposed) + seconds_of(track, Activity::wait);
}

double busy_s(const DrawnTrack& track) {
  double seconds = -still_s(track);
  for (const DrawnSlice& slice : track.slices)
    seconds += slice.end_s - slice.start_s;
  return seconds;
}

// "Workers stand still for 59 % of these 615 ms (exposed 40 %, waiting 19 %); worker 5, which
// computes longest, stands still least (40 %), worker 0 most (70 %); server 2 adds and updates for
// 20 % of the time." Adds the shares of the whole window if they differ.
std::string sentence_of(const std::vector<DrawnTrack>& workers,
                        const std::vector<DrawnTrack>& servers, double seconds,
                        const Figures& figures) {
  constexpr double worth_saying = 0.01;
  if (workers.empty())
    return seconds_shown(seconds) + " of the run.";
  double exposed = 0;
  double waiting = 0;
  for (const DrawnTrack& track : workers) {
    const double all_s = seconds * static_cast<double>(workers.size());
    exposed += seconds_of(track, Activity::exposed) / all_s;
    waiting += seconds_of(track, Activity::wait) / all_s;
  }
  const DrawnTrack& longest = *std::ranges::max_element(workers, {}, busy_s);
  const auto [least, most] = std::ranges::minmax_element(workers, {}, still_s);
  const bool differ = still_s(*most) - still_s(*least) > 0.02 * seconds;
  std::string sentence =
      exposed + waiting < 0.005
          ? "No worker stands still in these " + seconds_shown(seconds)
          : fmt::format("Workers stand still for {} of these {} (exposed {}, waiting {})",
                        percent(exposed + waiting), seconds_shown(seconds), percent(exposed),
                        percent(waiting));
  if (differ)
    sentence += fmt::format("; {}{} stands still least ({}), {} most ({})", least->name,
                            least->name == longest.name ? ", which computes longest," : "",
                            percent(still_s(*least) / seconds), most->name,
                            percent(still_s(*most) / seconds));
  if (!servers.empty()) {
    const DrawnTrack& busiest = *std::ranges::max_element(servers, {}, busy_s);
    sentence += fmt::format("; {} adds and updates for {} of the time", busiest.name,
                            percent(busy_s(busiest) / seconds));
  }
  const double exposed_of_all = figures.exposed_communication_s / figures.iteration_mean_s;
  const double waiting_of_all = figures.waiting_s / figures.iteration_mean_s;
  if (std::abs(exposed - exposed_of_all) > worth_saying ||
      std::abs(waiting - waiting_of_all) > worth_saying)
    sentence += fmt::format(". In the whole run {} is waiting and {} exposed",
                            percent(waiting_of_all), percent(exposed_of_all));
  return sentence + ".";
}

}  // namespace

std::optional<DrawnTimeline> drawn_timeline(const Timeline& timeline, const Figures& figures) {
  DrawnTimeline drawn{.seconds = timeline.to_s - timeline.from_s};
  if (!(drawn.seconds >= least_seconds))
    return std::nullopt;
  std::vector<DrawnTrack> workers, servers;
  std::size_t left = most_slices;
  for (const Track& one : timeline.tracks) {
    if (drawn.tracks.size() == most_tracks)
      break;
    DrawnTrack track = drawn_track(one, timeline.from_s, drawn.seconds, left);
    if (track.stream == "compute" && !track.slices.empty())
      (one.kind == "worker" ? workers : servers).push_back(track);
    drawn.tracks.push_back(std::move(track));
  }
  if (drawn.tracks.empty())
    return std::nullopt;
  drawn.sentence = sentence_of(workers, servers, drawn.seconds, figures);
  return drawn;
}

std::vector<std::size_t> drawn_cells(const Comparison& compared, const Ranking& ranking) {
  std::vector<std::vector<std::size_t>> ranks(compared.cases.size());  // by case
  for (std::size_t rank = 0; rank < ranking.cells.size(); ++rank)
    if (const ComparedCell& cell = compared.cells[ranking.cells[rank].result];
        !cell.result->timeline.tracks.empty())
      ranks[cell.in_case].push_back(rank);
  std::vector<std::size_t> chosen;
  for (const std::vector<std::size_t>& of_case : ranks)
    if (!of_case.empty())
      chosen.push_back(of_case.front());
  for (const std::vector<std::size_t>& of_case : ranks)
    if (of_case.size() > 1)
      chosen.push_back(of_case.back());
  std::size_t longest = 0;
  for (const std::vector<std::size_t>& of_case : ranks)
    longest = std::max(longest, of_case.size());
  for (std::size_t next = 1; next + 1 < longest; ++next)
    for (const std::vector<std::size_t>& of_case : ranks)
      if (next + 1 < of_case.size() && chosen.size() < most_timelines)
        chosen.push_back(of_case[next]);
  return chosen;
}

}  // namespace syncline
