// The commands of the program. Each takes the arguments after its name, prints to stdout, and
// returns the exit code. An error that a user can correct is a std::exception with a one-line
// message.
#pragma once

#include <string>
#include <vector>

namespace syncline {

int run_command(const std::vector<std::string>& arguments);
int list_command(const std::vector<std::string>& arguments);
int explain_command(const std::vector<std::string>& arguments);
int check_command(const std::vector<std::string>& arguments);
int validate_command(const std::vector<std::string>& arguments);
int report_command(const std::vector<std::string>& arguments);

}  // namespace syncline
