// What a gate answers, for programs.
#include <nlohmann/json.hpp>

#include "kernels/io/text.h"
#include "sim/gate/answer.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json(nullptr);
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

}  // namespace

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

Json answer_json(const std::string& folder, const Answer& answer) {
  Json document{{"folder", printable(folder)},
                {"summary", summary_of(answer.verdicts)},
                {"verdicts", verdicts_json(answer.verdicts)}};
  if (!answer.blessed.empty())
    document["blessed"] = answer.blessed;
  if (answer.against)
    document["against"] = against_json(*answer.against);
  return document;
}

}  // namespace syncline
