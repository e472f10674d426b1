// From words to scenarios: what was given is checked, completed and, where values are lists,
// multiplied out.
#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "kernels/compressor.h"
#include "sim/csv.h"
#include "sim/files.h"
#include "sim/network.h"
#include "sim/options.h"
#include "sim/plan.h"
#include "sim/schedule.h"

namespace syncline {
namespace {

// Runs `check`, whose message gets the place where `key` was given in front.
template <class Check>
void at(const GivenOptions& given, const std::string& key, Check check) {
  try {
    check();
  } catch (const std::exception& error) {
    const auto found = given.find(key);
    throw std::invalid_argument(
        (found == given.end() ? std::string() : found->second.where + ": ") + error.what());
  }
}

std::map<std::string, std::string> values(const GivenOptions& given) {
  std::map<std::string, std::string> plain;
  for (const auto& [key, option] : given)
    plain[key] = option.value;
  return plain;
}

bool declares(const std::vector<Parameter>& parameters, const std::string& name) {
  return std::ranges::any_of(parameters,
                             [&](const Parameter& parameter) { return parameter.name == name; });
}

// The key (and so the place) that a bad setting of `parameters` came from.
template <class Entry>
Settings settings_of(const Entry& entry, const GivenOptions& given) {
  for (const Parameter& parameter : entry.parameters)
    at(given, parameter.name, [&] { Settings({parameter}, values(given)); });
  return Settings(entry.parameters, values(given));
}

// A combination that means nothing: which option is out of place, and why.
struct Misfit {
  std::string key;
  std::string why;
};

// Whether the exchange can move what the compressor makes.
bool carries(const Exchange& exchange, const Compressor& compressor) {
  switch (exchange.carries) {
    case Exchange::Carries::sums:
      return compressor.reducible;
    case Exchange::Carries::sparse:
      return compressor.sparse;
    case Exchange::Carries::any:
      break;
  }
  return true;
}

// Sends some of the values: as a list with indices, or those that all workers have drawn alike.
bool is_sparsifier(const Compressor& compressor) {
  return compressor.sparse || declares(compressor.parameters, "density");
}

// Names of the registered things for which `fits` holds, as an error lists them.
template <class T, class Fits>
std::string those_that(Fits fits) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : Registered<T>::all())
    if (fits(entry))
      names.push_back(name);
  return listed(names);
}

// Why this schedule or exchange cannot work with the compressor; empty when it can.
std::string impossible(const Schedule& schedule, const Exchange& exchange,
                       const Compressor& compressor) {
  const std::string pair = "compressor = " + compressor.name + ": ";
  if (schedule.sparsifiers_only && !is_sparsifier(compressor))
    return pair + "schedule " + schedule.name + " sends some of the values only; allowed are " +
           those_that<Compressor>(is_sparsifier);
  if (schedule.server != nullptr || carries(exchange, compressor))
    return {};
  const std::string why =
      exchange.carries == Exchange::Carries::sums
          ? " adds messages on the way, and " + compressor.name + "'s cannot be added"
          : " merges lists of index and value, and " + compressor.name + " makes none";
  return pair + "exchange " + exchange.name + why + "; allowed are exchanges " +
         those_that<Exchange>([&](const Exchange& other) { return carries(other, compressor); }) +
         ", or compressors " + those_that<Compressor>([&](const Compressor& other) {
           return carries(exchange, other) && (!schedule.sparsifiers_only || is_sparsifier(other));
         });
}

// Options given that this scenario's schedule, exchange and compressor have no use for.
std::vector<Misfit> misfits(const Scenario& scenario, const GivenOptions& given) {
  const Schedule& schedule = Registered<Schedule>::find(scenario.schedule);
  const Exchange& exchange = Registered<Exchange>::find(scenario.exchange);
  const Compressor& compressor = Registered<Compressor>::find(scenario.compressor);
  std::vector<Misfit> found;
  if (!schedule.any_exchange && scenario.exchange != schedule.exchange)
    found.push_back({"exchange", "exchange = " + scenario.exchange + ": schedule " + schedule.name +
                                     " allows only " + schedule.exchange});
  if (const std::string why = impossible(schedule, exchange, compressor); !why.empty())
    found.push_back({given.contains("compressor") ? "compressor"
                     : given.contains("exchange") ? "exchange"
                                                  : "schedule",
                     why});
  for (const Parameter& parameter : own_parameters())
    if (given.contains(parameter.name) && !declares(schedule.parameters, parameter.name) &&
        !declares(exchange.parameters, parameter.name) &&
        !declares(compressor.parameters, parameter.name))
      found.push_back({parameter.name, parameter.name + " means nothing to schedule " +
                                           schedule.name + ", exchange " + exchange.name +
                                           " and compressor " + compressor.name});
  return found;
}

// What a network cannot do. Refused in a sweep too, where a misfit may only be left out: the cell
// would be simulated all the same.
void check_network(const Scenario& scenario, const GivenOptions& given) {
  if (!find_network(scenario.network).by_size)
    return;
  const std::string network = "network = " + scenario.network;
  at(given, "network", [&] {
    if (!scenario.every_step)
      throw std::invalid_argument(network + " with fidelity = flow: its factors are those of a " +
                                  "message's size; allowed is fidelity = step");
  });
  for (const char* factor : {"bandwidth-factor", "latency-factor"})
    at(given, factor, [&] {
      if (given.contains(factor))
        throw std::invalid_argument(std::string(factor) + ": " + network +
                                    " has factors of its own; allowed with it is none");
    });
}

// CAT chooses its density by what sending costs: on the network it is simulated on, unless one of
// its cost model's parameters is given.
void add_network_prices(const GivenOptions& given, Scenario& scenario) {
  const std::vector<std::string> model{"cost", "packet-cost", "packet-bits", "fixed-cost"};
  if (scenario.compressor != "cat" ||
      std::ranges::any_of(model, [&](const std::string& key) { return given.contains(key); }))
    return;
  scenario.network_prices = true;
  for (const std::string& key : model)
    scenario.words.erase(key);
  scenario.words["cost"] = "network";
}

// As resolve(), but misfits are returned.
Scenario resolve_loosely(const GivenOptions& given, std::vector<Misfit>& found) {
  Scenario scenario;
  for (const auto& entry : given)
    if (!known_option(entry.first))
      at(given, entry.first, [&] { throw std::invalid_argument(unknown_option(entry.first)); });
  const auto set = [&](const Option& option) {
    const auto found_option = given.find(option.name);
    if (found_option != given.end())
      at(given, option.name, [&] { option.set(scenario, found_option->second.value); });
    scenario.words[option.name] =
        found_option == given.end() ? option.fallback : found_option->second.value;
  };
  for (const Option& option : scenario_options())
    if (option.set)
      set(option);
  for (const char* needed : {"platform", "model"})
    if (!given.contains(needed))
      throw std::invalid_argument(std::string(needed) + " is not given: say --" + needed +
                                  " NAME (see `syncline list`)");
  const auto beside = [&](const char* key) {
    const std::string& where = given.at(key).where;
    return std::filesystem::path(where.substr(0, where.rfind(':'))).parent_path().string();
  };
  at(given, "platform", [&] {
    scenario.platform =
        find_file("platform", "platforms", ".xml", scenario.platform, beside("platform"));
  });
  at(given, "model", [&] {
    scenario.model = find_file("model", "models", ".csv", scenario.model, beside("model"));
  });
  at(given, "schedule", [&] {
    const Schedule& schedule = Registered<Schedule>::find(scenario.schedule);
    for (const Option& option : scenario_options())
      if (const auto own = schedule.defaults.find(option.name);
          own != schedule.defaults.end() && !given.contains(option.name)) {
        option.set(scenario, own->second);
        scenario.words[option.name] = own->second;
      }
  });
  at(given, "compressor", [&] { Registered<Compressor>::find(scenario.compressor); });
  if (scenario.exchange.empty()) {
    const Schedule& schedule = Registered<Schedule>::find(scenario.schedule);
    const bool carried =
        schedule.server != nullptr || carries(Registered<Exchange>::find(schedule.exchange),
                                              Registered<Compressor>::find(scenario.compressor));
    scenario.exchange = carried ? schedule.exchange : "allgather";
    scenario.words["exchange"] = scenario.exchange;
  }
  at(given, "exchange", [&] { Registered<Exchange>::find(scenario.exchange); });
  if (scenario.compressor != "none" && given.contains("device"))
    at(given, "device", [&] {
      scenario.cost_table =
          find_file("cost table", "kernels/profiles", ".csv", scenario.device, beside("device"));
    });

  check_network(scenario, given);
  found = misfits(scenario, given);
  const auto keep = [&](const auto& entry, Settings& settings) {
    settings = settings_of(entry, given);
    for (const Parameter& parameter : entry.parameters)
      scenario.words[parameter.name] =
          given.contains(parameter.name) ? given.at(parameter.name).value : parameter.fallback;
  };
  keep(Registered<Schedule>::find(scenario.schedule), scenario.schedule_settings);
  keep(Registered<Exchange>::find(scenario.exchange), scenario.exchange_settings);
  keep(Registered<Compressor>::find(scenario.compressor), scenario.compressor_settings);
  add_network_prices(given, scenario);
  const auto says = [&](const char* key, const char* value) {
    const auto own = scenario.words.find(key);
    return own != scenario.words.end() && own->second == value;
  };
  if (says("in-node", "compressed") && !Registered<Compressor>::find(scenario.compressor).reducible)
    found.push_back({"in-node", "in-node = compressed: compressor " + scenario.compressor +
                                    "'s messages cannot be added in the node; allowed is dense"});
  if (says("pull", "compressed") && scenario.compressor == "none")
    found.push_back(
        {"pull", "pull = compressed: compressor none makes no messages; allowed is dense"});
  if (scenario.compressor == "dgc" && scenario.compressor_settings.number("warm-up") > 0)
    found.push_back({"warm-up",
                     "warm-up: in a simulation densities follow warm-up-densities of "
                     "schedule topk-sgd; allowed is 0"});
  const auto warm_up = scenario.words.find("warm-up-densities");
  if (warm_up != scenario.words.end() && warm_up->second != "none" &&
      !scenario.words.contains("density"))
    found.push_back({"warm-up-densities", "warm-up-densities = " + warm_up->second +
                                              ": compressor " + scenario.compressor +
                                              " has no density"});
  return scenario;
}

[[noreturn]] void refuse(const GivenOptions& given, const Misfit& misfit) {
  at(given, misfit.key, [&] { throw std::invalid_argument(misfit.why); });
  std::abort();  // `at` has thrown
}

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

bool is_choice(const std::string& key) {
  return key == "schedule" || key == "exchange" || key == "compressor";
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

Scenario resolve(const GivenOptions& given) {
  std::vector<Misfit> found;
  Scenario scenario = resolve_loosely(given, found);
  if (!found.empty())
    refuse(given, found.front());
  return scenario;
}

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
    Scenario scenario = resolve_loosely(product, found);
    bool whole = true;
    for (const Misfit& misfit : found) {
      if (overridden(given, misfit)) {
        tell(given.at(misfit.key).where + ": " + misfit.why);
      } else if (choices_swept) {
        refused.emplace(misfit.key + " = " + product.at(misfit.key).value, misfit);
        // A parameter of others does no harm here; a choice that cannot be used does.
        if (is_choice(misfit.key)) {
          whole = false;
          tell(misfit.why);
        }
      } else {
        refuse(given, misfit);
      }
      product.erase(misfit.key);
    }
    if (!whole)
      continue;
    for (const auto& [key, option] : product)
      used.insert(key + " = " + option.value);
    if (cells.insert(scenario.words).second)
      sweep.cells.push_back(std::move(scenario));
  }
  for (const auto& [what, misfit] : refused)
    if (!used.contains(what))
      refuse(given, misfit);
  return sweep;
}

}  // namespace syncline
