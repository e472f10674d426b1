// The commands of the program. Each takes the arguments after its name, prints to stdout, and
// returns the exit code. An error that a user can correct is a std::exception with a one-line
// message.
#pragma once

#include <string>
#include <vector>

#include "sim/options/user_input.h"

namespace syncline {

// An option of one command, like --out of run.
struct CommandFlag {
  std::string name;
  std::string value;     // what it takes, for --help; empty: nothing
  std::string sentence;  // what it does
  std::string more;      // a second sentence
  std::string example;
  bool value_is_optional = false;  // it takes one as --NAME=VALUE only
};

struct Command {
  std::string name;
  std::string arguments;  // for --help
  std::string sentence;
  std::string more;     // a second sentence
  std::string example;  // arguments that work
  std::vector<CommandFlag> flags = {};
  std::vector<std::string> also = {};  // words of flags that it takes, and another command explains
  int (*run)(const std::vector<std::string>& arguments);
};
const std::vector<Command>& commands();  // in the order of --help

// The arguments of this command, with the flags that it takes. Throws as parse_command_line.
CommandLine command_line(const std::string& command, const std::vector<std::string>& arguments);

// The sentence about a platform of ours is the first line of its opening comment, "name: sentence".
std::string platform_sentence(const std::string& name);

int platform_command(const std::vector<std::string>& arguments);
int help_command(const std::vector<std::string>& arguments);
int run_command(const std::vector<std::string>& arguments);
int list_command(const std::vector<std::string>& arguments);
int explain_command(const std::vector<std::string>& arguments);
int check_command(const std::vector<std::string>& arguments);
int validate_command(const std::vector<std::string>& arguments);
int report_command(const std::vector<std::string>& arguments);

}  // namespace syncline
