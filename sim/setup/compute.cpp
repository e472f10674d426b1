#include "sim/setup/compute.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numbers>
#include <stdexcept>

#include "kernels/philox.h"
#include "sim/catalogue/csv.h"
#include "sim/catalogue/devices.h"
#include "sim/catalogue/files.h"
#include "sim/catalogue/refuse.h"
#include "sim/setup/straggling.h"

namespace syncline {
namespace {

// With longer times, seconds of messages would be lost in rounding.
constexpr double longest_s = 1e7;

struct MeasuredThroughput {
  double samples_per_s;
  std::string source;
};

// The rows of throughput.csv for one model and precision, by device.
std::map<std::string, MeasuredThroughput> measured_rows(const std::string& model,
                                                        const std::string& precision,
                                                        std::string& rows_there_are) {
  const Csv csv = read_csv(data_root() + "/models/throughput.csv");
  const std::size_t model_column = csv.column("model");
  const std::size_t device = csv.column("device");
  const std::size_t precision_column = csv.column("precision");
  const std::size_t batch = csv.column("batch");
  const std::size_t throughput = csv.column("throughput");
  const std::size_t source = csv.column("source");
  std::map<std::string, MeasuredThroughput> found;
  csv.for_each_row([&](const Csv::Row& row) {
    const std::vector<std::string>& fields = row.fields;
    if (fields[model_column] != model)
      return;
    rows_there_are +=
        (rows_there_are.empty() ? "" : "; ") + fields[device] + " " + fields[precision_column];
    if (fields[precision_column] != precision)
      return;
    if (found.contains(fields[device]))
      refuse("a second row for this model, device and precision: allowed is one");
    found[fields[device]] = {
        checked_number({.name = "throughput", .minimum = 1e-9, .maximum = 1e12},
                       fields[throughput]),
        fmt::format("measured at batch {}: {}", fields[batch].empty() ? "?" : fields[batch],
                    fields[source])};
  });
  return found;
}

// Speeds of the platform's fastest worker hosts, whether or not they take part, so that a figure
// does not depend on the choice of workers or on their names.
class Fastest {
 public:
  explicit Fastest(const Cluster& cluster) {
    for (const HostFacts& host : cluster.worker_hosts) {
      all_flops_ = std::max(all_flops_, host.speed_flops);
      double& of_device = of_device_flops_[host.device];
      of_device = std::max(of_device, host.speed_flops);
    }
  }
  // The fastest host with this device; of all hosts if none has the device, or if none is named.
  double speed_flops(const std::string& device) const {
    double fastest = 0;
    for (const auto& [name, flops] : of_device_flops_)  // few entries
      if (!device.empty() && device_of(name) == device)
        fastest = std::max(fastest, flops);
    return fastest > 0 ? fastest : all_flops_;
  }

 private:
  double all_flops_ = 0;
  std::map<std::string, double> of_device_flops_;
};

// Bytes/s of a device's memory: the option's value, which is for the reference host; or the value
// in platforms/devices.csv, measured if there is a measurement.
struct MemoryRate {
  double Bps = 0;
  std::string source;  // "1,360 GB/s, measured of a100"; empty: the option's value
};

// The device of a worker on this host: the option `device` comes first.
const std::string& device_at(const Scenario& scenario, const HostFacts& host) {
  return scenario.device.empty() ? host.device : scenario.device;
}

MemoryRate memory_rate(const Scenario& scenario, const HostFacts& host) {
  if (scenario.memory_Bps)
    return {*scenario.memory_Bps, ""};
  const std::string& name = device_at(scenario, host);
  const Device* device = name.empty() ? nullptr : known_device(name);
  if (device == nullptr)
    throw std::runtime_error(fmt::format(
        "optimizer = {}: its step moves {} bytes per parameter, and {} is not in "
        "platforms/devices.csv; give memory-bandwidth, the bytes/s of the device's memory",
        scenario.optimizer.name, 4 * scenario.optimizer.values,
        name.empty() ? "a host without device" : "device " + brief(name)));
  const double Bps = device->stream_Bps.value_or(device->memory_Bps);
  return {Bps, fmt::format("{:g} GB/s, {} of {}", Bps / 1e9,
                           device->stream_Bps ? "measured" : "nominal", device->name)};
}

// The optimiser's step of a worker on this host, as work: its seconds on the reference host times
// the reference host's speed. The reference is the fastest host; with rates of devices.csv, the
// fastest host that has the same device, so that each device moves the step's bytes at its own
// rate.
double step_flop(const Scenario& scenario, const Model& model, const Fastest& fastest,
                 const HostFacts& host) {
  if (scenario.optimizer.values == 0)
    return 0;
  constexpr double value_bytes = 4;  // in fp16 too: see sim/setup/README.md
  const std::string& reference = scenario.memory_Bps ? scenario.device : device_at(scenario, host);
  return value_bytes * scenario.optimizer.values * static_cast<double>(model.parameters()) /
         memory_rate(scenario, host).Bps * fastest.speed_flops(device_of(reference));
}

// The part of the optimiser's step that a worker takes: its own shard's part if workers hold
// shards.
double part_of_step(const Scenario& scenario, const Cluster& cluster) {
  if (scenario.schedule == nullptr || scenario.schedule->sharding == nullptr)
    return 1;
  const Among group = scenario.schedule->sharding(scenario.schedule_settings).group;
  return 1.0 / static_cast<double>(cluster.topology.members(group, 0).size());
}

// Samples/s of a device at the fraction `efficiency` of its peak; adds the peak to `source`.
double samples_at_peak(const Scenario& scenario, const Model& model, const std::string& name,
                       std::string& source) {
  const std::string precision = name_of(scenario.arithmetic);
  const Device* device = known_device(name);
  if (device == nullptr || !device->peak_flops.contains(scenario.arithmetic)) {
    std::vector<std::string> names;
    for (const Device& known : known_devices())
      if (known.peak_flops.contains(scenario.arithmetic))
        names.push_back(known.name);
    throw std::runtime_error(fmt::format(
        "efficiency with precision = {}: {} has no such peak in platforms/devices.csv; allowed are "
        "throughput, or device = {}",
        precision, name.empty() ? "a host without device" : "device " + brief(name),
        listed(names)));
  }
  const double peak = device->peak_flops.at(scenario.arithmetic);
  source += fmt::format("{}{:g} TFLOP/s, the {} peak of {} ({})", source.empty() ? "" : "; ",
                        peak / 1e12, precision, device->name, device->source);
  return peak * *scenario.efficiency / model.training_flop();
}

// ", of the platform's fastest host; workers compute at 0.29 to 1 times its speed"; empty where all
// have the speed of this host, the fastest with the device.
std::string of_which_host(const Cluster& cluster, double reference_flops,
                          const std::string& device) {
  const auto [slow, fast] = std::ranges::minmax(cluster.workers, {}, &HostFacts::speed_flops);
  const double least = slow.speed_flops / reference_flops;
  const double most = fast.speed_flops / reference_flops;
  if (least == 1 && most == 1)
    return "";
  return fmt::format(
      ", of the platform's fastest host{}; workers compute at {:.3g}{} times its speed",
      device.empty() ? "" : " with " + device, least,
      least < most ? fmt::format(" to {:.3g}", most) : "");
}

// One micro-step of each worker alone, with the optimiser's step; compute_times() subtracts the
// step.
struct MicroSteps {
  std::vector<double> seconds;
  std::string source;
};

MicroSteps micro_steps_alone(const Scenario& scenario, const Model& model, const Cluster& cluster,
                             const Fastest& fastest) {
  MicroSteps all;
  // A measured figure is for the fastest host with the device. This gives the work of a micro-step.
  const auto work_flop = [&](double samples_per_s, const std::string& device) {
    return scenario.batch / samples_per_s * fastest.speed_flops(device);
  };
  const auto same_for_all = [&](double flop, const std::string& source, bool and_step = false) {
    for (const HostFacts& host : cluster.workers)
      all.seconds.push_back((and_step ? flop + step_flop(scenario, model, fastest, host) : flop) /
                            host.speed_flops);
    all.source = source;
    return all;
  };
  const std::string named = device_of(scenario.device);
  if (scenario.throughput)
    return same_for_all(
        work_flop(*scenario.throughput, named),
        scenario.throughput_is_of_schedule
            ? fmt::format(
                  "option throughput, of one worker with its servers: its computation alone "
                  "would do {:.5g} samples/s",
                  *scenario.throughput)
            : "option throughput" + of_which_host(cluster, fastest.speed_flops(named), named));
  if (model.times)
    return same_for_all(
        model.times->all_s() * fastest.speed_flops(named),
        "times of the model's file, for its own batch: option batch only counts samples", true);

  std::string rows_there_are;
  const std::string precision = name_of(scenario.arithmetic);
  const auto rows = measured_rows(model.name, precision, rows_there_are);
  if (const auto row = rows.find(named); row != rows.end())
    return same_for_all(work_flop(row->second.samples_per_s, named), row->second.source);

  std::map<std::string, double> flop_of;  // by the workers' own devices
  bool all_measured = scenario.device.empty();
  for (const HostFacts& host : cluster.workers) {
    const auto [entry, added] = flop_of.emplace(device_of(host.device), 0.0);
    const auto row = rows.find(entry->first);
    all_measured = all_measured && row != rows.end();
    if (added && row != rows.end())
      entry->second = work_flop(row->second.samples_per_s, entry->first);
  }
  if (all_measured) {
    for (const HostFacts& host : cluster.workers)
      all.seconds.push_back(flop_of.at(device_of(host.device)) / host.speed_flops);
    for (const auto& [device, flop] : flop_of)
      all.source += (all.source.empty() ? "" : "; ") + device + " " + rows.at(device).source;
    return all;
  }
  if (scenario.efficiency &&
      scenario.arithmetic != Arithmetic::fp32) {  // fp32 peaks are the hosts' speeds
    if (!named.empty())
      flop_of = {{named, 0.0}};
    std::string peaks;
    for (auto& [device, flop] : flop_of)
      flop = work_flop(samples_at_peak(scenario, model, device, peaks), device);
    for (const HostFacts& host : cluster.workers)
      all.seconds.push_back((flop_of.at(named.empty() ? device_of(host.device) : named) +
                             step_flop(scenario, model, fastest, host)) /
                            host.speed_flops);
    all.source = "option efficiency, of " + peaks;
    return all;
  }
  if (scenario.efficiency)
    return same_for_all(model.training_flop() * scenario.batch / *scenario.efficiency,
                        "option efficiency, of each host's speed in the platform", true);
  std::string asked = scenario.device;
  if (asked.empty())
    for (const auto& [device, flop] : flop_of)
      asked += (asked.empty() ? "" : ", ") + (device.empty() ? "a host without device" : device);
  throw std::runtime_error(
      fmt::format("no compute cost for model {}, device {}, precision {}: give throughput or "
                  "efficiency, or a device that models/throughput.csv has for this model ({})",
                  model.name, asked, precision, rows_there_are.empty() ? "none" : rows_there_are));
}

// Every worker computes as long as the slowest one does in the mean.
void take_straggling(const Scenario& scenario, const Cluster& cluster,
                     const std::map<std::string, double>& speeds, ComputeTimes& times) {
  std::vector<ComputedIteration> iterations;
  for (std::size_t w = 0; w < times.of_worker.size(); ++w) {
    const auto profile = speeds.find(cluster.workers[w].name);
    const double speed = profile == speeds.end() ? 1 : profile->second;
    const ComputeTimes::OfWorker& worker = times.of_worker[w];
    iterations.push_back({.passes_s = times.micro_steps * worker.micro_step_s / speed,
                          .step_s = (times.launch_s + worker.step_s) / speed});
  }
  const double factor = straggling_factor(scenario, cluster.topology, iterations);
  if (factor == 1)
    return;
  for (ComputeTimes::OfWorker& worker : times.of_worker) {
    worker.micro_step_s *= factor;
    worker.step_s *= factor;
  }
  times.launch_s *= factor;
  times.source += fmt::format(
      "; takes {:.3f} times as long until the slowest of {} workers has it (straggling {:g})",
      factor, cluster.topology.workers(), scenario.straggling);
}

}  // namespace

// A plain average replaces parameters. Where the last average is kept, the change since then is
// made (3 values), and applied to that and to the parameters (4); an outer momentum is read and
// written, too.
double together_part(const Scenario& scenario) {
  if (scenario.schedule == nullptr || scenario.schedule->keeps == nullptr ||
      scenario.optimizer.values == 0)
    return 0;
  const std::size_t kept =
      scenario.schedule->keeps(scenario.schedule_settings, scenario.compresses()).size();
  return kept == 0 ? 0 : (5 + 2 * static_cast<double>(kept)) / scenario.optimizer.values;
}

ComputeTimes compute_times(const Scenario& scenario, const Model& model, const Cluster& cluster,
                           const std::map<std::string, double>& speeds) {
  const Fastest fastest(cluster);
  const MicroSteps alone = micro_steps_alone(scenario, model, cluster, fastest);
  ComputeTimes times{.micro_steps = scenario.accumulation,
                     .model_flop = model.forward_flop(),
                     .again_flop = model.again_flop(),
                     .source = alone.source};
  double own_step = 0;  // fraction of a micro-step that is the step in the model's file
  if (model.times) {
    const double computed_s = model.times->forward_s + model.times->backward_s;
    times.forward_part = model.times->forward_s / computed_s;
    times.backward_part = model.times->backward_s / computed_s;
    own_step = model.times->step_s / model.times->all_s();
    if (own_step > 0 && scenario.optimizer.values > 0)
      throw std::runtime_error(fmt::format(
          "optimizer = {}: model {} has times of its own updates; allowed with it is in-throughput",
          scenario.optimizer.name, model.name));
  }
  times.again_part = times.forward_part * times.again_flop / times.model_flop;
  const double more = 1 + times.again_part;  // computation with recomputation, relative to without
  for (double* part : {&times.forward_part, &times.backward_part, &times.again_part})
    *part /= more;
  const bool servers_apply = scenario.schedule != nullptr && scenario.schedule->servers_step();
  if (cluster.workers.size() > 1 && !servers_apply)
    times.launch_s = scenario.optimizer_overhead_s * static_cast<double>(model.layers.size());
  const double own_part = part_of_step(scenario, cluster);
  times.together_part = together_part(scenario);
  for (std::size_t w = 0; w < cluster.workers.size(); ++w) {
    const HostFacts& host = cluster.workers[w];
    const double step_s =
        step_flop(scenario, model, fastest, host) / host.speed_flops + own_step * alone.seconds[w];
    const double computed_s = alone.seconds[w] - step_s;
    if (computed_s <= 0)
      throw std::runtime_error(fmt::format(
          "optimizer = {}: its step takes {:f} s at this memory-bandwidth, but an iteration with "
          "it takes {:f} s ({}); allowed are a larger memory-bandwidth or batch",
          scenario.optimizer.name, step_s, alone.seconds[w], times.source));
    times.alone_s.push_back(scenario.accumulation * computed_s + step_s);
    times.of_worker.push_back(
        {.micro_step_s = more * computed_s, .step_s = servers_apply ? 0 : own_part * step_s});
    if (const double solo_s = times.solo_s(static_cast<int>(w)); solo_s > longest_s)
      throw std::runtime_error(
          fmt::format("an iteration has {:.3g} s of computation on host {} ({}): allowed are up to "
                      "1e7 s",
                      solo_s, host.name, times.source));
  }
  if (scenario.optimizer.values > 0) {
    const HostFacts& first = cluster.workers[0];
    const std::string rate = memory_rate(scenario, first).source;
    times.source +=
        fmt::format("; {}'s step, {:.4g} s on worker 0{}, {}", scenario.optimizer.name,
                    own_part * step_flop(scenario, model, fastest, first) / first.speed_flops,
                    rate.empty() ? "" : " (memory-bandwidth " + rate + ")",
                    servers_apply ? "is the servers'" : "follows communication");
  }
  if (more > 1)
    times.source += fmt::format("; recompute = {} takes {:.3f} times its computation",
                                name_of(scenario.recompute), more);
  take_straggling(scenario, cluster, speeds, times);
  if (const double slowdown = scenario.slowdown_beside_collectives(); slowdown > 0)
    times.source += fmt::format("; takes {:.3f} times as long beside collectives{}", 1 + slowdown,
                                scenario.overlap_slowdown
                                    ? ""
                                    : ", the published mean of GPT and LLaMA on four A100, H100, "
                                      "MI210 or MI250 (Lee et al. 2025, arXiv 2507.03114)");
  if (!model.read_as.empty())
    times.source += "; model read as " + model.read_as;
  return times;
}

double ComputeTimes::longest_solo_s() const {
  double longest_s = 0;
  for (int worker = 0; worker < static_cast<int>(of_worker.size()); ++worker)
    longest_s = std::max(longest_s, solo_s(worker));
  return longest_s;
}

double ComputeTimes::forward_s(int worker, double forward_flop) const {
  return forward_s(worker) * forward_flop / model_flop;
}

double ComputeTimes::backward_s(int worker, const Bucket& bucket) const {
  return micro_step_s(worker) * backward_part_of(bucket);
}

double ComputeTimes::again_in_backward(const Bucket& bucket) const {
  const double again = again_part_of(bucket);
  return again > 0 ? again / backward_part_of(bucket) : 0;
}

double jitter_factor(double coefficient, std::uint64_t seed, int rank, int iteration) {
  if (coefficient == 0)
    return 1;
  const PhiloxWords words =
      philox({static_cast<std::uint32_t>(iteration), static_cast<std::uint32_t>(rank), 0, 0},
             static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  // Box-Muller transform; adding 0.5 keeps the logarithm finite.
  const double u = (words[0] + 0.5) * 0x1p-32;
  const double v = (words[1] + 0.5) * 0x1p-32;
  const double normal = std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  const double variance = std::log1p(coefficient * coefficient);
  return std::exp(std::sqrt(variance) * normal - variance / 2);
}

}  // namespace syncline
