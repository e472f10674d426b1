#include "sim/sweep/cell_inputs.h"

#include <algorithm>
#include <cmath>

#include "kernels/io/text.h"
#include "sim/catalogue/data.h"
#include "sim/catalogue/files.h"
#include "sim/catalogue/fingerprint.h"
#include "sim/catalogue/reality.h"
#include "sim/options/options.h"
#include "sim/report/result_json.h"

namespace syncline {
namespace {

// A number, unless the text is a word that an option of numbers allows.
WrittenOption as_written(const std::string& name, const std::string& text) {
  const Option* option = find_option(name);
  const auto value = option != nullptr && option->number ? number_in(text) : std::nullopt;
  if (!value || !std::isfinite(*value))
    return {.name = name, .value = text};
  return {.name = name, .value = exact_text(*value), .is_number = true};
}

// The files of networks: the values of `reality`, and the kinds of network that platforms name.
std::vector<std::string> networks_files(const Scenario& scenario, const PlatformFile& platform) {
  std::vector<std::string> files;
  if (!scenario.reality.file.empty())
    files.push_back(scenario.reality.file);
  if (!platform.cards.kind.empty() && scenario.reality.file != networks_file())
    files.push_back(networks_file());
  return files;
}

}  // namespace

std::vector<WrittenOption> written_options(const Scenario& scenario) {
  std::vector<WrittenOption> written;
  if (const auto name = scenario.written.find("name"); name != scenario.written.end())
    written.push_back({.name = "name", .value = name->second});
  for (const auto& [name, text] : scenario.written)
    if (!text.empty() && name != "name")
      written.push_back(as_written(name, text));
  return written;
}

std::vector<std::string> option_names() {
  std::vector<std::string> names;
  for (const Option& option : scenario_options())
    names.push_back(option.name);
  std::ranges::sort(names);
  names.insert(names.begin(), "name");
  return names;
}

std::vector<std::pair<std::string, std::vector<std::string>>> input_files(
    const Scenario& scenario, const PlatformFile& platform) {
  std::vector<std::string> tables;
  if (!scenario.cost_table.empty())
    tables.push_back(scenario.cost_table);
  else if (scenario.compresses() &&
           !scenario.free_compression)  // the hosts' devices choose among all tables
    for (const std::string& name : names_in("kernels/profiles", ".csv"))
      tables.push_back(data_root() + "/kernels/profiles/" + name + ".csv");
  const auto read_if = [](bool is_read, const std::string& file) {
    return is_read ? std::vector{data_root() + file} : std::vector<std::string>();
  };
  return {{"platform_file", platform.files},
          {"model_file", {scenario.model}},
          {"throughput_file", read_if(true, "/models/throughput.csv")},
          {"cost_table_file", tables},
          {"devices_file", read_if(true, "/platforms/devices.csv")},
          {"frameworks_file",
           read_if(!scenario.framework.name.empty() || !scenario.reality.file.empty(),
                   "/platforms/frameworks.csv")},
          {"networks_file", networks_files(scenario, platform)},
          {"server_software_file",
           read_if(scenario.server_software.overhead_s > 0, "/platforms/server-software.csv")},
          {"data_file", scenario.learns()
                            ? data_files(scenario.learning.data, scenario.learning.data_folder)
                            : std::vector<std::string>()}};
}

std::string inputs_of(const Scenario& scenario, const PlatformFile& platform) {
  std::vector<std::string> paths;
  for (const auto& [kind, files] : input_files(scenario, platform))
    paths.insert(paths.end(), files.begin(), files.end());
  return fingerprint_of_files(paths);
}

}  // namespace syncline
