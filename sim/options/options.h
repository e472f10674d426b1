// One description of every option, for the command line, configuration files, validation columns,
// --help and `syncline list`. The parameters of registered schedules, exchanges, compressors and
// problems, and of generated data, are added automatically.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "sim/scenario.h"

namespace syncline {

// How cells that differ in an option are compared. Cells with names compete whatever they differ
// in, except `learning`: a user who names cells compares them.
enum class Role {
  choice,    // they compete: a user may take either
  question,  // each value has its own contest and charts; if nothing else differs, they compete
  // Each value has its own contest, and the bests of the values compete; drawn together, unless
  // that is more than a chart can show.
  purchase,
  subject,   // never compete and have charts of their own: other work, or another network model
  learning,  // as subject, because they learn from other samples; never compete, even with names
  run,       // never compete, but are drawn together: other ways to simulate the same
};

// Everything about an option is in its row (sim/options/options.cpp and learning.cpp).
struct Option {
  std::string name;
  std::string sentence;
  std::string fallback;  // shown in --help as the default
  // Checks the text and puts its value into the scenario. None for the schedule, the exchange and
  // the compressor, which resolve() looks up, and for their parameters, which become Settings.
  std::function<void(Scenario&, const std::string&)> set = nullptr;
  bool number = false;       // its values are numbers, perhaps besides a word or two
  std::string allowed = {};  // "numbers from 0 to 1"; empty: names that `list` knows
  Role role = Role::choice;
  // A second sentence; empty for registered things, which have help of their own.
  std::string more = {};
  std::string example = {};  // a value, and the options that it needs
  bool selects = false;      // some other options have a meaning only with one of its values
  bool is_list = false;      // a text with commas is one value, not a sweep
};

// All options of scenarios, in the order of --help.
const std::vector<Option>& scenario_options();
// Null if there is no option of this name.
const Option* find_option(const std::string& name);
// Throws std::invalid_argument if there is no option of this name.
const Option& option_called(const std::string& name);
// An unknown option has the role `choice`.
Role role_of(const std::string& option);
std::string unknown_option(const std::string& key);  // error message

// The parameters of registered schedules, exchanges, compressors and problems, and of generated
// data, by name.
std::map<std::string, OwnOption> own_options();

}  // namespace syncline
