// The commands of the program. Each takes the words after its name, prints to stdout, and returns
// the exit code; what a user can mend is thrown as std::exception with a one-line message.
#pragma once

#include <string>
#include <vector>

namespace syncline {

int run_command(const std::vector<std::string>& words);
int list_command(const std::vector<std::string>& words);
int explain_command(const std::vector<std::string>& words);
int validate_command(const std::vector<std::string>& words);

}  // namespace syncline
