#include "sim/study/subject.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/study/lists.h"

namespace syncline {
namespace {

struct SubjectOption {
  const char* name;
  const char* several;
};

constexpr SubjectOption subject_options[] = {{"model", "models"},
                                             {"batch", "batches"},
                                             {"platform", "platforms"},
                                             {"network", "network models"}};

std::string subject_of_those(const Study& study, const auto& belongs) {
  std::vector<const Result*> results;
  for (const StudyCell& cell : study.cells)
    if (belongs(cell))
      results.push_back(cell.result);
  return subject_of(results, *study.results);
}

}  // namespace

std::string subject_of(const std::vector<const Result*>& results, const std::vector<Result>& all) {
  constexpr std::size_t most_values = 3;
  std::string subject;
  for (const SubjectOption& option : subject_options) {
    std::vector<std::string> values;
    const auto names = names_of_values(all, option.name, false);
    for (const Result* result : results)
      if (const std::string value = result->setting(option.name); !value.empty())
        found_or_added(values, names.at(value));
    if (values.empty())
      continue;
    subject += subject.empty() ? "" : ", ";
    subject += values.size() > most_values ? fmt::format("{} {}", values.size(), option.several)
                                           : fmt::format("{}", fmt::join(values, " and "));
  }
  return subject;
}

std::string subject_of(const Study& study) {
  return subject_of_those(study, [](const StudyCell&) { return true; });
}

std::string subject_of(const Study& study, std::size_t in_case) {
  return subject_of_those(study, [&](const StudyCell& cell) { return cell.in_case == in_case; });
}

}  // namespace syncline
