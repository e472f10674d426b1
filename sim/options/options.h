// The vocabulary: one description of every option, from which the command line, configuration
// files, validation columns, --help and `syncline list` are made. A schedule's, an exchange's and a
// compressor's own parameters join it by themselves.
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
};
// Those of every scenario, in the order of --help.
const std::vector<Option>& scenario_options();
bool known_option(const std::string& name);
std::string unknown_option(const std::string& key);  // the message about it

// Whether it names a registered thing: a schedule, an exchange or a compressor.
bool is_choice(const std::string& name);

// The parameters that registered schedules, exchanges and compressors bring along, each once.
std::vector<Parameter> own_parameters();

}  // namespace syncline
