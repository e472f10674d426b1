#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/compressor.h"
#include "kernels/standard_streams.h"
#include "kernels/text.h"
#include "sim/commands/commands.h"
#include "sim/commands/process.h"
#include "sim/options/options.h"
#include "sim/plan.h"
#include "sim/schedule.h"

namespace syncline {
namespace {

struct Command {
  std::string sentence;
  int (*run)(const std::vector<std::string>& arguments);
};

const std::map<std::string, Command>& commands() {
  static const std::map<std::string, Command> all{
      {"run", {"[FILE.cfg] [options]  simulate; lists in values make a sweep", run_command}},
      {"explain", {"[FILE.cfg] [options]  what would be simulated, and bounds", explain_command}},
      {"list", {"[KIND]               what there is to choose from", list_command}},
      {"check",
       {"DIR                 whether figures are as expected: a gate for CI", check_command}},
      {"validate", {"DIR...             compare with measurements", validate_command}},
      {"report",
       {"DIR                what --out has, as a page, figures, a summary", report_command}},
  };
  return all;
}

std::string described(const std::string& sentence, const std::string& fallback) {
  return sentence + (fallback.empty() ? "" : " [" + fallback + "]");
}

// What an option means, and its default. If several things have a parameter of this name with
// different meanings: a line for each meaning.
std::vector<std::string> meanings(const Option& option) {
  std::map<std::string, std::vector<std::string>> owners;  // by meaning
  const auto add = [&](const auto& entries) {
    for (const auto& [name, entry] : entries)
      for (const Parameter& parameter : entry.parameters)
        if (parameter.name == option.name)
          owners[described(parameter.sentence, parameter.fallback)].push_back(name);
  };
  add(Registered<Schedule>::all());
  add(Registered<Exchange>::all());
  add(Registered<Compressor>::all());
  if (owners.size() < 2)
    return {described(option.sentence, option.fallback)};
  std::vector<std::string> all;
  for (const auto& [meaning, names] : owners) {
    std::string owner_names;
    for (const std::string& name : names)
      owner_names += (owner_names.empty() ? "" : ", ") + name;
    all.push_back(owner_names + ": " + meaning);
  }
  return all;
}

void print_help() {
  std::puts(
      "syncline: how well will my training job scale on a cluster I do not own yet?\n\n"
      "  syncline run --model resnet50 --platform pcie-8x4-10gbe --schedule bsp --workers 1,8,32\n"
      "  syncline run experiments/quickstart.cfg --jobs 2 --out results\n\n"
      "Commands");
  for (const auto& [name, command] : commands())
    std::printf("  %-9s %s\n", name.c_str(), command.sentence.c_str());
  std::puts(
      "\nOptions, also as `key = value` lines of a FILE.cfg (a flag wins over the file). A value "
      "may\n"
      "be a list, a,b,c: the run is then a sweep over all combinations. \\, is a comma in a "
      "value.\n"
      "Lines below a [name] of FILE.cfg are of cells with this name, and win over those above "
      "all.");
  for (const Option& option : scenario_options()) {
    std::string flag = "--" + option.name;
    for (const std::string& meaning : meanings(option)) {
      std::printf("  %-20s %s\n", flag.c_str(), meaning.c_str());
      flag.clear();
    }
  }
  std::puts(
      "\nOptions of check and validate, which end with 1 where something is not as expected\n"
      "  --junit FILE, --md FILE        JUnit XML, and Markdown for a pull request\n"
      "  --bless --because TEXT         of check: what is now is expected, and why\n"
      "  --max-error E, --min-tau T     of validate: the worst row, as a fraction; the ranking\n"
      "\nOption of every command\n"
      "  --json               one JSON document on stdout instead of tables");
  std::puts(
      "\nOptions of run\n"
      "  --out DIR            also write a JSON file per cell and results.csv\n"
      "  --trace              also write each cell's trace as CSV and JSON, into --out\n"
      "  --trace=FILE.json    the trace of a single cell, for ui.perfetto.dev\n"
      "  --goal FILE          one iteration of a single cell as GOAL (LogGOPSim)\n"
      "  --chakra PATH        the same as Chakra JSON, PATH.RANK.json for each worker\n"
      "  --resume             keep the cells that --out has already\n"
      "  --html FILE          also write a page with charts, for any browser, offline\n"
      "  --slurm TASKS        submit the cells that --out has not as a job array of Slurm\n"
      "  --share I/N          simulate only the I-th of N shares of the cells, into --out\n"
      "  --jobs N             processes at a time [all cores]\n"
      "  --limit-memory BYTES of all processes together [half of the machine's]\n"
      "  --limit-seconds S    of each cell [3600]; what takes more, by an estimate, is refused\n"
      "\nOptions of report (--html also of validate)\n"
      "  --html FILE          the page\n"
      "  --svg DIR            the figures, for a paper\n"
      "  --md FILE            the ranking and a table, for a pull request");
}

int dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" ||
      arguments[0] == "help") {
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
  const auto command = commands().find(arguments[0]);
  if (command == commands().end()) {
    std::vector<std::string> names;
    for (const auto& [name, entry] : commands())
      names.push_back(name);
    throw std::invalid_argument("unknown command '" + brief(arguments[0]) + "': allowed are " +
                                listed(names) + " (see --help)");
  }
  return command->second.run({arguments.begin() + 1, arguments.end()});
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
