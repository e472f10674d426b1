#include "sim/report/page.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "sim/report/charts.h"
#include "sim/report/drawn_timeline.h"
#include "sim/report/learning.h"
#include "sim/report/maps.h"
#include "sim/report/page_parts.h"
#include "sim/report/result.h"
#include "sim/report/runs.h"
#include "sim/report/shown.h"
#include "sim/report/study.h"

namespace syncline {

const std::string page_begin = "<!doctype html>\n<!-- syncline report -->\n";

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_timelines = 12;
constexpr std::size_t most_page_bytes = 1'900'000;

// As a part of a script: nothing in it can end the script or begin markup.
std::string as_script_data(const Json& json) {
  std::string safe;
  const std::string text = json.dump();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '>' || c == '&')
      safe += format("\\u%04x", static_cast<unsigned>(c));
    else if (text.compare(i, 3, "\xE2\x80\xA8") == 0 || text.compare(i, 3, "\xE2\x80\xA9") == 0) {
      safe += text[i + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      safe += c;
    }
  }
  return safe;
}

struct Filling {
  std::string place;  // "{{css}}"
  std::string text;
};

// Looks for places in the template only, never in what was filled in.
std::string filled(const std::string& pattern, const std::vector<Filling>& fillings) {
  std::string page;
  std::size_t done = 0;
  for (const Filling& filling : fillings) {  // in the order of the template
    const std::size_t at = pattern.find(filling.place, done);
    page += pattern.substr(done, at - done) + filling.text;
    done = at + filling.place.size();
  }
  return page + pattern.substr(done);
}

// A column per option that has two values, or figure.
Json table_of(const Findings& findings, const Study& study, const Ranking& ranking) {
  struct Figure {
    const char* title;
    const char* name;
    const char* unit;
    bool of_iteration;  // as a part of it
  };
  static constexpr Figure figures[] = {
      {"samples/s", "throughput_samples_per_s", "samples/s", false},
      {"scaling", "scaling_efficiency", "%", false},
      {"iteration", "iteration_mean_s", "s", false},
      {"compute", "compute_s", "%", true},
      {"compress", "compress_s", "%", true},
      {"exposed", "exposed_communication_s", "%", true},
      {"waiting", "waiting_s", "%", true},
      {"stale", "staleness_mean", "", false},
      {"sent/worker", "bytes_sent", "B", false}};
  static constexpr Figure learned_too[] = {{"loss", "loss", "", false},
                                           {"accuracy", "accuracy", "%", false},
                                           {"target", "target_s", "s", false}};
  std::vector<Figure> shown(std::begin(figures), std::end(figures));
  if (std::ranges::any_of(study.cells, [](const StudyCell& cell) { return learns(cell.result); }))
    shown.insert(shown.begin() + 2, std::begin(learned_too), std::end(learned_too));
  std::map<std::string, std::set<std::string>> values;
  for (const StudyCell& cell : study.cells)
    for (const auto& [option, value] : cell.result["scenario"].items())
      if (const std::string text = option_text(cell.result, option); !text.empty())
        values[option].insert(text);
  std::vector<std::string> options = study.telling_options;
  for (const auto& [option, all] : values)
    if (all.size() > 1 && std::ranges::find(options, option) == options.end())
      options.push_back(option);

  Json columns = Json::array(), rows = Json::array();
  for (const std::string& option : options)
    columns.push_back({{"title", option}, {"unit", "text"}});
  for (const Figure& figure : shown)
    columns.push_back({{"title", figure.title}, {"unit", figure.unit}});
  columns.push_back({{"title", "busiest link"}, {"unit", "text"}});
  for (const RankedCell& ranked : ranking.cells) {
    const Json& result = study.cells[ranked.result].result;
    const Json& of = result["figures"];
    Json row = Json::array();
    for (const std::string& option : options)
      row.push_back(option_text(result, option));
    for (const Figure& figure : shown) {
      const auto value = figure_in(result, figure.name);
      row.push_back(
          value ? Json(rounded(*value /
                               (figure.of_iteration ? of["iteration_mean_s"].get<double>() : 1)))
                : Json(nullptr));
    }
    const Json& links = of["busiest_links"];
    row.push_back(links.empty()
                      ? std::string()
                      : links[0]["name"].get<std::string>() +
                            format(" %.0f %%", 100 * links[0]["utilisation"].get<double>()));
    rows.push_back(std::move(row));
  }
  return {{"columns", columns},
          {"rows", rows},
          {"note", "Simulated as " + how_simulated(findings.results) + "."}};
}

// What the page begins with: who won, or what the only cell does.
std::vector<std::string> lead_of(const Findings& findings, const Study& study,
                                 const Ranking& ranking) {
  if (!findings.rows.empty())
    return agreement_sentences(findings.rows);
  if (!ranking.sentences.empty() || ranking.cells.empty())
    return ranking.sentences;
  if (study.cells.size() > 1)
    return {std::to_string(study.cells.size()) +
            " cells of which none competes with another: they differ in " +
            joined(study.telling_options) + "."};
  const StudyCell& cell = study.cells[ranking.cells.front().result];
  const Json& figures = cell.result["figures"];
  const auto text = [&](const char* option) {
    return said(option, option_text(cell.result, option));
  };
  std::vector<std::string> lead{
      text("model") + " on " + text("platform") + " with " +
      said("workers", figures["worker_count"].dump()) + ", " + cell.series + ": " +
      count_shown(figures["throughput_samples_per_s"].get<double>()) + " samples/s."};
  if (learns(cell.result)) {
    const auto target = target_in(cell.result);
    lead.push_back("Learned from " + cell.result["learning"]["data"].get<std::string>() +
                   ": loss " + loss_shown(cell.result) + ", held-out accuracy " +
                   accuracy_shown(cell.result) +
                   (target ? "; " + target->shown + ": " + target_shown(cell.result) : "") + ".");
  }
  lead.push_back("Bottleneck: " + figures["bottleneck"].get<std::string>() + ".");
  return lead;
}

// The winner in four figures.
Json facts_of(const StudyCell& cell) {
  const Json& f = cell.result["figures"];
  const auto stands_still =
      (f["exposed_communication_s"].get<double>() + f["waiting_s"].get<double>()) /
      f["iteration_mean_s"].get<double>();
  Json facts{
      {{"name", "samples/s"}, {"value", count_shown(f["throughput_samples_per_s"].get<double>())}},
      {{"name", "of what its workers would do alone"},
       {"value", format("%.0f %%", 100 * f["scaling_efficiency"].get<double>())}},
      {{"name", "per iteration"}, {"value", seconds_shown(f["iteration_mean_s"].get<double>())}},
      {{"name", "of which workers stand still"}, {"value", format("%.0f %%", 100 * stands_still)}}};
  if (learns(cell.result)) {
    facts.push_back({{"name", "loss at the end"}, {"value", loss_shown(cell.result)}});
    facts.push_back({{"name", "held-out accuracy"}, {"value", accuracy_shown(cell.result)}});
  }
  if (const auto target = target_in(cell.result))
    facts.push_back({{"name", "to " + target->shown}, {"value", target_shown(cell.result)}});
  return facts;
}

// Everything that was chosen, for the user or by them: values that all cells have once, and where
// cells differ how many values there are.
Json provenance_of(const Study& study) {
  std::map<std::string, std::vector<std::string>> options;
  std::vector<std::pair<std::string, std::vector<std::string>>> said{
      {"program", {}}, {"build", {}}, {"SimGrid", {}}, {"inputs", {}}};
  const auto add = [](std::vector<std::string>& all, const std::string& one) {
    if (!one.empty() && std::ranges::find(all, one) == all.end() && all.size() < 20)
      all.push_back(one);
  };
  const auto of = [&](const std::string& name) -> std::vector<std::string>& {
    auto found = std::ranges::find(said, name, [](const auto& pair) { return pair.first; });
    if (found == said.end())
      found = said.insert(said.end(), {name, {}});
    return found->second;
  };
  for (const StudyCell& cell : study.cells) {
    add(of("program"), cell.result["tool"]);
    add(of("build"), cell.result["build"]);
    add(of("SimGrid"), cell.result["simgrid"]);
    add(of("inputs"), cell.result["inputs"]);
    for (const auto& [name, text] : cell.result["provenance"].items())
      add(of(name), text);
    for (const auto& [option, value] : cell.result["scenario"].items())
      add(options[option], option_text(cell.result, option));
  }
  Json rows = Json::array();
  for (const auto& [name, values] : said)
    if (!values.empty())
      rows.push_back({name, values});
  for (const auto& [option, values] : options)
    rows.push_back({option, values.empty() ? std::vector<std::string>{"-"} : values});
  return rows;
}

Json warnings_of(const Findings& findings, const Study& study) {
  Json warnings = findings.missing;
  std::set<std::string> warned;
  for (const StudyCell& cell : study.cells)
    for (const Json& warning : cell.result["figures"]["warnings"])
      if (warned.insert(warning.get<std::string>()).second)
        warnings.push_back(cell.name.empty() ? warning.get<std::string>()
                                             : cell.name + ": " + warning.get<std::string>());
  return warnings;
}

// Of the best cells, as many as there are bytes for.
Json timelines_of(const Study& study, const Ranking& ranking, std::size_t bytes) {
  Json timelines = Json::array();
  for (const RankedCell& ranked : ranking.cells) {
    const StudyCell& cell = study.cells[ranked.result];
    if (timelines.size() == most_timelines)
      break;
    const auto drawn = drawn_timeline(cell.result);
    if (!drawn)
      continue;
    Json timeline{{"name", cell.name}};
    timeline.update(to_json(*drawn));
    const std::size_t own = as_script_data(timeline).size();
    if (own > bytes)
      break;
    bytes -= own;
    timelines.push_back(std::move(timeline));
  }
  return timelines;
}

std::string noscript_of(const std::vector<Drawing>& figures) {
  std::string text;
  for (const Drawing& figure : figures)
    if (text.size() + figure.svg.size() < 100'000)
      text += "<figure>" + figure.svg.substr(figure.svg.find("<svg")) + "</figure>\n";
  return text;
}

}  // namespace

void require_page_parts() {
  if (page_parts::chart_js.empty())
    throw std::runtime_error(
        "--html: this program was built without Chart.js: install libjs-chart.js and build again "
        "(--svg and --md need no Chart.js)");
}

std::string page_of(const Findings& findings) {
  require_page_parts();
  const Study study = study_of(findings.results);
  const Ranking ranking = rank(findings.results);
  Json cases = Json::array(), maps = Json::array();
  // A validation's cells are compared with measurements, not with each other.
  if (findings.rows.empty()) {
    for (std::size_t i = 0; i < study.cases.size(); ++i) {
      Json charts = Json::array();
      for (const Chart& chart : charts_of(study, i))
        charts.push_back(to_json(chart));
      cases.push_back({{"name", study.cases[i]}, {"charts", charts}});
    }
    for (const Map& map : maps_of(study))
      maps.push_back(to_json(map));
  }
  Json data{{"cells", study.cells.size()},
            {"lead", lead_of(findings, study, ranking)},
            {"warnings", warnings_of(findings, study)},
            {"cases", std::move(cases)},
            {"maps", std::move(maps)},
            {"table", findings.rows.empty() ? table_of(findings, study, ranking) : Json()},
            {"agreement", findings.rows.empty() ? Json() : to_json(agreement_chart(findings.rows))},
            {"provenance", provenance_of(study)}};
  if (!ranking.cells.empty() && findings.rows.empty() &&
      (study.cells.size() == 1 || !diverged(study.cells[ranking.cells.front().result].result))) {
    const StudyCell& best = study.cells[ranking.cells.front().result];
    data["best"] = {{"name", best.name},
                    {"facts", facts_of(best)},
                    {"bottleneck", best.result["figures"]["bottleneck"]}};
  }
  std::vector<Filling> fillings{{"{{css}}", page_parts::css},
                                {"{{noscript}}", noscript_of(figures_of(findings))},
                                {"{{data}}", ""},
                                {"{{chart.js}}", page_parts::chart_js},
                                {"{{js}}", page_parts::js}};
  const std::size_t without = as_script_data(data).size() + page_parts::chart_js.size() +
                              page_parts::css.size() + page_parts::js.size() +
                              fillings[1].text.size();
  data["timelines"] = findings.rows.empty() && without < most_page_bytes
                          ? timelines_of(study, ranking, most_page_bytes - without)
                          : Json::array();
  fillings[2].text = as_script_data(data);
  return filled(page_begin + page_parts::html, fillings);
}

}  // namespace syncline
