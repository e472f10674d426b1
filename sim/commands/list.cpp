#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "kernels/compressor.h"
#include "kernels/cost_table.h"
#include "kernels/io/text.h"
#include "sim/catalogue/csv.h"
#include "sim/catalogue/devices.h"
#include "sim/catalogue/files.h"
#include "sim/catalogue/network.h"
#include "sim/commands/commands.h"
#include "sim/commands/results_json.h"
#include "sim/options/user_input.h"
#include "sim/plan.h"
#include "sim/platform/platform_families.h"
#include "sim/problem.h"
#include "sim/schedule.h"
#include "sim/setup/model.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

struct Entry {
  std::string name;
  std::string sentence;
  std::vector<OwnOption> options = {};
};
using Entries = std::vector<Entry>;

template <class T>
Entries registered() {
  Entries entries;
  for (const auto& [name, entry] : Registered<T>::all())
    entries.push_back({name, entry.sentence, entry.options});
  return entries;
}

Entries models() {
  Entries entries;
  for (const std::string& name : names_in("models", ".csv")) {
    const Model model = read_model(data_root() + "/models/" + name + ".csv");
    entries.push_back(
        {name, fmt::format("{:.2f} M parameters in {} tensors, {:.2f} GFLOP forward per {}",
                           static_cast<double>(model.parameters()) / 1e6, model.layers.size(),
                           model.forward_flop() / 1e9, model.sample)});
  }
  return entries;
}

Entries platforms() {
  Entries entries;
  for (const std::string& name : names_in("platforms", ".xml"))
    entries.push_back({name, platform_sentence(name)});
  for (const PlatformFamily& family : platform_families()) {
    entries.push_back({family.name + ":...", family.sentence + "; in words:"});
    for (const PlatformWord& word : platform_word_rows()) {
      const auto value = family.values.find(word.name);
      const bool is_first = &family == &platform_families().front();
      entries.back().options.push_back(
          {.name = word.name,
           .sentence = is_first ? word.sentence : "",
           .fallback = value == family.values.end() ? "" : value->second.text});
    }
  }
  return entries;
}

Entries network_models() {
  Entries entries;
  for (const Network& network : networks())
    entries.push_back({network.name, network.sentence});
  return entries;
}

Entries throughputs() {
  Entries entries;
  const Csv csv = read_csv(data_root() + "/models/throughput.csv");
  for (const Csv::Row& row : csv.rows)
    entries.push_back(
        {row.fields[csv.column("device")],
         fmt::format("{} {}: {} samples/s, {}", row.fields[csv.column("model")],
                     row.fields[csv.column("precision")], row.fields[csv.column("throughput")],
                     row.fields[csv.column("source")])});
  return entries;
}

Entries devices() {
  Entries entries;
  for (const Device& device : known_devices())
    entries.push_back({device.name, described(device)});
  return entries;
}

// What else the option `device` takes.
Entries cost_tables() {
  Entries entries;
  for (const std::string& name : names_in("kernels/profiles", ".csv")) {
    const CostTable table = read_cost_table(data_root() + "/kernels/profiles/" + name + ".csv");
    std::set<std::string> compressors;
    for (const CostRow& row : table.rows)
      compressors.insert(row.compressor);
    entries.push_back({name, table.about("provenance") + " on " + table.about("device") + ": " +
                                 listed({compressors.begin(), compressors.end()})});
  }
  return entries;
}

void print(const Entries& entries) {
  for (const Entry& entry : entries) {
    std::printf("  %-18s %s\n", entry.name.c_str(), entry.sentence.c_str());
    for (const OwnOption& parameter : entry.options)
      std::printf("    %-18s %s%s\n", parameter.name.c_str(), parameter.sentence.c_str(),
                  parameter.fallback.empty() ? "" : (" [" + parameter.fallback + "]").c_str());
  }
}

Json json_of(const Entries& entries) {
  Json all = Json::array();
  for (const Entry& entry : entries) {
    all.push_back({{"name", entry.name}, {"sentence", entry.sentence}});
    for (const OwnOption& parameter : entry.options)
      all.back()["parameters"].push_back({{"name", parameter.name},
                                          {"sentence", parameter.sentence},
                                          {"default", parameter.fallback},
                                          {"choices", parameter.choices}});
  }
  return all;
}

}  // namespace

std::string platform_sentence(const std::string& name) {
  std::ifstream file(data_root() + "/platforms/" + name + ".xml");
  for (std::string line; std::getline(file, line);)
    if (const std::string text = trimmed(line); text.starts_with(name + ":"))
      return trimmed(text.substr(name.size() + 1));
  return {};
}

int list_command(const std::vector<std::string>& arguments) {
  const std::vector<std::pair<std::string, Entries (*)()>> kinds{
      {"schedules", registered<Schedule>},
      {"exchanges", registered<Exchange>},
      {"compressors", registered<Compressor>},
      {"problems", registered<Problem>},
      {"models", models},
      {"platforms", platforms},
      {"networks", network_models},
      {"throughputs", throughputs},
      {"devices", devices},
      {"cost-tables", cost_tables}};
  const CommandLine line = command_line("list", arguments);
  const bool json = line.has("json");
  std::vector<std::string> names;
  for (const auto& [name, entries] : kinds)
    names.push_back(name);
  if (line.arguments.size() > 1 || !line.options.empty())
    throw std::invalid_argument("list takes one argument at most: " + listed(names));
  bool found = false;
  Json document = Json::object();
  for (const auto& [name, entries] : kinds) {
    if (!line.arguments.empty() && line.arguments.front() != name)
      continue;
    if (json)
      document[name] = json_of(entries());
    else if (line.arguments.empty())
      std::printf("%s%s\n", found ? "\n" : "", name.c_str());
    if (!json)
      print(entries());
    found = true;
  }
  if (!found)
    throw std::invalid_argument("list " + brief(line.arguments.front()) + ": allowed are " +
                                listed(nearest(line.arguments.front(), names)));
  if (json)
    print_json(document);
  return 0;
}

}  // namespace syncline
