#include "sim/commands/results_json.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "sim/report/result_json.h"
#include "sim/study/pooled.h"
#include "sim/study/ranking.h"

namespace syncline {

using Json = nlohmann::ordered_json;

namespace {

// A pooled result: the names of its cells, its figures, and the least and the greatest value of
// each figure that is a number and differs between the cells.
Json pooled_json(const Result& result, const std::vector<std::string>& cells) {
  Json least = Json::object(), most = Json::object();
  for (const Figure& figure : figure_rows())
    if (const auto band = band_of(figure.name, result)) {
      least[figure.name] = band->least;  // null if it is not finite
      most[figure.name] = band->most;
    }
  return {{"cells", cells},
          {"figures", to_json(result)["figures"]},
          {"least", std::move(least)},
          {"most", std::move(most)}};
}

}  // namespace

Json results_json(const std::vector<Result>& results, const std::vector<std::string>& names,
                  const Pool& pool, const std::vector<std::string>& left_out,
                  const std::vector<std::string>& missing, const std::string& without) {
  Json cells = Json::array(), fastest = Json::array(), pooled = Json::array();
  for (std::size_t i = 0; i < results.size(); ++i)
    cells.push_back({{"cell", names[i]}, {"result", to_json(results[i])}});
  const Ranking of_pool = rank(comparison_of(pool.results), without);
  const auto places = places_of(pool.results, results);
  for (const RankedCell& cell : of_pool.cells) {
    std::vector<std::string> its_names;
    for (const std::size_t place : places[cell.result])
      its_names.push_back(names[place]);
    for (const std::string& name : its_names)
      fastest.push_back(name);
    if (!pool.notes.empty())
      pooled.push_back(pooled_json(pool.results[cell.result], its_names));
  }
  Json ranking{{"sentences", of_pool.sentences}, {"fastest_first", std::move(fastest)}};
  if (!pool.notes.empty()) {
    ranking["notes"] = pool.notes;
    ranking["pooled"] = std::move(pooled);
  }
  return {{"cells", std::move(cells)},
          {"ranking", std::move(ranking)},
          {"left_out", left_out},
          {"missing", missing}};
}

Json or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json(nullptr);
}

void print_json(const Json& document) {
  std::puts(document.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace syncline
