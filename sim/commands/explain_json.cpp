// The document that `explain --json` prints for a scenario.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "kernels/io/text.h"
#include "sim/catalogue/network.h"
#include "sim/clock/averaging.h"
#include "sim/clock/lower_bounds.h"
#include "sim/commands/results_json.h"
#include "sim/engine/estimate.h"
#include "sim/engine/fidelity.h"
#include "sim/report/result_json.h"
#include "sim/schedule.h"
#include "sim/sweep/cell_inputs.h"
#include "sim/traffic/exchange_time.h"

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

// The busiest link first.
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

// The factors of bandwidth within which compression is faster; null: no limit on that side.
Json ranges_json(const std::vector<BandwidthRange>& faster) {
  const auto limit = [](double factor) { return factor > 0 ? Json(factor) : Json(nullptr); };
  Json ranges = Json::array();
  for (const BandwidthRange& range : faster)
    ranges.push_back({{"from_factor", limit(range.from)}, {"to_factor", limit(range.to)}});
  return ranges;
}

Json break_even_json(const Averaging& averaging) {
  const BreakEven& even = *averaging.even;
  Json json{{"against", even.rival.exchange->name}};
  const auto add = [](Json& to, const BreakEven& one) {
    to["known"] = one.known;
    to["faster_without_overlap"] = one.known ? ranges_json(one.without_overlap) : Json(nullptr);
    to["faster_with_overlap"] = one.known ? ranges_json(one.with_overlap) : Json(nullptr);
  };
  add(json, even);
  json["at_fast_end"] = json["at_slow_end"] = nullptr;  // ends of the cost table, if it is a range
  if (!even.ends.empty()) {
    add(json["at_fast_end"], even.ends.front());
    add(json["at_slow_end"], even.ends.back());
  }
  json["dense_iteration_s"] = even.dense_iteration_s;
  return json;
}

void add_averaging(const Setup& setup, const Averaging& averaging, Json& bounds) {
  const ExchangeTime& sum = averaging.exchange;
  const Json iteration_s = or_null(averaging.iteration_s);
  const Json without_s = or_null(averaging.without_overlap_s);
  bounds["exchange_s"] = sum.exchange_s();
  bounds["exchange_fixed_s"] = sum.fixed_s;
  bounds["exchange_bytes_s"] = sum.bytes_s;
  bounds["exchange_about"] = sum.about;
  if (setup.shards) {
    bounds["gather_s"] = averaging.shards.gather.exchange_s();
    bounds["reduce_scatter_s"] = averaging.shards.reduce_scatter.exchange_s();
    bounds["between_nodes_s"] = averaging.shards.across.exchange_s();
    bounds["without_overlap_s"] = without_s;
    bounds["unit_after_unit_s"] = iteration_s;
  } else {
    bounds["compress_s"] = sum.compress_s;
    bounds["decompress_s"] = sum.decompress_s;
    bounds["without_overlap_s"] = without_s;
    bounds["exchange_in_group_s"] = averaging.in_group.exchange_s();
    bounds["bucket_after_bucket_s"] = iteration_s;
  }
}

}  // namespace

Json explained(const Setup& setup, Routes& routes) {
  const Topology& topology = setup.traffic.cluster.topology;
  const std::vector<LinkLoad> loads = link_loads(setup, routes);
  const LowerBounds lower = lower_bounds(setup, routes, loads);
  Json bounds{{"bound_compute_s", lower.compute_s},
              {"bound_link_s", lower.link_s},
              {"bound_server_s", lower.server_s}};
  const std::optional<Averaging> known = averaging(setup, routes);
  if (known)
    add_averaging(setup, *known, bounds);
  const Json even = known && known->even ? break_even_json(*known) : Json(nullptr);
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
  model["compute_s"] = setup.compute.solo_s(0);
  Json warnings = Json::array();
  for (const Warning& warning : setup.warnings)
    warnings.push_back(warning.text);
  Json provenance{{"compute", setup.compute.source},
                  {"compression", setup.traffic.compression.provenance()},
                  {"framework", setup.scenario.framework.described()},
                  {"price", setup.price},
                  {"network", setup.scenario.network->sentence}};
  if (const std::string taken = exchange_taken(setup); !taken.empty())
    provenance["exchange"] = taken;
  if (const std::string taken = setup.scenario.reality.described(); !taken.empty())
    provenance["reality"] = taken;
  return {{"scenario", to_json(written_options(setup.scenario))},
          {"warnings", std::move(warnings)},
          {"cluster",
           {{"workers", topology.workers()},
            {"nodes", topology.nodes.size()},
            {"servers", setup.scenario.exchange->uses_servers ? topology.servers : 0}}},
          {"model", model},
          {"provenance", std::move(provenance)},
          {"buckets", buckets_json(setup)},
          {"links", links_json(routes, loads)},
          {"bounds", bounds},
          {"break_even", even},
          {"simulated_as", fidelity_word(setup)},
          {"estimate", {{"least", need_json(need.least)}, {"most", need_json(need.most)}}}};
}

}  // namespace syncline
