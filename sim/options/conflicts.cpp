#include "sim/options/conflicts.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "kernels/compressor.h"
#include "kernels/io/text.h"
#include "sim/catalogue/data.h"
#include "sim/options/learning.h"
#include "sim/options/options.h"
#include "sim/options/schedules.h"
#include "sim/plan.h"
#include "sim/platform/platform_words.h"
#include "sim/schedule.h"

namespace syncline {
namespace {

// Whether it sends only some values: with their indices, or the same random ones on all workers.
bool is_sparsifier(const Compressor& compressor) {
  return compressor.sparse || has_density(compressor);
}

// Why this schedule or exchange cannot work with the compressor; empty when it can.
std::string why_incompatible(const Schedule& schedule, const Exchange& exchange,
                             const Compressor& compressor) {
  const std::string pair = "compressor = " + compressor.name + ": ";
  if (schedule.sparsifiers_only && !is_sparsifier(compressor))
    return pair + "schedule " + schedule.name + " sends some of the values only; allowed are " +
           those_that<Compressor>(is_sparsifier);
  if (schedule.has_own_parameters() && compressor.name != no_compressor)
    return pair + "schedule " + schedule.name + " sends parameters, not gradients; allowed is " +
           no_compressor;
  if (schedule.server != nullptr || schedule.sharding != nullptr || carries(exchange, compressor))
    return {};
  const std::string why =
      exchange.carries == Exchange::Carries::sums
          ? " adds messages on the way, and " + compressor.name + "'s cannot be added"
          : " merges lists of index and value, and " + compressor.name + " makes none";
  return pair + "exchange " + exchange.name + why + "; allowed are exchanges " +
         those_that<Exchange>([&](const Exchange& other) { return carries(other, compressor); }) +
         ", or compressors " + those_that<Compressor>([&](const Compressor& other) {
           return carries(exchange, other) && (!schedule.sparsifiers_only || is_sparsifier(other));
         });
}

// `interval` has a meaning only if it decides when a run ends.
void find_misfits_of_length(const Learning& learning, const GivenOptions& given,
                            std::vector<Conflict>& conflicts) {
  const auto is_flag = [&](const char* key) { return given.at(key).where.starts_with("--"); };
  for (const char* key : {"interval", "max-iterations"}) {
    if (!given.contains(key))
      continue;
    const std::string nothing = std::string(key) + " means nothing with ";
    if (given.contains("iterations") && given.at("iterations").value != "auto" &&
        (is_flag(key) || !is_flag("iterations")))  // a flag may fix what a file leaves open
      conflicts.push_back(
          {key, nothing + "iterations = " + given.at("iterations").value + "; allowed is auto"});
    if (learning.problem != nullptr)
      conflicts.push_back({key, nothing + "learn, whose runs end with iterations or until"});
  }
}

// Finds given parameters that nothing chosen declares.
void find_misfits_of_settings(const Scenario& scenario, const GivenOptions& given,
                              std::vector<Conflict>& conflicts) {
  const Learning& learning = scenario.learning;
  std::vector<const std::vector<OwnOption>*> declared{
      &scenario.schedule->options, &scenario.exchange->options, &scenario.compressor->options};
  const bool averages = scenario.schedule->neighbours == nullptr;
  std::string to =
      fmt::format("schedule {}, exchange {}", scenario.schedule->name,
                  averages ? scenario.exchange->name : scenario.schedule->default_exchange());
  for (const CandidateExchange& candidate : scenario.candidates)
    declared.push_back(&candidate.exchange->options);
  if (learning.problem == nullptr) {
    to += " and compressor " + scenario.compressor->name;
  } else {
    to += fmt::format(", compressor {}, problem {} and data {}", scenario.compressor->name,
                      learning.problem->name, brief(learning.data));
    declared.push_back(&learning.problem->options);
    if (learning.data == "generated")
      declared.push_back(&generated_options());
  }
  for (const auto& own : own_options())
    if (const std::string& name = own.first;
        given.contains(name) && !is_learning_option(name) &&
        std::ranges::none_of(declared, [&](const auto* some) { return declares(*some, name); }))
      conflicts.push_back({name, name + " means nothing to " + to});
}

// Finds rules of buckets of bytes where there are no such buckets.
void find_misfits_of_buckets(const Scenario& scenario, const GivenOptions& given,
                             std::vector<Conflict>& conflicts) {
  const auto refuse_with = [&](const std::string& with, const std::string& allowed,
                               const std::vector<std::string>& keys) {
    for (const std::string& key : keys)
      if (given.contains(key))
        conflicts.push_back({key, key + " means nothing " + with + "; allowed " + allowed});
  };
  const Schedule& schedule = *scenario.schedule;
  const std::string to = "to schedule " + schedule.name;
  if (schedule.sharding != nullptr)
    refuse_with(to, "are schedules that send buckets, such as bsp",
                {"bucket-closes", "first-bucket-bytes", "fusion-cycle"});
  else if (scenario.fusion.kind != Fusion::Kind::bytes)
    refuse_with("with bucket-bytes = " + scenario.written.at("bucket-bytes"),
                "is a number for bucket-bytes",
                {"bucket-closes", "first-bucket-bytes", "fusion-cycle"});
  else if (schedule.round != nullptr || schedule.partners() != Schedule::Partners::each_other)
    refuse_with(to, "are schedules in which all workers average in every iteration, such as bsp",
                {"fusion-cycle"});
  else if (scenario.fusion.cycle_s > 0 && given.contains("fusion-cycle"))
    refuse_with("with fusion-cycle, which has buckets of at most bucket-bytes",
                "is fusion-cycle = 0", {"bucket-closes", "first-bucket-bytes"});
}

// With `learn`, gradients are sent only in formats to which their values are rounded.
void find_misfits_of_precision(const Scenario& scenario, std::vector<Conflict>& conflicts) {
  const std::string& wire = scenario.written.at("wire-precision");
  if (scenario.learns() &&
      (wire.empty() ? scenario.arithmetic == Arithmetic::bf16 : wire == "bf16"))
    conflicts.push_back({wire.empty() ? "precision" : "wire-precision",
                         "bf16 with learn: its gradients are sent in fp32 or fp16; allowed is "
                         "wire-precision = fp32 or fp16",
                         Conflict::LeftOut::cell});
}

// Given options that mean nothing whatever the schedule is, with sentences that say why.
std::map<std::string, std::string> meaningless(const Scenario& scenario,
                                               const GivenOptions& given) {
  std::map<std::string, std::string> some;
  if (given.contains("host-bandwidth") && is_platform_words(scenario.platform))
    some["host-bandwidth"] = fmt::format(
        "host-bandwidth means nothing to a platform in words, whose nodes have memory behind a "
        "port of {:g} GB/s for each card; allowed is the file that `syncline platform WORDS` "
        "prints, edited",
        memory_port_Bps / 1e9);
  if (given.contains("server-jitter") && scenario.server_software.overhead_s == 0)
    some["server-jitter"] = "server-jitter means nothing without server-overhead";
  return some;
}

}  // namespace

bool carries(const Exchange& exchange, const Compressor& compressor) {
  using Carries = Exchange::Carries;
  return exchange.carries == Carries::any ||
         (exchange.carries == Carries::sums ? compressor.reducible : compressor.sparse);
}

bool slows_computation(const Scenario& scenario) {
  return scenario.schedule->partners() == Schedule::Partners::each_other &&
         !scenario.exchange->uses_servers;
}

void find_conflicts(const Scenario& scenario, const GivenOptions& given,
                    std::vector<Conflict>& conflicts) {
  const Schedule& schedule = *scenario.schedule;
  const Exchange& exchange = *scenario.exchange;
  find_misfits_of_shards(scenario, given, conflicts);
  const std::string& written = scenario.written.at("exchange");
  if (!schedule.chooses_exchange() && written != schedule.default_exchange())
    conflicts.push_back({"exchange", "exchange = " + written + ": schedule " + schedule.name +
                                         " allows only " + schedule.default_exchange()});
  if (!scenario.candidates.empty() && scenario.compressor->name != no_compressor)
    conflicts.push_back(
        {"exchange",
         fmt::format("exchange = {}: it chooses between exchanges of dense gradients, not of "
                     "messages of compressor {}; allowed is compressor none",
                     written, scenario.compressor->name)});
  if (const std::string why = why_incompatible(schedule, exchange, *scenario.compressor);
      !why.empty())
    conflicts.push_back({given.contains("compressor") ? "compressor"
                         : given.contains("exchange") ? "exchange"
                                                      : "schedule",
                         why});
  const bool averages = schedule.partners() == Schedule::Partners::each_other;
  if (scenario.channels.value_or(1) > 1 && (!exchange.has_channels || !averages))
    conflicts.push_back(
        {"channels",
         fmt::format("channels = {} means nothing to {}; allowed are exchanges {}",
                     *scenario.channels,
                     !averages ? "schedule " + schedule.name : "exchange " + exchange.name,
                     those_that<Exchange>([](const Exchange& one) { return one.has_channels; }))});
  if (scenario.slowdown_beside_collectives() > 0 && !slows_computation(scenario))
    conflicts.push_back(
        {"overlap-slowdown",
         fmt::format("overlap-slowdown = {} means nothing to {}: messages to "
                     "servers or neighbours are not collectives on the "
                     "device; allowed is 0",
                     scenario.written.at("overlap-slowdown"),
                     !averages ? "schedule " + schedule.name : "exchange " + exchange.name)});
  if (scenario.nccl_net_latency_s > 0 && !scenario.nccl_chooses)
    conflicts.push_back({"nccl-net-latency", "nccl-net-latency means nothing to exchange = " +
                                                 written + "; allowed is exchange = nccl"});
  for (const auto& [option, sentence] : meaningless(scenario, given))
    if (given.at(option).where.starts_with("--"))  // a file may be for other platforms, too
      conflicts.push_back({option, sentence});
  if (scenario.throughput_is_of_schedule && !scenario.throughput)
    conflicts.push_back({"throughput-of",
                         "throughput-of = schedule: give throughput, the rate of one worker with "
                         "its servers",
                         Conflict::LeftOut::cell});
  if (scenario.throughput_servers && !scenario.throughput_is_of_schedule)
    conflicts.push_back({"throughput-servers",
                         "throughput-servers means nothing without throughput-of = schedule"});
  if (scenario.servers_hold_tensors &&
      (scenario.compressor->name != no_compressor || scenario.learns()))
    conflicts.push_back({"server-placement",
                         "server-placement = tensors: with a compressor or learn, each server "
                         "holds a share of every tensor; allowed is cut",
                         Conflict::LeftOut::cell});
  find_misfits_of_buckets(scenario, given, conflicts);
  find_misfits_of_precision(scenario, conflicts);
  find_misfits_of_length(scenario.learning, given, conflicts);
  if (given.contains("best-of-seeds") && !given.contains("best-of"))
    conflicts.push_back({"best-of-seeds",
                         "best-of-seeds means nothing without best-of: give best-of, the options "
                         "whose best value is compared"});
  find_misfits_of_settings(scenario, given, conflicts);
}

std::vector<std::string> without_effect(const Scenario& scenario, const GivenOptions& given) {
  using Partners = Schedule::Partners;
  const Partners partners = scenario.schedule->partners();
  const bool averages = partners == Partners::each_other;
  const bool have_servers =
      averages ? scenario.exchange->uses_servers : partners != Partners::neighbours;
  std::vector<std::string> some;
  const auto only_if = [&](bool used, const std::vector<std::string>& options) {
    for (const std::string& option : options)
      if (!used && given.contains(option) && std::ranges::find(some, option) == some.end())
        some.push_back(option);
  };
  only_if(have_servers,
          {"server-overhead", "server-placement", "host-bandwidth", "host-memory-bandwidth"});
  only_if(!scenario.schedule->servers_step(), {"optimizer-overhead"});
  only_if(averages, {"aggregate"});
  only_if(partners != Partners::aggregators, {"overlap"});
  only_if(averages || partners == Partners::servers,
          {"bucket-bytes", "first-bucket-bytes", "bucket-closes"});
  std::vector<std::string> sentences;
  if (!some.empty())
    sentences.push_back(
        fmt::format("{} {} no effect with schedule {}{}", fmt::join(some, ", "),
                    some.size() == 1 ? "has" : "have", scenario.schedule->name,
                    averages ? " over exchange " + scenario.written.at("exchange") : ""));
  for (const auto& [option, sentence] : meaningless(scenario, given))
    sentences.push_back(sentence);
  if (scenario.schedule->servers_step() && scenario.compresses() && scenario.optimizer.values > 0)
    sentences.push_back(
        fmt::format("optimizer has no effect with schedule {} and a compressor: servers add "
                    "messages, without a step",
                    scenario.schedule->name));
  if (const auto sharding = scenario.schedule->sharding;
      sharding != nullptr && given.contains("channels") &&
      sharding(scenario.schedule_settings).group != Among::all)
    sentences.emplace_back(
        "channels has no effect where groups of workers hold shards: each has one ring");
  if (given.contains("efficiency") && scenario.throughput)
    sentences.emplace_back(
        "efficiency has no effect beside throughput, which says how fast a worker computes");
  return sentences;
}

}  // namespace syncline
