#include "sim/options/expand.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "kernels/registry.h"
#include "sim/options/options.h"
#include "sim/options/reality.h"
#include "sim/options/resolve.h"

namespace syncline {
namespace {

// The option's values in a sweep; an option whose text is a list has one value.
std::vector<std::string> swept_values(const std::string& name, const Given& option) {
  const Option* known = find_option(name);
  return known != nullptr && known->is_list ? std::vector{option.value} : values_of(option);
}

// Checked before any cell is made: too many would not fit into the memory.
void check_number_of_cells(const std::vector<Section>& sections) {
  double cells = 0;  // double, so that no product overflows
  std::vector<std::string> lists;
  for (const Section& section : sections) {
    double product = 1;
    for (const auto& [name, option] : section.options) {
      const std::size_t values = swept_values(name, option).size();
      if (values == 1)
        continue;
      product *= static_cast<double>(values);
      if (const std::string list = name + " (" + std::to_string(values) + ")";
          std::ranges::find(lists, list) == lists.end())
        lists.push_back(list);
    }
    cells += product;
  }
  if (cells > most_cells)
    throw std::invalid_argument(
        "a sweep over " +
        (cells < 1e15 ? std::to_string(static_cast<long long>(cells)) : "more than 1e15") +
        " combinations of the values of " + listed(lists) + ": allowed are up to " +
        std::to_string(most_cells));
}

// One GivenOptions for each combination of values.
std::vector<GivenOptions> multiplied_out(const GivenOptions& given) {
  std::vector<GivenOptions> products{given};
  for (const Option& option : scenario_options()) {
    const auto found = given.find(option.name);
    if (found == given.end())
      continue;
    const std::vector<std::string> values = swept_values(option.name, found->second);
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

bool leaves_out_cell(const Conflict& conflict) {
  using LeftOut = Conflict::LeftOut;
  return conflict.left_out == LeftOut::cell ||
         (conflict.left_out == LeftOut::by_default && find_option(conflict.key)->selects);
}

// Whether a parameter in a file has lost its meaning because a flag chose another schedule,
// exchange or compressor.
bool ignored_because_of_flag(const GivenOptions& given, const Conflict& conflict) {
  const auto found = given.find(conflict.key);
  return !leaves_out_cell(conflict) && !find_option(conflict.key)->selects &&
         found != given.end() && from_file(found->second) &&
         std::ranges::any_of(given, [](const auto& option) {
           return find_option(option.first)->selects && !from_file(option.second);
         });
}

bool has_list(const Section& section, const std::string& name) {
  const auto found = section.options.find(name);
  return found != section.options.end() && swept_values(name, found->second).size() > 1;
}

// `name` if sections have names, and the options that have a list in any section.
std::vector<std::string> swept_in(const std::vector<Section>& sections) {
  std::vector<std::string> swept;
  if (!sections.front().name.value.empty())
    swept.emplace_back("name");
  for (const Option& option : scenario_options())
    if (std::ranges::any_of(sections,
                            [&](const Section& section) { return has_list(section, option.name); }))
      swept.push_back(option.name);
  return swept;
}

// The seeds that choose for best-of are the first of the list: "seeds 5, 1". A cell knows only its
// own seed.
void write_choosing_seeds(const GivenOptions& listed, Scenario& scenario) {
  if (scenario.best_of.empty())
    return;
  const auto seeds = listed.find("seed");
  std::vector<std::string> choosing =
      seeds == listed.end() ? std::vector{scenario.written.at("seed")} : values_of(seeds->second);
  choosing.resize(
      std::min(choosing.size(), static_cast<std::size_t>(scenario.best_of_seeds.value_or(1))));
  std::string& written = scenario.written["best-of-seeds"];
  written.clear();
  for (const std::string& seed : choosing)
    written += (written.empty() ? choosing.size() == 1 ? "seed " : "seeds " : ", ") + seed;
}

// A sweep while its sections are added.
struct Expansion {
  Sweep sweep;
  std::set<std::map<std::string, std::string>> cells;
  std::map<std::string, std::string> refused;  // by what was written and where: why it was refused
  std::set<std::string> used;

  void note_once(const std::string& note) {
    if (std::ranges::find(sweep.left_out, note) == sweep.left_out.end())
      sweep.left_out.push_back(note);
  }
};

std::string as_written(const std::string& key, const Given& option) {
  return option.where + ": " + key + " = " + option.value;
}

// `one_of_many`: other sections may use what has no meaning in this one.
void add_section(const Section& section, bool one_of_many, bool needs_model, Expansion& all) {
  const GivenOptions& given = section.options;
  const std::vector<GivenOptions> products = multiplied_out(given);
  std::string impossible;  // why the first impossible combination is impossible
  bool any = false;
  for (GivenOptions product : products) {
    std::vector<Conflict> found;
    Scenario scenario = resolve(product, found, needs_model);
    bool possible = true;
    for (const Conflict& conflict : found) {
      if (ignored_because_of_flag(given, conflict)) {
        all.note_once(given.at(conflict.key).where + ": " + conflict.why);
      } else if (products.size() > 1 || one_of_many) {
        // An option of other cells is ignored here; an impossible combination drops the cell.
        if (leaves_out_cell(conflict)) {
          possible = false;
          if (impossible.empty())
            impossible = section.name.value.empty() ? refusal(given, conflict) : conflict.why;
          all.note_once(conflict.why);
        } else if (const auto written = scenario.written.find(conflict.key);
                   written != scenario.written.end()) {
          written->second = find_option(conflict.key)->fallback;
        }
        if (const auto option = product.find(conflict.key); option != product.end())
          all.refused.emplace(as_written(conflict.key, option->second), refusal(given, conflict));
      } else {
        refuse(given, conflict);
      }
      product.erase(conflict.key);
    }
    if (!possible)
      continue;
    any = true;
    write_choosing_seeds(given, scenario);
    for (const auto& [key, option] : product)
      all.used.insert(as_written(key, option));
    if (!section.name.value.empty())
      scenario.written["name"] = section.name.value;
    if (all.cells.insert(scenario.written).second)
      all.sweep.cells.push_back(std::move(scenario));
  }
  if (!any)
    throw std::invalid_argument(impossible);
}

Sweep expanded(const std::vector<Section>& sections, bool needs_model) {
  Expansion all;
  all.sweep.swept = swept_in(sections);
  for (const Section& section : sections)
    try {
      add_section(section, sections.size() > 1, needs_model, all);
    } catch (const std::invalid_argument& error) {
      // Adds the section to the message, unless the message names a line or a flag.
      const std::string why = error.what();
      const bool says_where = std::ranges::any_of(section.options, [&](const auto& option) {
        return why.starts_with(option.second.where + ":");
      });
      if (section.name.value.empty() || says_where)
        throw;
      throw std::invalid_argument(section.name.where + ": [" + section.name.value + "]: " + why);
    }
  for (const auto& [written, why] : all.refused)
    if (!all.used.contains(written))
      throw std::invalid_argument(why);
  return all.sweep;
}

bool is_typical(const Scenario& cell) {
  return !cell.reality.file.empty();
}

// Nominal because, of a framework and a kind of network, it names the first only.
bool names_no_network(const Scenario& cell) {
  return !is_typical(cell) && !cell.reality.unnamed.empty();
}

}  // namespace

Sweep expand(const std::vector<Section>& sections, bool needs_model) {
  check_number_of_cells(sections);
  Sweep sweep = expanded(sections, needs_model);
  const auto nominal_cells = std::ranges::count_if(sweep.cells, names_no_network);
  if (nominal_cells == 0 || std::ranges::none_of(sweep.cells, is_typical) ||
      std::ranges::any_of(sections,
                          [](const Section& one) { return one.options.contains("reality"); }))
    return sweep;
  // Typical cells beside nominal ones would lose for what only they are charged.
  std::vector<Section> nominal = sections;
  for (Section& section : nominal)
    section.options["reality"] = {nominal_reality, "--reality"};
  Sweep alike = expanded(nominal, needs_model);
  alike.left_out.push_back(fmt::format(
      "typical values: the platforms of {} of {} cells name no kind of network, and cells are "
      "compared: reality = nominal in all; allowed is reality = typical, too",
      nominal_cells, sweep.cells.size()));
  return alike;
}

Sweep expand(const GivenOptions& given) {
  return expand(std::vector<Section>{{.name = {}, .options = given}});
}

}  // namespace syncline
