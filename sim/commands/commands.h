// The commands of the program. Each takes the arguments after its name, prints to stdout, and
// returns the exit code. An error that a user can correct is a std::exception with a one-line
// message.
#pragma once

#include <string>
#include <vector>

namespace syncline {

// An option of one command, like --out of run.
struct CommandFlag {
  std::string name;
  std::string value;     // what it takes, for --help; empty: nothing
  std::string sentence;  // what it does
  std::string more;      // a second sentence
  std::string example;
};

struct Command {
  std::string name;
  std::string arguments;  // for --help
  std::string sentence;
  std::string more;     // a second sentence
  std::string example;  // arguments that work
  std::vector<CommandFlag> flags;
  int (*run)(const std::vector<std::string>& arguments);
};
const std::vector<Command>& commands();  // in the order of --help

// What a platform of ours is: the first line of its opening comment, "name: what it is".
std::string platform_sentence(const std::string& name);

int help_command(const std::vector<std::string>& arguments);
int run_command(const std::vector<std::string>& arguments);
int list_command(const std::vector<std::string>& arguments);
int explain_command(const std::vector<std::string>& arguments);
int check_command(const std::vector<std::string>& arguments);
int validate_command(const std::vector<std::string>& arguments);
int report_command(const std::vector<std::string>& arguments);

}  // namespace syncline
