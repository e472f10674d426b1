// The vocabulary: one description of every option, from which the command line, configuration
// files, validation columns, --help and `syncline list` are made. A schedule's, an exchange's and a
// compressor's own parameters join it by themselves.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "sim/scenario.h"

namespace syncline {

// A value as written, and where: "quickstart.cfg:4" or "--workers".
struct Given {
  std::string value;
  std::string where;
};
using GivenOptions = std::map<std::string, Given>;

struct Option {
  std::string name;
  std::string sentence;
  std::string fallback;  // shown in --help
  // Checks the text and puts it into the scenario; none for parameters of registered things, which
  // become Settings.
  std::function<void(Scenario&, const std::string&)> set;
};
// Those of every scenario, in the order of --help.
const std::vector<Option>& scenario_options();
bool known_option(const std::string& name);
std::string unknown_option(const std::string& key);  // the message about it

// The parameters that registered schedules, exchanges and compressors bring along, each once.
std::vector<Parameter> own_parameters();

// A command's own option, like --out.
struct Flag {
  std::string name;
  bool valued = false;
};

// What a command line says.
struct CommandLine {
  std::vector<std::string> arguments;  // not options
  std::map<std::string, std::string> flags;
  GivenOptions options;
};

// Throws std::invalid_argument on an unknown option or one without a value.
CommandLine parse_command_line(const std::vector<std::string>& words,
                               const std::vector<Flag>& flags);

// The flag `jobs`: processes at a time; by default as many as there are cores.
int jobs_of(const CommandLine& line);

// `key = value` lines with `#` comments. Throws std::invalid_argument "path:line: ...".
GivenOptions parse_config_file(const std::string& path);

// The options of a command line over those of its one argument, a configuration file, if it has
// one.
GivenOptions merged_with_file(const CommandLine& line);

// Checks everything that can be checked without the platform. Throws std::invalid_argument that
// says where the value was given and what is allowed.
Scenario resolve(const GivenOptions& given);

// Lists in values make a sweep over their product. Cells in which a value has no meaning beside
// another from a list (asp with exchange = ring) are left out, and parameters in a file that a flag
// has made meaningless; `left_out` tells. It is an error when no cell uses a value.
struct Sweep {
  std::vector<Scenario> cells;
  std::vector<std::string> swept;  // the options with lists, in the order of --help
  std::vector<std::string> left_out;
};
Sweep expand(const GivenOptions& given);

}  // namespace syncline
