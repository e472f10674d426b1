#include "sim/options/resolve.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <stdexcept>

#include "kernels/compressor.h"
#include "kernels/io/text.h"
#include "kernels/io/units.h"
#include "sim/catalogue/data.h"
#include "sim/catalogue/files.h"
#include "sim/catalogue/network.h"
#include "sim/options/batches.h"
#include "sim/options/conflicts.h"
#include "sim/options/learning.h"
#include "sim/options/options.h"
#include "sim/options/reality.h"
#include "sim/options/schedules.h"
#include "sim/plan.h"
#include "sim/platform/platform_words.h"
#include "sim/schedule.h"

namespace syncline {
namespace {

const std::string cheapest_exchange = "auto";
const std::string exchange_of_nccl = "nccl";
// The dense rival of compression, unless the user's exchange adds dense gradients.
const std::string dense_exchange = "ring";
const std::string default_for_messages = "allgather";  // for messages that cannot be added

// Runs `check`; the message of its error gets a prefix: where `key` was given.
template <class Check>
auto at(const GivenOptions& given, const std::string& key, Check check) {
  try {
    return check();
  } catch (const std::exception& error) {
    refuse(given, {key, error.what()});
  }
}

std::map<std::string, std::string> values(const GivenOptions& given) {
  std::map<std::string, std::string> plain;
  for (const auto& [key, option] : given)
    plain[key] = option.value;
  return plain;
}

// The settings of parameters. An error names the place of the option with the bad value.
Settings settings_of(const std::vector<OwnOption>& parameters, const GivenOptions& given) {
  for (const OwnOption& parameter : parameters)
    at(given, parameter.name, [&] { Settings({parameter}, values(given)); });
  return Settings(parameters, values(given));
}

// Refuses options that a network model cannot use, also in sweeps: leaving the option out, as for a
// conflict, would still simulate the cell.
void check_network(const Scenario& scenario, const GivenOptions& given) {
  if (!scenario.network->by_size)
    return;
  const std::string network = "network = " + scenario.network->name;
  if (scenario.fidelity == Fidelity::flow || scenario.fidelity == Fidelity::analytic)
    refuse(given,
           {"network",
            network + " with fidelity = " + scenario.written.at("fidelity") +
                ": its factors depend on a message's size; allowed are fidelity = auto, step"});
  for (const std::string factor : {"bandwidth-factor", "latency-factor"})
    if (given.contains(factor))
      refuse(given, {factor, factor + ": " + network +
                                 " has factors of its own; allowed is leaving this option out"});
}

// The optimiser's step has a time of its own only if the bytes that it moves are known.
void resolve_optimizer(Scenario& scenario, std::vector<Conflict>& conflicts) {
  const std::string optimizer = "optimizer = " + scenario.written.at("optimizer");
  if (scenario.optimizer.values == 0 && scenario.memory_Bps) {
    conflicts.push_back(
        {"memory-bandwidth",
         "memory-bandwidth means nothing to " + optimizer +
             ", whose step takes no time of its own; allowed with it are optimizer = "
             "sgd, momentum or adam"});
    scenario.memory_Bps.reset();
    scenario.written.erase("memory-bandwidth");
  }
}

// The folder of the configuration file that has this option; empty for a flag.
std::string folder_of(const Given& option) {
  return std::filesystem::path(option.where.substr(0, option.where.rfind(':')))
      .parent_path()
      .string();
}

// The path of the file that an option names.
std::string file_of(const GivenOptions& given, const std::string& key, const std::string& kind,
                    const std::string& folder, const std::string& extension) {
  const Given& option = given.at(key);
  return at(given, key,
            [&] { return find_file(kind, folder, extension, option.value, folder_of(option)); });
}

// The path of a platform file, or the words of a platform without a file.
std::string platform_of(const GivenOptions& given) {
  const Given& option = given.at("platform");
  if (is_platform_words(option.value) ||
      (option.value.find(':') != std::string::npos && option.value.find('/') == std::string::npos))
    return at(given, "platform", [&] {
      if (const auto file = existing_file("platforms", ".xml", option.value, folder_of(option)))
        return *file;
      return platform_plan(option.value).words;
    });
  return file_of(given, "platform", "platform", "platforms", ".xml");
}

void find_files(const GivenOptions& given, Scenario& scenario, bool needs_model) {
  for (const std::string needed : {"platform", "model"})
    if (!given.contains(needed) &&
        (needed == "platform" || (needs_model && !given.contains("learn"))))
      throw std::invalid_argument(needed + " is not given: say --" + needed +
                                  " NAME (see `syncline list`)");
  scenario.platform = platform_of(given);
  if (given.contains("model"))  // otherwise the time of the learned problem is simulated
    scenario.model = file_of(given, "model", "model", "models", ".csv");
}

// Resolves the settings of schedule and exchange that concern compression, and everything about the
// compressor except its own settings.
void resolve_compression(const GivenOptions& given, Scenario& scenario,
                         std::vector<Conflict>& conflicts) {
  const Compressor& compressor = *scenario.compressor;
  const Schedule& schedule = *scenario.schedule;
  const bool compresses = compressor.name != no_compressor;
  if (scenario.exchange->adds_by != nullptr && !compressor.reducible)
    if (const std::string by = scenario.exchange->adds_by(scenario.exchange_settings); !by.empty())
      conflicts.push_back({by,
                           by + " = " + scenario.exchange_settings.word(by) + ": compressor " +
                               compressor.name +
                               "'s messages cannot be added in the node; allowed is dense",
                           Conflict::LeftOut::cell});
  scenario.compressed_pulls = schedule.pulls_compressed(scenario.schedule_settings);
  if (scenario.compressed_pulls && !compresses) {
    conflicts.push_back({pull_name, std::string(pull_name) + " = compressed: compressor " +
                                        compressor.name + " makes no messages; allowed is dense"});
    scenario.compressed_pulls = false;
  }
  if (const std::string& own = compressor.own_warm_up;
      !own.empty() && scenario.compressor_settings.number(own) > 0)
    conflicts.push_back({own,
                         own + ": in a simulation densities follow warm-up-densities of "
                               "schedule topk-sgd; allowed is 0",
                         Conflict::LeftOut::cell});
  if (schedule.warm_up != nullptr) {
    const WarmUp warm_up = schedule.warm_up(scenario.schedule_settings);
    scenario.warm_up_densities = Registered<Compressor>::find(warm_up.compressor).warm_up_densities;
    scenario.epoch_iterations = warm_up.epoch_iterations;
    if (!scenario.warm_up_densities.empty() && !has_density(compressor)) {
      conflicts.push_back({warm_up.option, warm_up.option + " = " + warm_up.compressor +
                                               ": compressor " + compressor.name +
                                               " has no density"});
      scenario.warm_up_densities.clear();
    }
  }
  scenario.read_as = compressor.read_as.empty() ? scenario.compressor
                                                : &Registered<Compressor>::find(compressor.read_as);
  // The cost model uses the simulated network's costs, unless the user gives one of its parameters.
  const std::vector<std::string>& cost = compressor.network_cost.options;
  scenario.network_prices = !cost.empty() && std::ranges::none_of(cost, [&](const auto& key) {
    return given.contains(key);
  });
  if (scenario.network_prices) {
    for (const std::string& key : cost)
      scenario.written.erase(key);
    scenario.written[cost.front()] = "network";
  }
  if (!compresses)
    scenario.compressor = nullptr;
}

void require_known(const GivenOptions& given) {
  for (const auto& [name, option] : given) {
    if (find_option(name) == nullptr)
      refuse(given, {name, unknown_option(name)});
    if (option.value.empty())
      refuse(
          given,
          {name, name + " is empty: allowed is a value; without the option, the default counts"});
  }
}

void set(const Option& option, const std::string& text, const GivenOptions& given,
         Scenario& scenario) {
  scenario.written[option.name] = printable(without_unit(option.name, text));
  if (option.set && (!text.empty() || given.contains(option.name)))
    at(given, option.name, [&] { option.set(scenario, text); });
}

// Sets the framework's defaults for options that the user has not given.
void take_framework(const GivenOptions& given, Scenario& scenario) {
  for (const auto& [name, value, source] : scenario.framework.defaults)
    if (!given.contains(name))
      set(option_called(name), value, given, scenario);
}

// Sets the values of `reality` for options that the user has not given. Left out, it is typical
// where a framework and a kind of network are named and leave something to take.
void take_reality(const GivenOptions& given, Scenario& scenario) {
  const auto chosen = given.find("reality");
  const bool left_out = chosen == given.end();
  Reality& reality = scenario.reality;
  if (left_out ? scenario.framework.name.empty() : reality.name == nominal_reality)
    return;
  const NetworkCards cards =
      at(given, "platform", [&] { return cards_of_platform(scenario.platform); });
  if (left_out && cards.kind.empty()) {
    reality.unnamed.emplace_back("no kind of network is named");
    return;
  }
  if (left_out)
    reality.name = typical_reality;
  at(given, left_out ? "platform" : "reality", [&] {
    find_reality(given, left_out ? "" : folder_of(chosen->second), cards, scenario);
    for (const auto& [name, value, source] : reality.defaults) {
      const Option& own = option_called(name);
      if (!own.set)
        throw std::invalid_argument(reality.file + ": " + name +
                                    " is an option of one schedule, exchange or compressor: "
                                    "allowed are options of every scenario");
      set(own, value, given, scenario);
    }
  });
  if (left_out && reality.defaults.empty())
    reality = {};
  else if (left_out)
    scenario.written["reality"] = typical_reality;
}

// Keeps only the framework's defaults that were taken: the schedule's own defaults come later.
void keep_what_was_taken(const GivenOptions& given, Scenario& scenario) {
  std::erase_if(scenario.framework.defaults, [&](const Default& one) {
    const auto written = scenario.written.find(one.option);
    return given.contains(one.option) || written == scenario.written.end() ||
           written->second != one.value;
  });
}

void find_schedule(const GivenOptions& given, Scenario& scenario) {
  at(given, "schedule",
     [&] { scenario.schedule = &schedule_called(scenario.written.at("schedule")); });
  for (const auto& [name, own] : scenario.schedule->defaults)
    if (!given.contains(name))
      set(option_called(name), own, given, scenario);
}

void find_exchange(const GivenOptions& given, Scenario& scenario) {
  const Schedule& schedule = *scenario.schedule;
  std::string& name = scenario.written.at("exchange");
  const bool chooses = name == cheapest_exchange || name == exchange_of_nccl;
  // A framework's choice is between exchanges that add dense gradients.
  if (chooses && !given.contains("exchange") &&
      (schedule.exchange != dense_exchange || !schedule.chooses_exchange() ||
       scenario.compressor->name != no_compressor))
    name.clear();
  if (name.empty()) {
    const bool carried =
        schedule.server != nullptr || schedule.sharding != nullptr ||
        schedule.neighbours != nullptr ||
        carries(Registered<Exchange>::find(schedule.exchange), *scenario.compressor);
    name = carried ? schedule.default_exchange() : default_for_messages;
  }
  scenario.nccl_chooses = name == exchange_of_nccl;
  if (scenario.nccl_chooses || name == cheapest_exchange) {
    for (const std::string& candidate :
         scenario.nccl_chooses ? nccl_candidates() : candidate_exchanges())
      scenario.candidates.push_back({.exchange = &Registered<Exchange>::find(candidate)});
    scenario.exchange = scenario.candidates.front().exchange;
  } else {
    at(given, "exchange", [&] {
      try {
        // Workers with neighbours average no gradients. They are planned as a dense exchange would
        // be, which no verb of theirs executes; `neighbours` says in results that there is none.
        const bool none = schedule.neighbours != nullptr && name == schedule.default_exchange();
        scenario.exchange = &Registered<Exchange>::find(none ? dense_exchange : name);
      } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(std::string(error.what()) +
                                    "; allowed are auto, too: the cheapest, and nccl: NCCL's");
      }
    });
  }
  // Sparse exchanges carry no dense gradients, and nobody would gather all dense gradients.
  const bool adds_dense = scenario.exchange->carries != Exchange::Carries::sparse &&
                          scenario.exchange->name != default_for_messages;
  scenario.dense_exchange =
      adds_dense ? scenario.exchange : &Registered<Exchange>::find(dense_exchange);
}

// Keeps the settings of everything that was chosen.
void keep_settings(const GivenOptions& by_user, Scenario& scenario) {
  GivenOptions given = by_user;
  for (const auto& [name, value, source] : scenario.framework.defaults)
    given.emplace(name, Given{value, "platforms/frameworks.csv"});
  const auto keep = [&](const std::vector<OwnOption>& parameters, Settings& settings) {
    settings = settings_of(parameters, given);
    for (const OwnOption& parameter : parameters)
      scenario.written[parameter.name] =
          given.contains(parameter.name)
              ? without_unit(parameter.name, given.at(parameter.name).value)
              : parameter.fallback;
  };
  keep(scenario.schedule->options, scenario.schedule_settings);
  for (CandidateExchange& candidate : scenario.candidates)
    keep(candidate.exchange->options, candidate.settings);
  keep(scenario.exchange->options, scenario.exchange_settings);
  keep(scenario.compressor->options, scenario.compressor_settings);
  if (!scenario.learns())
    return;
  Learning& learning = scenario.learning;
  keep(learning.problem->options, learning.problem_settings);
  if (learning.data == "generated")
    keep(generated_options(), learning.generated);
  if (given.contains("data"))
    learning.data_folder = folder_of(given.at("data"));
}

}  // namespace

const std::vector<std::string>& nccl_candidates() {
  static const std::vector<std::string> all{"ring", "tree"};
  return all;
}

const std::vector<std::string>& candidate_exchanges() {
  static const std::vector<std::string> all{"ring", "tree", "halving-doubling", "hierarchical"};
  return all;
}

Scenario resolve(const GivenOptions& given, std::vector<Conflict>& conflicts, bool needs_model) {
  Scenario scenario;
  require_known(given);
  for (const Option& option : scenario_options())
    if (option.set || option.selects) {
      const auto found = given.find(option.name);
      set(option, found == given.end() ? option.fallback : found->second.value, given, scenario);
    }
  take_framework(given, scenario);
  find_files(given, scenario, needs_model);
  find_schedule(given, scenario);
  at(given, "learn", [&] { find_problem(given, scenario); });
  at(given, "compressor", [&] {
    scenario.compressor = &Registered<Compressor>::find(scenario.written.at("compressor"));
  });
  find_exchange(given, scenario);
  take_reality(given, scenario);
  if (scenario.compressor->name != no_compressor && !scenario.device.empty())
    scenario.cost_table = file_of(given, "device", "cost table", "kernels/profiles", ".csv");
  check_network(scenario, given);
  resolve_optimizer(scenario, conflicts);
  find_conflicts(scenario, given, conflicts);
  if (scenario.schedule->sharding != nullptr)
    scenario.written.erase("bucket-bytes");  // it has units instead of buckets
  resolve_batches(given, scenario, conflicts);
  keep_settings(given, scenario);
  settle_straggling(given, scenario, conflicts);
  keep_what_was_taken(given, scenario);
  if (const auto misfit = scenario.schedule->misfit; misfit != nullptr)
    if (const auto found = misfit(scenario.schedule_settings, *scenario.exchange))
      conflicts.push_back(
          {found->option, found->option + " = " + found->why, Conflict::LeftOut::cell});
  resolve_compression(given, scenario, conflicts);
  resolve_learning(given, scenario, conflicts);
  scenario.warnings = without_effect(scenario, given);
  return scenario;
}

std::string refusal(const GivenOptions& given, const Conflict& conflict) {
  const auto found = given.find(conflict.key);
  return (found == given.end() ? "" : found->second.where + ": ") + conflict.why;
}

void refuse(const GivenOptions& given, const Conflict& conflict) {
  throw std::invalid_argument(refusal(given, conflict));
}

Scenario resolve(const GivenOptions& given) {
  std::vector<Conflict> conflicts;
  Scenario scenario = resolve(given, conflicts);
  if (!conflicts.empty())
    refuse(given, conflicts.front());
  return scenario;
}

}  // namespace syncline
