#include "sim/setup/buckets.h"

#include <algorithm>
#include <utility>

#include "sim/setup/exchange_time.h"
#include "sim/setup/platform.h"
#include "sim/setup/refuse.h"

namespace syncline {
namespace {

// Throws std::invalid_argument if the cost tables lack a price of what is sent, or of averaging
// what is `averaged` besides. The one message also names what `others` lack, so that measuring all
// this is enough.
void check_prices(const Traffic& traffic, const std::vector<Bucket>& sent,
                  const std::vector<Bucket>& averaged, const std::vector<Bucket>& others) {
  const Compression& compression = traffic.compression;
  if (!compression.on())
    return;
  const std::vector<int> ranks = compression.one_worker_of_each_table();
  std::vector<Demand> demands;
  const auto collect = [&demands](int iteration) {
    return [&demands, iteration](int rank, const Work& work) {
      demands.push_back({rank, work, iteration});
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
  if (compression.unpriced(demands).empty())
    return;
  add(others);
  refuse(compression.unpriced(demands));
}

// MG-WFBP's buckets, from the cost of averaging all tensors together.
std::vector<Bucket> merged(const Scenario& scenario, const Model& model,
                           const ComputeTimes& compute, const Traffic& traffic,
                           const Bucket& model_bucket) {
  Routes routes(traffic.cluster.rank_hosts);
  const ExchangeCost cost = gradient_cost(traffic, routes, model_bucket);
  std::vector<Bucket> buckets = merged_buckets(
      model, static_cast<int>(value_bytes(scenario.precision)), compute.backward_s(0),
      cost.startup_s, cost.seconds_per_byte, cost.compress_seconds_per_byte);
  count_small_tensors(model, scenario.dense_below, buckets);
  return buckets;
}

// Of gradients that are averaged in each iteration, when they are there on the slowest worker.
std::vector<Bucket> cycled(const Scenario& scenario, const Model& model,
                           const ComputeTimes& compute) {
  const auto slowest =
      static_cast<int>(std::ranges::max_element(compute.solo_s) - compute.solo_s.begin());
  std::vector<double> ready_s;
  Bucket until;  // this layer
  for (auto layer = model.layers.rbegin(); layer != model.layers.rend(); ++layer) {
    until.forward_flop += layer->forward_flop;
    until.again_flop += layer->again_flop;
    ready_s.push_back(scenario.overlap ? compute.backward_s(slowest, until)
                                       : compute.backward_s(slowest));
  }
  std::vector<Bucket> buckets = cycled_buckets(
      model, scenario.fusion, static_cast<int>(value_bytes(scenario.precision)), ready_s);
  count_small_tensors(model, scenario.dense_below, buckets);
  return buckets;
}

bool has_cycles(const Scenario& scenario) {
  return scenario.fusion.cycle_s > 0 && scenario.schedule->round == nullptr &&
         scenario.schedule->partners() == Schedule::Partners::each_other;
}

}  // namespace

std::vector<Bucket> fused(const Model& model, const Scenario& scenario, const Fusion& fusion) {
  std::vector<Bucket> buckets =
      fused_buckets(model, fusion, static_cast<int>(value_bytes(scenario.precision)));
  count_small_tensors(model, scenario.dense_below, buckets);
  return buckets;
}

std::vector<Bucket> sent(const Traffic& traffic, const Bucket& model_bucket,
                         std::vector<Bucket> buckets) {
  return traffic.partners == Schedule::Partners::aggregators ? std::vector{model_bucket}
                                                             : std::move(buckets);
}

std::vector<Bucket> buckets_of(const Scenario& scenario, const Model& model,
                               const ComputeTimes& compute, const Traffic& traffic,
                               const Bucket& model_bucket) {
  if (const auto sharding = scenario.schedule->sharding; sharding != nullptr)
    return unit_buckets(model, sharding(scenario.schedule_settings).parts);
  std::vector<Bucket> buckets;
  std::vector<Bucket> averaged;  // what merging goes by
  std::vector<Bucket> unmerged;
  switch (scenario.fusion.kind) {
    case Fusion::Kind::all:
      buckets = {model_bucket};
      break;
    case Fusion::Kind::bytes:
      buckets = has_cycles(scenario) ? cycled(scenario, model, compute)
                                     : fused(model, scenario, scenario.fusion);
      break;
    case Fusion::Kind::merged:
      // Merging depends on costs. If the tables have those of all tensors together and of each
      // alone, they have those of every merge in between.
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
