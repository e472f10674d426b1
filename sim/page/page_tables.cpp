// The tables of a page.
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/page/page_json.h"
#include "sim/report/figures.h"
#include "sim/report/glossary.h"
#include "sim/report/readable.h"
#include "sim/report/runs.h"
#include "sim/study/pooled.h"

namespace syncline {
namespace {

using Json = PageJson;

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

}  // namespace

Json table_of(const PageContent& content, const Comparison& compared, const Ranking& ranking) {
  const std::vector<std::string> options =
      with_differing(compared.telling_options, content.results);
  const std::vector<const Figure*> figures = columns_of(content.results);
  Json columns = Json::array(), rows = Json::array(), cases = Json::array();
  for (const std::string& option : options)
    columns.push_back({{"title", option}, {"unit", "text"}});
  for (const Figure* figure : figures) {
    const std::string title = title_of(*figure, content.results);
    columns.push_back({{"title", title}, {"unit", unit_of(*figure)}});
    if (has_ranges(*figure, content.results))
      for (const char* end : {", least", ", most"})
        columns.push_back({{"title", title + end}, {"unit", unit_of(*figure)}});
  }
  for (const RankedCell& ranked : ranking.cells) {
    const Result& result = content.results[ranked.result];
    Json row = Json::array();
    for (const std::string& option : options)
      row.push_back(result.option(option));
    for (const Figure* figure : figures) {
      const auto value = column_value(*figure, result);
      row.push_back(figure->unit == Unit::text ? Json(shown_in_table(*figure, result))
                    : value                    ? Json(rounded(*value))
                                               : Json(nullptr));
      if (!has_ranges(*figure, content.results))
        continue;
      const std::optional<SeedBand> band = band_of(figure->name, result);
      for (const double end : {band ? band->least : value.value_or(HUGE_VAL),
                               band ? band->most : value.value_or(HUGE_VAL)})
        row.push_back(std::isfinite(end) ? Json(rounded(end)) : Json(nullptr));
    }
    rows.push_back(std::move(row));
    cases.push_back(compared.cells[ranked.result].in_case);
  }
  std::string note = "Simulated as " + how_simulated(content.results);
  for (const std::string& pooling : content.notes)
    note += fmt::format("; {}", pooling);
  return {{"columns", columns}, {"rows", rows}, {"cases", cases}, {"note", note + "."}};
}

PageJson workers_of(const Result& result) {
  constexpr std::size_t most = 512;
  if (result.figures.workers.size() < 2)
    return nullptr;
  Json columns = Json::array(), rows = Json::array();
  for (const auto& [title, unit] :
       {std::pair("workers", "text"), std::pair("iterations", ""), std::pair("iteration", "s"),
        std::pair("computation", "%"), std::pair("compression", "%"), std::pair("exposed", "%"),
        std::pair("waiting", "%")})
    columns.push_back({{"title", title}, {"unit", unit}});
  for (const WorkerFigures& worker : spread(result.figures.workers, most)) {
    Json row{worker.name, rounded(worker.iterations), rounded(worker.iteration_mean_s)};
    for (const double part :
         {worker.compute_s, worker.compress_s, worker.exposed_communication_s, worker.waiting_s})
      row.push_back(worker.iterations > 0 ? Json(rounded(part / worker.iteration_mean_s))
                                          : Json(nullptr));
    rows.push_back(std::move(row));
  }
  return {{"columns", columns}, {"rows", rows}};
}

PageJson words_of_page() {
  Json words = Json::array();
  for (const auto* table : {&glossary(), &portions()})
    for (const GlossaryWord& one : *table)
      words.push_back({one.word, one.meaning});
  return words;
}

}  // namespace syncline
