#include "sim/options/options.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "kernels/compressor.h"
#include "kernels/text.h"
#include "sim/options/kinds.h"
#include "sim/options/learning.h"
#include "sim/plan.h"
#include "sim/problem.h"
#include "sim/schedule.h"
#include "sim/setup/data.h"
#include "sim/setup/network.h"

namespace syncline {
namespace {

Fusion fusion_of(const Parameter& parameter, const std::string& text) {
  if (text == "all")
    return {.kind = Fusion::Kind::all};
  if (text == "merged")
    return {.kind = Fusion::Kind::merged};
  try {
    return {.kind = Fusion::Kind::bytes, .bytes = checked_number(parameter, text)};
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string(error.what()) + ", all or merged");
  }
}

Option fusion(const Parameter& parameter) {
  return {parameter.name,
          parameter.sentence,
          parameter.fallback,
          [parameter](Scenario& scenario, const std::string& text) {
            scenario.fusion = fusion_of(parameter, text);
          },
          true,
          allowed_values(parameter) + ", all or merged"};
}

std::vector<Option> fixed_options() {
  std::vector<Option> options{
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
      numeric(
          number("host-bandwidth",
                 "bytes/s each way of a node's memory port, where the platform gives it no host",
                 "48e9", 1, 1e15),
          [](Scenario& s, double v) { s.host_bandwidth_Bps = v; }),
      numeric(number("host-memory-bandwidth",
                     "bytes/s that a host reads and writes where servers and aggregators add",
                     "100e9", 1e6, 1e15),
              [](Scenario& s, double v) { s.host_memory_Bps = v; }),
      Option{"model", "name in models/, or path of a model CSV", "",
             [](Scenario& s, const std::string& v) { s.model = v; }},
      numeric(number("batch", "samples per worker and iteration", "32", 1, 1e9, true),
              [](Scenario& s, double v) { s.batch = static_cast<int>(v); }),
      worded(
          choice("precision", "fp32 or fp16: bytes per gradient value", "fp32", {"fp32", "fp16"}),
          [](Scenario& s, const std::string& v) {
            s.precision = v == "fp16" ? Precision::fp16 : Precision::fp32;
          }),
      numeric(number("throughput", "samples/s of one worker alone: the fastest host (of `device`)",
                     "", tiny, 1e12),
              [](Scenario& s, double v) { s.throughput = v; }),
      Option{"device",
             "whose cost table and row of models/throughput.csv (default: each host's own)", "",
             [](Scenario& s, const std::string& v) { s.device = v; }},
      numeric(
          number("efficiency", "fraction of the peak speed of one core of the host", "", tiny, 1),
          [](Scenario& s, double v) { s.efficiency = v; }),
      worded(choice("optimizer",
                    "whose step, after communication, moves its bytes at memory-bandwidth",
                    "in-throughput", {"in-throughput", "sgd", "momentum", "adam"}),
             [](Scenario& s, const std::string& v) {
               // Read parameter and gradient, write parameter; each state is read and written.
               s.optimizer_values = v == "sgd" ? 3 : v == "momentum" ? 5 : v == "adam" ? 7 : 0;
             }),
      numeric(number("memory-bandwidth", "bytes/s of the device's memory, for the optimizer's step",
                     "", 1e6, 1e15),
              [](Scenario& s, double v) { s.memory_Bps = v; }),
      numeric(
          number("optimizer-overhead",
                 "seconds of software per tensor of the step, unless a worker is alone", "0", 0, 1),
          [](Scenario& s, double v) { s.optimizer_overhead_s = v; }),
      Option{"schedule", "who waits for whom; see `syncline list`", "bsp"},
      Option{"exchange", "how gradients meet (default: the schedule's)", ""},
      worded(choice("overlap", "communicate while backward goes on", "on", {"on", "off"}),
             [](Scenario& s, const std::string& v) { s.overlap = v == "on"; }),
      fusion(number("bucket-bytes",
                    "fusion size: 0 per tensor, `all` one bucket, `merged` MG-WFBP's", "26214400",
                    0, 1e15)),
      Option{"compressor", "what is sent instead of a gradient", "none"},
      numeric(number("dense-below", "tensors of fewer values are sent uncompressed", "0", 0, 1e12,
                     true),
              [](Scenario& s, double v) { s.dense_below = static_cast<std::uint64_t>(v); }),
      Option{"network", "network model; see `syncline list`", "exact",
             [](Scenario& s, const std::string& v) { s.network = &find_network(v); }},
      numeric(number("bandwidth-factor", "times every bandwidth, instead of the network model's",
                     "", 1e-6, 1e3),
              [](Scenario& s, double v) { s.bandwidth_factor = v; }),
      numeric(number("latency-factor", "times every latency, instead of the network model's", "", 0,
                     1e6),
              [](Scenario& s, double v) { s.latency_factor = v; }),
      numeric(number("step-overhead", "seconds of software per step of an exchange", "0", 0, 1e3),
              [](Scenario& s, double v) { s.step_overhead_s = v; }),
      worded(choice("fidelity",
                    "step: every step; flow: many steps as one; auto: step if messages are few",
                    "auto", {"auto", "flow", "step"}),
             [](Scenario& s, const std::string& v) {
               s.fidelity = v == "step"   ? Fidelity::step
                            : v == "flow" ? Fidelity::flow
                                          : Fidelity::automatic;
             }),
      numeric(number("jitter", "coefficient of variation of compute time", "0", 0, 2),
              [](Scenario& s, double v) { s.jitter = v; }),
      number_or("auto",
                number("iterations", "of every worker after warm-up; auto: until `interval` is met",
                       "auto", 1, 1e6, true),
                [](Scenario& s, std::optional<double> v) {
                  s.iterations = v ? std::optional(static_cast<int>(*v)) : std::nullopt;
                }),
      numeric(number("interval", "half width of throughput's 95 % interval, as a part of it",
                     "0.01", 0.0001, 1),
              [](Scenario& s, double v) { s.interval = v; }),
      numeric(number("max-iterations", "of the fastest worker, if the interval is not met before",
                     "1000", 20, 1e6, true),
              [](Scenario& s, double v) { s.max_iterations = static_cast<int>(v); }),
      numeric(number("warmup", "iterations before what is measured", "1", 0, 1e6, true),
              [](Scenario& s, double v) { s.warmup = static_cast<int>(v); }),
      numeric(number("seed", "of everything random", "1", 0, 9007199254740992.0, true),
              [](Scenario& s, double v) { s.seed = static_cast<std::uint64_t>(v); }),
      number_or("auto",
                number("repeats",
                       "runs with seeds of their own, whose mean throughput is; auto: as many as "
                       "chance needs",
                       "auto", 1, 1000, true),
                [](Scenario& s, std::optional<double> v) {
                  s.repeats = v ? std::optional(static_cast<int>(*v)) : std::nullopt;
                }),
      numeric(number("price", "of one worker for an hour, in any currency: what an epoch costs", "",
                     tiny, 1e9),
              [](Scenario& s, double v) { s.price = v; }),
      numeric(number("epoch-samples", "of an epoch, for its seconds and its cost [1000000]", "", 1,
                     1e15, true),
              [](Scenario& s, double v) { s.epoch_samples = v; }),
  };
  std::ranges::move(learning_options(), std::back_inserter(options));
  return options;
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
  add(Registered<Problem>::all());
  for (const Parameter& parameter : generated_parameters())
    all.emplace(parameter.name, parameter);
  std::vector<Parameter> list;
  for (const auto& [name, parameter] : all)
    list.push_back(parameter);
  return list;
}

const std::vector<Option>& scenario_options() {
  static const std::vector<Option> all = [] {
    std::vector<Option> options = fixed_options();
    for (const Parameter& parameter : own_parameters())
      if (std::ranges::find(options, parameter.name, &Option::name) == options.end())
        options.push_back({.name = parameter.name,
                           .sentence = parameter.sentence,
                           .fallback = parameter.fallback,
                           .number = parameter.choices.empty(),
                           .allowed = allowed_values(parameter)});
    return options;
  }();
  return all;
}

bool is_choice(const std::string& name) {
  return name == "schedule" || name == "exchange" || name == "compressor" || name == "optimizer" ||
         name == "learn";
}

bool known_option(const std::string& name) {
  return std::ranges::any_of(scenario_options(),
                             [&](const Option& option) { return option.name == name; });
}

std::string unknown_option(const std::string& key) {
  std::vector<std::string> names;
  for (const Option& option : scenario_options())
    names.push_back(option.name);
  return "unknown option '" + brief(key) + "': nearest are " + listed(nearest(key, names, 5)) +
         "; allowed are " + listed(names);
}

}  // namespace syncline
