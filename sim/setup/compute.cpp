#include "sim/setup/compute.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numbers>
#include <stdexcept>

#include "kernels/philox.h"
#include "sim/setup/csv.h"
#include "sim/setup/files.h"

namespace syncline {
namespace {

// Beside longer ones, seconds of messages would be lost in rounding.
constexpr double longest_s = 1e7;

// Backward has two matrix products where forward has one.
constexpr double passes = 3;

struct Measured {
  double samples_per_s;
  std::string source;
};

// The rows of throughput.csv for one model and precision, by device.
std::map<std::string, Measured> measured_rows(const std::string& model,
                                              const std::string& precision,
                                              std::string& rows_there_are) {
  const Csv csv = read_csv(data_root() + "/models/throughput.csv");
  const std::size_t model_column = csv.column("model");
  const std::size_t device = csv.column("device");
  const std::size_t precision_column = csv.column("precision");
  const std::size_t batch = csv.column("batch");
  const std::size_t throughput = csv.column("throughput");
  const std::size_t source = csv.column("source");
  const Parameter allowed{.name = "throughput",
                          .sentence = "",
                          .fallback = "",
                          .minimum = 1e-9,
                          .maximum = 1e12,
                          .whole = false,
                          .choices = {}};
  std::map<std::string, Measured> found;
  for (const Csv::Row& row : csv.rows) {
    if (row.fields[model_column] != model)
      continue;
    rows_there_are += (rows_there_are.empty() ? "" : "; ") + row.fields[device] + " " +
                      row.fields[precision_column];
    if (row.fields[precision_column] != precision)
      continue;
    if (found.contains(row.fields[device]))
      throw std::runtime_error(csv.where(row) + ": a second row for this model, device and " +
                               "precision: allowed is one");
    try {
      found[row.fields[device]] = {checked_number(allowed, row.fields[throughput]),
                                   "measured at batch " +
                                       (row.fields[batch].empty() ? "?" : row.fields[batch]) +
                                       ": " + row.fields[source]};
    } catch (const std::invalid_argument& error) {
      throw std::runtime_error(csv.where(row) + ": " + error.what());
    }
  }
  return found;
}

// Of the platform's worker hosts with this device, whether they take part or not; of all where none
// has it, or none is named. So a figure does not depend on which workers are chosen, or their
// names.
double fastest_speed_flops(const Cluster& cluster, const std::string& device) {
  double fastest = 0;
  double fastest_of_device = 0;
  for (const HostFacts& host : cluster.worker_hosts) {
    fastest = std::max(fastest, host.speed_flops);
    if (!device.empty() && device_of(host.device) == device)
      fastest_of_device = std::max(fastest_of_device, host.speed_flops);
  }
  return fastest_of_device > 0 ? fastest_of_device : fastest;
}

// The optimiser's step, as work: seconds on the reference host times its speed.
double step_flop(const Scenario& scenario, const Model& model, const Cluster& cluster) {
  if (scenario.optimizer_values == 0)
    return 0;
  constexpr double value_bytes = 4;  // in fp16 too: see sim/README.md
  return value_bytes * scenario.optimizer_values * static_cast<double>(model.parameters()) /
         *scenario.memory_Bps * fastest_speed_flops(cluster, device_of(scenario.device));
}

// One iteration of each worker alone. Measured figures contain the optimiser's step.
ComputeTimes solo_times(const Scenario& scenario, const Model& model, const Cluster& cluster) {
  ComputeTimes times;
  times.model_flop = model.forward_flop();
  // A measured figure is that of the fastest host with the device: so much work is an iteration.
  const auto work_flop = [&](double samples_per_s, const std::string& device) {
    return scenario.batch / samples_per_s * fastest_speed_flops(cluster, device);
  };
  const auto same_for_all = [&](double flop, const std::string& source) {
    for (const HostFacts& host : cluster.workers)
      times.solo_s.push_back(flop / host.speed_flops);
    times.source = source;
    return times;
  };
  const std::string named = device_of(scenario.device);
  if (scenario.throughput)
    return same_for_all(work_flop(*scenario.throughput, named), "option throughput");
  if (model.times)
    return same_for_all(model.times->all_s() * fastest_speed_flops(cluster, named) +
                            step_flop(scenario, model, cluster),
                        "times of the model's file, for its own batch: option batch only counts "
                        "samples");

  std::string rows_there_are;
  const std::string precision = scenario.precision == Precision::fp16 ? "fp16" : "fp32";
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
      times.solo_s.push_back(flop_of.at(device_of(host.device)) / host.speed_flops);
    for (const auto& [device, flop] : flop_of)
      times.source += (times.source.empty() ? "" : "; ") + device + " " + rows.at(device).source;
    return times;
  }
  if (scenario.efficiency)
    return same_for_all(passes * model.forward_flop() * scenario.batch / *scenario.efficiency +
                            step_flop(scenario, model, cluster),
                        "option efficiency");
  std::string asked = scenario.device;
  if (asked.empty())
    for (const auto& [device, flop] : flop_of)
      asked += (asked.empty() ? "" : ", ") + (device.empty() ? "a host without device" : device);
  throw std::runtime_error("no compute cost for model " + model.name + ", device " + asked +
                           ", precision " + precision +
                           ": give throughput or efficiency, or a device that " +
                           "models/throughput.csv has for this model (" +
                           (rows_there_are.empty() ? "none" : rows_there_are) + ")");
}

}  // namespace

ComputeTimes compute_times(const Scenario& scenario, const Model& model, const Cluster& cluster) {
  ComputeTimes times = solo_times(scenario, model, cluster);
  const double flop = step_flop(scenario, model, cluster);
  double own_step = 0;  // part of an iteration that is the step of the model's file
  if (model.times) {
    const double computed_s = model.times->forward_s + model.times->backward_s;
    own_step = model.times->step_s / model.times->all_s();
    times.forward_part = model.times->forward_s / computed_s;
    times.backward_part = model.times->backward_s / computed_s;
    if (own_step > 0 && flop > 0)
      throw std::runtime_error("optimizer = " + scenario.written.at("optimizer") + ": model " +
                               model.name + " has times of its own updates; allowed with it is " +
                               "in-throughput");
  }
  const bool servers_apply = scenario.schedule != nullptr && scenario.schedule->server != nullptr;
  if (cluster.workers.size() > 1 && !servers_apply)
    times.launch_s = scenario.optimizer_overhead_s * static_cast<double>(model.layers.size());
  for (std::size_t w = 0; w < times.solo_s.size(); ++w) {
    if (times.solo_s[w] > longest_s) {
      char text[64];
      std::snprintf(text, sizeof text, "%.3g s of computation", times.solo_s[w]);
      throw std::runtime_error("an iteration has " + std::string(text) + " on host " +
                               cluster.workers[w].name + " (" + times.source +
                               "): allowed are up to 1e7 s");
    }
    const double step_s = flop / cluster.workers[w].speed_flops + own_step * times.solo_s[w];
    if (step_s >= times.solo_s[w])
      throw std::runtime_error("optimizer = " + scenario.written.at("optimizer") +
                               ": its step takes " + std::to_string(step_s) +
                               " s at this memory-bandwidth, but an iteration with it takes " +
                               std::to_string(times.solo_s[w]) + " s (" + times.source +
                               "); allowed are a larger memory-bandwidth or batch");
    if (servers_apply)
      times.solo_s[w] -= step_s;
    times.step_s.push_back(servers_apply ? 0 : step_s);
  }
  if (flop > 0) {
    char text[128];
    std::snprintf(text, sizeof text, "; %s's step, %.4g s on worker 0, %s",
                  scenario.written.at("optimizer").c_str(), flop / cluster.workers[0].speed_flops,
                  servers_apply ? "is the servers'" : "follows communication");
    times.source += text;
  }
  if (!model.read_as.empty())
    times.source += "; model read as " + model.read_as;
  return times;
}

double ComputeTimes::forward_s(int worker) const {
  const auto w = static_cast<std::size_t>(worker);
  return (solo_s[w] - step_s[w]) * forward_part;
}

double ComputeTimes::backward_s(int worker, double forward_flop) const {
  const auto w = static_cast<std::size_t>(worker);
  return (solo_s[w] - step_s[w]) * (backward_part * forward_flop / model_flop);
}

double jitter_factor(double coefficient, std::uint64_t seed, int rank, int iteration) {
  if (coefficient == 0)
    return 1;
  const PhiloxWords words =
      philox({static_cast<std::uint32_t>(iteration), static_cast<std::uint32_t>(rank), 0, 0},
             static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  // Box and Muller; adding 0.5 keeps the logarithm finite.
  const double u = (words[0] + 0.5) * 0x1p-32;
  const double v = (words[1] + 0.5) * 0x1p-32;
  const double normal = std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  const double variance = std::log1p(coefficient * coefficient);
  return std::exp(std::sqrt(variance) * normal - variance / 2);
}

}  // namespace syncline
