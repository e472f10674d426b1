#include "sim/report/drawn_timeline.h"

#include <algorithm>
#include <cmath>

#include "sim/report/shown.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

constexpr double least_seconds = 1e-12;
constexpr std::size_t most_tracks = 400;
constexpr std::size_t most_slices = 20'000;

std::string text_in(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<double> number_in(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number() || !std::isfinite(found->get<double>()))
    return std::nullopt;
  return found->get<double>();
}

long long count_in(const Json& json) {
  const double number = json.is_number() ? json.get<double>() : -1;
  return number >= 0 && number < 1e15 ? static_cast<long long>(number) : -1;
}

Doing doing_of(const std::string& kind, const std::string& stream, const std::string& verb) {
  if (verb == "wait")
    return Doing::wait;
  if (verb == "compress" || verb == "decompress")
    return Doing::compress;
  if (stream != "compute")
    return kind != "worker" && verb == "sum" && stream.starts_with("communication")
               ? Doing::serve  // on `messages` a sum is on its way
               : Doing::communicate;
  if (kind != "worker")
    return Doing::serve;
  return verb == "forward" ? Doing::forward : Doing::backward;
}

std::optional<DrawnTrack> track_of(const Json& json, double from_s, double seconds,
                                   std::size_t& left) {
  if (!json.is_object() || !json.contains("slices") || !json["slices"].is_array())
    return std::nullopt;
  const std::string kind = text_in(json, "kind");
  DrawnTrack track{text_in(json, "name"), text_in(json, "stream"), {}};
  double now_s = 0;
  for (const Json& one : json["slices"]) {
    if (left == 0 || !one.is_array() || one.size() != 5 || !one[0].is_number() ||
        !one[1].is_number() || !one[2].is_string())
      continue;
    DrawnSlice slice{.start_s = std::max(one[0].get<double>() - from_s, now_s),
                     .end_s = std::min(one[1].get<double>() - from_s, seconds),
                     .verb = one[2],
                     .bucket = count_in(one[3]),
                     .iteration = count_in(one[4])};
    if (!(slice.end_s > slice.start_s))
      continue;
    slice.doing = doing_of(kind, track.stream, slice.verb);
    now_s = slice.end_s;
    track.slices.push_back(std::move(slice));
    --left;
  }
  return track;
}

double seconds_of(const DrawnTrack& track, bool waiting) {
  double seconds = 0;
  for (const DrawnSlice& slice : track.slices)
    if ((slice.doing == Doing::wait) == waiting)
      seconds += slice.end_s - slice.start_s;
  return seconds;
}

std::string percent(double part) {
  return format("%.0f %%", 100 * part);
}

// "Workers stand still for 59 % of these 615 ms; worker 5, which computes longest, least. server 2
// is busy for 20 %."
std::string sentence_of(const std::vector<DrawnTrack>& workers,
                        const std::vector<DrawnTrack>& servers, double seconds) {
  if (workers.empty())
    return "One iteration of " + seconds_shown(seconds) + ".";
  double waiting = 0;
  for (const DrawnTrack& track : workers)
    waiting += seconds_of(track, true) / seconds / static_cast<double>(workers.size());
  const auto waits = [](const DrawnTrack& track) { return seconds_of(track, true); };
  const auto computes = [](const DrawnTrack& track) { return seconds_of(track, false); };
  const DrawnTrack& longest = *std::ranges::max_element(workers, {}, computes);
  const auto [least, most] = std::ranges::minmax_element(workers, {}, waits);
  std::string sentence =
      waiting < 0.005
          ? "No worker stands still in these " + seconds_shown(seconds)
          : "Workers stand still for " + percent(waiting) + " of these " + seconds_shown(seconds);
  if (waits(*most) - waits(*least) > 0.02 * seconds)
    sentence += ", from " + percent(waits(*least) / seconds) + " (" + least->name + ") to " +
                percent(waits(*most) / seconds) + " (" + most->name + ")";
  if (workers.size() > 1 && least->name == longest.name &&
      waits(*most) - waits(*least) > 0.02 * seconds)
    sentence += ": who computes longest waits least";
  if (!servers.empty()) {
    const DrawnTrack& busiest = *std::ranges::max_element(servers, {}, computes);
    sentence += "; " + busiest.name + " adds and updates for " +
                percent(computes(busiest) / seconds) + " of the time";
  }
  return sentence + ".";
}

}  // namespace

std::optional<DrawnTimeline> drawn_timeline(const Json& result) {
  const auto json = result.find("timeline");
  if (json == result.end() || !json->is_object() || !json->contains("tracks") ||
      !(*json)["tracks"].is_array())
    return std::nullopt;
  const auto from_s = number_in(*json, "from_s"), to_s = number_in(*json, "to_s");
  if (!from_s || !to_s || !(*to_s - *from_s >= least_seconds))
    return std::nullopt;
  DrawnTimeline timeline{.sentence = "", .seconds = *to_s - *from_s, .tracks = {}};
  std::vector<DrawnTrack> workers, servers;
  std::size_t left = most_slices;
  for (const Json& one : (*json)["tracks"])
    if (timeline.tracks.size() < most_tracks)
      if (auto track = track_of(one, *from_s, timeline.seconds, left)) {
        if (track->stream == "compute" && !track->slices.empty())
          (text_in(one, "kind") == "worker" ? workers : servers).push_back(*track);
        timeline.tracks.push_back(std::move(*track));
      }
  if (timeline.tracks.empty())
    return std::nullopt;
  timeline.sentence = sentence_of(workers, servers, timeline.seconds);
  return timeline;
}

Json to_json(const DrawnTimeline& timeline) {
  static constexpr const char* doings[] = {"forward",     "backward", "compress",
                                           "communicate", "serve",    "wait"};
  Json verbs = Json::array();
  std::vector<std::pair<std::string, Doing>> known;
  Json tracks = Json::array();
  const auto ticks = [&](double s) { return std::llround(timeline_parts * s / timeline.seconds); };
  for (const DrawnTrack& track : timeline.tracks) {
    Json slices = Json::array();
    for (const DrawnSlice& slice : track.slices) {
      const std::pair verb{slice.verb, slice.doing};
      auto found = std::ranges::find(known, verb);
      if (found == known.end()) {
        known.push_back(verb);
        found = known.end() - 1;
        verbs.push_back({slice.verb, doings[static_cast<int>(slice.doing)]});
      }
      slices.push_back({ticks(slice.start_s), ticks(slice.end_s), found - known.begin(),
                        slice.bucket, slice.iteration});
    }
    tracks.push_back({{"name", track.name}, {"stream", track.stream}, {"slices", slices}});
  }
  return {{"sentence", timeline.sentence},
          {"seconds", timeline.seconds},
          {"parts", timeline_parts},
          {"verbs", verbs},
          {"tracks", tracks}};
}

}  // namespace syncline
