#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

#include "kernels/io/text.h"
#include "sim/page/drawn_timeline.h"
#include "sim/page/page.h"
#include "sim/report/figures.h"
#include "sim/report/learning.h"
#include "sim/report/readable.h"
#include "sim/report/runs.h"
#include "sim/study/charts.h"
#include "sim/study/lists.h"
#include "sim/study/ranking.h"
#include "sim/study/study.h"
#include "sim/study/subject.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

constexpr double timeline_parts = 100'000;

// The text can be a part of a script: nothing in it can end the script or begin markup.
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

// Six digits are enough for any chart.
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
  for (const Series& choice : map.choices)
    choices.push_back({{"name", choice.name}, {"colour", choice.colour}});
  for (const Tile& tile : map.tiles)
    tiles.push_back({{"x", tile.x},
                     {"y", tile.y},
                     {"winner", tile.winner},
                     {"samples_per_s", rounded(tile.samples_per_s)},
                     {"runner_up", tile.runner_up},
                     {"margin", rounded(tile.margin)}});
  for (const Crossing& one : map.crossings)
    crossings.push_back(
        {rounded(one.from_x), rounded(one.from_y), rounded(one.to_x), rounded(one.to_y)});
  return {{"name", map.name},      {"sentence", map.sentence},
          {"x", map.x.title},      {"y", map.y.title},
          {"xs", map.xs},          {"ys", map.ys},
          {"choices", choices},    {"tiles", tiles},
          {"crossings", crossings}};
}

// It is short: slices are [start, end, verb, bucket, iteration] in timeline_parts of the whole.
Json to_json(const DrawnTimeline& timeline) {
  static constexpr const char* activities[] = {"forward", "backward", "compress", "communicate",
                                               "serve",   "exposed",  "wait"};
  std::vector<std::pair<std::string, Activity>> verbs;
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
    named.push_back({verb, activities[static_cast<int>(doing)]});
  return {{"sentence", timeline.sentence},
          {"seconds", timeline.seconds},
          {"parts", timeline_parts},
          {"verbs", named},
          {"tracks", tracks}};
}

// The unit in which the page shows numbers of a figure.
const char* unit_of(const Figure& figure) {
  if (figure.has(Figure::part))
    return "%";
  switch (figure.unit) {
    case Unit::samples_per_s:
      return "samples/s";
    case Unit::share:
      return "%";
    case Unit::seconds:
    case Unit::duration:
      return "s";
    case Unit::bytes:
      return "B";
    case Unit::text:
      return "text";
    default:
      return "";
  }
}

// A column per option that has two values, or figure.
Json table_of(const Findings& findings, const Study& study, const Ranking& ranking) {
  const std::vector<std::string> options = with_differing(study.telling_options, findings.results);
  const std::vector<const Figure*> figures = columns_of(findings.results);
  Json columns = Json::array(), rows = Json::array();
  for (const std::string& option : options)
    columns.push_back({{"title", option}, {"unit", "text"}});
  for (const Figure* figure : figures) {
    const std::string title = title_of(*figure, findings.results);
    columns.push_back({{"title", title}, {"unit", unit_of(*figure)}});
    if (has_ranges(*figure, findings.results))
      for (const char* end : {", least", ", most"})
        columns.push_back({{"title", title + end}, {"unit", unit_of(*figure)}});
  }
  for (const RankedCell& ranked : ranking.cells) {
    const Result& result = findings.results[ranked.result];
    Json row = Json::array();
    for (const std::string& option : options)
      row.push_back(result.option(option));
    for (const Figure* figure : figures) {
      const auto value = column_value(*figure, result);
      row.push_back(figure->unit == Unit::text ? Json(shown_in_table(*figure, result))
                    : value                    ? Json(rounded(*value))
                                               : Json(nullptr));
      if (!has_ranges(*figure, findings.results))
        continue;
      const std::optional<SeedBand> band = band_of(figure->name, result);
      for (const double end : {band ? band->least : value.value_or(HUGE_VAL),
                               band ? band->most : value.value_or(HUGE_VAL)})
        row.push_back(std::isfinite(end) ? Json(rounded(end)) : Json(nullptr));
    }
    rows.push_back(std::move(row));
  }
  std::string note = "Simulated as " + how_simulated(findings.results);
  for (const std::string& pooling : findings.notes)
    note += fmt::format("; {}", pooling);
  return {{"columns", columns}, {"rows", rows}, {"note", note + "."}};
}

// The page begins with these sentences: who won, or what the only cell does.
std::vector<std::string> lead_of(const Findings& findings, const Study& study,
                                 const Ranking& ranking) {
  if (!findings.rows.empty())
    return agreement_sentences(findings.rows);
  if (!ranking.sentences.empty() || ranking.cells.empty())
    return ranking.sentences;
  if (study.cells.size() > 1)
    return {std::to_string(study.cells.size()) +
            " cells of which none competes with another: they differ in " +
            and_listed(study.telling_options) + "."};
  const StudyCell& cell = study.cells[ranking.cells.front().result];
  const Result& result = *cell.result;
  const auto text = [&](const char* option) { return said(option, result.setting(option)); };
  std::vector<std::string> lead{fmt::format(
      "{} on {} with {}, {}: {} samples/s{}.", text("model"), text("platform"), text("workers"),
      cell.series, count_shown(result.figures.throughput_samples_per_s),
      seeds_of(result) > 1 ? fmt::format(", the median of {} seeds", seeds_of(result)) : "")};
  if (result.learns()) {
    const auto target = target_in(result);
    lead.push_back("Learned from " + result.learned->data + ": loss " + loss_shown(result) +
                   ", held-out accuracy " + accuracy_shown(result) +
                   (target ? "; " + target->shown + ": " + target_shown(result) : "") + ".");
  }
  lead.push_back("Bottleneck: " + result.figures.bottleneck + ".");
  return lead;
}

// The winner in four figures.
Json facts_of(const Result& result) {
  const Figures& figures = result.figures;
  Json facts{{{"name", "samples/s"}, {"value", count_shown(figures.throughput_samples_per_s)}},
             {{"name", "of what its workers would do alone"},
              {"value", percent(figures.scaling_efficiency)}},
             {{"name", "per iteration"}, {"value", seconds_shown(figures.iteration_mean_s)}},
             {{"name", "of which workers stand still"},
              {"value", percent(figures.standing_still_s() / figures.iteration_mean_s)}}};
  if (result.learns()) {
    facts.push_back({{"name", "loss at the end"}, {"value", loss_shown(result)}});
    facts.push_back({{"name", "held-out accuracy"}, {"value", accuracy_shown(result)}});
  }
  if (const auto target = target_in(result))
    facts.push_back({{"name", "to " + target->shown}, {"value", target_shown(result)}});
  return facts;
}

// Everything that was chosen, for the user or by them: values that all cells have once, and where
// cells differ how many values there are.
Json provenance_of(const std::vector<Result>& results) {
  constexpr std::size_t most_values = 20;
  using Values = std::vector<std::string>;
  const auto add = [](Values& all, const std::string& one) {
    if (!one.empty() && all.size() < most_values)
      found_or_added(all, one);
  };
  Json rows = Json::array();
  const auto add_row = [&](const char* name, const auto& text_of) {
    Values values;
    for (const Result& result : results)
      add(values, std::invoke(text_of, result));
    if (!values.empty())
      rows.push_back({name, values});
  };
  add_row("program", &Result::tool);
  add_row("build", &Result::build);
  add_row("SimGrid", &Result::simgrid);
  add_row("inputs", &Result::inputs);
  const auto add_source = [&](const char* name, std::string Provenance::*source) {
    add_row(name, [&](const Result& result) { return result.provenance.*source; });
  };
  add_source("compute", &Provenance::compute);
  add_source("compression", &Provenance::compression);
  add_source("adding", &Provenance::adding);
  add_source("network", &Provenance::network);
  add_source("fidelity", &Provenance::fidelity);
  std::map<std::string, Values> options;
  for (const Result& result : results)
    for (const WrittenOption& option : result.options)
      add(options[option.name], option.value);
  for (const auto& [option, values] : options)
    rows.push_back({option, values.empty() ? Values{"-"} : values});
  return rows;
}

// The day of the report: SOURCE_DATE_EPOCH's where it is set, so that a report can be made again to
// the byte (reproducible-builds.org).
std::string today() {
  const char* given = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t now = given == nullptr ? std::time(nullptr) : std::atoll(given);
  char day[16] = {};
  std::strftime(day, sizeof day, "%Y-%m-%d", std::gmtime(&now));
  return day;
}

// Which program has made it, when, and by which command.
Json made_of(const Findings& findings) {
  std::vector<std::string> programs;
  for (const Result& result : findings.results)
    found_or_added(programs, result.tool + ", SimGrid " + result.simgrid);
  return {{"by", fmt::format("{}; {}", fmt::join(programs, " and "), today())},
          {"command", printable(findings.command)}};
}

Json warnings_of(const Findings& findings, const Study& study) {
  Json warnings = findings.missing;
  for (const std::string& warning : warnings_of(study))
    warnings.push_back(warning);
  return warnings;
}

// As many as there are bytes for.
Json timelines_of(const Study& study, const Ranking& ranking, std::size_t bytes) {
  Json timelines = Json::array();
  for (const std::size_t rank : drawn_cells(study, ranking)) {
    const StudyCell& cell = study.cells[ranking.cells[rank].result];
    const auto drawn = drawn_timeline(cell.result->timeline);
    if (!drawn)
      continue;
    Json timeline{
        {"name", cell.name}, {"case", cell.in_case}, {"subject", subject_of({cell.result})}};
    timeline.update(to_json(*drawn));
    const std::size_t own = as_script_data(timeline).size();
    if (own > bytes)
      break;
    bytes -= own;
    timelines.push_back(std::move(timeline));
  }
  return timelines;
}

// The first of the case in four figures; null where nothing competes for that.
Json best_of_case(const Study& study, const Ranking& ranking, std::size_t in_case) {
  for (const RankedCell& ranked : ranking.cells) {
    const StudyCell& best = study.cells[ranked.result];
    if (best.in_case == in_case && (study.cells.size() == 1 || !best.result->diverged()))
      return {{"name", best.name},
              {"facts", facts_of(*best.result)},
              {"bottleneck", best.result->figures.bottleneck}};
  }
  return nullptr;
}

}  // namespace

std::string page_data(const Findings& findings, std::size_t most_bytes) {
  const std::vector<Result>& results = findings.results;
  const Study study = study_of(results);
  const Ranking ranking = rank(results);
  Json cases = Json::array(), maps = Json::array();
  // A validation's cells are compared with measurements, not with each other.
  if (findings.rows.empty()) {
    for (std::size_t i = 0; i < study.cases.size(); ++i) {
      Json charts = Json::array();
      for (const Chart& chart : charts_of(study, i))
        charts.push_back(to_json(chart));
      cases.push_back({{"name", study.cases[i]},
                       {"subject", subject_of(study, i)},
                       {"best", best_of_case(study, ranking, i)},
                       {"charts", charts}});
    }
    for (const Map& map : maps_of(study))
      maps.push_back(to_json(map));
  }
  std::size_t simulations = 0;
  for (const Result& result : results)
    simulations += seeds_of(result);
  Json data{{"cells", study.cells.size()},
            {"simulations", simulations},
            {"lead", lead_of(findings, study, ranking)},
            {"subject", subject_of(study)},
            {"made", made_of(findings)},
            {"warnings", warnings_of(findings, study)},
            {"cases", std::move(cases)},
            {"maps", std::move(maps)},
            {"table", findings.rows.empty() ? table_of(findings, study, ranking) : Json()},
            {"agreement", findings.rows.empty() ? Json() : to_json(agreement_chart(findings.rows))},
            {"provenance", provenance_of(results)}};
  const std::size_t without = as_script_data(data).size();
  data["timelines"] = findings.rows.empty() && without < most_bytes
                          ? timelines_of(study, ranking, most_bytes - without)
                          : Json::array();
  return as_script_data(data);
}

}  // namespace syncline
