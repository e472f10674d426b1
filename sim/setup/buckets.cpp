#include "sim/setup/buckets.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "sim/catalogue/refuse.h"
#include "sim/platform/routes.h"
#include "sim/traffic/exchange_cost.h"

namespace syncline {
namespace {

// Throws std::invalid_argument if the cost tables lack a price of the buckets that are `sent` or,
// in addition, `averaged`. The one message also names the missing prices of `others`, so that
// measuring everything in it is enough.
void check_prices(const Traffic& traffic, const std::vector<Bucket>& sent,
                  const std::vector<Bucket>& averaged, const std::vector<Bucket>& others) {
  const Compression& compression = traffic.compression;
  if (!compression.on())
    return;
  const std::vector<int> ranks = compression.one_worker_of_each_table();
  std::vector<CostLookup> lookups;
  const auto collect = [&lookups](int iteration) {
    return [&lookups, iteration](int rank, const Work& work) {
      lookups.push_back({rank, work, iteration});
    };
  };
  const auto add = [&](const std::vector<Bucket>& buckets) {
    for (const Bucket& bucket : buckets)
      for (const int iteration : compression.first_iterations())
        traffic.for_each_activity(bucket, ranks, {}, collect(iteration));
  };
  add(sent);
  for (const Bucket& bucket : averaged)
    traffic.for_each_activity_of_average(bucket, ranks, {}, collect(-1));
  if (compression.unpriced(lookups).empty())
    return;
  add(others);
  refuse("with device = none compressing takes no time; else {}", compression.unpriced(lookups));
}

// MG-WFBP's buckets, from the cost of averaging all tensors together.
std::vector<Bucket> merged(const Scenario& scenario, const Model& model,
                           const ComputeTimes& compute, const Traffic& traffic,
                           const Bucket& model_bucket) {
  Routes routes = traffic.cluster.routes();
  const ExchangeCost cost = gradient_cost(traffic, routes, model_bucket);
  std::vector<Bucket> buckets = merged_buckets(
      model, static_cast<int>(value_bytes(scenario.precision)), compute.backward_s(0),
      cost.startup_s, cost.seconds_per_byte, cost.compress_seconds_per_byte);
  sort_tensors(model, scenario.dense_below, buckets);
  return buckets;
}

}  // namespace

std::vector<Bucket> fused(const Model& model, const Scenario& scenario, const Fusion& fusion) {
  std::vector<Bucket> buckets =
      fused_buckets(model, fusion, static_cast<int>(value_bytes(scenario.precision)));
  sort_tensors(model, scenario.dense_below, buckets);
  return buckets;
}

std::vector<Bucket> cycled(const Scenario& scenario, const Model& model,
                           const ComputeTimes& compute, const Traffic& traffic,
                           const std::vector<Bucket>& tensors) {
  int slowest = 0;
  for (int worker = 1; worker < traffic.cluster.topology.workers(); ++worker)
    if (compute.solo_s(worker) > compute.solo_s(slowest))
      slowest = worker;
  const bool second_core = traffic.cluster.workers[index(slowest)].cores > 1;
  std::vector<double> made_s, compress_s, ready_s;
  double computed_s = scenario.overlap ? 0 : compute.backward_s(slowest);
  double compressed_s = 0;
  for (const Bucket& tensor : tensors) {
    const Plan plan = traffic.plan_of(traffic.payload_of(tensor, -1), slowest);
    const Work* work = first_work(plan);
    compress_s.push_back(work == nullptr ? 0 : traffic.compression.seconds(slowest, *work, -1));
    computed_s += scenario.overlap ? compute.backward_s(slowest, tensor) : 0;
    made_s.push_back(computed_s);
    compressed_s = std::max(compressed_s, computed_s) + compress_s.back();
    if (!second_core)
      computed_s = compressed_s;
    ready_s.push_back(compressed_s);
  }
  std::vector<Bucket> buckets = cycled_buckets(
      model, scenario.fusion, static_cast<int>(value_bytes(scenario.precision)), ready_s);
  sort_tensors(model, scenario.dense_below, buckets);
  if (!traffic.compression.on())
    return buckets;
  std::size_t first = 0;
  for (Bucket& bucket : buckets) {
    const std::size_t end = first + index(bucket.tensors);
    bucket.apart.assign(tensors.begin() + static_cast<std::ptrdiff_t>(first),
                        tensors.begin() + static_cast<std::ptrdiff_t>(end));
    const double all_s =
        std::accumulate(compress_s.begin() + static_cast<std::ptrdiff_t>(first),
                        compress_s.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
    const double free_s = first == 0 ? 0 : ready_s[first - 1];
    if (second_core)
      bucket.hidden_s =
          std::max(0.0, all_s - (ready_s[end - 1] - std::max(made_s[end - 1], free_s)));
    first = end;
  }
  return buckets;
}

double cycle_seconds(const Scenario& scenario, const Traffic& traffic) {
  const int workers = traffic.cluster.topology.workers();
  const Schedule& schedule = *scenario.schedule;
  if (scenario.fusion.cycle_s == 0 || scenario.fusion.kind != Fusion::Kind::bytes || workers == 1 ||
      schedule.round != nullptr || schedule.sharding != nullptr ||
      traffic.partners != Schedule::Partners::each_other)
    return 0;
  constexpr int most_asked = 64;  // workers in a round, evenly spaced
  Routes routes = traffic.cluster.routes();
  double agreeing_s = 0;
  for (int distance = 1; distance < workers; distance *= 2) {
    double round_s = 0;
    for (int from = 0; from < workers; from += (workers + most_asked - 1) / most_asked)
      round_s = std::max(round_s, routes.latency_s(from, (from + distance) % workers));
    agreeing_s += round_s + scenario.step_overhead_s;
  }
  return std::max(scenario.fusion.cycle_s, agreeing_s);
}

std::vector<Bucket> sent(const Traffic& traffic, const Bucket& model_bucket,
                         std::vector<Bucket> buckets) {
  const bool whole = traffic.partners == Schedule::Partners::aggregators ||
                     traffic.partners == Schedule::Partners::neighbours;
  return whole ? std::vector{model_bucket} : std::move(buckets);
}

std::vector<Bucket> buckets_of(const Scenario& scenario, const Model& model,
                               const ComputeTimes& compute, const Traffic& traffic,
                               const Bucket& model_bucket) {
  if (const auto sharding = scenario.schedule->sharding; sharding != nullptr)
    return unit_buckets(model, sharding(scenario.schedule_settings).parts);
  std::vector<Bucket> buckets;
  std::vector<Bucket> averaged;  // merging depends on the costs of these
  std::vector<Bucket> unmerged;
  switch (scenario.fusion.kind) {
    case Fusion::Kind::all:
      buckets = {model_bucket};
      break;
    case Fusion::Kind::bytes:
      buckets = fused(model, scenario, scenario.fusion);
      if (scenario.fusion.cycle_s == 0)
        break;
      // Cycles make groups of sizes between single tensors and these buckets.
      averaged = fused(model, scenario, {.bytes = 0});
      check_prices(traffic, buckets, averaged, {});
      buckets = cycled(scenario, model, compute, traffic, averaged);
      break;
    case Fusion::Kind::merged:
      // Merging depends on costs. If the tables have the cost of all tensors together and of each
      // tensor alone, they have the costs of all merges in between.
      unmerged = sent(traffic, model_bucket, fused(model, scenario, {.bytes = 0}));
      averaged = {model_bucket};
      check_prices(traffic, {}, averaged, unmerged);
      buckets = merged(scenario, model, compute, traffic, model_bucket);
      break;
  }
  check_prices(traffic, sent(traffic, model_bucket, buckets), averaged, unmerged);
  return buckets;
}

}  // namespace syncline
