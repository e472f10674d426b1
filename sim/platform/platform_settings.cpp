#include "sim/platform/platform_settings.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <vector>

#include "kernels/io/text.h"
#include "kernels/registry.h"
#include "sim/catalogue/network.h"

namespace syncline {
namespace {

const std::string of_network = "network/";

const std::string sets_nothing =
    "a platform describes hosts and links and sets nothing; allowed are options of the scenario";

// Settings with the same effect as an option of a scenario.
const std::map<std::string, std::string> same_options{
    {"network/bandwidth-factor", "bandwidth-factor"},
    {"network/latency-factor", "latency-factor"},
    {"smpi/IB-penalty-factors", "network = ib"},
    {"smpi/bw-factor", "bandwidth-factor, or network = ib"},
    {"smpi/lat-factor", "latency-factor, or network = ib"}};

bool is_same(const std::string& setting, const std::string& value, const std::string& own) {
  const auto number = [](const std::string& text) -> std::optional<double> {
    const std::string word = lower(trimmed(text));
    if (word == "yes" || word == "true" || word == "on")
      return 1;
    if (word == "no" || word == "false" || word == "off")
      return 0;
    return number_in(word);
  };
  const auto one = number(value);
  const auto other = number(own);
  if (!one || !other)
    return trimmed(value) == own;
  if (setting == "network/TCP-gamma" && *other <= 0)  // no window, like a huge window
    return *one <= 0 || *one >= 1e15;
  return std::abs(*one - *other) <= 1e-9 * std::abs(*other);
}

// The scenario's value of a setting; empty: its network has no such value.
std::string own_value(const Scenario& scenario, const std::string& setting) {
  if (setting == "network/bandwidth-factor" && scenario.bandwidth_factor)
    return number_text(*scenario.bandwidth_factor);
  if (setting == "network/latency-factor" && scenario.latency_factor)
    return number_text(*scenario.latency_factor);
  const auto& says = scenario.network->says;
  const auto own = says.find(setting.substr(of_network.size()));
  return own == says.end() ? "" : own->second;
}

std::string option_for(const std::string& setting, const std::string& value) {
  if (setting == "network/bandwidth-factor" || setting == "network/latency-factor")
    return same_options.at(setting) + " = " + brief(value);
  std::vector<std::string> names;
  for (const Network& network : networks())
    if (const auto own = network.says.find(setting.substr(of_network.size()));
        own != network.says.end() && is_same(setting, value, own->second))
      names.push_back(network.name);
  return names.empty() ? "network (see `syncline help network`)" : "network = " + listed(names);
}

}  // namespace

bool changes_nothing(const std::string& setting) {
  static const std::vector<std::string> groups{
      "clean-atexit", "contexts/",     "cpu/optim", "debug/", "disk/",    "exception/", "log",
      "model-check",  "network/optim", "plugin",    "smpi/",  "storage/", "tracing",    "vm/"};
  return !same_options.contains(setting) &&
         std::ranges::any_of(groups,
                             [&](const std::string& group) { return setting.starts_with(group); });
}

bool is_of_network(const std::string& setting) {
  static const auto& says = networks().front().says;
  return setting.starts_with(of_network) && says.contains(setting.substr(of_network.size()));
}

std::string why_not_set(const std::string& setting) {
  const auto own = same_options.find(setting);
  return sets_nothing +
         (own == same_options.end() ? " (see `syncline help network`)" : ", here " + own->second);
}

void check_platform_settings(const Scenario& scenario, const PlatformFile& platform) {
  for (const PlatformFile::Setting& setting : platform.settings) {
    const std::string own = own_value(scenario, setting.name);
    if (!own.empty() && is_same(setting.name, setting.value, own))
      continue;
    refuse_at(
        platform.files.front(), setting.line,
        fmt::format("<prop>: {} = {}, but the scenario's is {} (network = {}): {}, here {}",
                    setting.name, brief(setting.value), own.empty() ? "by size" : own,
                    scenario.network->name, sets_nothing, option_for(setting.name, setting.value)));
  }
}

}  // namespace syncline
