// What a user has written, and where: the words of a command line and of configuration files, not
// yet values.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace syncline {

// A value as written, and where: "quickstart.cfg:4" or "--workers".
struct Given {
  std::string value;
  std::string where;
};
using GivenOptions = std::map<std::string, Given>;

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

}  // namespace syncline
