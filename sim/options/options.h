// One description of every option: the command line, configuration files, validation columns,
// --help and `syncline list` use it. The parameters of registered schedules, exchanges and
// compressors are added automatically.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "sim/scenario.h"

namespace syncline {

struct Option {
  std::string name;
  std::string sentence;
  std::string fallback;  // shown in --help
  // Checks the text and puts its value into the scenario. None for the schedule, the exchange and
  // the compressor, which resolve() looks up, and for their parameters, which become Settings.
  std::function<void(Scenario&, const std::string&)> set = nullptr;
  bool number = false;       // its values are numbers, maybe beside a word or two
  std::string allowed = {};  // "numbers from 0 to 1"; empty: names, which `list` knows
};

struct OptionHelp {
  std::string more;     // a second sentence
  std::string example;  // a value, and options that it needs
};
// Of an option of all scenarios; empty for the parameters of registered things.
const OptionHelp& option_help(const std::string& name);

// All options of scenarios, in the order of --help.
const std::vector<Option>& scenario_options();
bool known_option(const std::string& name);
std::string unknown_option(const std::string& key);  // error message

// Whether other options mean something only with one of its values: it chooses a schedule, an
// exchange, a compressor or an optimizer.
bool is_choice(const std::string& name);

// The parameters of registered schedules, exchanges and compressors, each name once.
std::vector<Parameter> own_parameters();

}  // namespace syncline
