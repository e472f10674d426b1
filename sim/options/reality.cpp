#include "sim/options/reality.h"

#include <algorithm>
#include <fmt/format.h>

#include "kernels/io/text.h"
#include "sim/catalogue/files.h"
#include "sim/catalogue/refuse.h"
#include "sim/options/conflicts.h"
#include "sim/options/rows.h"
#include "sim/platform/platform_file.h"

namespace syncline {
namespace {

constexpr const char* straggling = "straggling";
constexpr const char* net_latency = "nccl-net-latency";

std::string file_of_values(const std::string& name, const std::string& folder) {
  if (name == typical_reality)
    return networks_file();
  if (const auto file = existing_file("platforms", ".csv", name, folder))
    return *file;
  refuse(
      "reality = {}: there is no such file; allowed are nominal, typical, or the path of a copy of "
      "platforms/networks.csv",
      brief_path(name));
}

}  // namespace

std::vector<Option> reality_options() {
  return {
      row(
          "reality", [](Scenario& s, const std::string& v) { s.reality.name = v; }, "", Role::run,
          "nominal rates, typical ones, or a file of values (default: typical where a framework "
          "and a kind of network are named, else nominal)",
          "nominal is an upper bound. typical gives options that you leave out the middle values "
          "of platforms/networks.csv for the framework and the kind of network, which a result "
          "names with their sources; a file is an edited copy of it.",
          "nominal"),
      row("network-efficiency", &Scenario::network_efficiency, numbers(1e-3, 1), "", Role::question,
          "part of the network cards' rate that collectives reach, such as 0.9 (default: 1)",
          "Protocols and copies take the rest. It counts for the cards of a platform in words, "
          "and in a file for links with the property kind = card or cards; not for NVLink, "
          "slots and switches.",
          "0.9"),
      row(net_latency, &Scenario::nccl_net_latency_s, numbers(0, 1), "", Role::question,
          "seconds that a network's plugin tells NCCL of each message between nodes (default: 0)",
          "Messages of exchange = nccl take this longer, and those of its protocol Simple twice "
          "this, as NCCL counts it. AWS's plugin for EFA tells 35 or 75 us; InfiniBand's tells 0.",
          "35e-6 --exchange nccl"),
      row(straggling, &Scenario::straggling, numbers(0, 2), "", Role::question,
          "coefficient of variation of compute time, as the mean of what all wait for the slowest "
          "(default: 0)",
          "As jitter, without chance: every worker computes as long as the slowest one does in the "
          "mean, and then shows as computation what jitter shows as waiting. For schedules whose "
          "workers all wait for each other.",
          "0.033")};
}

NetworkCards cards_of_platform(const std::string& platform) {
  const PlatformFile file = read_platform(platform, false);
  if (!file.refusal.empty())
    refuse(file.refusal);
  return file.cards;
}

void find_reality(const GivenOptions& given, const std::string& folder, const NetworkCards& cards,
                  Scenario& scenario) {
  Reality& reality = scenario.reality;
  reality.file = file_of_values(reality.name, folder);
  const std::string& framework = scenario.framework.name;
  if (framework.empty() && cards.kind.empty())
    refuse(
        "reality = {}: neither a framework nor a kind of network is named; allowed are framework = "
        "pytorch-ddp, or a platform that says {}, such as dgx:cards=8x400Gbps:ib or hosts with the "
        "property network",
        brief_path(reality.name), listed(network_kinds()));
  if (framework.empty())
    reality.unnamed.emplace_back("no framework is named, so its software takes no time");
  const bool with_efficiency = !given.contains("network-efficiency");
  if (cards.kind.empty() && with_efficiency)
    reality.unnamed.emplace_back("no kind of network is named, so cards have their nominal rates");
  reality.defaults = values_in_reality(reality.file, framework, cards, with_efficiency);
  if (!framework.empty()) {
    std::vector<std::string> unknown = unknown_in_reality(reality.file, framework);
    std::erase_if(unknown, [&](const std::string& option) { return given.contains(option); });
    if (!unknown.empty())
      reality.unnamed.push_back(fmt::format("nothing is known there of {} of {}",
                                            fmt::join(unknown, " and "), framework));
  }
  std::erase_if(reality.defaults, [&](const Default& value) {
    return given.contains(value.option) ||
           (value.option == "overlap-slowdown" && !slows_computation(scenario)) ||
           (value.option == "optimizer-overhead" && scenario.schedule->servers_step()) ||
           (value.option == net_latency && !scenario.nccl_chooses);
  });
}

void settle_straggling(const GivenOptions& given, Scenario& scenario,
                       std::vector<Conflict>& conflicts) {
  const bool in_step =
      scenario.schedule->waits(scenario.schedule_settings) == Schedule::Waiting::for_all;
  if (scenario.straggling == 0 || (in_step && scenario.jitter == 0))
    return;
  if (given.contains(straggling)) {
    const std::string own = "straggling = " + scenario.written.at(straggling);
    conflicts.push_back(
        {straggling, in_step ? own + ": jitter = " + scenario.written.at("jitter") +
                                   " draws what straggling takes as a mean; allowed is one of both"
                             : own + ": workers of schedule " + scenario.schedule->name +
                                   " do not all wait for each other; allowed is jitter"});
  }
  scenario.straggling = 0;
  scenario.written[straggling] = "0";
  if (std::erase_if(scenario.reality.defaults,
                    [](const Default& value) { return value.option == straggling; }) > 0)
    scenario.reality.unnamed.push_back(
        in_step ? "jitter is given, so there is no straggling"
                : "workers do not all wait for each other, so there is no straggling");
}

}  // namespace syncline
