// The text of a command line and of configuration files, before it becomes values, and where each
// piece of it was written.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/registry.h"

namespace syncline {

// A value as written, and where: "quickstart.cfg:4" or "--workers".
struct Given {
  std::string value;
  std::string where;
};
using GivenOptions = std::map<std::string, Given>;

// The values of a list: parts between commas, without the blanks around them; `\,` is a comma in a
// value.
std::vector<std::string> values_of(const Given& option);

// A command's own option, like --out.
struct Flag {
  std::string name;
  bool has_value = false;
  bool value_is_optional = false;  // --NAME, or --NAME=VALUE; the former is the value `on`
};

// A command line, split into its parts.
struct CommandLine {
  std::string written;                 // for a shell, with the program and the command
  std::vector<std::string> arguments;  // not options
  std::map<std::string, std::string> flags;
  GivenOptions options;

  bool has(const std::string& flag) const { return flags.contains(flag); }
  std::optional<std::string> flag(const std::string& name) const;  // none: it is not there
  // The value of this flag, which is checked against `allowed`, whose name it gives.
  std::optional<double> number(const std::string& flag, OwnOption allowed) const;
};

// Throws std::invalid_argument on an unknown option or one without a value.
CommandLine parse_command_line(const std::vector<std::string>& arguments,
                               const std::vector<Flag>& flags);

// The flag `jobs`: how many processes run at a time; by default one per core.
int jobs_of(const CommandLine& line);

// A [section] of a configuration file has the options of its cells, with the lines above all
// sections that it does not override. A file without sections is one of them without a
// name.
struct Section {
  Given name;
  GivenOptions options;
};
constexpr int most_cells = 10'000;  // of a sweep

// `key = value` lines with `#` comments, and `[name]` lines. Throws std::invalid_argument
// "path:line: ...".
std::vector<Section> parse_sections(const std::string& path);

// The file describes one thing: a section is an error.
GivenOptions parse_config_file(const std::string& path);

// The options of a command line, and of the configuration file that it names, if any: for each of
// its sections, or without a name. The command line wins.
std::vector<Section> merged_with_file(const CommandLine& line);

}  // namespace syncline
