// The commands of the program. Each takes what stands behind its name, prints to stdout, and
// returns the exit code; what a user can mend is thrown as std::exception with a one-line message.
#pragma once

#include <string>
#include <vector>

namespace syncline {

int run_command(const std::vector<std::string>& arguments);
int list_command(const std::vector<std::string>& arguments);
int explain_command(const std::vector<std::string>& arguments);
int validate_command(const std::vector<std::string>& arguments);

}  // namespace syncline
