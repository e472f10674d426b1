#include "sim/options/expand.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/options/options.h"
#include "sim/options/resolve.h"
#include "sim/setup/files.h"

namespace syncline {
namespace {

// The product of all lists; `swept` gets the options that have one.
std::vector<GivenOptions> multiplied_out(const GivenOptions& given,
                                         std::vector<std::string>& swept) {
  std::vector<GivenOptions> products{given};
  for (const Option& option : scenario_options()) {
    const auto found = given.find(option.name);
    if (found == given.end() || found->second.value.find(',') == std::string::npos)
      continue;
    swept.push_back(option.name);
    std::vector<GivenOptions> longer;
    for (const GivenOptions& product : products)
      for (const std::string& value : split(found->second.value, ',')) {
        longer.push_back(product);
        longer.back()[option.name].value = value;
      }
    products = std::move(longer);
  }
  return products;
}

bool from_file(const Given& option) {
  return !option.where.starts_with("--");
}

// A parameter in a file that a flag has made meaningless by choosing another schedule, say.
bool overridden(const GivenOptions& given, const Misfit& misfit) {
  return !is_choice(misfit.key) && from_file(given.at(misfit.key)) &&
         std::ranges::any_of(given, [](const auto& option) {
           return is_choice(option.first) && !from_file(option.second);
         });
}

}  // namespace

Sweep expand(const GivenOptions& given) {
  Sweep sweep;
  const std::vector<GivenOptions> products = multiplied_out(given, sweep.swept);
  const bool choices_swept = std::ranges::any_of(sweep.swept, is_choice);
  const auto tell = [&](const std::string& note) {
    if (std::ranges::find(sweep.left_out, note) == sweep.left_out.end())
      sweep.left_out.push_back(note);
  };

  std::map<std::string, Misfit> refused;  // by "key = value"
  std::set<std::string> used;
  std::set<std::map<std::string, std::string>> cells;
  for (GivenOptions product : products) {
    std::vector<Misfit> found;
    Scenario scenario = resolve(product, found);
    bool possible = true;
    for (const Misfit& misfit : found) {
      if (overridden(given, misfit)) {
        tell(given.at(misfit.key).where + ": " + misfit.why);
      } else if (choices_swept) {
        refused.emplace(misfit.key + " = " + product.at(misfit.key).value, misfit);
        // A parameter of others does no harm here; a choice that cannot be used does.
        if (is_choice(misfit.key)) {
          possible = false;
          tell(misfit.why);
        }
      } else {
        refuse(given, misfit);
      }
      product.erase(misfit.key);
    }
    if (!possible)
      continue;
    for (const auto& [key, option] : product)
      used.insert(key + " = " + option.value);
    if (cells.insert(scenario.written).second)
      sweep.cells.push_back(std::move(scenario));
  }
  for (const auto& [what, misfit] : refused)
    if (!used.contains(what))
      refuse(given, misfit);
  return sweep;
}

}  // namespace syncline
