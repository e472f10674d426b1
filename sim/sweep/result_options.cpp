#include "sim/sweep/result_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "sim/options/options.h"
#include "sim/report/result_json.h"

namespace syncline {
namespace {

// A number, or one of the words that an option of numbers allows.
WrittenOption number_or_word(const std::string& name, const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || !std::isfinite(value))
    return {.name = name, .value = text};
  return {.name = name, .value = exact_text(value), .is_number = true};
}

}  // namespace

std::vector<WrittenOption> written_options(const Scenario& scenario) {
  static const std::set<std::string> numbers = [] {
    std::set<std::string> names;
    for (const Option& option : scenario_options())
      if (option.number)
        names.insert(option.name);
    return names;
  }();
  std::vector<WrittenOption> written;
  if (const auto name = scenario.written.find("name"); name != scenario.written.end())
    written.push_back({.name = "name", .value = name->second});
  for (const auto& [name, text] : scenario.written)
    if (!text.empty() && name != "name")
      written.push_back(numbers.contains(name) ? number_or_word(name, text)
                                               : WrittenOption{.name = name, .value = text});
  return written;
}

std::vector<std::string> option_names() {
  std::vector<std::string> names;
  for (const Option& option : scenario_options())
    names.push_back(option.name);
  std::ranges::sort(names);
  names.insert(names.begin(), "name");
  return names;
}

}  // namespace syncline
