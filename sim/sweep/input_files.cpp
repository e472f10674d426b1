#include "sim/sweep/input_files.h"

#include "sim/setup/files.h"
#include "sim/setup/fingerprint.h"

namespace syncline {
std::vector<std::pair<std::string, std::vector<std::string>>> input_files(
    const Scenario& scenario, const PlatformFile& platform) {
  std::vector<std::string> tables;
  if (!scenario.cost_table.empty())
    tables.push_back(scenario.cost_table);
  else if (scenario.compresses())  // the hosts' devices choose among all tables
    for (const std::string& name : names_in("kernels/profiles", ".csv"))
      tables.push_back(data_root() + "/kernels/profiles/" + name + ".csv");
  return {{"platform_file", platform.files},
          {"model_file", {scenario.model}},
          {"throughput_file", {data_root() + "/models/throughput.csv"}},
          {"cost_table_file", tables}};
}

std::string inputs_of(const Scenario& scenario, const PlatformFile& platform) {
  std::vector<std::string> paths;
  for (const auto& [kind, files] : input_files(scenario, platform))
    paths.insert(paths.end(), files.begin(), files.end());
  return fingerprint_of_files(paths);
}

}  // namespace syncline
