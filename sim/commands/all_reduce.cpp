#include "sim/commands/all_reduce.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <vector>

#include "sim/options/sizes.h"
#include "sim/study/ordered_lists.h"

namespace syncline {
namespace {

bool has_meaning(const std::string& option) {
  static const std::vector<std::string> names{
      "platform", "workers",         "worker-hosts",          "placement",
      "seed",     "servers",         "workers-per-node",      "host-bandwidth",
      "exchange", "server-overhead", "host-memory-bandwidth", "channels",
      "network",  "step-overhead",   "bandwidth-factor",      "latency-factor",
      "fidelity", "reality",         "network-efficiency",    "nccl-net-latency",
      "device"};
  return is_among(option, names) ||
         std::ranges::any_of(Registered<Exchange>::all(), [&](const auto& exchange) {
           return std::ranges::find(exchange.second.options, option, &OwnOption::name) !=
                  exchange.second.options.end();
         });
}

}  // namespace

void require_meaning_for_all_reduce(const std::string& option, const std::string& where) {
  if (!has_meaning(option))
    throw std::invalid_argument(
        fmt::format("{} has no meaning for an all-reduce alone: allowed are options of the "
                    "cluster, the network and the exchange, and fidelity",
                    where));
}

std::uint64_t whole_values(std::uint64_t bytes) {
  return (bytes + value_of_message_bytes - 1) / value_of_message_bytes * value_of_message_bytes;
}

Setup prepare_all_reduce(const Scenario& given, const PlatformFile& platform, std::uint64_t bytes) {
  Scenario scenario = given;
  scenario.throughput = 1e15;
  scenario.fusion.kind = Fusion::Kind::all;
  scenario.iterations = 1;
  scenario.warmup = 0;
  scenario.repeats = 1;
  Setup setup =
      prepare(scenario, platform,
              Model{.name = "all-reduce",
                    .sample = "sample",
                    .layers = {{.name = "buffer",
                                .parameters = whole_values(bytes) / value_of_message_bytes,
                                .forward_flop = 1}}});
  if (setup.traffic.cluster.topology.workers() == 1)
    throw std::runtime_error("one worker: an all-reduce needs two or more");
  return setup;
}

double bus_bandwidth_Bps(int workers, double bytes, double seconds) {
  const double n = workers;
  return seconds > 0 ? 2 * (n - 1) / n * bytes / seconds : 0;
}

std::string other_ranks(const std::string& log, int gpus, int workers) {
  return gpus == workers ? ""
                         : fmt::format(
                               "{}: {} GPUs, but the cluster has {} workers; --workers and "
                               "--platform choose them",
                               log, gpus, workers);
}

}  // namespace syncline
