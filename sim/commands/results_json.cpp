#include "sim/commands/results_json.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/report/result_json.h"
#include "sim/study/ranking.h"

namespace syncline {

using Json = nlohmann::ordered_json;

namespace {

Json or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json(nullptr);
}

}  // namespace

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
  static constexpr const char* kinds[] = {"met", "moved", "warned", "failed"};
  Json all = Json::array();
  for (const Verdict& verdict : verdicts) {
    const Cause& cause = verdict.cause;
    all.push_back({{"cell", verdict.cell},
                   {"figure", verdict.figure},
                   {"verdict", kinds[static_cast<int>(verdict.kind)]},
                   {"expected", or_null(verdict.expected_value)},
                   {"got", or_null(verdict.got)},
                   {"change", or_null(verdict.change())},
                   {"tolerance", or_null(verdict.tolerance)},
                   {"at_least", or_null(verdict.at_least)},
                   {"at_most", or_null(verdict.at_most)},
                   {"cause",
                    {{"what", cause.what},
                     {"changed", cause.changed},
                     {"part", cause.part},
                     {"before", or_null(cause.part_before)},
                     {"now", or_null(cause.part_now)}}},
                   {"shown", {{"expected", verdict.expected}, {"now", verdict.now}}},
                   {"why", verdict.why}});
  }
  return all;
}

Json against_json(const BaseComparison& against) {
  static constexpr const char* kinds[] = {"renewed", "added", "removed"};
  Json replaced = Json::array();
  for (const Replaced& row : against.replaced)
    replaced.push_back({{"cell", row.cell},
                        {"figure", row.figure},
                        {"what", kinds[static_cast<int>(row.kind)]},
                        {"change", or_null(row.change)},
                        {"allows_more", row.looser},
                        {"shown", {{"before", row.before}, {"now", row.now}}},
                        {"because", row.because}});
  return {{"base", against.base},
          {"note", against.note},
          {"verdicts", verdicts_json(against.verdicts)},
          {"replaced", replaced}};
}

void print_json(const Json& document) {
  std::puts(document.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace syncline
