#include "sim/options/schedules.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <stdexcept>

#include "sim/options/conflicts.h"

namespace syncline {
namespace {

constexpr const char* layers_split =
    "tensor parallelism, which splits layers over workers, is not modelled: nearest is schedule = "
    "fsdp, which shards parameters, with shard = node inside a node";
constexpr const char* pipelined =
    "pipeline parallelism, where workers hold different layers, is not modelled: nearest is "
    "schedule = fsdp, where each holds a shard of all layers, with accumulation micro-steps";
constexpr const char* combined =
    "tensor and pipeline parallelism are not modelled: nearest is schedule = fsdp with shard = "
    "node "
    "(a model that a node holds together, and data parallelism between nodes)";
constexpr const char* routed =
    "expert parallelism is not modelled: nearest is schedule = fsdp, which gathers what it shards";
constexpr const char* averages = "it averages gradients in every iteration: schedule = bsp";

// Words of other frameworks and papers.
const std::map<std::string, std::string> other_words{
    {"tp", layers_split},
    {"tensor-parallel", layers_split},
    {"sequence-parallel", layers_split},
    {"pp", pipelined},
    {"pipeline", pipelined},
    {"pipeline-parallel", pipelined},
    {"gpipe", pipelined},
    {"pipedream", pipelined},
    {"1f1b", pipelined},
    {"megatron", combined},
    {"megatron-lm", combined},
    {"3d", combined},
    {"ep", routed},
    {"moe", routed},
    {"expert-parallel", routed},
    {"ddp", averages},
    {"dp", averages},
    {"horovod", averages},
    {"zero", "its stages are zero = 1, 2 and 3 of schedule = fsdp"},
    {"zero1", "schedule = fsdp with zero = 1"},
    {"zero2", "schedule = fsdp with zero = 2"},
    {"zero3", "schedule = fsdp with zero = 3"},
    {"deepspeed", "its ZeRO stages are zero = 1, 2 and 3 of schedule = fsdp"},
    {"hsdp", "schedule = fsdp with shard = node"},
};

// A framework that shards needs its own schedule; the others do not shard.
void find_misfits_of_framework(const Scenario& scenario, std::vector<Conflict>& conflicts) {
  const Framework& framework = scenario.framework;
  const Schedule& schedule = *scenario.schedule;
  const auto own = std::ranges::find(framework.defaults, "schedule", &Default::option);
  if (own != framework.defaults.end() && own->value != schedule.name)
    conflicts.push_back({"schedule", fmt::format("schedule = {}: framework {} has schedule {}; "
                                                 "allowed are this schedule, or another framework",
                                                 schedule.name, framework.name, own->value)});
  if (own == framework.defaults.end() && !framework.name.empty() && schedule.sharding != nullptr)
    conflicts.push_back(
        {"schedule", fmt::format("schedule = {}: framework {} holds whole parameters on every "
                                 "worker; allowed with it are framework = pytorch-fsdp and none",
                                 schedule.name, framework.name)});
}

}  // namespace

const Schedule& schedule_called(const std::string& name) {
  if (const auto word = other_words.find(name); word != other_words.end())
    throw std::invalid_argument(fmt::format("schedule = {}: {}; allowed are {}", name, word->second,
                                            listed(Registered<Schedule>::names())));
  return Registered<Schedule>::find(name);
}

void find_misfits_of_shards(const Scenario& scenario, const GivenOptions& given,
                            std::vector<Conflict>& conflicts) {
  find_misfits_of_framework(scenario, conflicts);
  const Schedule& schedule = *scenario.schedule;
  if (schedule.sharding == nullptr)
    return;
  const auto refuse = [&](const char* key, const std::string& why, Conflict::LeftOut left_out) {
    conflicts.push_back(
        {key,
         fmt::format("{} = {}: schedule {} {}", key, scenario.written.at(key), schedule.name, why),
         left_out});
  };
  if (given.contains("bucket-bytes"))
    refuse("bucket-bytes", "moves units of layers, not buckets; allowed is units",
           Conflict::LeftOut::option);
  if (scenario.compressor->name != no_compressor)
    refuse("compressor", "sends parameters and gradients as they are; allowed is none",
           Conflict::LeftOut::by_default);
}

}  // namespace syncline
