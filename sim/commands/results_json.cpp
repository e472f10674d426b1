#include "sim/commands/results_json.h"

#include "sim/report/ranking.h"

namespace syncline {

using Json = nlohmann::ordered_json;

Json results_json(const std::vector<Json>& results, const std::vector<std::string>& names,
                  const std::vector<std::string>& left_out,
                  const std::vector<std::string>& missing) {
  Json cells = Json::array();
  for (std::size_t i = 0; i < results.size(); ++i)
    cells.push_back({{"cell", names[i]}, {"result", results[i]}});
  const Ranking ranking = rank(results);
  Json fastest = Json::array();
  for (const RankedCell& cell : ranking.cells)
    fastest.push_back(names[cell.result]);
  return {{"cells", cells},
          {"ranking", {{"sentences", ranking.sentences}, {"fastest_first", fastest}}},
          {"left_out", left_out},
          {"missing", missing}};
}

}  // namespace syncline
