#include "sim/page/page_json.h"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/page/colours.h"
#include "sim/study/ordered_lists.h"

namespace syncline {
namespace {

using Json = PageJson;

constexpr double timeline_parts = 100'000;

}  // namespace

std::string as_script_data(const Json& json) {
  std::string safe;
  const std::string text = json.dump();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '>' || c == '&')
      safe += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else if (text.compare(i, 3, "\xE2\x80\xA8") == 0 || text.compare(i, 3, "\xE2\x80\xA9") == 0) {
      safe += text[i + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      safe += c;
    }
  }
  return safe;
}

double rounded(double number) {
  return std::strtod(fmt::format("{:.6g}", number).c_str(), nullptr);
}

Json to_json(const Chart& chart) {
  static constexpr const char* kinds[] = {"lines", "curves", "stack", "bars", "columns", "points"};
  static constexpr const char* scales[] = {"linear", "log2", "log10"};
  const auto numbers = [](const std::vector<double>& all) {
    Json json = Json::array();
    for (const double number : all)
      json.push_back(rounded(number));
    return json;
  };
  const auto axis = [&](const Axis& one) {
    return Json{
        {"title", one.title}, {"unit", one.unit}, {"scale", scales[static_cast<int>(one.scale)]}};
  };
  Json series = Json::array();
  for (const Series& one : chart.series) {
    series.push_back({{"name", one.name},
                      {"colour", one.colour},
                      {"dash", one.dash},
                      {"x", numbers(one.x)},
                      {"y", numbers(one.y)},
                      {"notes", one.notes}});
    if (!one.bands.empty()) {
      Json bands = Json::array();
      for (const SeedBand& band : one.bands)
        bands.push_back(Json::array({rounded(band.least), rounded(band.most)}));
      series.back()["bands"] = std::move(bands);
    }
  }
  return {{"kind", kinds[static_cast<int>(chart.kind)]},
          {"id", chart.id},
          {"title", chart.title},
          {"sentence", chart.sentence},
          {"variant", chart.variant},
          {"x", axis(chart.x)},
          {"y", axis(chart.y)},
          {"categories", chart.categories},
          {"colours", chart.colours},
          {"series", series}};
}

Json to_json(const Map& map) {
  Json choices = Json::array(), tiles = Json::array(), crossings = Json::array();
  const std::vector<Tint> tints = tints_of(map.choices);
  for (std::size_t i = 0; i < tints.size(); ++i)
    choices.push_back({{"name", map.choices[i].name},
                       {"fill", tints[i].fill},
                       {"ink", tints[i].ink},
                       {"hatched", tints[i].hatched},
                       {"key", tints[i].key}});
  for (const Tile& tile : map.tiles)
    tiles.push_back({{"x", tile.x},
                     {"y", tile.y},
                     {"winner", tile.winner ? Json(*tile.winner) : Json(-1)},
                     {"first", tile.first},
                     {"samples_per_s", rounded(tile.samples_per_s)},
                     {"tied", tile.tied},
                     {"runner_up", tile.runner_up},
                     {"margin", rounded(tile.margin)},
                     {"case", tile.in_case}});
  for (const Crossing& one : map.crossings)
    crossings.push_back(
        {rounded(one.from_x), rounded(one.from_y), rounded(one.to_x), rounded(one.to_y)});
  return {{"name", map.name},   {"sentence", map.sentence},
          {"x", map.x.title},   {"y", map.y.title},
          {"xs", map.xs},       {"ys", map.ys},
          {"choices", choices}, {"tie", {{"fill", tie_fill}, {"line", tie_line}, {"ink", ink}}},
          {"tiles", tiles},     {"crossings", crossings}};
}

Json to_json(const DrawnTimeline& timeline) {
  static constexpr const char* activities[] = {"forward", "backward", "compress", "communicate",
                                               "serve",   "exposed",  "wait"};
  std::vector<std::pair<Verb, Activity>> verbs;
  Json tracks = Json::array(), named = Json::array();
  const auto ticks = [&](double s) { return std::llround(timeline_parts * s / timeline.seconds); };
  for (const DrawnTrack& track : timeline.tracks) {
    Json slices = Json::array();
    for (const DrawnSlice& slice : track.slices)
      slices.push_back({ticks(slice.start_s), ticks(slice.end_s),
                        place_in(verbs, {slice.verb, slice.activity}), slice.bucket,
                        slice.iteration});
    tracks.push_back({{"name", track.name}, {"stream", track.stream}, {"slices", slices}});
  }
  for (const auto& [verb, doing] : verbs)
    named.push_back({name_of(verb), activities[static_cast<int>(doing)]});
  return {{"sentence", timeline.sentence},
          {"seconds", timeline.seconds},
          {"parts", timeline_parts},
          {"verbs", named},
          {"tracks", tracks}};
}

}  // namespace syncline
