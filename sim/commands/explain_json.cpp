// The document that `explain --json` prints of a scenario.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/io/text.h"
#include "sim/commands/results_json.h"
#include "sim/engine/estimate.h"
#include "sim/engine/fidelity.h"
#include "sim/report/result_json.h"
#include "sim/schedule.h"
#include "sim/setup/break_even.h"
#include "sim/setup/exchange_time.h"
#include "sim/setup/lower_bounds.h"
#include "sim/setup/network.h"
#include "sim/setup/shard_times.h"
#include "sim/sweep/inputs.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

Json need_json(const Need& need) {
  return {{"iterations", need.iterations},
          {"flows", need.flows},
          {"seconds", need.seconds},
          {"memory_bytes", need.memory_bytes},
          {"trace_bytes", need.trace_bytes}};
}

Json buckets_json(const Setup& setup) {
  Json buckets = Json::array();
  for (const Bucket& bucket : setup.buckets)
    buckets.push_back({{"index", bucket.index},
                       {"tensors", bucket.tensors},
                       {"bytes", setup.traffic.bytes_of(bucket)},
                       {"backward_s", setup.compute.backward_s(0, bucket)},
                       {"first", bucket.first},
                       {"last", bucket.last}});
  return buckets;
}

// The busiest first.
Json links_json(const Routes& routes, const std::vector<LinkLoad>& loads) {
  Json all = Json::array();
  for (const LinkLoad& load : loads) {
    const PlatformLink& link = routes.links()[static_cast<std::size_t>(load.link)];
    all.push_back({{"name", link.name},
                   {"bytes_per_iteration", load.bytes},
                   {"binding_bytes", load.binding_bytes},
                   {"limits_each_flow", link.fatpipe},
                   {"bandwidth_Bps", link.bandwidth.most_Bps()},
                   {"seconds", load.seconds}});
  }
  return all;
}

// Compression is faster within these factors of the bandwidths; null: no limit on that side.
Json ranges_json(const std::vector<BandwidthRange>& faster) {
  const auto limit = [](double factor) { return factor > 0 ? Json(factor) : Json(nullptr); };
  Json ranges = Json::array();
  for (const BandwidthRange& range : faster)
    ranges.push_back({{"from_factor", limit(range.from)}, {"to_factor", limit(range.to)}});
  return ranges;
}

Json break_even_json(const Setup& setup, Routes& routes, const std::vector<ExchangeTime>& times,
                     const std::vector<ExchangeTime>& within) {
  const BreakEven even = break_even(setup, routes, times);
  Json json{{"against", even.rival.exchange->name}};
  const auto add = [](Json& to, const BreakEven& one) {
    to["known"] = one.known;
    to["faster_without_overlap"] = one.known ? ranges_json(one.without_overlap) : Json(nullptr);
    to["faster_with_overlap"] = one.known ? ranges_json(one.with_overlap) : Json(nullptr);
  };
  add(json, even);
  json["at_fast_end"] = json["at_slow_end"] = nullptr;  // of the cost table, if it is a range
  if (!even.ends.empty()) {
    add(json["at_fast_end"], even.ends.front());
    add(json["at_slow_end"], even.ends.back());
  }
  json["dense_iteration_s"] = iteration_seconds(setup, even.dense, 1, within);
  return json;
}

// Closed forms where workers hold shards.
void add_shards(const Setup& setup, Routes& routes, Json& bounds) {
  const ShardTimes times = shard_times(setup, routes);
  const ShardSums sums = sums_of(setup, times);
  bounds["exchange_s"] = sums.exchange_s();
  bounds["exchange_fixed_s"] = sums.fixed_s();
  bounds["exchange_bytes_s"] = sums.bytes_s();
  bounds["exchange_about"] = sums.gather.about || sums.reduce_scatter.about || sums.across.about;
  bounds["gather_s"] = sums.gather.exchange_s();
  bounds["reduce_scatter_s"] = sums.reduce_scatter.exchange_s();
  bounds["between_nodes_s"] = sums.across.exchange_s();
  bounds["without_overlap_s"] =
      std::ranges::max(setup.compute.solo_s) + setup.compute.launch_s + sums.exchange_s();
  bounds["unit_after_unit_s"] = iteration_seconds(setup, times);
}

}  // namespace

Json explained(const Setup& setup, Routes& routes) {
  const Topology& topology = setup.traffic.cluster.topology;
  const std::vector<LinkLoad> loads = link_loads(setup, routes);
  const LowerBounds lower = lower_bounds(setup, routes, loads);
  Json bounds{{"bound_compute_s", lower.compute_s},
              {"bound_link_s", lower.link_s},
              {"bound_server_s", lower.server_s}};
  Json even = nullptr;
  // Profiles of the platform change what an exchange takes.
  if (setup.shards && setup.profiles.shown_s == 0) {
    add_shards(setup, routes, bounds);
  } else if (setup.traffic.partners == Schedule::Partners::each_other &&
             setup.profiles.shown_s == 0) {
    const double compute_s = std::ranges::max(setup.compute.solo_s) + setup.compute.launch_s;
    const std::vector<ExchangeTime> times = bucket_times(setup.traffic, routes, setup.buckets);
    const ExchangeTime sum = sum_of(times);
    bounds["exchange_s"] = sum.exchange_s();
    bounds["exchange_fixed_s"] = sum.fixed_s;
    bounds["exchange_bytes_s"] = sum.bytes_s;
    bounds["exchange_about"] = sum.about;
    bounds["compress_s"] = sum.compress_s;
    bounds["decompress_s"] = sum.decompress_s;
    bounds["without_overlap_s"] = compute_s + sum.compress_s + sum.exchange_s() + sum.decompress_s;
    const std::vector<ExchangeTime> within = bucket_times(setup.within, routes, setup.buckets);
    bounds["exchange_in_group_s"] = sum_of(within).exchange_s();
    bounds["bucket_after_bucket_s"] = iteration_seconds(setup, times, 1, within);
    if (setup.traffic.compression.on())
      even = break_even_json(setup, routes, times, within);
  }
  const Estimate need = estimate(setup);
  Json model{{"name", printable(setup.model.name)},
             {"parameters", setup.model.parameters()},
             {"gradient_bytes", setup.model_bytes()}};
  if (setup.model.times) {
    model["forward_s"] = setup.model.times->forward_s;
    model["backward_s"] = setup.model.times->backward_s;
    model["step_s"] = setup.model.times->step_s;
  } else {
    model["forward_flop"] = setup.model.forward_flop();
  }
  model["compute_s"] = setup.compute.solo_s.front();
  return {{"scenario", to_json(written_options(setup.scenario))},
          {"warnings", setup.warnings},
          {"cluster",
           {{"workers", topology.workers()},
            {"nodes", topology.nodes.size()},
            {"servers", setup.scenario.exchange->uses_servers ? topology.servers : 0}}},
          {"model", model},
          {"provenance",
           {{"compute", setup.compute.source},
            {"compression", setup.traffic.compression.provenance()},
            {"framework", setup.scenario.framework.described()},
            {"price", setup.price},
            {"network", setup.scenario.network->sentence}}},
          {"buckets", buckets_json(setup)},
          {"links", links_json(routes, loads)},
          {"bounds", bounds},
          {"break_even", even},
          {"simulated_as", fidelity_word(setup)},
          {"estimate", {{"least", need_json(need.least)}, {"most", need_json(need.most)}}}};
}

}  // namespace syncline
