#include "sim/commands/written.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "sim/options/options.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

// A number, or one of the words that an option of numbers allows.
Json number_in(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || !std::isfinite(value))
    return text;
  constexpr double most_whole = 9007199254740992.0;  // 2^53: up to there no digit is lost
  if (value == std::floor(value) && std::abs(value) <= most_whole)
    return static_cast<std::int64_t>(value);
  return value;
}

}  // namespace

Json written_options(const Scenario& scenario) {
  static const std::set<std::string> numbers = [] {
    std::set<std::string> names;
    for (const Option& option : scenario_options())
      if (option.number)
        names.insert(option.name);
    return names;
  }();
  Json written = Json::object();
  if (const auto name = scenario.written.find("name"); name != scenario.written.end())
    written["name"] = name->second;
  for (const auto& [name, text] : scenario.written)
    if (!text.empty())
      written[name] = numbers.contains(name) ? number_in(text) : Json(text);
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
