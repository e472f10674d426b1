#include "sim/options/options.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "kernels/compressor.h"
#include "kernels/io/text.h"
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
      explained(Option{"platform", "path of a SimGrid XML file, or a name in platforms/", "",
                       [](Scenario& s, const std::string& v) { s.platform = v; }},
                Role::question,
                "It describes hosts, links and routes; platforms/README.md says how to write one.",
                "v100-4x8-100gib"),
      explained(numeric(number("workers", "how many, node by node (default: all of the platform)",
                               "", 1, 1e7, true),
                        [](Scenario& s, double v) { s.workers = static_cast<int>(v); }),
                Role::question,
                "They are taken node by node, so that 8 workers on nodes of 4 are two nodes.",
                "1,8,32"),
      explained(numeric(number("workers-per-node", "when hosts carry no `node` property", "", 1,
                               1e6, true),
                        [](Scenario& s, double v) { s.workers_per_node = static_cast<int>(v); }),
                Role::question,
                "A plain <cluster> has no such property, and every host would be a node.", "4"),
      explained(
          numeric(number("servers", "parameter-server shards (0: one per node, on the nodes)", "0",
                         0, 1e6, true),
                  [](Scenario& s, double v) { s.servers = static_cast<int>(v); }),
          Role::choice,
          "Servers of their own need hosts with role = server, or hosts that are not workers.",
          "0"),
      explained(
          numeric(
              number(
                  "host-bandwidth",
                  "bytes/s each way of a node's memory port, where the platform gives it no host",
                  "48e9", 1, 1e15),
              [](Scenario& s, double v) { s.host_bandwidth_Bps = v; }),
          Role::question, "Servers on nodes and their aggregators get gradients through this port.",
          "24e9"),
      explained(
          numeric(number("host-memory-bandwidth",
                         "bytes/s that a host reads and writes where servers and aggregators add",
                         "100e9", 1e6, 1e15),
                  [](Scenario& s, double v) { s.host_memory_Bps = v; }),
          Role::question,
          "Adding gradients on a CPU is limited by its memory: three bytes move per byte added.",
          "200e9"),
      explained(Option{"model", "name in models/, or path of a model CSV", "",
                       [](Scenario& s, const std::string& v) { s.model = v; }},
                Role::subject,
                "Workload texts of ASTRA-sim 1.0 and SimAI and Chakra traces as JSON are read too, "
                "with their own times.",
                "bert-base"),
      explained(numeric(number("batch", "samples per worker and iteration", "32", 1, 1e9, true),
                        [](Scenario& s, double v) { s.batch = static_cast<int>(v); }),
                Role::choice,
                "Twice the batch takes twice the computation and the same communication.", "64"),
      explained(worded(choice("precision", "fp32 or fp16: bytes per gradient value", "fp32",
                              {"fp32", "fp16"}),
                       [](Scenario& s, const std::string& v) {
                         s.precision = v == "fp16" ? Precision::fp16 : Precision::fp32;
                       }),
                Role::choice,
                "Gradients in fp16 have half the bytes, and have throughput rows of their own.",
                "fp16"),
      explained(numeric(number("throughput",
                               "samples/s of one worker alone: the fastest host (of `device`)", "",
                               tiny, 1e12),
                        [](Scenario& s, double v) { s.throughput = v; }),
                Role::question,
                "It is an input, what one device does alone; the throughput of a result is that of "
                "all workers together.",
                "400"),
      explained(
          Option{"device",
                 "whose cost table and row of models/throughput.csv (default: each host's own)", "",
                 [](Scenario& s, const std::string& v) { s.device = v; }},
          Role::question,
          "Its cost table prices compression, and its measured rows are seconds of computation.",
          "v100-modelled"),
      explained(numeric(number("efficiency", "fraction of the peak speed of one core of the host",
                               "", tiny, 1),
                        [](Scenario& s, double v) { s.efficiency = v; }),
                Role::question,
                "It is an input, for models without a measured row; scaling efficiency, the column "
                "scaling, is a result.",
                "0.4"),
      selecting(explained(
          worded(choice("optimizer",
                        "whose step, after communication, moves its bytes at memory-bandwidth",
                        "in-throughput", {"in-throughput", "sgd", "momentum", "adam"}),
                 [](Scenario& s, const std::string& v) {
                   // Read parameter and gradient, write parameter; each state is read and written.
                   s.optimizer_values = v == "sgd" ? 3 : v == "momentum" ? 5 : v == "adam" ? 7 : 0;
                   s.optimizer_adapts = v == "adam";
                 }),
          Role::choice,
          "By default the step is in the measured throughput and counts as computation.",
          "adam --memory-bandwidth 9e11")),
      explained(
          numeric(number("memory-bandwidth",
                         "bytes/s of the device's memory, for the optimizer's step", "", 1e6, 1e15),
                  [](Scenario& s, double v) { s.memory_Bps = v; }),
          Role::question,
          "An optimiser's step does little arithmetic, so its time is bytes over this rate.",
          "9e11 --optimizer sgd"),
      explained(
          numeric(number("optimizer-overhead",
                         "seconds of software per tensor of the step, unless a worker is alone",
                         "0", 0, 1),
                  [](Scenario& s, double v) { s.optimizer_overhead_s = v; }),
          Role::question, "A worker alone hides it, because its host runs ahead of the device.",
          "1e-5"),
      selecting(explained(Option{"schedule", "who waits for whom; see `syncline list`", "bsp"},
                          Role::choice,
                          "All average together (bsp, topk-sgd), or servers apply gradients as "
                          "they come (asp, ssp, inhad).",
                          "bsp,asp")),
      selecting(explained(
          Option{"exchange", "how gradients meet (default: the schedule's)", ""}, Role::choice,
          "Which one is fastest depends on message size, workers and the network in nodes.",
          "ring,tree,hierarchical")),
      explained(
          worded(choice("overlap", "communicate while backward goes on", "on", {"on", "off"}),
                 [](Scenario& s, const std::string& v) { s.overlap = v == "on"; }),
          Role::choice,
          "Without it communication begins when backward has ended, as in simple implementations.",
          "off"),
      explained(
          fusion(number("bucket-bytes",
                        "fusion size: 0 per tensor, `all` one bucket, `merged` MG-WFBP's",
                        "26214400", 0, 1e15)),
          Role::choice,
          "Small buckets start early but pay latency often; large ones leave less to overlap.",
          "0,26214400,all"),
      selecting(explained(
          Option{"compressor", "what is sent instead of a gradient", "none"}, Role::choice,
          "Fewer bytes are sent, but making and reading messages takes the device's time.",
          "none,topk --device v100-modelled")),
      explained(
          numeric(number("dense-below", "tensors of fewer values are sent uncompressed", "0", 0,
                         1e12, true),
                  [](Scenario& s, double v) { s.dense_below = static_cast<std::uint64_t>(v); }),
          Role::choice, "Small tensors gain little from compression and lose accuracy.",
          "4096 --compressor topk --device v100-modelled"),
      explained(Option{"network", "network model; see `syncline list`", "exact",
                       [](Scenario& s, const std::string& v) { s.network = &find_network(v); }},
                Role::subject,
                "It says how latency, bandwidth and flows that meet become seconds; "
                "bandwidth-factor and latency-factor replace its own.",
                "exact,lv08"),
      explained(
          numeric(number("bandwidth-factor",
                         "times every bandwidth, instead of the network model's", "", 1e-6, 1e3),
                  [](Scenario& s, double v) { s.bandwidth_factor = v; }),
          Role::question, "With 2 every link is twice as fast: a what-if in one word.", "0.5,1,2"),
      explained(numeric(number("latency-factor",
                               "times every latency, instead of the network model's", "", 0, 1e6),
                        [](Scenario& s, double v) { s.latency_factor = v; }),
                Role::question, "With 0.5 every latency is half of the platform's.", "0.5"),
      explained(numeric(number("step-overhead", "seconds of software per step of an exchange", "0",
                               0, 1e3),
                        [](Scenario& s, double v) { s.step_overhead_s = v; }),
                Role::question,
                "Launching a step of a collective costs some microseconds of software.", "5e-6"),
      explained(
          worded(choice("fidelity",
                        "step: every step; flow: many steps as one; auto: step if messages are few",
                        "auto", {"auto", "flow", "step"}),
                 [](Scenario& s, const std::string& v) {
                   s.fidelity = v == "step"   ? Fidelity::step
                                : v == "flow" ? Fidelity::flow
                                              : Fidelity::automatic;
                 }),
          Role::run,
          "Steps are exact, flows are what large clusters need: within 3 % of every step where the "
          "README says so. auto takes steps where a cell has at most 125,000 messages, and a "
          "result says which it took.",
          "step"),
      explained(numeric(number("jitter", "coefficient of variation of compute time", "0", 0, 2),
                        [](Scenario& s, double v) { s.jitter = v; }),
                Role::question,
                "With 0.1 iterations differ by about 10 %, and whoever waits for all waits for the "
                "slowest.",
                "0.1"),
      explained(
          number_or(
              "auto",
              number("iterations", "of every worker after warm-up; auto: until `interval` is met",
                     "auto", 1, 1e6, true),
              [](Scenario& s, std::optional<double> v) {
                s.iterations = v ? std::optional(static_cast<int>(*v)) : std::nullopt;
              }),
          Role::run,
          "A fixed number makes runs comparable to the second, but may not be enough to be exact.",
          "20"),
      explained(
          numeric(number("interval", "half width of throughput's 95 % interval, as a part of it",
                         "0.01", 0.0001, 1),
                  [](Scenario& s, double v) { s.interval = v; }),
          Role::run, "A smaller one needs a longer run.", "0.02"),
      explained(numeric(number("max-iterations",
                               "of the fastest worker, if the interval is not met before", "1000",
                               20, 1e6, true),
                        [](Scenario& s, double v) { s.max_iterations = static_cast<int>(v); }),
                Role::run, "A run that ends so says it in a warning.", "500"),
      explained(numeric(number("warmup", "iterations before what is measured", "1", 0, 1e6, true),
                        [](Scenario& s, double v) { s.warmup = static_cast<int>(v); }),
                Role::run,
                "The first iterations of a run are not like the others: caches and queues fill.",
                "2"),
      explained(numeric(number("seed", "of everything random", "1", 0, 9007199254740992.0, true),
                        [](Scenario& s, double v) { s.seed = static_cast<std::uint64_t>(v); }),
                Role::run, "The same scenario and seed give the same bytes of every result.",
                "7 --jitter 0.1"),
      explained(
          number_or(
              "auto",
              number("repeats",
                     "runs with seeds of their own, whose mean throughput is; auto: as many as "
                     "chance needs",
                     "auto", 1, 1000, true),
              [](Scenario& s, std::optional<double> v) {
                s.repeats = v ? std::optional(static_cast<int>(*v)) : std::nullopt;
              }),
          Role::run,
          "The interval is then of the mean over seeds; seed = 1,2,3 are cells of their own.",
          "5 --schedule asp --jitter 0.1"),
      explained(
          numeric(number("price", "of one worker for an hour, in any currency: what an epoch costs",
                         "", tiny, 1e9),
                  [](Scenario& s, double v) { s.price = v; }),
          Role::run,
          "A cell's cost is its workers times their hours; without a price only its seconds are "
          "known.",
          "2.48 --epoch-samples 1281167"),
      explained(
          numeric(number("epoch-samples", "of an epoch, for its seconds and its cost [1000000]", "",
                         1, 1e15, true),
                  [](Scenario& s, double v) { s.epoch_samples = v; }),
          Role::run,
          "Cells are ranked by what an epoch takes; without it that is a million samples.",
          "1281167"),
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
    const auto named = [&](const std::string& name) {
      return std::ranges::find(options, name, &Option::name);
    };
    for (const Parameter& parameter : own_parameters())
      if (named(parameter.name) == options.end())
        options.push_back({.name = parameter.name,
                           .sentence = parameter.sentence,
                           .fallback = parameter.fallback,
                           .number = parameter.choices.empty(),
                           .allowed = allowed_values(parameter)});
    // Other parameters of a problem or of its data make it another one.
    for (const auto& [name, problem] : Registered<Problem>::all())
      for (const Parameter& parameter : problem.parameters)
        named(parameter.name)->role = Role::lesson;
    for (const Parameter& parameter : generated_parameters()) {
      Option& option = *named(parameter.name);
      option = explained(std::move(option), Role::lesson, "Only generated data have it.",
                         parameter.fallback + " --learn softmax --data generated");
    }
    return options;
  }();
  return all;
}

const Option* find_option(const std::string& name) {
  static const std::map<std::string, const Option*> by_name = [] {
    std::map<std::string, const Option*> all;
    for (const Option& option : scenario_options())
      all[option.name] = &option;
    return all;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

Role role_of(const std::string& option) {
  const Option* found = find_option(option);
  return found == nullptr ? Role::choice : found->role;
}

std::string unknown_option(const std::string& key) {
  std::vector<std::string> names;
  for (const Option& option : scenario_options())
    names.push_back(option.name);
  return "unknown option '" + brief(key) + "': nearest are " + listed(nearest(key, names, 5)) +
         "; allowed are " + listed(names);
}

}  // namespace syncline
