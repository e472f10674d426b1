// Everything that defines one simulation. Its fields are the options of the command line and of the
// configuration files, as values: sim/options/ reads the text, and nothing after it does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/compressor.h"
#include "kernels/registry.h"
#include "sim/plan.h"
#include "sim/problem.h"
#include "sim/schedule.h"

namespace syncline {

struct Network;  // sim/catalogue/network.h

// Adding one byte to a sum moves so many: both are read and one is written.
constexpr double memory_bytes_per_sum = 3;

// Computation of GPT and LLaMA models on four A100, H100, MI210 or MI250 took so much longer, in
// the mean, with collectives beside it than without (Lee et al. 2025, arXiv 2507.03114).
constexpr double published_overlap_slowdown = 0.189;

// Which hosts workers are on: one node after the other, one of each node in turn, or any, by seed.
enum class Placement { packed, spread, random };

// What products are computed in: fewer and fewer bits are kept of their factors.
enum class Arithmetic { fp32, tf32, bf16, fp16 };
inline constexpr Arithmetic every_arithmetic[] = {Arithmetic::fp32, Arithmetic::tf32,
                                                  Arithmetic::bf16, Arithmetic::fp16};
inline std::string name_of(Arithmetic arithmetic) {  // its word
  constexpr const char* names[] = {"fp32", "tf32", "bf16", "fp16"};
  return names[static_cast<int>(arithmetic)];
}
// What parameters and gradients are kept in, by their bytes.
inline Precision kept_in(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::bf16 || arithmetic == Arithmetic::fp16 ? Precision::fp16
                                                                          : Precision::fp32;
}

// A scenario says how tensors are fused into buckets.
struct Fusion {
  enum class Kind {
    bytes,  // neighbours until a bucket has that many
    all,    // one bucket
    merged  // as in MG-WFBP: so that the last exchange ends earliest
  } kind = Kind::bytes;
  double bytes = 26214400;    // of kind `bytes`; 0: a bucket per tensor
  bool closes_after = false;  // it has reached them, as PyTorch DDP's; else before it has more
  // What all workers have made when a cycle ends goes together, as Horovod's; 0: no cycles. In a
  // Setup a cycle is as long as agreeing on that takes, at least.
  double cycle_s = 0;
  std::optional<double> first_bytes;  // of the first bucket instead
};

// A run that learns ends at its target: held-out accuracy of at least, or training loss of at most,
// `value`.
struct Target {
  bool is_accuracy = true;
  double value = 0;
};

// A training problem that the simulation carries, and how it is trained.
struct Learning {
  const Problem* problem = nullptr;  // null: only time is simulated
  Settings problem_settings;
  std::string data;            // digits, generated, or a path
  std::string data_folder;     // that the path counts from, if it is not the working directory
  Settings generated;          // what generated data are like
  bool validates = false;      // by samples that were to train with, and not those held out
  std::optional<double> skew;  // concentration of the Dirichlet distribution of labels over workers

  double rate = 0;  // of a gradient averaged over all workers
  enum class RateSchedule {
    constant,
    step,   // a tenth from half of the run on, a hundredth from three quarters on
    cosine  // half a cosine down to zero (Loshchilov and Hutter 2017)
  } rate_schedule = RateSchedule::constant;
  double rate_warm_up_epochs = 0;  // from rate / workers, in a line
  double momentum = 0;
  double weight_decay = 0;
  double clip_norm = 0;            // of a worker's gradient; 0: any
  bool inverse_staleness = false;  // a gradient weighs rate / max(1, staleness), not rate / workers
  bool rate_in_residual = false;   // gradients are weighed before they are compressed

  std::optional<int> batch;  // samples of a worker's gradient; none: those of its iteration
  std::optional<double> evaluate_every;  // samples; none: an epoch
  std::optional<Target> until;
};

constexpr double default_epochs = 50;  // of a run that learns, unless `iterations` says otherwise

// What backward computes once more because activations were not kept: nothing, attention's products
// of activations (Korthikanti et al. 2022), or all of forward (Chen et al. 2016).
enum class Recompute { off, selective, full };
inline const char* name_of(Recompute recompute) {
  constexpr const char* names[] = {"off", "selective", "full"};
  return names[static_cast<int>(recompute)];
}

struct TimedOptimizer {
  std::string name = "in-throughput";
  // Values of 4 bytes that its step reads and writes per parameter: parameter and gradient are
  // read, the parameter is written, each state is both. 0: the step takes no time of its own, but
  // is in the measured throughput as if it were a part of backward.
  int values = 0;
  bool adapts = false;  // takes no steps of SGD

  int states() const { return (values - 3) / 2; }
};

// Whether every step of an exchange is simulated, or many as one flow; automatic: every step where
// messages are few (sim/engine/fidelity.h).
enum class Fidelity { automatic, step, flow, analytic };

// What the software of a parameter server takes to handle a message, whatever its bytes.
struct ServerSoftware {
  double overhead_s = 0;  // of one core, per tensor of a message
  double jitter = 0;      // coefficient of variation of that, from one worker's update to the next
  std::string source;     // for the result; empty: it takes nothing
};

// What software of training does unless its user says otherwise (platforms/frameworks.csv).
struct Framework {
  std::string name;  // empty: none
  std::string from;  // the first version of these defaults
  struct Default {
    std::string option;
    std::string value;
    std::string source;
  };
  std::vector<Default> defaults;

  // For the result: "pytorch-ddp from 1.6: bucket-closes = after (source); ..."; empty: none.
  std::string described() const;
};

// Of links whose names fit the pattern, in which * stands for any characters.
struct LinkFactor {
  std::string pattern;
  double factor = 1;
};

// Who takes part, and where.
struct ClusterOptions {
  std::string platform;        // path of a SimGrid XML file, or words
  std::optional<int> workers;  // none: every worker host of the platform
  // Hosts whose names fit one of these are the worker hosts; none: those that the platform says.
  std::vector<std::string> worker_hosts;
  Placement placement = Placement::packed;
  std::optional<int> workers_per_node;  // only where hosts carry no `node` property
  int servers = 0;                      // 0: one shard per node, on the nodes
  double host_bandwidth_Bps = 48e9;     // between a node's devices and its memory, each way
  double host_memory_Bps = 100e9;       // read and written where servers and aggregators add
  bool servers_hold_tensors = false;    // whole ones, dealt round robin; else a share of each
  ServerSoftware server_software;
  std::optional<double> server_jitter;  // none: the software's

  // What a server's software takes varies, so that no two servers take the same time.
  double variation_at_servers() const { return server_jitter.value_or(server_software.jitter); }
  bool varies_at_servers() const {
    return server_software.overhead_s > 0 && variation_at_servers() > 0;
  }
};

// What is trained, and in which steps.
struct JobOptions {
  std::string model;     // path of a model CSV
  int batch = 32;        // samples per worker and micro-step
  int accumulation = 1;  // micro-steps of an iteration, which sends gradients in the last one
  Recompute recompute = Recompute::off;
  std::optional<int> global_batch;           // samples of all workers and an iteration
  Arithmetic arithmetic = Arithmetic::fp32;  // option precision
  Precision precision = Precision::fp32;     // of a gradient's values where they are sent
  std::optional<double> activation_bytes;    // that backward needs of a sample; none: the model's
  const Schedule* schedule = nullptr;
  Settings schedule_settings;
  Framework framework;  // whose defaults count where the user has said nothing

  int samples() const { return batch * accumulation; }  // of a worker in an iteration
};

// What computation takes.
struct ComputeOptions {
  std::optional<double> throughput;  // samples/s of the fastest worker host alone
  // It was measured through the schedule, with so many servers (none: as many as there are): so it
  // contains a worker's exchange with them.
  bool throughput_is_of_schedule = false;
  std::optional<int> throughput_servers;
  std::string device;                // empty: each host's own `device` property
  std::optional<double> efficiency;  // fraction of the peak speed of one core
  TimedOptimizer optimizer;
  std::optional<double> memory_Bps;  // of the device: what the step moves its values at
  double optimizer_overhead_s = 0;   // of software per tensor of the step
  double jitter = 0;                 // coefficient of variation of compute time
};

// How gradients get to others.
struct ExchangeOptions {
  const Exchange* exchange = nullptr;
  Settings exchange_settings;
  std::vector<CandidateExchange> candidates;  // `exchange = auto`: the cheapest for each bucket
  std::optional<int> channels;  // of an exchange that has them; none: as many as ways out of nodes
  const Exchange* dense_exchange = nullptr;  // what the user would run without compression
  bool overlap = true;
  // Computation takes so much longer while collectives of its worker are in flight; none: as
  // published.
  std::optional<double> overlap_slowdown = 0;
  Fusion fusion;

  double slowdown_beside_collectives() const {
    return overlap_slowdown.value_or(published_overlap_slowdown);
  }
};

// What is sent instead of gradients.
struct CompressionOptions {
  const Compressor* compressor = nullptr;  // null: gradients are sent as they are
  Settings compressor_settings;
  std::string cost_table;                 // path of the device's; only where something compresses
  bool free_compression = false;          // device = none: making and reading takes no time
  const Compressor* read_as = nullptr;    // decoding takes the seconds of this one's rows
  bool network_prices = false;            // its cost model uses the simulated network's costs
  std::vector<double> warm_up_densities;  // of the first epochs
  std::optional<int> epoch_iterations;    // of these; none: the data that are learned say it
  bool compressed_pulls = false;          // servers answer with compressed differences
  std::uint64_t dense_below = 0;          // tensors of fewer values are sent as they are

  bool compresses() const { return compressor != nullptr; }
};

// What links take.
struct NetworkOptions {
  const Network* network = nullptr;
  std::optional<double> bandwidth_factor;  // instead of the network model's own
  std::optional<double> latency_factor;
  std::vector<LinkFactor> link_bandwidths, link_latencies;  // times these, besides
  double step_overhead_s = 0;
};

// How it is simulated, how long, and how often.
struct MeasuringOptions {
  Fidelity fidelity = Fidelity::automatic;
  std::optional<int> iterations;  // of every worker after `warmup`; none: until
  double interval = 0.01;         // the 95 % interval of throughput is +- this part of it, or
  int max_iterations = 1000;      // the fastest worker has done so many
  int warmup = 1;
  std::uint64_t seed = 1;
  std::string best_of;               // options; of cells that differ in them only, one is compared
  std::optional<int> best_of_seeds;  // so many of the seeds listed choose it; none: the first
  std::optional<int> repeats;  // runs, with seeds of their own; none: sim/setup/repeats.h decides
};

struct PriceOptions {
  std::optional<double> price;          // of a worker for an hour, in any currency
  bool price_of_devices = false;        // the mean of what workers' devices cost
  std::optional<double> epoch_samples;  // none: what is priced is a million samples
};

// resolve() (sim/options/resolve.h) sets the pointers to registered things. After it only
// `compressor` may be null. A function that needs one part takes that part.
struct Scenario : ClusterOptions,
                  JobOptions,
                  ComputeOptions,
                  ExchangeOptions,
                  CompressionOptions,
                  NetworkOptions,
                  MeasuringOptions,
                  PriceOptions {
  Learning learning;
  // The text of every option, given or default: only for results and their names.
  std::map<std::string, std::string> written;

  int learned_samples() const { return learning.batch.value_or(samples()); }
  bool learns() const { return learning.problem != nullptr; }
};

}  // namespace syncline
