#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

#include "kernels/compressor.h"
#include "kernels/cost_table.h"
#include "kernels/text.h"
#include "sim/commands/commands.h"
#include "sim/options/given.h"
#include "sim/plan.h"
#include "sim/schedule.h"
#include "sim/setup/csv.h"
#include "sim/setup/files.h"
#include "sim/setup/model.h"
#include "sim/setup/network.h"

namespace syncline {
namespace {

void print(const std::string& name, const std::string& sentence) {
  std::printf("  %-18s %s\n", name.c_str(), sentence.c_str());
}

template <class T>
void list_registered() {
  for (const auto& [name, entry] : Registered<T>::all()) {
    print(name, entry.sentence);
    for (const Parameter& parameter : entry.parameters)
      std::printf("    %-18s %s%s\n", parameter.name.c_str(), parameter.sentence.c_str(),
                  parameter.fallback.empty() ? "" : (" [" + parameter.fallback + "]").c_str());
  }
}

void list_models() {
  for (const std::string& name : names_in("models", ".csv")) {
    const Model model = read_model(data_root() + "/models/" + name + ".csv");
    char text[160];
    std::snprintf(text, sizeof text, "%.2f M parameters in %zu tensors, %.2f GFLOP forward per %s",
                  static_cast<double>(model.parameters()) / 1e6, model.layers.size(),
                  model.forward_flop() / 1e9, model.sample.c_str());
    print(name, text);
  }
}

// The first line of a platform's opening comment, "name: what it is".
void list_platforms() {
  for (const std::string& name : names_in("platforms", ".xml")) {
    std::ifstream file(data_root() + "/platforms/" + name + ".xml");
    std::string line;
    while (std::getline(file, line))
      if (const std::string text = trimmed(line); text.rfind(name + ":", 0) == 0) {
        line = trimmed(text.substr(name.size() + 1));
        break;
      }
    print(name, file ? line : "");
  }
}

void list_networks() {
  for (const Network& network : networks())
    print(network.name, network.sentence);
}

void list_throughputs() {
  const Csv csv = read_csv(data_root() + "/models/throughput.csv");
  for (const Csv::Row& row : csv.rows)
    print(row.fields[csv.column("device")], row.fields[csv.column("model")] + " " +
                                                row.fields[csv.column("precision")] + ": " +
                                                row.fields[csv.column("throughput")] +
                                                " samples/s, " + row.fields[csv.column("source")]);
}

void list_devices() {
  for (const std::string& name : names_in("kernels/profiles", ".csv")) {
    const CostTable table = read_cost_table(data_root() + "/kernels/profiles/" + name + ".csv");
    std::set<std::string> compressors;
    for (const CostRow& row : table.rows)
      compressors.insert(row.compressor);
    print(name, table.about("provenance") + " on " + table.about("device") + ": " +
                    listed({compressors.begin(), compressors.end()}));
  }
}

struct Kind {
  std::string name;
  void (*print)();
};

}  // namespace

int list_command(const std::vector<std::string>& arguments) {
  const std::vector<Kind> kinds{{"schedules", list_registered<Schedule>},
                                {"exchanges", list_registered<Exchange>},
                                {"compressors", list_registered<Compressor>},
                                {"models", list_models},
                                {"platforms", list_platforms},
                                {"networks", list_networks},
                                {"throughputs", list_throughputs},
                                {"devices", list_devices}};
  const CommandLine line = parse_command_line(arguments, {});
  std::vector<std::string> names;
  for (const Kind& kind : kinds)
    names.push_back(kind.name);
  if (line.arguments.size() > 1 || !line.options.empty())
    throw std::invalid_argument("list takes one argument at most: " + listed(names));
  bool found = false;
  for (const Kind& kind : kinds) {
    if (!line.arguments.empty() && line.arguments.front() != kind.name)
      continue;
    if (line.arguments.empty())
      std::printf("%s%s\n", found ? "\n" : "", kind.name.c_str());
    kind.print();
    found = true;
  }
  if (!found)
    throw std::invalid_argument("list " + brief(line.arguments.front()) + ": allowed are " +
                                listed(names));
  return 0;
}

}  // namespace syncline
