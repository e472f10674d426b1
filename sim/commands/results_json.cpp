#include "sim/commands/results_json.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "sim/report/result_json.h"
#include "sim/study/ranking.h"

namespace syncline {

using Json = nlohmann::ordered_json;

Json results_json(const std::vector<Result>& results, const std::vector<std::string>& names,
                  const std::vector<std::string>& left_out,
                  const std::vector<std::string>& missing) {
  Json cells = Json::array();
  for (std::size_t i = 0; i < results.size(); ++i)
    cells.push_back({{"cell", names[i]}, {"result", to_json(results[i])}});
  const Ranking ranking = rank(results);
  Json fastest = Json::array();
  for (const RankedCell& cell : ranking.cells)
    fastest.push_back(names[cell.result]);
  return {{"cells", cells},
          {"ranking", {{"sentences", ranking.sentences}, {"fastest_first", fastest}}},
          {"left_out", left_out},
          {"missing", missing}};
}

Json verdicts_json(const std::vector<Verdict>& verdicts) {
  Json all = Json::array();
  for (const Verdict& verdict : verdicts) {
    const char* kind = verdict.kind == Verdict::Kind::met      ? "met"
                       : verdict.kind == Verdict::Kind::moved  ? "moved"
                       : verdict.kind == Verdict::Kind::failed ? "failed"
                                                               : "not checked";
    all.push_back({{"cell", verdict.cell},
                   {"figure", verdict.figure},
                   {"verdict", kind},
                   {"expected", verdict.expected},
                   {"now", verdict.now},
                   {"why", verdict.why}});
  }
  return all;
}

void print_json(const Json& document) {
  std::puts(document.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace syncline
