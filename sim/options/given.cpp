#include "sim/options/given.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <stdexcept>
#include <thread>

#include "kernels/registry.h"
#include "kernels/text.h"
#include "sim/options/options.h"
#include "sim/setup/files.h"

namespace syncline {

namespace po = boost::program_options;

std::vector<std::string> values_of(const Given& option) {
  std::vector<std::string> values(1);
  const std::string& text = option.value;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\\,") == 0)
      values.back() += text[++i];
    else if (text[i] == ',')
      values.emplace_back();
    else
      values.back() += text[i];
  }
  if (values.size() > 1)
    std::ranges::transform(values, values.begin(), trimmed);
  return values;
}

CommandLine parse_command_line(const std::vector<std::string>& arguments,
                               const std::vector<Flag>& flags) {
  po::options_description description;
  const auto describe = [&](const std::string& name, bool has_value) {
    if (has_value)
      description.add_options()(name.c_str(), po::value<std::string>());
    else
      description.add_options()(name.c_str(), po::bool_switch());
  };
  for (const Option& option : scenario_options())
    describe(option.name, true);
  for (const Flag& flag : flags)
    describe(flag.name, flag.has_value);

  CommandLine line;
  try {
    const int style = po::command_line_style::allow_long | po::command_line_style::long_allow_next |
                      po::command_line_style::long_allow_adjacent;
    const po::parsed_options parsed =
        po::command_line_parser(arguments).options(description).style(style).run();
    for (const po::option& option : parsed.options) {
      if (option.position_key >= 0) {
        line.arguments.push_back(option.value.front());
        continue;
      }
      const std::string value = option.value.empty() ? "on" : option.value.front();
      if (known_option(option.string_key)) {
        if (!line.options.emplace(option.string_key, Given{value, "--" + option.string_key}).second)
          throw std::invalid_argument("--" + option.string_key + " is given twice");
      } else if (!line.flags.emplace(option.string_key, value).second) {
        throw std::invalid_argument("--" + option.string_key + " is given twice");
      }
    }
  } catch (const po::unknown_option& error) {
    const std::string name = error.get_option_name();
    const std::string key = name.substr(std::min(name.find_first_not_of('-'), name.size()));
    throw std::invalid_argument("--" + brief(key) + ": " + unknown_option(key));
  } catch (const po::error& error) {
    throw std::invalid_argument(brief(error.what()) + " (see --help)");
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
  GivenOptions given;
  read_lines(path, [&](const TextLine& raw) {
    const std::string where = path + ":" + std::to_string(raw.number);
    const auto refuse = [&](const std::string& why) {
      throw std::invalid_argument(where + ": " + why);
    };
    const std::string line = trimmed(raw.text.substr(0, raw.text.find('#')));
    if (line.empty())
      return;
    if (line.starts_with("["))
      refuse("sections like " + brief(line) + " are not used: lines are `key = value`");
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos)
      refuse("'" + brief(line) + "' has no =: lines are `key = value`");
    const std::string key = trimmed(line.substr(0, equals));
    if (!known_option(key))
      refuse(unknown_option(key));
    if (!given.emplace(key, Given{trimmed(line.substr(equals + 1)), where}).second)
      refuse(key + " is given twice");
  });
  return given;
}

GivenOptions merged_with_file(const CommandLine& line) {
  if (line.arguments.size() > 1)
    throw std::invalid_argument("one configuration file at a time, not " +
                                brief(listed(line.arguments)));
  GivenOptions given = line.options;
  if (!line.arguments.empty())
    given.merge(parse_config_file(line.arguments.front()));
  return given;
}

}  // namespace syncline
