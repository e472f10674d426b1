#include "sim/setup/setup.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/io/text.h"
#include "sim/catalogue/data.h"
#include "sim/catalogue/devices.h"
#include "sim/catalogue/refuse.h"
#include "sim/platform/platform.h"
#include "sim/platform/platform_settings.h"
#include "sim/setup/buckets.h"
#include "sim/setup/worker_devices.h"
#include "sim/traffic/channels.h"
#include "sim/traffic/exchange_cost.h"

namespace syncline {
namespace {

Cluster load_cluster(const Scenario& scenario, const PlatformFile& platform) {
  try {
    const std::shared_ptr<const Platform> loaded = load_platform(scenario, platform);
    Cluster cluster = choose_cluster(loaded->hosts, scenario, scenario.seed);
    cluster.platform = loaded;
    Routes routes = cluster.routes();
    if (scenario.schedule->partners() ==
        Schedule::Partners::each_other)  // dense rivals use channels, too
      cluster.topology.channels = channels_over(cluster.topology, routes, scenario.channels);
    return cluster;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    // SimGrid's messages about a file name it; ours about its hosts do not.
    const std::string what = error.what();
    throw std::runtime_error(what.find(scenario.platform) == std::string::npos
                                 ? "platform " + scenario.platform + ": " + what
                                 : what);
  }
}

Traffic load_traffic(const Scenario& scenario, Cluster cluster, const Bucket& model_bucket) {
  std::optional<double> start;
  if (scenario.network_prices) {
    const Traffic dense = traffic_of(scenario, cluster, {});
    Routes routes = cluster.routes();
    start =
        start_bytes(dense, routes, dense.bytes_of(model_bucket), scenario.compressor->reducible);
  }
  Compression compression(scenario, cluster, start);
  return traffic_of(scenario, std::move(cluster), std::move(compression));
}

// Warns if servers and aggregators share a worker's host, because their node has no host of its
// own.
std::vector<Warning> shared_hosts(const Scenario& scenario, const Traffic& traffic) {
  const Cluster& cluster = traffic.cluster;
  const bool averages = traffic.partners == Schedule::Partners::each_other;
  if (!uses_node_hosts(scenario) ||  // a single node may average without its server
      (averages && traffic.plan_of(dense(1), cluster.topology.workers()).empty()))
    return {};
  const auto nodes = std::ranges::count(cluster.on_a_worker, true);
  if (nodes == 0)
    return {};
  const auto node =
      static_cast<int>(std::ranges::find(cluster.on_a_worker, true) - cluster.on_a_worker.begin());
  const std::vector<int>& workers = cluster.topology.nodes[index(node)];
  Routes routes = cluster.routes();
  const Route route = routes.between(cluster.aggregator_of(node), workers.back());
  const std::string link =
      route.links.empty() ? "links" : "link " + routes.link(route.links[0]).name;
  return {fmt::format(
      "{} {} no host of its own: the server or aggregator of node {} shares host {} and its {} "
      "with worker {}; give the node a host with role = host, or a zone of its own with a router",
      nodes, nodes > 1 ? "nodes have" : "node has", node,
      cluster.rank_hosts[index(workers.front())], link, workers.front())};
}

// Warns that each worker is a node, if neither the platform nor the user says so.
std::vector<Warning> lone_workers(const Scenario& scenario, const Cluster& cluster) {
  if (scenario.workers_per_node || cluster.topology.workers() == 1 ||
      !std::ranges::all_of(cluster.worker_hosts, &std::string::empty, &HostFacts::node))
    return {};
  return {
      fmt::format("no host of this platform has the property `node`, so each of {} workers is a "
                  "node with a network card of its own; workers-per-node = 8 would make one node "
                  "of eight neighbours, and 1 confirms one worker per node",
                  cluster.topology.workers())};
}

std::string adding_source(const Scenario& scenario) {
  if (scenario.schedule->server == nullptr && !scenario.exchange->uses_servers)
    return {};
  const ServerSoftware& software = scenario.server_software;
  return fmt::format("{:g} GB/s of host memory, {}{}", scenario.host_memory_Bps / 1e9,
                     scenario.host_memory_Bps == Scenario().host_memory_Bps
                         ? "the default: STREAM on a server of two sockets, about (remembered)"
                         : "option host-memory-bandwidth",
                     software.source.empty()
                         ? ""
                         : fmt::format("; {:g} s of a server's core per tensor of a message, which "
                                       "varies by {:.0f} %, {}",
                                       software.overhead_s, 100 * scenario.variation_at_servers(),
                                       software.source));
}

std::shared_ptr<const LearningTask> lesson_of(const Scenario& scenario) {
  if (!scenario.learns())
    return nullptr;
  const Learning& learning = scenario.learning;
  const auto learning_task = std::make_shared<LearningTask>();  // the objective refers to its data
  learning_task->data =
      load_data(learning.data, learning.data_folder, learning.generated, scenario.seed);
  if (learning.validates)
    hold_out_validation(learning_task->data);
  learning_task->objective =
      learning.problem->objective(learning.problem_settings, learning_task->data, scenario.seed);
  return learning_task;
}

// Without a model, the learned problem is timed.
Model trained_model(const Scenario& scenario, const LearningTask* learning_task) {
  if (!scenario.model.empty())
    return read_model(scenario.model, static_cast<int>(value_bytes(scenario.precision)));
  Model model{.name = scenario.learning.problem->name,
              .sample = "sample of " + learning_task->data.source};
  for (const Tensor& tensor : learning_task->objective.tensors)
    model.layers.push_back({tensor.name, tensor.parameters, tensor.forward_flop});
  return model;
}

// Sets the flop that backward computes again.
void set_recomputed(const Scenario& scenario, Model& model) {
  if (scenario.recompute == Recompute::selective && model.attention_flop() == 0)
    refuse(
        "recompute = selective: model {} does not say which operations are attention's (column "
        "attention_flop of its file); allowed are off and full",
        model.name);
  for (Layer& layer : model.layers)
    layer.again_flop = scenario.recompute == Recompute::full        ? layer.forward_flop
                       : scenario.recompute == Recompute::selective ? layer.attention_flop
                                                                    : 0;
}

// Warns if a chosen option does less than one may expect.
std::vector<Warning> surprises_of(const Scenario& scenario, const Model& model,
                                  const ComputeTimes& compute) {
  std::vector<Warning> all;
  if (scenario.learns() && scenario.optimizer.adapts)
    all.emplace_back("optimizer = adam is timed only: learning takes steps of SGD");
  if (!scenario.framework.name.empty() && scenario.schedule->sharding == nullptr &&
      kept_in(scenario.arithmetic) != Precision::fp32 &&
      scenario.written.at("wire-precision").empty())
    all.push_back(fmt::format(
        "gradients travel in {}, as precision keeps them; torch.autocast keeps them in fp32: "
        "wire-precision = fp32",
        name_of(scenario.arithmetic)));
  if (scenario.compresses() && !scenario.learns() && !model.has_shapes() &&
      scenario.compressor->asks_for_shapes(scenario.compressor_settings))
    all.push_back(fmt::format(
        "model {} has no shapes of tensors, so {} takes a bucket as one matrix, with fewer bytes "
        "than a matrix for each tensor: give its file the column shape, or choose matrices = "
        "bucket",
        model.name, scenario.compressor->name));
  if (scenario.fidelity == Fidelity::analytic && scenario.fusion.cycle_s > 0 &&
      scenario.slowdown_beside_collectives() > 0)
    all.emplace_back(
        "fidelity = analytic: fusion-cycle groups tensors as without overlap-slowdown, up to a "
        "fifth too fast; fidelity = step groups them in the run");
  const bool is_file =
      scenario.device.ends_with(".csv") || scenario.device.find('/') != std::string::npos;
  if (!scenario.device.empty() && !is_file && !scenario.compresses() &&
      known_device(scenario.device) == nullptr)
    all.push_back(fmt::format(
        "device = {}: it is not in platforms/devices.csv, so its memory and its peak are not known",
        brief(scenario.device)));
  if (scenario.recompute == Recompute::selective && model.keeps_no_scores())
    all.push_back(fmt::format(
        "recompute = selective spares no memory: model {} keeps no scores of attention (its file "
        "counts on FlashAttention), and computing them again takes {:.1f} % more computation; full "
        "spares memory, off time",
        model.name, 100 * compute.again_part / (compute.forward_part + compute.backward_part)));
  return all;
}

// The iterations of an epoch: the user's, else from the data.
int epoch_iterations_of(const Scenario& scenario, const LearningTask* learning_task, int workers) {
  if (scenario.warm_up_densities.empty() || learning_task == nullptr || scenario.epoch_iterations)
    return scenario.epoch_iterations.value_or(1);
  return static_cast<int>(std::clamp(
      std::round(learning_task->epoch_samples() / scenario.learned_samples() / workers), 1.0, 1e9));
}

std::optional<Shards> shards_of(const Scenario& scenario, const Model& model,
                                const Traffic& traffic, std::size_t units) {
  if (scenario.schedule->sharding == nullptr)
    return std::nullopt;
  const Sharding sharding = scenario.schedule->sharding(scenario.schedule_settings);
  Shards shards{
      .how = sharding,
      .units = fmt::format("{} {}", units, describe_units(model, sharding.parts)),
      .gather = traffic_of_shards(traffic, sharding.group, CollectiveKind::all_gather),
      .reduce_scatter = traffic_of_shards(traffic, sharding.group, CollectiveKind::reduce_scatter)};
  shards.gather.precision = kept_in(scenario.arithmetic);  // wire-precision is for gradients
  if (sharding.group != Among::all && traffic.cluster.topology.nodes.size() > 1)
    shards.across = traffic_of_shards(traffic, Among::place, CollectiveKind::all_reduce);
  return shards;
}

int in_rounds(int iterations, int round) {
  return (iterations + round - 1) / round * round;
}

std::optional<int> iterations_of(const Scenario& scenario, const LearningTask* learning_task,
                                 int workers) {
  const int round = scenario.schedule->round_of(scenario.schedule_settings, workers);
  if (scenario.iterations)
    return in_rounds(*scenario.iterations, round);
  if (learning_task == nullptr)
    return std::nullopt;
  const double samples = default_epochs * learning_task->epoch_samples();
  return in_rounds(static_cast<int>(std::clamp(
                       std::ceil(samples / scenario.learned_samples() / workers), 1.0, 1e6)),
                   round);
}

}  // namespace

void Setup::reseed(std::uint64_t seed) {
  scenario.seed = seed;
  traffic.compression.reseed(seed);
}

bool Setup::has_chance() const {
  return scenario.jitter > 0 || scenario.varies_at_servers() ||
         (scenario.schedule->draws_neighbours && traffic.cluster.topology.workers() > 1) ||
         (!buckets.empty() && !traffic.payload_of(buckets.front(), 0).messages.empty());
}

double Setup::alone_per_s() const {
  double rate = 0;
  for (std::size_t worker = 0; worker < compute.alone_s.size(); ++worker) {
    const auto mean = profiles.mean_speeds.find(traffic.cluster.workers[worker].name);
    rate += (mean == profiles.mean_speeds.end() ? 1 : mean->second) / compute.alone_s[worker];
  }
  return rate;
}

std::vector<Bucket> Setup::sent_buckets() const {
  return sent(traffic, model_bucket, buckets);
}

std::vector<PushedPieces> Setup::cuts() const {
  std::vector<PushedPieces> cuts;
  if (traffic.partners == Schedule::Partners::servers)
    for (const Bucket& bucket : buckets)
      cuts.push_back(traffic.cut_of(bucket));
  return cuts;
}

namespace {

// Some exchanges use channels with one of their settings only, and shards inside nodes leave none.
bool sends_in_channels(const Setup& setup) {
  if (setup.shards && setup.shards->across)
    return false;
  return std::ranges::any_of(setup.buckets, [&](const Bucket& bucket) {
    const Plan plan = setup.traffic.plan_of(setup.traffic.payload_of(bucket, -1), 0);
    return std::ranges::any_of(plan, [](const auto& action) {
      const Phase* phase = std::get_if<Phase>(&action);
      return phase != nullptr && phase->stage.channel > 0;
    });
  });
}

// Throws std::invalid_argument if the schedule refuses this number of workers.
Cluster cluster_of(const Scenario& scenario, const PlatformFile& platform) {
  Cluster cluster = load_cluster(scenario, platform);
  if (const auto refusal = scenario.schedule->refusal; refusal != nullptr)
    if (const std::string why = refusal(scenario.schedule_settings, cluster.topology.workers());
        !why.empty())
      throw std::invalid_argument(why);
  return cluster;
}

}  // namespace

std::string exchange_taken(const Setup& setup) {
  std::string words = described(setup.choices);
  if (const int channels = setup.traffic.cluster.topology.channel_count();
      channels > 1 && !setup.scenario.channels && sends_in_channels(setup))
    words += fmt::format("{}{} channels, as many as fill the network cards of a node",
                         words.empty() ? "" : "; ", channels);
  const double cycle_s = setup.scenario.fusion.cycle_s;
  if (!setup.tensors.empty() && cycle_s > setup.asked_cycle_s)
    words += fmt::format(
        "{}a cycle lasts {:.3g} s, the time in which workers agree on the tensors they have "
        "(fusion-cycle = {})",
        words.empty() ? "" : "; ", cycle_s, setup.asked_cycle_s);
  return words;
}

namespace {

Setup prepare_with(const Scenario& given, const PlatformFile& platform,
                   std::shared_ptr<const LearningTask> learning_task, Model model) {
  Scenario scenario = given;
  set_recomputed(scenario, model);
  std::vector<Bucket> whole = fused(model, scenario, {.kind = Fusion::Kind::all});
  if (!platform.refusal.empty())
    throw std::runtime_error(platform.refusal);
  check_platform_settings(scenario, platform);
  Cluster cluster = cluster_of(scenario, platform);
  const auto place = [&, servers = cluster.topology.servers](std::vector<Bucket>& buckets) {
    if (scenario.servers_hold_tensors)
      deal_tensors(model, servers, buckets);
  };
  place(whole);
  const Bucket& model_bucket = whole.front();
  const int workers = cluster.topology.workers();
  scenario.epoch_iterations = epoch_iterations_of(scenario, learning_task.get(), workers);
  ComputeTimes compute = compute_times(scenario, model, cluster, platform.profiles.mean_speeds);
  Traffic traffic = load_traffic(scenario, std::move(cluster), model_bucket);
  scenario.fusion.cycle_s = cycle_seconds(scenario, traffic);
  std::vector<Bucket> buckets = buckets_of(scenario, model, compute, traffic, model_bucket);
  place(buckets);
  std::vector<Bucket> tensors;
  if (scenario.fusion.cycle_s > 0)
    tensors = fused(model, scenario, {.bytes = 0});
  place(tensors);
  std::vector<ExchangeChoice> choices = exchanges_chosen(scenario, traffic, buckets, tensors);
  const std::optional<int> iterations = iterations_of(scenario, learning_task.get(), workers);
  std::vector<Warning> warnings = shared_hosts(scenario, traffic);
  std::ranges::move(lone_workers(scenario, traffic.cluster), std::back_inserter(warnings));
  std::ranges::copy(platform.warnings, std::back_inserter(warnings));
  std::ranges::copy(scenario.warnings, std::back_inserter(warnings));
  std::ranges::move(surprises_of(scenario, model, compute), std::back_inserter(warnings));
  if (scenario.iterations && *scenario.iterations % traffic.round != 0)
    warnings.push_back(
        fmt::format("iterations = {} is no whole number of rounds of {}: {} are measured",
                    *scenario.iterations, traffic.round, *iterations));
  std::optional<MemoryNeed> memory = memory_need(
      scenario, model, traffic.cluster, static_cast<double>(traffic.encoded_of(model_bucket)));
  if (memory && !memory->fits())
    warnings.emplace_back(WarningKind::too_large, memory->arithmetic);
  DevicePrice price;
  if (scenario.price_of_devices) {
    price = price_of_devices(scenario, traffic.cluster);
    scenario.price = price.of_worker;
  }
  scenario.warmup = in_rounds(scenario.warmup, traffic.round);
  std::optional<Traffic> within;
  if (const auto replica = scenario.schedule->replica; replica != nullptr)
    if (const std::optional<Among> group = replica(scenario.schedule_settings))
      within = traffic_within(traffic, *group, *scenario.dense_exchange);
  std::optional<Shards> shards = shards_of(scenario, model, traffic, buckets.size());
  if (shards)
    compute.source += "; in units: " + shards->units;
  const std::string adding = adding_source(scenario);
  return {.scenario = std::move(scenario),
          .asked_cycle_s = given.fusion.cycle_s,
          .model = std::move(model),
          .compute = std::move(compute),
          .traffic = std::move(traffic),
          .within = std::move(within),
          .shards = std::move(shards),
          .choices = std::move(choices),
          .buckets = std::move(buckets),
          .tensors = std::move(tensors),
          .model_bucket = model_bucket,
          .warnings = std::move(warnings),
          .profiles = platform.profiles,
          .load_s = platform.load_s,
          .learning_task = std::move(learning_task),
          .iterations = iterations,
          .memory = std::move(memory),
          .price = std::move(price.source),
          .adding = adding};
}

}  // namespace

Setup prepare(const Scenario& scenario, const PlatformFile& platform) {
  const std::shared_ptr<const LearningTask> learning_task = lesson_of(scenario);
  return prepare_with(scenario, platform, learning_task,
                      trained_model(scenario, learning_task.get()));
}

Setup prepare(const Scenario& scenario, const PlatformFile& platform, Model model) {
  return prepare_with(scenario, platform, nullptr, std::move(model));
}

}  // namespace syncline
