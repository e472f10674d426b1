#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "kernels/io/text.h"
#include "sim/page/drawn_timeline.h"
#include "sim/page/page_json.h"
#include "sim/report/figures.h"
#include "sim/report/learning.h"
#include "sim/report/prediction.h"
#include "sim/report/readable.h"
#include "sim/report/runs.h"
#include "sim/study/charts.h"
#include "sim/study/comparison.h"
#include "sim/study/names.h"
#include "sim/study/ordered_lists.h"
#include "sim/study/ranking.h"

namespace syncline {
namespace {

using Json = PageJson;

// The sentences with which the page begins: who won, or what the only cell does.
std::vector<std::string> lead_of(const PageContent& content, const Comparison& compared,
                                 const Ranking& ranking) {
  if (!content.rows.empty())
    return agreement_sentences(content.rows);
  if (!ranking.sentences.empty() || ranking.cells.empty())
    return ranking.sentences;
  if (compared.cells.size() > 1)
    return {std::to_string(compared.cells.size()) +
            " cells, none of which competes with another: they differ in " +
            and_listed(compared.telling_options) + "."};
  const ComparedCell& cell = compared.cells[ranking.cells.front().result];
  const Result& result = *cell.result;
  const auto text = [&](const char* option) {
    return short_setting(option, result.setting(option));
  };
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

// A result in a few figures.
Json facts_of(const Result& result) {
  const Figures& figures = result.figures;
  Json facts{{{"name", "samples/s"}, {"value", count_shown(figures.throughput_samples_per_s)}},
             {{"name", "of what its workers would do alone"},
              {"value", percent(figures.scaling_efficiency)}},
             {{"name", "per iteration"}, {"value", seconds_shown(figures.iteration_mean_s)}},
             {{"name", "of which workers stand still"},
              {"value", percent(figures.standing_still_s() / figures.iteration_mean_s)}}};
  if (const std::string interval = prediction_shown(figures); !interval.empty())
    facts.push_back({{"name", "prediction interval"}, {"value", interval}});
  if (figures.recomputed > 0)
    facts.push_back(
        {{"name", "of which they compute again"}, {"value", percent(figures.recomputed)}});
  if (result.learns()) {
    facts.push_back({{"name", "loss at the end"}, {"value", loss_shown(result)}});
    facts.push_back({{"name", "held-out accuracy"}, {"value", accuracy_shown(result)}});
  }
  if (const auto target = target_in(result))
    facts.push_back({{"name", "to " + target->shown}, {"value", target_shown(result)}});
  return facts;
}

// Everything that was chosen, by the user or by the program, with its different values.
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
  add_source("framework's defaults", &Provenance::framework);
  add_source("reality's values", &Provenance::reality);
  add_source("exchange", &Provenance::exchange);
  add_source("prices", &Provenance::price);
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

// Which program made the page, when, and by which command.
Json made_of(const PageContent& content) {
  std::vector<std::string> programs;
  for (const Result& result : content.results)
    found_or_added(programs, result.tool + ", SimGrid " + result.simgrid);
  return {{"by", fmt::format("{}; {}", fmt::join(programs, " and "), day_of_page())},
          {"command", printable(content.command)}};
}

Json warnings_of(const PageContent& content, const Comparison& compared) {
  Json warnings = content.missing;
  for (const auto& [cells, text] : warnings_of(compared))
    warnings.push_back(cells + ": " + text);
  return warnings;
}

// The timelines for which there are bytes, the best first, in the order of the ranking.
Json timelines_of(const Comparison& compared, const Ranking& ranking, std::size_t bytes) {
  std::map<std::size_t, Json> timelines;
  for (const std::size_t rank : drawn_cells(compared, ranking)) {
    const ComparedCell& cell = compared.cells[ranking.cells[rank].result];
    const auto drawn = drawn_timeline(cell.result->timeline, cell.result->figures);
    if (!drawn)
      continue;
    Json timeline{{"name", cell.name},
                  {"case", cell.in_case},
                  {"subject", subject_of({cell.result}, *compared.results)}};
    timeline.update(to_json(*drawn));
    const std::size_t own = as_script_data(timeline).size();
    if (own > bytes)
      break;
    bytes -= own;
    timelines[rank] = std::move(timeline);
  }
  Json in_order = Json::array();
  for (auto& [rank, timeline] : timelines)
    in_order.push_back(std::move(timeline));
  return in_order;
}

// The first cell of the case, with its facts; null if no cell can be the best.
Json best_of_case(const Comparison& compared, const Ranking& ranking, std::size_t in_case) {
  for (const RankedCell& ranked : ranking.cells) {
    const ComparedCell& best = compared.cells[ranked.result];
    if (best.in_case == in_case &&
        (compared.cells.size() == 1 || (ranked.fits && !best.result->diverged())))
      return {{"name", best.name},
              {"in_case", compared.name_in_case(best)},
              {"ties_with", ranked.level_with},
              {"samples_per_s", rounded(best.throughput())},
              {"facts", facts_of(*best.result)},
              {"bottleneck", best.result->figures.bottleneck}};
  }
  return nullptr;
}

}  // namespace

std::string day_of_page() {
  constexpr std::int64_t last = 253'402'300'799;  // the end of the year 9999
  std::time_t now = std::time(nullptr);
  if (const char* given = std::getenv("SOURCE_DATE_EPOCH")) {
    const auto seconds = number_in<std::int64_t>(given);
    if (!seconds || *seconds < 0 || *seconds > last)
      throw std::runtime_error(
          fmt::format("SOURCE_DATE_EPOCH = {}: allowed are whole seconds since 1970, 0 to {}",
                      brief(given), last));
    now = *seconds;
  }
  char day[16] = {};
  std::strftime(day, sizeof day, "%Y-%m-%d", std::gmtime(&now));
  return day;
}

std::string page_data(const PageContent& content, std::size_t most_bytes) {
  const std::vector<Result>& results = content.results;
  const Comparison compared = comparison_of(results);
  const Ranking ranking = rank(compared, content.without);
  Json cases = Json::array(), maps = Json::array();
  // A validation's cells are compared with measurements, not with each other.
  if (content.rows.empty()) {
    for (std::size_t i = 0; i < compared.cases.size(); ++i) {
      Json charts = Json::array();
      for (const Chart& chart : charts_of(compared, i))
        charts.push_back(to_json(chart));
      cases.push_back({{"name", compared.cases[i]},
                       {"subject", subject_of(compared, i)},
                       {"best", best_of_case(compared, ranking, i)},
                       {"charts", charts}});
    }
    for (const Map& map : maps_of(compared, ranking))
      maps.push_back(to_json(map));
  }
  std::size_t simulations = 0;
  for (const Result& result : results)
    simulations += seeds_of(result);
  Json data{
      {"cells", compared.cells.size()},
      {"simulations", simulations},
      {"lead", lead_of(content, compared, ranking)},
      {"subject", subject_of(compared)},
      {"made", made_of(content)},
      {"warnings", warnings_of(content, compared)},
      {"cases", std::move(cases)},
      {"maps", std::move(maps)},
      {"words", words_of_page()},
      {"workers", content.rows.empty() && results.size() == 1 ? workers_of(results[0]) : Json()},
      {"table", content.rows.empty() ? table_of(content, compared, ranking) : Json()},
      {"agreement", content.rows.empty() ? Json() : to_json(agreement_chart(content.rows))},
      {"provenance", provenance_of(results)}};
  const std::size_t without = as_script_data(data).size();
  data["timelines"] = content.rows.empty() && without < most_bytes
                          ? timelines_of(compared, ranking, most_bytes - without)
                          : Json::array();
  return as_script_data(data);
}

}  // namespace syncline
