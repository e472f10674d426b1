#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "kernels/io/standard_streams.h"
#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/commands/commands.h"
#include "sim/commands/help.h"
#include "sim/sweep/process.h"

namespace syncline {
namespace {

int dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    print_help();
    return arguments.empty() ? 2 : 0;
  }
  if (arguments[0] == "--version") {
    std::puts("syncline " SYNCLINE_VERSION);
    return 0;
  }
  for (const std::string& argument : arguments)
    if (argument == "--help" || argument == "-h") {
      print_help();
      return 0;
    }
  // SimGrid asks for the working directory: without this check, the error would look like
  // SimGrid's.
  if (std::error_code error; std::filesystem::current_path(error).empty() && arguments[0] != "help")
    throw std::runtime_error("the working directory is gone (" + error.message() +
                             "): allowed is a working directory that exists");
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (command.name == arguments[0])
      return command.run({arguments.begin() + 1, arguments.end()});
    names.push_back(command.name);
  }
  throw std::invalid_argument("unknown command '" + brief(arguments[0]) + "': allowed are " +
                              listed(nearest(arguments[0], names)) + " (see --help)");
}

}  // namespace
}  // namespace syncline

int main(int count, char** arguments) {
  syncline::prepare_standard_streams();
  try {
    const int code = syncline::dispatch({arguments + 1, arguments + count});
    syncline::require_printed();
    return code;
  } catch (const syncline::Interrupted&) {
    std::fputs("syncline: interrupted; every process has ended, finished cells are whole\n",
               stderr);
    return syncline::interrupted_exit_code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "syncline: %s\n", syncline::printable(error.what()).c_str());
    return 2;
  }
}
