// What a user has written, and where: the text of a command line and of configuration files, before
// it becomes values.
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

// The values of a list: parts between commas, without the blanks around them; `\,` is a comma in a
// value.
std::vector<std::string> values_of(const Given& option);

// A command's own option, like --out.
struct Flag {
  std::string name;
  bool has_value = false;
};

// A command line, split into its parts.
struct CommandLine {
  std::vector<std::string> arguments;  // not options
  std::map<std::string, std::string> flags;
  GivenOptions options;
};

// Throws std::invalid_argument on an unknown option or one without a value.
CommandLine parse_command_line(const std::vector<std::string>& arguments,
                               const std::vector<Flag>& flags);

// The flag `jobs`: how many processes run at a time; by default one per core.
int jobs_of(const CommandLine& line);

// `key = value` lines with `#` comments. Throws std::invalid_argument "path:line: ...".
GivenOptions parse_config_file(const std::string& path);

// The options of a command line, and of the configuration file that it names, if any. The command
// line wins.
GivenOptions merged_with_file(const CommandLine& line);

}  // namespace syncline
