#include "sim/options.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "kernels/compressor.h"
#include "sim/csv.h"
#include "sim/files.h"
#include "sim/network.h"
#include "sim/plan.h"
#include "sim/schedule.h"

namespace syncline {
namespace {

namespace po = boost::program_options;

constexpr double tiny = 1e-12;  // "greater than zero"

Parameter number(const std::string& name, const std::string& sentence, const std::string& fallback,
                 double minimum, double maximum, bool whole = false) {
  return {name, sentence, fallback, minimum, maximum, whole, {}};
}

Parameter choice(const std::string& name, const std::string& sentence, const std::string& fallback,
                 std::vector<std::string> choices) {
  return {.name = name, .sentence = sentence, .fallback = fallback, .choices = std::move(choices)};
}

// An option that is a number: `assign(scenario, value)`.
template <class Assign>
Option numeric(const Parameter& parameter, Assign assign) {
  return {parameter.name, parameter.sentence, parameter.fallback,
          [parameter, assign](Scenario& scenario, const std::string& text) {
            assign(scenario, checked_number(parameter, text));
          }};
}

template <class Assign>
Option worded(const Parameter& parameter, Assign assign) {
  return {parameter.name, parameter.sentence, parameter.fallback,
          [parameter, assign](Scenario& scenario, const std::string& text) {
            assign(scenario, checked_word(parameter, text));
          }};
}

void set_bucket_bytes(Scenario& scenario, const std::string& text) {
  if (text != "all" && text != "merged") {
    try {
      checked_number(number("bucket-bytes", "", "", 0, 1e15), text);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(std::string(error.what()) + ", all or merged");
    }
  }
  scenario.bucket_bytes = text;
}

std::vector<Option> fixed_options() {
  return {
      Option{"platform", "path of a SimGrid XML file, or a name in platforms/", "",
             [](Scenario& s, const std::string& v) { s.platform = v; }},
      numeric(number("workers", "how many, node by node (default: all of the platform)", "", 1, 1e7,
                     true),
              [](Scenario& s, double v) { s.workers = static_cast<int>(v); }),
      numeric(number("workers-per-node", "when hosts carry no `node` property", "", 1, 1e6, true),
              [](Scenario& s, double v) { s.workers_per_node = static_cast<int>(v); }),
      numeric(number("servers", "parameter-server shards (0: one per node, on the nodes)", "0", 0,
                     1e6, true),
              [](Scenario& s, double v) { s.servers = static_cast<int>(v); }),
      Option{"model", "name in models/, or path of a model CSV", "",
             [](Scenario& s, const std::string& v) { s.model = v; }},
      numeric(number("batch", "samples per worker and iteration", "32", 1, 1e9, true),
              [](Scenario& s, double v) { s.batch = static_cast<int>(v); }),
      worded(
          choice("precision", "fp32 or fp16: bytes per gradient value", "fp32", {"fp32", "fp16"}),
          [](Scenario& s, const std::string& v) { s.precision = v; }),
      numeric(number("throughput", "samples/s of one worker alone", "", tiny, 1e12),
              [](Scenario& s, double v) { s.throughput = v; }),
      Option{"device",
             "whose cost table and row of models/throughput.csv (default: each host's own)", "",
             [](Scenario& s, const std::string& v) { s.device = v; }},
      numeric(number("efficiency", "fraction of the host's peak speed", "", tiny, 1),
              [](Scenario& s, double v) { s.efficiency = v; }),
      Option{"schedule", "who waits for whom; see `syncline list`", "bsp",
             [](Scenario& s, const std::string& v) { s.schedule = v; }},
      Option{"exchange", "how gradients meet (default: the schedule's)", "",
             [](Scenario& s, const std::string& v) { s.exchange = v; }},
      worded(choice("overlap", "communicate while backward goes on", "on", {"on", "off"}),
             [](Scenario& s, const std::string& v) { s.overlap = v == "on"; }),
      Option{"bucket-bytes", "fusion size: 0 per tensor, `all` one bucket, `merged` MG-WFBP's",
             "26214400", set_bucket_bytes},
      Option{"compressor", "what is sent instead of a gradient", "none",
             [](Scenario& s, const std::string& v) { s.compressor = v; }},
      numeric(number("dense-below", "tensors of fewer values are sent uncompressed", "0", 0, 1e12,
                     true),
              [](Scenario& s, double v) { s.dense_below = static_cast<std::uint64_t>(v); }),
      Option{"network", "network model; see `syncline list`", "exact",
             [](Scenario& s, const std::string& v) { s.network = find_network(v).name; }},
      numeric(number("bandwidth-factor", "times every bandwidth, instead of the network model's",
                     "", 1e-6, 1e3),
              [](Scenario& s, double v) { s.bandwidth_factor = v; }),
      numeric(number("latency-factor", "times every latency, instead of the network model's", "", 0,
                     1e6),
              [](Scenario& s, double v) { s.latency_factor = v; }),
      numeric(number("step-overhead", "seconds of software per step of an exchange", "0", 0, 1e3),
              [](Scenario& s, double v) { s.step_overhead_s = v; }),
      worded(choice("fidelity", "flow: one flow per neighbour; step: every step", "flow",
                    {"flow", "step"}),
             [](Scenario& s, const std::string& v) { s.every_step = v == "step"; }),
      numeric(number("jitter", "coefficient of variation of compute time", "0", 0, 2),
              [](Scenario& s, double v) { s.jitter = v; }),
      numeric(number("iterations", "measured iterations of every worker", "10", 1, 1e6, true),
              [](Scenario& s, double v) { s.iterations = static_cast<int>(v); }),
      numeric(number("warmup", "iterations before these", "1", 0, 1e6, true),
              [](Scenario& s, double v) { s.warmup = static_cast<int>(v); }),
      numeric(number("seed", "of everything random", "1", 0, 9007199254740992.0, true),
              [](Scenario& s, double v) { s.seed = static_cast<std::uint64_t>(v); }),
  };
}

}  // namespace

std::vector<Parameter> own_parameters() {
  std::map<std::string, Parameter> all;
  const auto add = [&](const auto& entries) {
    for (const auto& [name, entry] : entries)
      for (const Parameter& parameter : entry.parameters)
        all.emplace(parameter.name, parameter);
  };
  add(Registered<Schedule>::all());
  add(Registered<Exchange>::all());
  add(Registered<Compressor>::all());
  std::vector<Parameter> list;
  for (const auto& [name, parameter] : all)
    list.push_back(parameter);
  return list;
}

const std::vector<Option>& scenario_options() {
  static const std::vector<Option> all = [] {
    std::vector<Option> options = fixed_options();
    for (const Parameter& parameter : own_parameters())
      options.push_back({parameter.name, parameter.sentence, parameter.fallback, nullptr});
    return options;
  }();
  return all;
}

bool known_option(const std::string& name) {
  return std::ranges::any_of(scenario_options(),
                             [&](const Option& option) { return option.name == name; });
}

std::string unknown_option(const std::string& key) {
  std::vector<std::string> names;
  for (const Option& option : scenario_options())
    names.push_back(option.name);
  return "unknown option '" + key + "': allowed are " + listed(names);
}

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
  return static_cast<int>(checked_number(number("--jobs", "", "", 1, 4096, true), found->second));
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
