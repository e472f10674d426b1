#include "sim/options/expand.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "kernels/registry.h"
#include "sim/options/options.h"
#include "sim/options/resolve.h"

namespace syncline {
namespace {

// Before any of them is made: they would not fit into the memory.
void check_number_of_cells(const GivenOptions& given) {
  double cells = 1;  // so that no product overflows
  std::vector<std::string> lists;
  for (const auto& [name, option] : given) {
    const std::size_t values = values_of(option).size();
    if (values == 1)
      continue;
    cells *= static_cast<double>(values);
    lists.push_back(name + " (" + std::to_string(values) + ")");
  }
  if (cells > most_cells)
    throw std::invalid_argument(
        "a sweep over " +
        (cells < 1e15 ? std::to_string(static_cast<long long>(cells)) : "more than 1e15") +
        " combinations of the values of " + listed(lists) + ": allowed are " +
        std::to_string(most_cells));
}

// The product of all lists; `swept` gets the options that have one.
std::vector<GivenOptions> multiplied_out(const GivenOptions& given,
                                         std::vector<std::string>& swept) {
  std::vector<GivenOptions> products{given};
  for (const Option& option : scenario_options()) {
    const auto found = given.find(option.name);
    if (found == given.end())
      continue;
    const std::vector<std::string> values = values_of(found->second);
    if (values.size() > 1)
      swept.push_back(option.name);
    std::vector<GivenOptions> longer;
    for (const GivenOptions& product : products)
      for (const std::string& value : values) {
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

// A parameter in a file that has no meaning any more, because a flag chose another schedule,
// exchange or compressor.
bool ignored_because_of_flag(const GivenOptions& given, const Misfit& misfit) {
  return !is_choice(misfit.key) && from_file(given.at(misfit.key)) &&
         std::ranges::any_of(given, [](const auto& option) {
           return is_choice(option.first) && !from_file(option.second);
         });
}

}  // namespace

Sweep expand(const GivenOptions& given) {
  check_number_of_cells(given);
  Sweep sweep;
  const std::vector<GivenOptions> products = multiplied_out(given, sweep.swept);
  const bool choices_swept = std::ranges::any_of(sweep.swept, is_choice);
  const auto note_once = [&](const std::string& note) {
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
      if (ignored_because_of_flag(given, misfit)) {
        note_once(given.at(misfit.key).where + ": " + misfit.why);
      } else if (choices_swept) {
        refused.emplace(misfit.key + " = " + product.at(misfit.key).value, misfit);
        // A parameter of another choice is ignored here; an impossible choice drops the cell.
        if (is_choice(misfit.key)) {
          possible = false;
          note_once(misfit.why);
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
