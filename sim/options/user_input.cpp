#include "sim/options/user_input.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <stdexcept>
#include <thread>

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/catalogue/files.h"
#include "sim/options/options.h"

namespace syncline {

namespace po = boost::program_options;

namespace {

constexpr std::size_t longest_cell_name = 60;  // in a file's name each byte may take three
const std::string not_in_cell_names = "[ ] , = \" \\";

// Whether a file's name, a CSV field and a line on a terminal can hold it.
bool is_cell_name(const std::string& name) {
  return !name.empty() && name.size() <= longest_cell_name &&
         name.find_first_of("[],=\"\\") == std::string::npos && printable(name) == name;
}

}  // namespace

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
  for (const Option& option : scenario_options())
    description.add_options()(option.name.c_str(), po::value<std::string>());
  for (const auto& [name, has_value, value_is_optional] : flags)
    if (value_is_optional)
      description.add_options()(name.c_str(), po::value<std::string>()->implicit_value("on"));
    else if (has_value)
      description.add_options()(name.c_str(), po::value<std::string>());
    else
      description.add_options()(name.c_str(), po::bool_switch());

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
      const std::string& key = option.string_key;
      const bool is_first = find_option(key) == nullptr
                                ? line.flags.emplace(key, value).second
                                : line.options.emplace(key, Given{value, "--" + key}).second;
      if (!is_first)
        throw std::invalid_argument("--" + key + " is given twice");
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

std::optional<std::string> CommandLine::flag(const std::string& name) const {
  const auto found = flags.find(name);
  return found == flags.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> CommandLine::number(const std::string& name, OwnOption allowed) const {
  allowed.name = "--" + name;
  const auto text = flag(name);
  return text ? std::optional(checked_number(allowed, *text)) : std::nullopt;
}

int jobs_of(const CommandLine& line) {
  const double cores = std::max(1u, std::thread::hardware_concurrency());
  return static_cast<int>(
      line.number("jobs", {.minimum = 1, .maximum = 4096, .whole = true}).value_or(cores));
}

std::vector<Section> parse_sections(const std::string& path) {
  // The first has the options above all sections, which they share.
  std::vector<Section> sections(1);
  std::map<std::string, int> lines;  // by section name
  read_lines(path, [&](const TextLine& raw) {
    const std::string where = path + ":" + std::to_string(raw.number);
    const auto refuse = [&](const std::string& why) {
      throw std::invalid_argument(where + ": " + why);
    };
    const std::string line = trimmed(raw.text.substr(0, raw.text.find('#')));
    if (line.empty())
      return;
    if (line.starts_with("[")) {
      const std::string name = trimmed(line.substr(1, line.size() - 2));
      if (!line.ends_with("]") || !is_cell_name(name))
        refuse(brief(line) + ": allowed is [name] with 1 to " + std::to_string(longest_cell_name) +
               " bytes of text that can be printed, without any of " + not_in_cell_names);
      if (const auto [first, is_new] = lines.emplace(name, raw.number); !is_new)
        refuse("[" + name + "] is also in line " + std::to_string(first->second) +
               ": allowed are names that differ");
      if (sections.size() > most_cells)
        refuse("more sections than a sweep may have cells: allowed are up to " +
               std::to_string(most_cells));
      sections.push_back({.name = {name, where}, .options = {}});
      return;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos)
      refuse("'" + brief(line) + "' has no =: lines are `key = value`");
    const std::string key = trimmed(line.substr(0, equals));
    if (key.empty())
      refuse("'" + brief(line) + "' has no name before =: lines are `key = value`");
    if (find_option(key) == nullptr)
      refuse(unknown_option(key));
    if (!sections.back()
             .options.emplace(key, Given{trimmed(line.substr(equals + 1)), where})
             .second)
      refuse(key + " is given twice");
  });
  if (sections.size() == 1)
    return sections;
  const GivenOptions shared = std::move(sections.front().options);
  sections.erase(sections.begin());
  for (Section& section : sections)
    section.options.insert(shared.begin(), shared.end());
  return sections;
}

GivenOptions parse_config_file(const std::string& path) {
  Section only = parse_sections(path).front();
  if (!only.name.value.empty())
    throw std::invalid_argument(only.name.where + ": [" + only.name.value +
                                "]: this file has no cells of its own: allowed are lines `key = "
                                "value`");
  return std::move(only.options);
}

std::vector<Section> merged_with_file(const CommandLine& line) {
  if (line.arguments.size() > 1)
    throw std::invalid_argument("one configuration file at a time, not " +
                                brief(listed(line.arguments)));
  if (line.arguments.empty())
    return {{.name = {}, .options = line.options}};
  std::vector<Section> sections = parse_sections(with_shipped(line.arguments.front()));
  for (Section& section : sections) {
    GivenOptions given = line.options;
    given.merge(section.options);
    section.options = std::move(given);
  }
  return sections;
}

}  // namespace syncline
