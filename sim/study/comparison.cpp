#include "sim/study/comparison.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <numeric>

#include "kernels/io/text.h"
#include "sim/options/options.h"
#include "sim/report/readable.h"
#include "sim/study/names.h"
#include "sim/study/ordered_lists.h"

namespace syncline {
namespace {

// The options by which a reader compares cells first.
const Words first_options{"name",     "model",      "platform", "workers",
                          "schedule", "compressor", "exchange"};
constexpr int dashes = 4;
constexpr std::size_t most_warned = 3;  // cells named in a warning

// What else than choices is compared: if no choice differs, purchases are, then questions.
enum class Compared { choices, purchases, questions };
constexpr Compared steps[] = {Compared::choices, Compared::purchases, Compared::questions};

// Whether cells that differ in the option have charts and contests of their own. Ways to simulate
// the same are drawn together, but do not compete.
bool is_apart(const std::string& option, Compared compared) {
  switch (role_of(option)) {
    case Role::choice:
    case Role::run:
      return false;
    case Role::purchase:
      return compared == Compared::choices;
    case Role::question:
      return compared != Compared::questions;
    default:
      return true;
  }
}

// Whether cells that differ in the option have contests of their own.
bool has_own_contest(const std::string& option, Compared compared) {
  return role_of(option) == Role::run || is_apart(option, compared);
}

Words all_options(const Results& results) {
  std::set<std::string> found;
  for (const Result& result : results)
    for (const WrittenOption& option : result.options)
      found.insert(option.name);
  Words options = first_options;
  std::ranges::copy_if(found, std::back_inserter(options),
                       [](const auto& option) { return !is_among(option, first_options); });
  return options;
}

// Knows which of the results at these places are alike in all options asked about so far.
class Alike {
 public:
  Alike(const Results& results, const Indices& places)
      : results_(results), places_(places), keys_(places.size()) {}

  // Which results differ in this option from one with which they were alike so far.
  std::vector<bool> told_apart_by(const std::string& option) {
    std::map<std::string, std::set<std::string>> values;  // by the options asked about so far
    for (std::size_t i = 0; i < keys_.size(); ++i)
      values[keys_[i]].insert(results_[places_[i]].setting(option));
    std::vector<bool> differs;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      differs.push_back(values[keys_[i]].size() > 1);
      keys_[i] += results_[places_[i]].setting(option) + '\n';
    }
    return differs;
  }
  bool any_told_apart_by(const std::string& option) {
    return std::ranges::count(told_apart_by(option), true) > 0;
  }

 private:
  const Results& results_;
  const Indices places_;
  std::vector<std::string> keys_;
};

// The options in which two of the results at these places differ.
Words differing_options(const Results& results, const Indices& places) {
  std::map<std::string, std::set<std::string>> values;
  for (const std::size_t place : places) {
    for (const WrittenOption& option : results[place].options)
      values[option.name].insert(option.value);
    if (results[place].option("reality").empty())
      values["reality"].insert("nominal");
  }
  Words differing;
  for (const auto& [option, different] : values)
    if (different.size() > 1)
      differing.push_back(option);
  return differing;
}

// These words, then the others.
Words with(Words words, const Words& others) {
  for (const std::string& other : others)
    if (!is_among(other, words))
      words.push_back(other);
  return words;
}

// The options that tell the cells apart, among those that differ; if these include schedule,
// exchange, compressor and framework, always these.
Words choices_told_by(const Results& results, const Indices& places, const Words& differing) {
  Words told;
  for (const std::string option : {"name", "schedule", "exchange", "compressor", "framework"})
    if (is_among(option, differing) && (told.empty() || told.front() != "name"))
      told.push_back(option);
  Alike alike(results, places);
  for (const std::string& option : with(told, differing))
    if (alike.any_told_apart_by(option))
      found_or_added(told, option);
  return told;
}

// Whether cells that agree in `others` have one value of `option`, which then follows from them.
bool follows(const Results& results, const Indices& places, const std::string& option,
             const Words& others) {
  Alike alike(results, places);
  for (const std::string& other : others)
    alike.told_apart_by(other);
  return !alike.any_told_apart_by(option);
}

// Whether the option is a worker's part of a global batch, which nobody has chosen.
bool is_share_of_global_batch(const Results& results, const Indices& places,
                              const std::string& option) {
  return (option == "batch" || option == "accumulation") &&
         std::ranges::none_of(
             places, [&](std::size_t i) { return results[i].option("global-batch").empty(); }) &&
         follows(results, places, option, {"workers", "global-batch"});
}

// Whether `reality` gave the option its values for framework and platform, so that nobody has
// chosen them.
bool is_taken_by_reality(const Results& results, const Indices& places, const std::string& option) {
  static const Words from{"framework", "platform", "reality"};
  return role_of(option) != Role::choice && !is_among(option, from) &&
         std::ranges::any_of(
             places, [&](std::size_t i) { return !results[i].option("reality").empty(); }) &&
         follows(results, places, option, from);
}

// The option on the x axis of curves: the workers, or else a number with three values or more.
std::string x_option_of(const Results& results, const Words& telling) {
  Words candidates{"workers"};
  std::ranges::copy_if(telling, std::back_inserter(candidates), [](const std::string& option) {
    return is_apart(option, Compared::choices);
  });
  for (const std::string& option : with(candidates, telling)) {
    if (!is_among(option, telling) || option == "name" || option == "seed")
      continue;
    const std::set<double> values = numbers_of(results, option);
    if (values.size() >= (option == "workers" ? 2u : 3u) && *values.begin() > 0)
      return option;
  }
  return "";
}

// Divides the telling options, except that on the x axis, into those that make series, which are
// kept, and those that make cases. Returns the names of the results' cases.
Words divided(const Results& results, Comparison& comparison) {
  // Cells with names are compared, whatever they differ in, except the learning_task.
  const bool named = is_among("name", comparison.telling_options);
  Words cases;
  const auto divide = [&](Compared compared) {
    Words case_options;
    comparison.series_options.clear();
    for (const std::string& option : comparison.telling_options)
      if (option != comparison.x_option)
        (is_apart(option, compared) && (!named || role_of(option) == Role::learning)
             ? case_options
             : comparison.series_options)
            .push_back(option);
    cases = names_of(results, case_options, ", ");
  };
  divide(Compared::choices);
  if (comparison.series_options.empty()) {
    divide(Compared::questions);
    return cases;
  }
  divide(Compared::purchases);  // drawn together, if there is room
  const Words together = names_of(results, comparison.series_options, " ");
  if (std::set<std::string>(together.begin(), together.end()).size() > most_series)
    divide(Compared::choices);
  return cases;
}

// Adds the cells with their names and colours; `cases` are the names of the results' cases.
void add_cells(const Results& results, const Words& cases, Comparison& comparison) {
  const Words& options = comparison.series_options;
  const Words series = names_of(results, options, " ");
  // The option whose values have different colours: the schedule, if it differs.
  const std::string colour_option =
      options.empty() || is_among("schedule", options) ? "schedule" : options.front();
  std::set<std::string> of_option;
  for (const Result& result : results)
    of_option.insert(result.setting(colour_option));
  // Sorted: independent of the order of results.
  Words colours(of_option.begin(), of_option.end());
  std::vector<Words> of_colour(colours.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    ComparedCell cell{.result = &results[i], .series = series[i]};
    cell.in_case = place_in(comparison.cases, cases[i]);
    cell.colour = static_cast<int>(place_in(colours, results[i].setting(colour_option)));
    cell.dash = static_cast<int>(
        place_in(of_colour[static_cast<std::size_t>(cell.colour)], series[i]) % dashes);
    std::string at;
    if (const std::string& x_option = comparison.x_option; !x_option.empty()) {
      cell.x = finite_number_in(results[i].setting(x_option)).value_or(0);
      at = short_setting(x_option, results[i].setting(x_option));
    }
    for (const std::string& part : {series[i], at, cases[i]})
      if (!part.empty())
        cell.name += (cell.name.empty() ? "" : ", ") + part;
    if (series[i].empty())
      cell.series = results[i].setting("schedule") + " " + results[i].setting("exchange");
    if (cell.name.empty())
      cell.name = cell.series;
    comparison.cells.push_back(std::move(cell));
  }
}

}  // namespace

std::string Comparison::at(double x) const {
  return x_option.empty() ? "" : short_setting(x_option, count_shown(x));
}

std::string Comparison::name_in_case(const ComparedCell& cell) const {
  return cell.series + (x_option.empty() ? "" : ", " + at(cell.x));
}

std::vector<const ComparedCell*> Comparison::cells_of(std::size_t in_case) const {
  std::vector<const ComparedCell*> own;
  for (const ComparedCell& cell : cells)
    if (cell.in_case == in_case)
      own.push_back(&cell);
  return own;
}

Indices all_places(const Results& results) {
  Indices places(results.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

std::set<double> numbers_of(const Results& results, const std::string& option) {
  std::set<double> numbers;
  for (const Result& result : results)
    if (const auto number = finite_number_in(result.setting(option)))
      numbers.insert(*number);
    else
      return {};
  return numbers;
}

Words names_of(const Results& results, const Words& options, const char* between) {
  Words names(results.size());
  Alike alike(results, all_places(results));
  for (const std::string& option : options) {
    const std::vector<bool> tells = alike.told_apart_by(option);
    const auto values = names_of_values(results, option, true);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (const std::string value = results[i].setting(option); tells[i] && !value.empty())
        names[i] += (names[i].empty() ? "" : between) + values.at(value);
  }
  return names;
}

Words telling_options(const Results& results) {
  Words telling;
  Alike alike(results, all_places(results));
  std::ranges::copy_if(all_options(results), std::back_inserter(telling),
                       [&](const auto& option) { return alike.any_told_apart_by(option); });
  return telling;
}

Contests contests_among(const Results& results, const Indices& places) {
  Contests contests{.differing = differing_options(results, places)};
  std::erase_if(contests.differing, [&](const std::string& option) {
    return is_share_of_global_batch(results, places, option) ||
           is_taken_by_reality(results, places, option);
  });
  const Words& differing = contests.differing;
  const auto is_of_its_name = [&](const std::string& option) {
    return role_of(option) != Role::learning && is_among("name", differing) &&
           follows(results, places, option, {"name"});
  };
  for (const Compared compared : steps) {
    Words choices;
    contests.settings.clear();
    for (const std::string& option : differing)
      (has_own_contest(option, compared) && !is_of_its_name(option) ? contests.settings : choices)
          .push_back(option);
    const Words told = choices_told_by(results, places, choices);
    contests.all.clear();
    for (const std::size_t i : places) {
      std::vector<std::pair<std::string, std::string>> setting;
      for (const std::string& option : contests.settings)
        setting.emplace_back(option, results[i].setting(option));
      found_or_added(contests.all, setting, &Contest::setting)
          .choices.emplace_back(i, choice_shown(results[i], told));
    }
    contests.none_competes = contests.all.size() == places.size();
    if (!contests.none_competes || places.size() < 2)
      break;
  }
  const auto never_compete = [](const std::string& option) {
    return has_own_contest(option, Compared::questions);
  };
  if (const auto purchase = std::ranges::find(contests.settings, Role::purchase, role_of);
      purchase != contests.settings.end() && std::ranges::none_of(contests.settings, never_compete))
    contests.purchase = *purchase;
  return contests;
}

Comparison comparison_of(const Results& results) {
  Comparison comparison{.telling_options = telling_options(results), .results = &results};
  comparison.x_option = x_option_of(results, comparison.telling_options);
  add_cells(results, divided(results, comparison), comparison);
  Indices kept = all_places(results);
  std::erase_if(kept, [&](std::size_t i) { return results[i].diverged(); });
  comparison.contests = contests_among(results, kept);
  return comparison;
}

std::string options_but(const Result& result, const Words& but) {
  std::string key;
  for (const WrittenOption& option : result.options)
    if (!is_among(option.name, but))
      key += option.name + "=" + option.value + "\n";
  return key;
}

Words with_differing(Words options, const Results& results) {
  return with(std::move(options), differing_options(results, all_places(results)));
}

std::vector<WarnedCells> warnings_of(const Comparison& compared) {
  struct Warned {
    Warning first;
    bool differ = false;
    Words names;
  };
  std::vector<Warned> all;
  for (const ComparedCell& cell : compared.cells)
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
  std::vector<WarnedCells> warnings;
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

}  // namespace syncline
