#include "sim/setup/compute.h"

#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <stdexcept>

#include "kernels/philox.h"
#include "sim/setup/csv.h"
#include "sim/setup/files.h"

namespace syncline {
namespace {

// An iteration's computation: the forward pass is one of these parts, the backward pass two.
constexpr double parts = 3;

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

}  // namespace

ComputeTimes compute_times(const Scenario& scenario, const Model& model, const Cluster& cluster) {
  ComputeTimes times{.solo_s = {}, .model_flop = model.forward_flop(), .source = ""};
  // The measured speed belongs to one host; others scale by their speed.
  const auto in_proportion = [&](double samples_per_s, double of_speed_flops) {
    for (const HostFacts& host : cluster.workers)
      times.solo_s.push_back(scenario.batch / samples_per_s * of_speed_flops / host.speed_flops);
  };
  const HostFacts& first = cluster.workers.front();
  if (scenario.throughput) {
    in_proportion(*scenario.throughput, first.speed_flops);
    times.source = "option throughput";
    return times;
  }

  std::string rows_there_are;
  const std::string precision = scenario.precision == Precision::fp16 ? "fp16" : "fp32";
  const auto rows = measured_rows(model.name, precision, rows_there_are);
  const std::string device = device_of(scenario.device);
  if (const auto row = rows.find(device); row != rows.end()) {
    double speed_flops = first.speed_flops;
    for (const HostFacts& host : cluster.workers)
      if (host.device == device)
        speed_flops = host.speed_flops;
    in_proportion(row->second.samples_per_s, speed_flops);
    times.source = row->second.source;
    return times;
  }
  std::set<std::string> devices;
  bool all_measured = scenario.device.empty();
  for (const HostFacts& host : cluster.workers) {
    devices.insert(device_of(host.device));
    all_measured = all_measured && rows.contains(device_of(host.device));
  }
  if (all_measured) {
    for (const HostFacts& host : cluster.workers)
      times.solo_s.push_back(scenario.batch / rows.at(device_of(host.device)).samples_per_s);
    for (const std::string& device : devices)
      times.source += (times.source.empty() ? "" : "; ") + device + " " + rows.at(device).source;
    return times;
  }
  if (scenario.efficiency) {
    for (const HostFacts& host : cluster.workers)
      times.solo_s.push_back(parts * model.forward_flop() * scenario.batch /
                             (host.speed_flops * *scenario.efficiency));
    times.source = "option efficiency";
    return times;
  }
  std::string asked = scenario.device;
  if (asked.empty())
    for (const std::string& device : devices)
      asked += (asked.empty() ? "" : ", ") + (device.empty() ? "a host without device" : device);
  throw std::runtime_error("no compute cost for model " + model.name + ", device " + asked +
                           ", precision " + precision +
                           ": give throughput or efficiency, or a device that " +
                           "models/throughput.csv has for this model (" +
                           (rows_there_are.empty() ? "none" : rows_there_are) + ")");
}

double ComputeTimes::forward_s(int worker) const {
  return solo_s[static_cast<std::size_t>(worker)] * (1 / parts);
}

double ComputeTimes::backward_s(int worker, double forward_flop) const {
  return solo_s[static_cast<std::size_t>(worker)] * (2 / parts * forward_flop / model_flop);
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
