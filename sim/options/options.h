// One description of every option: the command line, configuration files, validation columns,
// --help and `syncline list` use it. The parameters of registered schedules, exchanges and
// compressors are added automatically.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "sim/scenario.h"

namespace syncline {

// A role says what cells that differ in an option are to each other. Where they have names, all but
// those of other lessons compete: who names cells compares them.
enum class Role {
  choice,    // they compete: one may take either
  question,  // each has its own contest and charts, unless nothing else differs: then they compete
  purchase,  // each has its own contest, and the best of each value competes; drawn together,
             // unless that is more than a chart can show
  subject,   // they never compete, and have charts of their own: other work, or another network
             // model
  lesson,    // the same, since they learn from other samples: nor do they with names
  run,       // they never compete, but are drawn together: another way to simulate the same
};

// Everything about an option is in its row (sim/options/options.cpp and learning.cpp).
struct Option {
  std::string name;
  std::string sentence;
  std::string fallback;  // shown in --help
  // Checks the text and puts its value into the scenario. None for the schedule, the exchange and
  // the compressor, which resolve() looks up, and for their parameters, which become Settings.
  std::function<void(Scenario&, const std::string&)> set = nullptr;
  bool number = false;       // its values are numbers, maybe beside a word or two
  std::string allowed = {};  // "numbers from 0 to 1"; empty: names, which `list` knows
  Role role = Role::choice;
  std::string more = {};     // a second sentence; empty: registered things explain theirs
  std::string example = {};  // a value, and options that it needs
  bool selects = false;      // other options mean something only with one of its values
  bool is_list = false;      // values with commas between them are one value, and no sweep
};

// All options of scenarios, in the order of --help.
const std::vector<Option>& scenario_options();
// None where there is no option of this name.
const Option* find_option(const std::string& name);
// Throws std::invalid_argument where there is none.
const Option& option_called(const std::string& name);
// An option that is not known has the role `choice`.
Role role_of(const std::string& option);
std::string unknown_option(const std::string& key);  // error message

// The parameters of registered schedules, exchanges and compressors, by name.
std::map<std::string, OwnOption> own_options();

}  // namespace syncline
