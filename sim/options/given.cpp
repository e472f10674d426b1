#include "sim/options/given.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "kernels/registry.h"
#include "sim/options/options.h"
#include "sim/setup/files.h"

namespace syncline {

namespace po = boost::program_options;

CommandLine parse_command_line(const std::vector<std::string>& words,
                               const std::vector<Flag>& flags) {
  po::options_description description;
  const auto describe = [&](const std::string& name, bool valued) {
    if (valued)
      description.add_options()(name.c_str(), po::value<std::string>());
    else
      description.add_options()(name.c_str(), po::bool_switch());
  };
  for (const Option& option : scenario_options())
    describe(option.name, true);
  for (const Flag& flag : flags)
    describe(flag.name, flag.valued);

  CommandLine line;
  try {
    const int style = po::command_line_style::allow_long | po::command_line_style::long_allow_next |
                      po::command_line_style::long_allow_adjacent;
    const po::parsed_options parsed =
        po::command_line_parser(words).options(description).style(style).run();
    for (const po::option& option : parsed.options) {
      if (option.position_key >= 0) {
        line.arguments.push_back(option.value.front());
        continue;
      }
      const std::string value = option.value.empty() ? "on" : option.value.front();
      if (known_option(option.string_key)) {
        if (!line.options.emplace(option.string_key, Given{value, "--" + option.string_key}).second)
          throw std::invalid_argument("--" + option.string_key + " is given twice");
      } else {
        line.flags[option.string_key] = value;
      }
    }
  } catch (const po::unknown_option& error) {
    const std::string name = error.get_option_name();
    const std::string key = name.substr(std::min(name.find_first_not_of('-'), name.size()));
    throw std::invalid_argument("--" + key + ": " + unknown_option(key));
  } catch (const po::error& error) {
    throw std::invalid_argument(std::string(error.what()) + " (see --help)");
  }
  return line;
}

int jobs_of(const CommandLine& line) {
  const auto found = line.flags.find("jobs");
  if (found == line.flags.end())
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return static_cast<int>(checked_number(
      {.name = "--jobs", .minimum = 1, .maximum = 4096, .whole = true}, found->second));
}

GivenOptions parse_config_file(const std::string& path) {
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path))
    throw std::invalid_argument(path + ": no such configuration file, or it cannot be read");
  const po::options_description nothing;
  GivenOptions given;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string where = path + ":" + std::to_string(number);
    std::istringstream one_line(line);  // a line at a time, so that errors can name it
    try {
      if (trimmed(line).starts_with("["))
        throw std::invalid_argument("sections like " + trimmed(line) +
                                    " are not used: lines are `key = value`");
      for (const po::option& option : po::parse_config_file(one_line, nothing, true).options) {
        if (!known_option(option.string_key))
          throw std::invalid_argument(unknown_option(option.string_key));
        const std::string value = option.value.empty() ? "" : option.value.front();
        if (!given.emplace(option.string_key, Given{value, where}).second)
          throw std::invalid_argument(option.string_key + " is given twice");
      }
    } catch (const std::exception& error) {
      throw std::invalid_argument(where + ": " + error.what());
    }
  }
  return given;
}

GivenOptions merged_with_file(const CommandLine& line) {
  if (line.arguments.size() > 1)
    throw std::invalid_argument("one configuration file at a time, not " + listed(line.arguments));
  GivenOptions given = line.options;
  if (!line.arguments.empty())
    given.merge(parse_config_file(line.arguments.front()));
  return given;
}

}  // namespace syncline
