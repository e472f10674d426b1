#include "sim/study/study.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>
#include <numeric>

#include "kernels/io/text.h"
#include "sim/options/options.h"
#include "sim/study/lists.h"

namespace syncline {
namespace {

using Results = std::vector<Result>;

// The options by which a reader compares cells first.
const std::vector<std::string> first_options{"name",     "model",      "platform", "workers",
                                             "schedule", "compressor", "exchange"};
constexpr int dashes = 4;
constexpr std::size_t most_warned = 3;  // cells named in a warning

// Whether cells that differ in the option have charts of their own.
bool makes_cases(const std::string& option) {
  const Role role = role_of(option);
  return role == Role::question || role == Role::purchase || role == Role::subject ||
         role == Role::lesson;
}

bool never_compares(const std::string& option) {
  const Role role = role_of(option);
  return role == Role::subject || role == Role::lesson;
}

// As makes_cases(), but purchases are drawn together.
bool makes_cases_of_one_purchase(const std::string& option) {
  return makes_cases(option) && role_of(option) != Role::purchase;
}

// The words that tell platforms apart: "cards=8x400Gbps" if all are of family dgx.
std::string without_common_words(const std::string& value, const std::set<std::string>& values) {
  const std::vector<std::string> words = split(value, ':');
  std::vector<std::string> own;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto has = [&](const std::string& other) {
      const std::vector<std::string> theirs = split(other, ':');
      return i == 0 ? theirs.front() == words.front() : is_among(words[i], theirs);
    };
    const bool all_have = std::ranges::all_of(values, has);
    if (i == 0 && !all_have)
      return value;
    if (!all_have)
      own.push_back(words[i]);
  }
  return own.empty() ? words.front() : fmt::format("{}", fmt::join(own, ":"));
}

std::vector<std::string> all_options(const Results& results) {
  std::set<std::string> found;
  for (const Result& result : results)
    for (const WrittenOption& option : result.options)
      found.insert(option.name);
  std::vector<std::string> options = first_options;
  for (const std::string& option : found)
    if (!is_among(option, first_options))
      options.push_back(option);
  return options;
}

// Knows which results are alike in all options asked about so far.
class Alike {
 public:
  explicit Alike(const Results& results) : results_(results), keys_(results.size()) {}

  // Which results differ in this option from one with which they were alike so far.
  std::vector<bool> told_apart_by(const std::string& option) {
    std::map<std::string, std::set<std::string>> values;  // by the options asked about so far
    for (std::size_t i = 0; i < keys_.size(); ++i)
      values[keys_[i]].insert(results_[i].setting(option));
    std::vector<bool> apart;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      apart.push_back(values[keys_[i]].size() > 1);
      keys_[i] += results_[i].setting(option) + '\n';
    }
    return apart;
  }

 private:
  const Results& results_;
  std::vector<std::string> keys_;
};

// The option on the x axis of curves: the workers, or else a number with three values or more.
std::string x_option_of(const Results& results, const std::vector<std::string>& telling) {
  std::vector<std::string> candidates{"workers"};
  std::ranges::copy_if(telling, std::back_inserter(candidates), makes_cases);
  candidates.insert(candidates.end(), telling.begin(), telling.end());
  for (const std::string& option : candidates) {
    if (!is_among(option, telling) || option == "name" || option == "seed")
      continue;
    const std::set<double> values = numbers_of(results, option);
    if (values.size() >= (option == "workers" ? 2u : 3u) && *values.begin() > 0)
      return option;
  }
  return "";
}

// Escaped as in URLs, so that different values give different names.
std::string in_file_name(const std::string& value) {
  std::string name;
  for (const char c : value)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '+')
      name += c;
    else
      name += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return name;
}

// The option whose values have different colours: the schedule, if it differs.
std::string colour_option_of(const std::vector<std::string>& series_options) {
  const bool schedules = series_options.empty() || is_among("schedule", series_options);
  return schedules ? "schedule" : series_options.front();
}

}  // namespace

std::optional<double> number_of(const std::string& value) {
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0' || !std::isfinite(number))
    return std::nullopt;
  return number;
}

std::set<double> numbers_of(const Results& results, const std::string& option) {
  std::set<double> numbers;
  for (const Result& result : results)
    if (const auto number = number_of(result.setting(option)))
      numbers.insert(*number);
    else
      return {};
  return numbers;
}

std::string said(const std::string& option, const std::string& value) {
  if (option == "workers")
    return value + (value == "1" ? " worker" : " workers");
  static const std::vector<std::string> names{"name",     "model",      "platform", "schedule",
                                              "exchange", "compressor", "precision"};
  if (!is_among(option, names))
    return option + " " + value;
  if (option == "compressor" && value == "none")
    return "no compressor";
  const std::size_t folder = value.rfind('/');  // the value is the path of a platform or a model
  const std::size_t ending = value.rfind('.');
  if (folder == std::string::npos || folder + 1 == value.size())
    return value;
  return value.substr(folder + 1, ending != std::string::npos && ending > folder + 1
                                      ? ending - folder - 1
                                      : std::string::npos);
}

std::map<std::string, std::string> names_of_values(const Results& results,
                                                   const std::string& option, bool shortest) {
  std::set<std::string> values;
  for (const Result& result : results)
    values.insert(result.setting(option));
  std::map<std::string, std::string> names;
  std::map<std::string, int> called;
  for (const std::string& value : values) {
    names[value] = shortest && option == "platform" && values.size() > 1
                       ? said(option, without_common_words(value, values))
                       : said(option, value);
    ++called[names[value]];
  }
  for (auto& [value, name] : names)
    if (called[name] > 1)
      name = value;
  return names;
}

std::vector<std::string> names_of(const Results& results, const std::vector<std::string>& options,
                                  const char* between) {
  std::vector<std::string> names(results.size());
  Alike alike(results);
  for (const std::string& option : options) {
    const std::vector<bool> tells = alike.told_apart_by(option);
    const auto values = names_of_values(results, option, true);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (const std::string value = results[i].setting(option); tells[i] && !value.empty())
        names[i] += (names[i].empty() ? "" : between) + values.at(value);
  }
  return names;
}

std::vector<std::string> telling_options(const Results& results) {
  std::vector<std::string> telling;
  Alike alike(results);
  for (const std::string& option : all_options(results))
    if (const std::vector<bool> tells = alike.told_apart_by(option);
        std::ranges::count(tells, true) > 0)
      telling.push_back(option);
  return telling;
}

Study study_of(const Results& results) {
  Study study{.results = &results};
  study.telling_options = telling_options(results);
  study.x_option = x_option_of(results, study.telling_options);
  // Cells with names are compared, whatever they differ in, except the lesson.
  const bool named = is_among("name", study.telling_options);
  std::vector<std::string> cases;
  const auto split = [&](const auto& apart) {
    std::vector<std::string> case_options;
    study.series_options.clear();
    for (const std::string& option : study.telling_options)
      if (option != study.x_option)
        (apart(option) && (!named || role_of(option) == Role::lesson) ? case_options
                                                                      : study.series_options)
            .push_back(option);
    cases = names_of(results, case_options, ", ");
  };
  split(makes_cases);
  if (study.series_options.empty()) {  // no choice differs: then questions are compared
    split(never_compares);
  } else {
    split(makes_cases_of_one_purchase);
    const auto together = names_of(results, study.series_options, " ");
    if (std::set<std::string>(together.begin(), together.end()).size() > most_series)
      split(makes_cases);
  }
  const auto series = names_of(results, study.series_options, " ");
  const std::string colour_option = colour_option_of(study.series_options);
  std::set<std::string> of_option;
  for (const Result& result : results)
    of_option.insert(result.setting(colour_option));
  // Sorted: independent of the order of results.
  std::vector<std::string> colours(of_option.begin(), of_option.end());
  std::vector<std::vector<std::string>> of_colour(colours.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    StudyCell cell{.result = &results[i], .series = series[i]};
    if (!study.x_option.empty())
      cell.x = number_of(results[i].setting(study.x_option)).value_or(0);
    cell.in_case = place_in(study.cases, cases[i]);
    cell.colour = static_cast<int>(place_in(colours, results[i].setting(colour_option)));
    cell.dash = static_cast<int>(
        place_in(of_colour[static_cast<std::size_t>(cell.colour)], series[i]) % dashes);
    const std::string at =
        study.x_option.empty() ? "" : said(study.x_option, results[i].setting(study.x_option));
    for (const std::string& part : {series[i], at, cases[i]})
      if (!part.empty())
        cell.name += (cell.name.empty() ? "" : ", ") + part;
    if (series[i].empty())
      cell.series = results[i].setting("schedule") + " " + results[i].setting("exchange");
    if (cell.name.empty())
      cell.name = cell.series;
    study.cells.push_back(std::move(cell));
  }
  return study;
}

std::vector<StudyWarning> warnings_of(const Study& study) {
  struct Warned {
    Warning first;
    bool differ = false;
    std::vector<std::string> names;
  };
  std::vector<Warned> all;
  for (const StudyCell& cell : study.cells)
    for (const Warning& warning : cell.result->figures.warnings) {
      auto same = std::ranges::find_if(all, [&](const Warned& one) {
        return one.first == warning ||
               (warning.kind == WarningKind::too_large && one.first.kind == WarningKind::too_large);
      });
      if (same == all.end())
        same = all.insert(all.end(), {.first = warning, .names = {}});
      same->differ = same->differ || same->first != warning;
      found_or_added(same->names, cell.name);
    }
  std::vector<StudyWarning> warnings;
  for (Warned& one : all) {  // joined by ; because names have commas
    if (const std::size_t more = one.names.size(); more > most_warned + 1) {
      one.names.resize(most_warned);
      one.names.push_back(fmt::format("{} more", more - most_warned));
    }
    warnings.push_back({fmt::format("{}", fmt::join(one.names, "; ")),
                        one.first.text + (one.differ ? " (of the first)" : "")});
  }
  return warnings;
}

std::string cell_name(const std::map<std::string, std::string>& written,
                      const std::vector<std::string>& swept) {
  std::string name;
  for (const std::string& option : swept) {
    const auto found = written.find(option);
    if (found == written.end() || found->second.empty())
      continue;
    name += fmt::format("{}{}-{}", name.empty() ? "" : "_", option, in_file_name(found->second));
  }
  return name.empty() ? "result" : name;
}

std::vector<std::size_t> all_places(const Results& results) {
  std::vector<std::size_t> places(results.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

std::vector<std::string> differing_options(const Results& results,
                                           const std::vector<std::size_t>& places) {
  std::map<std::string, std::set<std::string>> values;
  for (const std::size_t place : places)
    for (const WrittenOption& option : results[place].options)
      values[option.name].insert(option.value);
  std::vector<std::string> differing;
  for (const auto& [option, different] : values)
    if (different.size() > 1)
      differing.push_back(option);
  return differing;
}

std::string options_but(const Result& result, const std::vector<std::string>& but) {
  std::string key;
  for (const WrittenOption& option : result.options)
    if (!is_among(option.name, but))
      key += option.name + "=" + option.value + "\n";
  return key;
}

std::vector<std::string> with_differing(std::vector<std::string> options, const Results& results) {
  for (const std::string& option : differing_options(results, all_places(results)))
    if (!is_among(option, options))
      options.push_back(option);
  return options;
}

}  // namespace syncline
