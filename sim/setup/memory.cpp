#include "sim/setup/memory.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "kernels/io/text.h"
#include "sim/catalogue/devices.h"

namespace syncline {
namespace {

// Memory that a worker keeps for each parameter.
struct Kept {
  double bytes = 0;
  double share = 1;  // the fraction of parameters for which a worker keeps it
  std::string what;
};

// Fractions that each worker holds: everything, unless the schedule shards it.
struct StateShares {
  double parameters = 1;
  double gradients = 1;
  double optimizer = 1;  // and the fp32 copy of the parameters
};

StateShares shares_of(const Scenario& scenario, const Topology& topology) {
  if (scenario.schedule->sharding == nullptr)
    return {};
  const Sharding sharding = scenario.schedule->sharding(scenario.schedule_settings);
  const double shard = 1.0 / static_cast<double>(topology.members(sharding.group, 0).size());
  const bool stay_whole = sharding.adds_whole && scenario.accumulation > 1;
  return {.parameters = sharding.parameters ? shard : 1,
          .gradients = sharding.gradients && !stay_whole ? shard : 1,
          .optimizer = shard};
}

// `encoded`: gradient values that this worker turns into messages in an iteration.
std::vector<Kept> kept_of(const Scenario& scenario, const Model& model, const Topology& topology,
                          double encoded) {
  const Schedule& schedule = *scenario.schedule;
  const StateShares shares = shares_of(scenario, topology);
  const Precision precision = kept_in(scenario.arithmetic);
  const auto bytes = static_cast<double>(value_bytes(precision));
  constexpr double of_fp32 = 4;
  std::vector<Kept> kept{{bytes, shares.parameters, "parameters"},
                         {bytes, shares.gradients, "gradients"}};
  if (!schedule.servers_step()) {  // otherwise servers keep these
    if (precision != Precision::fp32)
      kept.push_back({of_fp32, shares.optimizer, "fp32 copy"});
    if (const int states = scenario.optimizer.states(); states > 0)
      kept.push_back({of_fp32 * states, shares.optimizer, scenario.optimizer.name});
  }
  const double share = encoded / static_cast<double>(model.parameters());
  if (schedule.keeps != nullptr)
    for (const std::string& what : schedule.keeps(scenario.schedule_settings, share > 0))
      kept.push_back({of_fp32, 1, what});
  if (share == 0)
    return kept;
  const Compressor& compressor = *scenario.compressor;
  if (compressor.keeps_residual(scenario.compressor_settings))
    kept.push_back({of_fp32, share, "residual"});
  if (compressor.momentum.of != nullptr && compressor.momentum.of(scenario.compressor_settings) > 0)
    kept.push_back({of_fp32, share, "momentum of " + compressor.name});
  return kept;
}

// Units whose parameters are whole on each worker at the same time: the unit that computes, and the
// units that are gathered meanwhile.
struct Gathered {
  std::size_t units = 0;
  double parameters = 0;  // the maximum over consecutive units
};

Gathered gathered_at_once(const Scenario& scenario, const Model& model, const Topology& topology) {
  if (shares_of(scenario, topology).parameters == 1)
    return {};
  const Sharding sharding = scenario.schedule->sharding(scenario.schedule_settings);
  const std::vector<Bucket> units = unit_buckets(model, sharding.parts);
  Gathered most{.units = std::min(units.size(), static_cast<std::size_t>(sharding.prefetch) + 1)};
  double sum = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    sum += static_cast<double>(units[i].parameters);
    if (i >= most.units)
      sum -= static_cast<double>(units[i - most.units].parameters);
    most.parameters = std::max(most.parameters, sum);
  }
  return most;
}

// Gradients that a worker has beside its shards while a unit's are whole, before they are
// scattered: the others' shards of the largest unit.
double scattered_at_once(const Scenario& scenario, const Model& model, const Topology& topology) {
  const double shard = shares_of(scenario, topology).gradients;
  if (shard == 1)
    return 0;
  const Sharding sharding = scenario.schedule->sharding(scenario.schedule_settings);
  const std::vector<Bucket> units = unit_buckets(model, sharding.parts);
  return (1 - shard) *
         static_cast<double>(std::ranges::max_element(units, {}, &Bucket::parameters)->parameters);
}

// Bytes of a sample that are in memory at once, in 16 bits, by the model's file: everything that
// forward keeps, plus the largest part that backward computes again. With `selective` the parts are
// each layer's attention_bytes; with `full` they are whole units, of which the first tensor's
// activations are kept.
double activations_in(const Model& model, Recompute recompute) {
  double kept = 0;
  double again = 0;  // the largest part
  if (recompute == Recompute::full) {
    auto layer = model.layers.rbegin();
    for (const Bucket& unit : unit_buckets(model, std::nullopt)) {
      double all = 0;
      for (int i = 0; i < unit.tensors; ++i)
        all += (layer++)->activation_bytes;
      const double input = (layer - 1)->activation_bytes;  // of its first tensor
      kept += input;
      again = std::max(again, all - input);
    }
    return kept + again;
  }
  for (const Layer& layer : model.layers) {
    const double left_out = recompute == Recompute::selective ? layer.attention_bytes : 0;
    kept += layer.activation_bytes - left_out;
    again = std::max(again, left_out);
  }
  return kept + again;
}

// Bytes of a sample; 0: unknown.
double activation_bytes_of(const Scenario& scenario, const Model& model) {
  constexpr double of_16_bits = 2;
  return scenario.activation_bytes.value_or(
      activations_in(model, scenario.recompute) *
      static_cast<double>(value_bytes(kept_in(scenario.arithmetic))) / of_16_bits);
}

// The workers' known device with the least memory.
const Device* smallest_device(const Scenario& scenario, const Cluster& cluster) {
  const Device* smallest = nullptr;
  std::string seen;
  for (const HostFacts& worker : cluster.workers) {
    const std::string& name = scenario.device.empty() ? worker.device : scenario.device;
    if (smallest != nullptr && name == seen)
      continue;
    seen = name;
    if (const Device* device = name.empty() ? nullptr : known_device(name);
        device != nullptr && (smallest == nullptr || device->memory_bytes < smallest->memory_bytes))
      smallest = device;
  }
  return smallest;
}

}  // namespace

std::optional<MemoryNeed> memory_need(const Scenario& scenario, const Model& model,
                                      const Cluster& cluster, double encoded) {
  const Device* device = smallest_device(scenario, cluster);
  if (device == nullptr)
    return std::nullopt;
  std::string terms;
  double bytes = 0;
  for (const auto& [of_each, share, what] : kept_of(scenario, model, cluster.topology, encoded)) {
    bytes += of_each * share;
    terms += fmt::format("{}{:g}{} {}", terms.empty() ? "" : " + ", of_each,
                         share == 1 ? "" : fmt::format(" x {:.4g}", share), what);
  }
  const auto parameters = static_cast<double>(model.parameters());
  MemoryNeed need{.bytes = parameters * bytes, .has_bytes = device->memory_bytes, .arithmetic = {}};
  need.arithmetic = fmt::format("{:.4g} B parameters x ({}) bytes", parameters / 1e9, terms);
  const auto of_each = static_cast<double>(value_bytes(kept_in(scenario.arithmetic)));
  if (const Gathered gathered = gathered_at_once(scenario, model, cluster.topology);
      gathered.units > 0) {
    need.bytes += gathered.parameters * of_each;
    need.arithmetic += fmt::format(" + {:.4g} B of {} x {:g} bytes", gathered.parameters / 1e9,
                                   counted(gathered.units, "gathered unit"), of_each);
  }
  if (const double others = scattered_at_once(scenario, model, cluster.topology); others > 0) {
    need.bytes += others * of_each;
    need.arithmetic +=
        fmt::format(" + {:.4g} B of a unit's gradients, before they are scattered, x {:g} bytes",
                    others / 1e9, of_each);
  }
  const double activations = activation_bytes_of(scenario, model);
  if (activations > 0) {
    need.bytes += scenario.batch * activations;
    need.arithmetic +=
        fmt::format(" + {} samples x {:.4g} GB of activations{}", scenario.batch, activations / 1e9,
                    scenario.recompute == Recompute::off || scenario.activation_bytes
                        ? ""
                        : ", recompute = " + std::string(name_of(scenario.recompute)));
  }
  need.arithmetic += fmt::format(" = {:.4g} GB {} {:.4g} GB of {}", need.bytes / 1e9,
                                 need.fits() ? "<=" : ">", need.has_bytes / 1e9, device->name);
  std::string lacks = scenario.optimizer.values == 0 && !scenario.schedule->servers_step()
                          ? "an optimizer's states"
                          : "";
  if (activations == 0 && !scenario.activation_bytes)
    lacks += lacks.empty() ? "activations" : " and activations";
  if (!lacks.empty())
    need.arithmetic += ", without " + lacks;
  return need;
}

}  // namespace syncline
