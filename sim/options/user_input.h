// The text of a command line and of configuration files, before it becomes values, with the place
// of each piece.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/registry.h"

namespace syncline {

// A value as written, and its place: "quickstart.cfg:4" or "--workers".
struct Given {
  std::string value;
  std::string where;
};
using GivenOptions = std::map<std::string, Given>;

// The values of a list: the parts between commas, without blanks around them; `\,` is a comma
// within a value.
std::vector<std::string> values_of(const Given& option);

// An option of a command, like --out.
struct Flag {
  std::string name;
  bool has_value = false;
  bool value_is_optional = false;  // --NAME, or --NAME=VALUE; the former has the value `on`
};

// A command line, split into its parts.
struct CommandLine {
  std::string written;                 // as a shell command, with the program and the command
  std::vector<std::string> arguments;  // arguments that are not options
  std::map<std::string, std::string> flags;
  GivenOptions options;

  bool has(const std::string& flag) const { return flags.contains(flag); }
  std::optional<std::string> flag(const std::string& name) const;  // none: not given
  // The value of a flag, checked against `allowed`, which gets the flag's name.
  std::optional<double> number(const std::string& flag, OwnOption allowed) const;
};

// Throws std::invalid_argument on an unknown option or one without a value.
CommandLine parse_command_line(const std::vector<std::string>& arguments,
                               const std::vector<Flag>& flags);

// The flag `jobs`: number of processes at a time; by default one per core.
int jobs_of(const CommandLine& line);

// A [section] of a configuration file has the options of its cells: its own, and those above all
// sections that it does not override. A file without sections is one section without a name.
struct Section {
  Given name;
  GivenOptions options;
};
constexpr int most_cells = 10'000;  // of a sweep

// `key = value` lines with `#` comments, and `[name]` lines. Throws std::invalid_argument
// "path:line: ...".
std::vector<Section> parse_sections(const std::string& path);

// For a file that describes one thing: a section is an error.
GivenOptions parse_config_file(const std::string& path);

// The options of a command line and of the configuration file that it names, if any, for each
// section of the file, or one without a name. The command line overrides the file.
std::vector<Section> merged_with_file(const CommandLine& line);

}  // namespace syncline
