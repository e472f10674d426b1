#include "sim/options/options.h"

#include <algorithm>
#include <stdexcept>

#include "kernels/compressor.h"
#include "kernels/io/text.h"
#include "sim/catalogue/data.h"
#include "sim/catalogue/frameworks.h"
#include "sim/catalogue/network.h"
#include "sim/catalogue/server_software.h"
#include "sim/options/learning.h"
#include "sim/options/reality.h"
#include "sim/options/rows.h"
#include "sim/options/text_options.h"
#include "sim/plan.h"
#include "sim/problem.h"
#include "sim/schedule.h"

namespace syncline {
namespace {

// Its values are one list, not a sweep.
Option as_list(Option option) {
  option.is_list = true;
  return option;
}

void tuned_options(Scenario& s, const std::string& text) {
  for (const std::string& name : split(text, ','))
    if (const Option* option = find_option(name); option == nullptr || option->role != Role::choice)
      throw std::invalid_argument("best-of = " + brief(name) + ": " +
                                  (option == nullptr ? unknown_option(name)
                                                     : "nobody may choose " + name +
                                                           "; allowed are options such as "
                                                           "learning-rate, staleness or batch"));
  s.best_of = text;
}

std::vector<Option> fixed_options() {
  std::vector<Option> options{
      row("platform", &Scenario::platform, "", Role::purchase,
          "path of a SimGrid XML file, a name in platforms/, or words such as dgx:nodes=20",
          "A file describes hosts, links and routes; `syncline platform WORDS` prints words as "
          "such a file.",
          "v100-4x8-100gib"),
      row("workers", &Scenario::workers, whole(1, 1e7), "", Role::question,
          "how many, node by node (default: all of the platform)",
          "They are taken node by node, so that 8 workers on nodes of 4 are two nodes, unless "
          "placement says otherwise.",
          "1,8,32"),
      worker_hosts(row(
          "worker-hosts", nullptr, "", Role::question,
          "names of the hosts that are workers, whatever the platform says; * is any characters",
          "Several names have a ; between them. The other hosts are no workers, so a platform from "
          "elsewhere needs no roles.",
          "node*-gpu0")),
      row("placement", &Scenario::placement,
          {{"packed", Placement::packed},
           {"spread", Placement::spread},
           {"random", Placement::random}},
          "packed", Role::choice,
          "hosts of fewer workers: packed node after node, spread over all nodes, or random",
          "Spread workers have more cards each, and send more through them. random is one draw for "
          "each seed: seed = 1,2,3 pools three.",
          "packed,spread,random --workers 8 --seed 1,2,3"),
      row("workers-per-node", &Scenario::workers_per_node, whole(1, 1e6), "", Role::question,
          "when hosts carry no `node` property",
          "A plain <cluster> has no such property, and every host would be a node.", "4"),
      row("servers", &Scenario::servers, whole(0, 1e6), "0", Role::choice,
          "parameter-server shards (0: one per node, on the nodes)",
          "Unless 0: on hosts with role = server, else on free hosts of the least used nodes.",
          "0"),
      row("server-placement", &Scenario::servers_hold_tensors,
          Words<bool>{{"cut", false}, {"tensors", true}}, "cut", Role::choice,
          "cut: each server holds a share of every tensor; tensors: whole ones, round robin",
          "TensorFlow deals whole tensors, so that servers share the messages, but not evenly.",
          "tensors --schedule asp"),
      row("host-bandwidth", &Scenario::host_bandwidth_Bps, numbers(1, 1e15), "48e9", Role::question,
          "bytes/s each way of a node's memory port, where the platform gives it no host",
          "Servers on nodes and their aggregators get gradients through this port.", "24e9"),
      row("host-memory-bandwidth", &Scenario::host_memory_Bps, numbers(1e6, 1e15), "100e9",
          Role::question, "bytes/s that a host reads and writes where servers and aggregators add",
          "Adding gradients on a CPU is limited by its memory: three bytes move per byte added.",
          "200e9"),
      row(
          "server-overhead",
          [](Scenario& s, const std::string& v) { s.server_software = server_software(v); }, "none",
          Role::question,
          "seconds of a core per tensor of each message to or from a server, or whose software's",
          "Servers of many small tensors are busy with messages, not with bytes; software with a "
          "measured time is in platforms/server-software.csv.",
          "4e-4 --schedule asp"),
      row("server-jitter", &Scenario::server_jitter, numbers(0, 2), "", Role::question,
          "coefficient of variation of server-overhead (default: the software's)",
          "Updates that meet at a busy server wait for each other; the more they vary, the longer.",
          "1 --server-overhead 4e-4 --schedule asp"),
      row("model", &Scenario::model, "", Role::subject, "name in models/, or path of a model CSV",
          "Workload texts of ASTRA-sim 1.0 and SimAI and Chakra traces as JSON are read too, with "
          "their own times.",
          "bert-base --efficiency 0.4"),
      row("batch", &Scenario::batch, whole(1, 1e9), "32", Role::choice,
          "samples per worker and iteration; with accumulation, per micro-step",
          "Twice the batch takes twice the computation and the same communication.", "64"),
      row("accumulation", &Scenario::accumulation, whole(1, 1e6), "1", Role::choice,
          "micro-steps of an iteration: gradients leave in the last one's backward pass",
          "As PyTorch's no_sync: the exchange overlaps with the last backward pass only, and the "
          "optimiser takes one step.",
          "8 --batch 32"),
      row("recompute", &Scenario::recompute,
          {{name_of(Recompute::off), Recompute::off},
           {name_of(Recompute::selective), Recompute::selective},
           {name_of(Recompute::full), Recompute::full}},
          "off", Role::choice,
          "activation checkpointing: what backward computes again, attention's products or all",
          "It saves memory at the cost of computation: full takes 4/3 of the time by throughput, "
          "efficiency or the model's file, which are without it; `explain` shows the memory.",
          "full"),
      row("global-batch", &Scenario::global_batch, whole(1, 1e9), "", Role::question,
          "samples of all workers in an iteration: workers x batch x accumulation",
          "With batch it sets accumulation, without it batch; workers have to be given.",
          "1024 --workers 8,16,32"),
      precision(row("precision", nullptr, "fp32", Role::choice,
                    "format of products; bf16 and fp16 send two bytes per gradient value",
                    "Each has its own rows of throughput; with efficiency, all but fp32 use the "
                    "device's peak in platforms/devices.csv.",
                    "bf16 --device a100 --efficiency 0.4")),
      row("wire-precision", &Scenario::precision,
          {{"fp32", Precision::fp32}, {"bf16", Precision::fp16}, {"fp16", Precision::fp16}}, "",
          Role::choice, "format of values in messages (default: as precision keeps gradients)",
          "torch.autocast keeps gradients in fp32. Of parameters, only fsdp's keep precision's.",
          "fp32 --precision fp16"),
      row("activation-bytes", &Scenario::activation_bytes, numbers(0, 1e15), "", Role::question,
          "bytes that backward needs per sample, in a worker's memory (default: the model's)",
          "Files of transformers give them, with and without recompute; if a file does not, "
          "activations are not counted.",
          "1.5e9"),
      row("throughput", &Scenario::throughput, numbers(tiny, 1e12), "", Role::question,
          "samples/s of one worker alone; where devices differ, of the fastest",
          "It is an input: with `device`, the rate of the fastest host that has this device. The "
          "throughput of a result is of all workers together.",
          "400"),
      row("throughput-of", &Scenario::throughput_is_of_schedule,
          Words<bool>{{"worker", false}, {"schedule", true}}, "worker", Role::question,
          "what throughput measures: a worker's computation, or one worker with its servers",
          "A rate that was measured through servers contains a push and an answer, which would "
          "otherwise count twice. It was measured without accumulation.",
          "schedule --schedule asp"),
      row("throughput-servers", &Scenario::throughput_servers, whole(0, 1e6), "", Role::question,
          "servers with which throughput-of = schedule was measured (default: the cell's)",
          "One worker is often measured with one server, whatever is used later.",
          "1 --throughput-of schedule --schedule asp"),
      device(row(
          "device", nullptr, "", Role::question,
          "device of the cost table and of models/throughput.csv (default: each host's own)",
          "Its cost table prices compression, and its measured rows are seconds of computation. "
          "device = none: compressing takes no time, for compressors without a table.",
          "v100-modelled")),
      row("efficiency", &Scenario::efficiency, numbers(tiny, 1), "", Role::question,
          "share of the device's peak that training reaches, such as 0.4",
          "It is an input, for models without a measured row; for fp32 the peak is the speed of a "
          "host's core. Scaling efficiency, the column scaling, is a result.",
          "0.4"),
      optimizer(
          row("optimizer", nullptr, "in-throughput", Role::choice,
              "optimizer whose step, after communication, moves its bytes at memory-bandwidth",
              "By default the step is in the measured throughput and counts as computation.",
              "adam --batch 64")),
      row("memory-bandwidth", &Scenario::memory_Bps, numbers(1e6, 1e15), "", Role::question,
          "bytes/s of the device's memory, for the optimizer's step (default: "
          "platforms/devices.csv)",
          "An optimiser's step does little arithmetic, so its time is bytes over this rate.",
          "9e11 --optimizer sgd"),
      row("optimizer-overhead", &Scenario::optimizer_overhead_s, numbers(0, 1), "0", Role::question,
          "seconds of software per tensor of the step, unless a worker is alone",
          "A worker alone hides it, because its host runs ahead of the device.", "1e-5"),
      selecting(row("schedule", nullptr, "bsp", Role::choice,
                    "who waits for whom; see `syncline list`",
                    "All average together (bsp, topk-sgd), or servers apply gradients as they come "
                    "(asp, ssp, inhad).",
                    "bsp,asp")),
      selecting(row("exchange", nullptr, "", Role::choice,
                    "how gradients are averaged (default: the schedule's)",
                    "The fastest depends on message size, workers and the network in nodes. auto "
                    "takes the cheapest for each bucket by closed form, among those that add dense "
                    "gradients without servers; nccl takes NCCL's, and as long as its model says.",
                    "nccl,auto,ring,tree,hierarchical")),
      row("channels", &Scenario::channels, whole(1, 64, "auto"), "auto", Role::choice,
          "rings, or pairs of trees, that each carry a share; auto: one per card of a node",
          "As in NCCL each channel leaves a node by another network card. More channels than cards "
          "share the cards.",
          "1,auto"),
      row("overlap", &Scenario::overlap, on_or_off, "on", Role::choice,
          "communicate while backward goes on",
          "Without it communication begins when backward has ended, as in simple implementations.",
          "off"),
      row("overlap-slowdown", &Scenario::overlap_slowdown, numbers(0, 10, "published"), "0",
          Role::question,
          "share by which computation takes longer beside collectives of its worker",
          "NCCL's kernels take multiprocessors and memory bandwidth from it. published: 0.189, the "
          "mean on four A100, H100, MI210 or MI250 (at most 0.40; Lee et al., arXiv 2507.03114).",
          "0,published"),
      fusion(
          row("bucket-bytes", nullptr, "26214400", Role::choice,
              "fusion size: 0 per tensor, `all` one bucket, `merged` MG-WFBP's",
              "Small buckets start early but pay latency often; large ones leave less to overlap.",
              "0,26214400,all")),
      row("bucket-closes", &Fusion::closes_after, Words<bool>{{"before", false}, {"after", true}},
          "before", Role::choice,
          "before: a bucket has at most bucket-bytes; after: it closes once it has them",
          "PyTorch DDP closes after: a large tensor joins the bucket that it overfills, so there "
          "are fewer buckets.",
          "after"),
      row("first-bucket-bytes", &Fusion::first_bytes, numbers(0, 1e15), "", Role::choice,
          "fusion size of the bucket that backward fills first (default: bucket-bytes)",
          "A small first bucket lets communication begin early; PyTorch DDP's has 1 MiB.",
          "1048576"),
      row("fusion-cycle", &Fusion::cycle_s, numbers(0, 10), "0", Role::choice,
          "seconds after which finished gradients are sent, in buckets of at most bucket-bytes",
          "Horovod fuses the gradients that are ready once per cycle; the last ones wait for its "
          "end.",
          "1e-3"),
      row(
          "framework", [](Scenario& s, const std::string& v) { s.framework = framework_called(v); },
          "none", Role::choice,
          "framework whose documented defaults count for options not given, maybe with a version",
          "platforms/frameworks.csv has the defaults and their sources; `explain`, a single cell's "
          "report and JSON name each that was taken. Options that you give count first.",
          "pytorch-ddp"),
      selecting(
          row("compressor", nullptr, "none", Role::choice, "what is sent instead of a gradient",
              "Fewer bytes are sent, but making and reading messages takes the device's time.",
              "none,topk --device v100-modelled")),
      row("dense-below", &Scenario::dense_below, whole(0, 1e12), "0", Role::choice,
          "tensors of fewer values are sent uncompressed",
          "Small tensors gain little from compression and lose accuracy.",
          "4096 --compressor topk --device v100-modelled"),
      row(
          "network", [](Scenario& s, const std::string& v) { s.network = &find_network(v); },
          "exact", Role::subject, "network model; see `syncline list`",
          "It turns latency, bandwidth and flows that share links into seconds; bandwidth-factor "
          "and latency-factor replace its own factors.",
          "exact,lv08"),
      of_links(
          row("bandwidth-factor", nullptr, "", Role::question,
              "factor of every bandwidth, instead of the network model's; PATTERN:X for some links",
              "With 2 every link is twice as fast, with *-nic*:2 the cards. Factors of patterns "
              "count in addition, and if several patterns match, all count.",
              "*-nic*:0.5"),
          numbers(1e-6, 1e6), &Scenario::bandwidth_factor, &Scenario::link_bandwidths),
      of_links(
          row("latency-factor", nullptr, "", Role::question,
              "factor of every latency, instead of the network model's; PATTERN:X for some links",
              "With 0.5 every latency is half of the platform's; patterns count as in "
              "bandwidth-factor.",
              "0.5"),
          numbers(0, 1e6), &Scenario::latency_factor, &Scenario::link_latencies),
      row("step-overhead", &Scenario::step_overhead_s, numbers(0, 1e3), "0", Role::question,
          "seconds of software per step of an exchange",
          "Launching a step of a collective costs some microseconds of software.", "5e-6"),
      row("fidelity", &Scenario::fidelity,
          {{"auto", Fidelity::automatic},
           {"flow", Fidelity::flow},
           {"step", Fidelity::step},
           {"analytic", Fidelity::analytic}},
          "auto", Role::run,
          "step: every step; flow: many as one; analytic: arithmetic; auto: step, or flow",
          "Steps are exact, flows are for large clusters: within 3 % of every step where the "
          "README says so. auto takes steps if a run has at most 125,000 messages, and a result "
          "says which it took. analytic sends no messages: a collective begins with its last "
          "worker and takes the time of a closed form. It is for schedules without servers and "
          "platforms without profiles, and is never chosen by auto. A platform in words may have "
          "up to 1,048,576 GPUs with analytic, and 1,000 nodes with the others.",
          "step"),
      row("jitter", &Scenario::jitter, numbers(0, 2), "0", Role::question,
          "coefficient of variation of compute time",
          "With 0.1 iterations differ by about 10 %, and a worker that waits for all waits for the "
          "slowest.",
          "0.1"),
      row("iterations", &Scenario::iterations, whole(1, 1e6, "auto"), "auto", Role::run,
          "of every worker after warm-up; auto: until `interval` is met",
          "A fixed number makes runs comparable to the second, but may not be enough to be exact.",
          "20"),
      row("interval", &Scenario::interval, numbers(0.0001, 1), "0.01", Role::run,
          "half width of throughput's 95 % interval, as a part of it",
          "A smaller one needs a longer run.", "0.02"),
      row("max-iterations", &Scenario::max_iterations, whole(20, 1e6), "1000", Role::run,
          "of the fastest worker, if the interval is not met before",
          "A run that ends this way has a warning.", "500"),
      row("warmup", &Scenario::warmup, whole(0, 1e6), "1", Role::run,
          "iterations before measuring begins",
          "The first iterations of a run are not like the others: caches and queues fill.", "2"),
      row("seed", &Scenario::seed, whole(0, 9007199254740991.0), "1", Role::run,
          "of everything random", "The same scenario and seed give the same bytes of every result.",
          "7 --jitter 0.1"),
      row("repeats", &Scenario::repeats, whole(1, 1000, "auto"), "auto", Role::run,
          "runs with different seeds, whose mean is the throughput; auto: as many as chance needs",
          "The interval is then of the mean over seeds; seed = 1,2,3 gives separate cells, which "
          "tables and pages pool.",
          "5 --schedule asp --jitter 0.1"),
      as_list(row("best-of", tuned_options, "", Role::run,
                  "options whose best values in a sweep are compared with other cells",
                  "The first best-of-seeds seeds of the list choose by their median, and the other "
                  "seeds are reported.",
                  "learning-rate --learn digits --learning-rate 0.1,0.5 --seed 1,2")),
      row("best-of-seeds", &Scenario::best_of_seeds, whole(1, 1e4), "", Role::run,
          "how many seeds, the first of the list, choose for best-of [1]",
          "A single seed chooses, and is reported too: more seeds show how good the choice is.",
          "2 --best-of batch --batch 32,64 --seed 1,2,3"),
      price(row("price", nullptr, "", Role::run,
                "price of one worker for an hour, in any currency; `devices` takes list prices",
                "Adds the cost of an epoch (by default of a million samples): workers x hours x "
                "price. List prices are in platforms/devices.csv, each with its date and seller.",
                "2.48 --epoch-samples 1281167")),
      row("epoch-samples", &Scenario::epoch_samples, whole(1, 1e15), "", Role::run,
          "samples of an epoch, for its seconds and its cost [1000000]",
          "Cells are ranked by the time of an epoch; by default an epoch has a million samples.",
          "1281167"),
  };
  std::ranges::move(reality_options(), std::back_inserter(options));
  std::ranges::move(learning_options(), std::back_inserter(options));
  return options;
}

}  // namespace

std::map<std::string, OwnOption> own_options() {
  std::map<std::string, OwnOption> all;
  const auto add = [&](const auto& entries) {
    for (const auto& [name, entry] : entries)
      for (const OwnOption& parameter : entry.options)
        all.emplace(parameter.name, parameter);
  };
  add(Registered<Schedule>::all());
  add(Registered<Exchange>::all());
  add(Registered<Compressor>::all());
  add(Registered<Problem>::all());
  for (const OwnOption& parameter : generated_options())
    all.emplace(parameter.name, parameter);
  return all;
}

const std::vector<Option>& scenario_options() {
  static const std::vector<Option> all = [] {
    std::vector<Option> options = fixed_options();
    const auto named = [&](const std::string& name) {
      return std::ranges::find(options, name, &Option::name);
    };
    for (const auto& [name, parameter] : own_options())
      if (named(name) == options.end())
        options.push_back({.name = name,
                           .sentence = parameter.sentence,
                           .fallback = parameter.fallback,
                           .number = parameter.choices.empty(),
                           .allowed = allowed_values(parameter)});
    // Values of a problem's or its data's parameters make different problems.
    for (const auto& [name, problem] : Registered<Problem>::all())
      for (const OwnOption& parameter : problem.options)
        named(parameter.name)->role = Role::learning;
    for (const OwnOption& parameter : generated_options()) {
      Option& option = *named(parameter.name);
      option.role = Role::learning;
      option.more = "Only generated data have it.";
      option.example = parameter.fallback + " --learn softmax --data generated";
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

const Option& option_called(const std::string& name) {
  if (const Option* found = find_option(name))
    return *found;
  throw std::invalid_argument(unknown_option(name));
}

Role role_of(const std::string& option) {
  const Option* found = find_option(option);
  return found == nullptr ? Role::choice : found->role;
}

std::string unknown_option(const std::string& key) {
  std::vector<std::string> names;
  for (const Option& option : scenario_options())
    names.push_back(option.name);
  return "unknown option '" + brief(key) + "': " + instead_of(key, names, "`syncline run --help`");
}

}  // namespace syncline
