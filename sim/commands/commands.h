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
  std::string value;  // its name in --help; empty: the flag has none
  std::string sentence;
  std::string more;  // a second sentence
  std::string example;
  bool value_is_optional = false;  // a value only as --NAME=VALUE
};

struct Command {
  std::string name;
  std::string arguments;  // as --help shows them
  std::string sentence;
  std::string more;     // a second sentence
  std::string example;  // arguments of a command that works
  std::vector<CommandFlag> flags = {};
  // Names of flags that it takes and that another command explains.
  std::vector<std::string> also = {};
  int (*run)(const std::vector<std::string>& arguments);
};
const std::vector<Command>& commands();  // in the order of --help

// Parses this command's arguments, with the flags that it takes. Throws as parse_command_line.
CommandLine command_line(const std::string& command, const std::vector<std::string>& arguments);

// The sentence of a shipped platform: the first line of its opening comment is "name: sentence".
std::string platform_sentence(const std::string& name);

int platform_command(const std::vector<std::string>& arguments);
int help_command(const std::vector<std::string>& arguments);
int run_command(const std::vector<std::string>& arguments);
int list_command(const std::vector<std::string>& arguments);
int explain_command(const std::vector<std::string>& arguments);
int collective_command(const std::vector<std::string>& arguments);
int check_command(const std::vector<std::string>& arguments);
int validate_command(const std::vector<std::string>& arguments);
int report_command(const std::vector<std::string>& arguments);

}  // namespace syncline
