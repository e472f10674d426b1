// Everything that defines one simulation. Its fields are the options of the command line and of the
// configuration files, as values. Only sim/options/ reads their text.
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

// Bytes of memory traffic per byte added to a sum: two are read, one is written.
constexpr double memory_bytes_per_sum = 3;

// How much longer computation of GPT and LLaMA models on four A100, H100, MI210 or MI250 took with
// collectives beside it than without, in the mean (Lee et al. 2025, arXiv 2507.03114).
constexpr double published_overlap_slowdown = 0.189;

// The hosts of workers: one node after the other, one host of each node in turn, or any hosts, by
// seed.
enum class Placement { packed, spread, random };

// The format of the factors of products, from most bits to fewest.
enum class Arithmetic { fp32, tf32, bf16, fp16 };
inline constexpr Arithmetic every_arithmetic[] = {Arithmetic::fp32, Arithmetic::tf32,
                                                  Arithmetic::bf16, Arithmetic::fp16};
inline std::string name_of(Arithmetic arithmetic) {
  constexpr const char* names[] = {"fp32", "tf32", "bf16", "fp16"};
  return names[static_cast<int>(arithmetic)];
}
// The format in which parameters and gradients are kept, by their bytes.
inline Precision kept_in(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::bf16 || arithmetic == Arithmetic::fp16 ? Precision::fp16
                                                                          : Precision::fp32;
}

// How tensors are fused into buckets.
struct Fusion {
  enum class Kind {
    bytes,  // neighbouring tensors, up to a number of bytes
    all,    // one bucket
    merged  // as in MG-WFBP: the last exchange ends as early as possible
  } kind = Kind::bytes;
  double bytes = 26214400;  // of kind `bytes`; 0: a bucket per tensor
  // A bucket closes once it has reached `bytes`, as in PyTorch DDP; else before it exceeds them.
  bool closes_after = false;
  // Gradients that all workers have made when a cycle ends are sent together, as in Horovod; 0: no
  // cycles. In a Setup a cycle lasts at least as long as the workers' agreement on those gradients.
  double cycle_s = 0;
  std::optional<double> first_bytes;  // of the first bucket, instead of `bytes`
};

// Where a run that learns ends: held-out accuracy of at least `value`, or training loss of at most
// `value`.
struct Target {
  bool is_accuracy = true;
  double value = 0;
};

// A training problem that the simulation carries out, and how it is trained.
struct Learning {
  const Problem* problem = nullptr;  // null: only time is simulated
  Settings problem_settings;
  std::string data;            // digits, generated, or a path
  std::string data_folder;     // that a relative path starts from; empty: the working directory
  Settings generated;          // properties of generated data
  bool validates = false;      // by samples taken from the training data, not by those held out
  std::optional<double> skew;  // concentration of the Dirichlet distribution of labels over workers

  double rate = 0;  // learning rate of a gradient that is averaged over all workers
  enum class RateSchedule {
    constant,
    step,   // a tenth from half of the run on, a hundredth from three quarters on
    cosine  // half a cosine down to zero (Loshchilov and Hutter 2017)
  } rate_schedule = RateSchedule::constant;
  double rate_warm_up_epochs = 0;  // linear, from rate / workers
  double momentum = 0;
  double weight_decay = 0;
  double clip_norm = 0;  // of a worker's gradient; 0: no clipping
  // Weight of a gradient: rate / max(1, staleness), not rate / workers.
  bool inverse_staleness = false;
  bool rate_in_residual = false;  // gradients are weighted before they are compressed

  std::optional<int> batch;  // samples of a worker's gradient; none: as many as in its iteration
  std::optional<double> evaluate_every;  // samples; none: an epoch
  std::optional<Target> until;
};

constexpr double default_epochs = 50;  // of a run that learns, unless `iterations` is given

// What backward computes again because activations were not kept: nothing, attention's products of
// activations (Korthikanti et al. 2022), or all of forward (Chen et al. 2016).
enum class Recompute { off, selective, full };
inline const char* name_of(Recompute recompute) {
  constexpr const char* names[] = {"off", "selective", "full"};
  return names[static_cast<int>(recompute)];
}

struct TimedOptimizer {
  std::string name = "in-throughput";
  // Values of 4 bytes that the optimizer's step reads and writes per parameter: it reads parameter
  // and gradient, writes the parameter, and reads and writes each state. 0: the step takes no time
  // of its own; the measured throughput includes it as a part of backward.
  int values = 0;
  bool adapts = false;  // an adaptive method: its steps are not those of SGD

  int states() const { return (values - 3) / 2; }
};

// Whether every step of an exchange is simulated, or many as one flow. automatic: every step where
// messages are few (sim/engine/fidelity.h). analytic: computed without messages
// (sim/clock/analytic.h).
enum class Fidelity { automatic, step, flow, analytic };

// Time that a parameter server's software takes to handle a message, whatever its bytes.
struct ServerSoftware {
  double overhead_s = 0;  // of one core, per tensor of a message
  // Coefficient of variation of overhead_s, from one worker's update to the next.
  double jitter = 0;
  std::string source;  // for the result; empty: no overhead
};

// The value of an option that the user has not given, and where it comes from.
struct Default {
  std::string option;
  std::string value;
  std::string source;
};

// The defaults of training software (platforms/frameworks.csv).
struct Framework {
  std::string name;  // empty: none
  std::string from;  // the first version with these defaults
  std::vector<Default> defaults;

  // For the result: "pytorch-ddp from 1.6: bucket-closes = after (source); ..."; empty: none.
  std::string described() const;
};

// What software and networks leave of a nominal machine (platforms/networks.csv).
struct Reality {
  std::string name = "nominal";  // or typical, or a path: as written
  std::string file;              // that has the values; empty: nominal
  std::vector<Default> defaults;
  std::vector<std::string> unnamed;  // sentences about what the scenario does not name

  // For the result: "typical: network-efficiency = 0.96 (source); ..."; empty: nominal.
  std::string described() const;
};

// A factor for every link whose name matches a pattern, with * for any characters.
struct LinkFactor {
  std::string pattern;
  double factor = 1;
};

// Workers and servers, and their hosts.
struct ClusterOptions {
  std::string platform;        // path of a SimGrid XML file, or words
  std::optional<int> workers;  // none: every worker host of the platform
  // Patterns of host names: workers run on hosts that match one; none: on the platform's worker
  // hosts.
  std::vector<std::string> worker_hosts;
  Placement placement = Placement::packed;
  std::optional<int> workers_per_node;  // only where hosts carry no `node` property
  int servers = 0;                      // 0: one shard per node, on the nodes
  double host_bandwidth_Bps = 48e9;     // between a node's devices and its memory, each way
  double host_memory_Bps = 100e9;       // read and written where servers and aggregators add
  bool servers_hold_tensors = false;  // each tensor whole, dealt round robin; else a share of each
  ServerSoftware server_software;
  std::optional<double> server_jitter;  // none: the software's

  // The time of the servers' software varies, so that no two servers take the same time.
  double variation_at_servers() const { return server_jitter.value_or(server_software.jitter); }
  bool varies_at_servers() const {
    return server_software.overhead_s > 0 && variation_at_servers() > 0;
  }
};

// The model, its batches and its schedule.
struct JobOptions {
  std::string model;     // path of a model CSV
  int batch = 32;        // samples per worker and micro-step
  int accumulation = 1;  // micro-steps per iteration; gradients are sent in the last one
  Recompute recompute = Recompute::off;
  std::optional<int> global_batch;           // samples per iteration, of all workers
  Arithmetic arithmetic = Arithmetic::fp32;  // option `precision`
  Precision precision = Precision::fp32;     // of gradient values in messages
  std::optional<double> activation_bytes;    // that backward needs per sample; none: the model's
  const Schedule* schedule = nullptr;
  Settings schedule_settings;
  Framework framework;  // whose defaults count for options that the user has not given
  Reality reality;      // likewise

  int samples() const { return batch * accumulation; }  // of a worker in an iteration
};

// What determines the time of computation.
struct ComputeOptions {
  std::optional<double> throughput;  // samples/s of the fastest worker host alone
  // The throughput was measured through the schedule, with `throughput_servers` servers (none: as
  // many as this scenario has). It then includes a worker's exchange with them.
  bool throughput_is_of_schedule = false;
  std::optional<int> throughput_servers;
  std::string device;                // empty: each host's own `device` property
  std::optional<double> efficiency;  // part of a peak: the host's speed in fp32, else its device's
  TimedOptimizer optimizer;
  std::optional<double> memory_Bps;  // of the device, for the values that the step moves
  double optimizer_overhead_s = 0;   // of software, per tensor of the step
  double jitter = 0;                 // coefficient of variation of compute time
  double straggling = 0;             // likewise, as the mean of what workers wait for the slowest
};

// How gradients are exchanged.
struct ExchangeOptions {
  const Exchange* exchange = nullptr;
  Settings exchange_settings;
  // `exchange = auto`: the cheapest is chosen for each bucket; `nccl`: as NCCL chooses.
  std::vector<CandidateExchange> candidates;
  bool nccl_chooses = false;
  std::optional<int> channels;  // of an exchange with channels; none: channels_over() decides
  // Of the dense rival, and of averages in groups: the user's, if it adds dense gradients.
  const Exchange* dense_exchange = nullptr;
  bool overlap = true;
  // Part by which computation takes longer while collectives of its worker are in flight; none: the
  // published one.
  std::optional<double> overlap_slowdown = 0;
  Fusion fusion;

  double slowdown_beside_collectives() const {
    return overlap_slowdown.value_or(published_overlap_slowdown);
  }
};

// Compression of gradients.
struct CompressionOptions {
  const Compressor* compressor = nullptr;  // null: gradients are sent as they are
  Settings compressor_settings;
  std::string cost_table;               // path of the device's; only with compression
  bool free_compression = false;        // device = none: encoding and decoding take no time
  const Compressor* read_as = nullptr;  // decoding takes the seconds of this compressor's rows
  bool network_prices = false;  // the compressor's cost model uses the simulated network's costs
  std::vector<double> warm_up_densities;  // of the first epochs
  std::optional<int> epoch_iterations;    // per such epoch; none: from the data that are learned
  bool compressed_pulls = false;          // servers answer with compressed differences
  std::uint64_t dense_below = 0;          // tensors with fewer values are sent uncompressed

  bool compresses() const { return compressor != nullptr; }
};

// The network model and its parameters.
struct NetworkOptions {
  const Network* network = nullptr;
  std::optional<double> bandwidth_factor;  // instead of the network model's own
  std::optional<double> latency_factor;
  std::vector<LinkFactor> link_bandwidths, link_latencies;  // further factors, of some links
  double network_efficiency = 1;  // a further factor of bandwidth, of the nodes' network cards
  double step_overhead_s = 0;
  double nccl_net_latency_s = 0;  // what the network's plugin tells NCCL of a message between nodes
};

// How the run is simulated, how long, and how often.
struct MeasuringOptions {
  Fidelity fidelity = Fidelity::automatic;
  // Of every worker after `warmup`; none: until `interval` or `max_iterations`.
  std::optional<int> iterations;
  // Half the 95 % interval of throughput, as a part of it, that ends the run.
  double interval = 0.01;
  int max_iterations = 1000;  // of the fastest worker, if `interval` is not met
  int warmup = 1;
  std::uint64_t seed = 1;
  std::string best_of;  // options; of cells that differ in these only, the best is compared
  std::optional<int> best_of_seeds;  // how many of the listed seeds choose it; none: the first one
  // Number of runs, each with its own seed; none: sim/setup/repeated_runs.h decides.
  std::optional<int> repeats;
};

struct PriceOptions {
  std::optional<double> price;          // of a worker for an hour, in any currency
  bool price_of_devices = false;        // the price is the mean of what the workers' devices cost
  std::optional<double> epoch_samples;  // none: the price is of a million samples
};

// resolve() (sim/options/resolve.h) sets the pointers to registered things; after it only
// `compressor` and `learning.problem` may be null. A function that needs one part takes that part.
struct Scenario : ClusterOptions,
                  JobOptions,
                  ComputeOptions,
                  ExchangeOptions,
                  CompressionOptions,
                  NetworkOptions,
                  MeasuringOptions,
                  PriceOptions {
  Learning learning;
  // The text of every option, given or default, for results and their names only.
  std::map<std::string, std::string> written;
  std::vector<std::string> warnings;  // about them

  int learned_samples() const { return learning.batch.value_or(samples()); }
  bool learns() const { return learning.problem != nullptr; }
};

}  // namespace syncline
