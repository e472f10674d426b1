#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "kernels/io/text.h"
#include "sim/catalogue/network.h"
#include "sim/clock/averaging.h"
#include "sim/clock/lower_bounds.h"
#include "sim/commands/commands.h"
#include "sim/commands/explain_measured.h"
#include "sim/commands/results_json.h"
#include "sim/engine/estimate.h"
#include "sim/engine/fidelity.h"
#include "sim/options/expand.h"
#include "sim/options/options.h"
#include "sim/options/user_input.h"
#include "sim/schedule.h"
#include "sim/setup/setup.h"
#include "sim/sweep/limits.h"
#include "sim/sweep/one_worker.h"
#include "sim/sweep/process.h"
#include "sim/sweep/sweep.h"
#include "sim/traffic/exchange_time.h"

namespace syncline {
namespace {

std::string explain_buckets(const Setup& setup) {
  std::string text = setup.shards
                         ? fmt::format("\nunits, in backward order ({})\n", setup.shards->units)
                         : fmt::format("\nbuckets, in backward order ({} of {} tensors)\n",
                                       setup.buckets.size(), setup.model.layers.size());
  text += setup.shards ? "    unit" : "  bucket";
  text += "  tensors       bytes  backward ms  layers\n";
  for (const Bucket& bucket : setup.buckets) {
    if (bucket.index == 20 && setup.buckets.size() > 24) {
      text += fmt::format("  ... and {} more\n", setup.buckets.size() - 20);
      break;
    }
    const std::string names = bucket.first + (bucket.tensors > 1 ? " ... " + bucket.last : "");
    text += fmt::format("  {:6}  {:7}  {:10}  {:11.3f}  {}\n", bucket.index, bucket.tensors,
                        setup.traffic.bytes_of(bucket), 1e3 * setup.compute.backward_s(0, bucket),
                        names);
  }
  return text;
}

using Ranges = std::vector<BandwidthRange>;

// "4159": four digits, or all of a longer number up to a million.
std::string limit_text(double limit) {
  return limit >= 1e4 && limit < 1e6 ? fmt::format("{:.0f}", limit) : fmt::format("{:.4g}", limit);
}

// Where compression is faster. All of `ways` have the same number of ranges, with limits on the
// same sides; the text names the least and the greatest limit.
std::string described(const std::vector<Ranges>& ways, const PlatformLink* link) {
  const auto limit = [&](std::size_t i, double BandwidthRange::*side) {
    std::set<double> factors;
    for (const Ranges& way : ways)
      factors.insert(way[i].*side);
    const auto between = [&](double unit) {
      const std::string least = limit_text(*factors.begin() * unit);
      const std::string most = limit_text(*factors.rbegin() * unit);
      return least == most ? least : least + " to " + most;
    };
    return between(1) + " times this scenario's" +
           (link == nullptr ? ""
                            : fmt::format(", {} Gbit/s on {}",
                                          between(link->bandwidth.mean_Bps() * 8e-9), link->name));
  };
  if (ways.front().empty())
    return "slower at any bandwidth";
  std::string text;
  for (std::size_t i = 0; i < ways.front().size(); ++i) {
    const auto& [from, to] = ways.front()[i];
    text += text.empty() ? "faster " : "; and ";
    if (from > 0)
      text += "above " + limit(i, &BandwidthRange::from);
    if (to > 0)
      text += (from > 0 ? " and below " : "below ") + limit(i, &BandwidthRange::to);
    if (from == 0 && to == 0)
      text += "at any bandwidth";
  }
  return text;
}

// For a cost table that is a range: between its ends if their texts differ in numbers only, else
// separately for each end.
std::string described(const BreakEven& even, Ranges BreakEven::*which, const PlatformLink* link) {
  const auto alike = [](const Ranges& a, const Ranges& b) {
    return std::ranges::equal(a, b, [](const BandwidthRange& one, const BandwidthRange& other) {
      return (one.from > 0) == (other.from > 0) && (one.to > 0) == (other.to > 0);
    });
  };
  std::vector<Ranges> ways{even.*which};
  bool all_alike = true;
  for (const BreakEven& end : even.ends) {
    ways.push_back(end.*which);
    all_alike = all_alike && alike(ways.front(), ways.back());
  }
  if (all_alike)
    return described(ways, link);
  const std::string indent(31, ' ');
  return "if compressing is as fast as the table's fast end: " + described({ways[1]}, link) + "\n" +
         indent + "as slow as its slow end: " + described({ways[2]}, link);
}

// The link that dense gradients load longest, of those whose bandwidth is varied.
const PlatformLink* busiest_when_dense(const Setup& setup, Routes& routes, const Traffic& dense) {
  const PlatformLink* busiest = nullptr;
  double busiest_s = 0;
  for (const auto& [link, bytes] : link_bytes_per_iteration(dense, routes, setup.buckets))
    if (const PlatformLink& l = routes.links()[static_cast<std::size_t>(link)];
        !l.fatpipe && (l.is_named || setup.scenario.link_bandwidths.empty()) &&
        bytes / l.bandwidth.mean_Bps() > busiest_s) {
      busiest = &l;
      busiest_s = bytes / l.bandwidth.mean_Bps();
    }
  return busiest;
}

// The bandwidths at which compression is faster than none.
std::string explain_break_even(const Setup& setup, Routes& routes, const Averaging& averaging) {
  const BreakEven& even = *averaging.even;
  const PlatformLink* busiest = busiest_when_dense(setup, routes, even.rival);
  const Scenario& scenario = setup.scenario;
  const bool against_bsp = scenario.schedule->sparsifiers_only;
  std::string text = fmt::format(
      "\nbreak-even: bandwidths{} at which {} over {} is faster than {}no compressor "
      "over {} (same {}{} and overlap)\n",
      scenario.link_bandwidths.empty() ? ", all links changed alike,"
                                       : " of the links that bandwidth-factor names",
      scenario.compressor->name, setup.traffic.exchange->name, against_bsp ? "bsp with " : "",
      even.rival.exchange->name, against_bsp ? "" : "schedule, ",
      setup.tensors.empty() ? "buckets" : "cycles");
  if (even.known && std::ranges::all_of(even.ends, &BreakEven::known)) {
    std::vector<std::string> typical, all;  // of a range: without its ends, and with them
    for (Ranges BreakEven::*which : {&BreakEven::with_overlap, &BreakEven::without_overlap}) {
      typical.push_back(described({even.*which}, busiest));
      all.push_back(described(even, which, busiest));
    }
    if (all != typical)
      text += "  the cost table is a range, with a fast and a slow end\n";
    text += "  as this scenario overlaps    " + all[0] + "\n";
    text += "  if nothing overlapped        " + all[1] + "\n";
  } else {
    text +=
        "  not known: workers drift apart, or exchanges or messages take another course at other "
        "bandwidths\n";
  }
  return text + fmt::format("  without compression, bucket after bucket: {:.6f} s per iteration\n",
                            even.dense_iteration_s);
}

std::string explain_links(const Setup& setup, Routes& routes, const std::vector<LinkLoad>& loads) {
  std::string text = "\nlinks, bytes of one iteration of all workers (the five busiest)\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(5, loads.size()); ++i) {
    const LinkLoad& load = loads[i];
    const PlatformLink& link = routes.links()[static_cast<std::size_t>(load.link)];
    const std::string gap(28 - std::min<std::size_t>(28, link.name.size()), ' ');
    text += fmt::format(
        "  {}{} {:14.0f} B / {:.4g} B/s = {:.6f} s{}{}\n", link.name, gap, load.binding_bytes,
        link.bandwidth.most_Bps(), load.seconds,
        link.fatpipe ? ", from one rank to another: it limits each flow by itself" : "",
        link.bandwidth.is_constant() ? "" : ", at the highest bandwidth of its profile");
  }
  if (setup.traffic.partners == Schedule::Partners::aggregators)
    text += "  and what nodes and servers send each other, which depends on the run\n";
  if (loads.empty())
    text += "  none: nothing crosses the network\n";
  return text;
}

// The line "bucket after bucket" or "unit after unit".
std::string explain_iteration(const Setup& setup, const Averaging& averaging) {
  const std::string what = setup.shards ? "  unit after unit              "
                           : setup.traffic.partners == Schedule::Partners::neighbours
                               ? "  copies beside computation    "
                               : "  bucket after bucket          ";
  if (!averaging.iteration_s)
    return what +
           "not known: workers do not do the same in every round (a schedule's `round` is the "
           "number of iterations after which they repeat)\n";
  return fmt::format("  without overlap              {:.6f}\n", *averaging.without_overlap_s) +
         what +
         fmt::format("{:.6f}{}\n", *averaging.iteration_s,
                     setup.scenario.network->latency_after_flow
                         ? ""
                         : ", with links shared as by network = exact");
}

std::string explain_exchange(const char* what, const ExchangeTime& sum) {
  return fmt::format("  {:<28} {:.6f} ({:.6f} without bytes, {:.6f} more with them){}\n", what,
                     sum.exchange_s(), sum.fixed_s, sum.bytes_s,
                     sum.about ? ", about: too many messages to follow each" : "");
}

// As explain_averaging(), where workers hold shards.
std::string explain_shards(const Setup& setup, const Averaging& averaging) {
  const auto& [gather, reduce_scatter, across] = averaging.shards;
  return explain_exchange("gathers of all units", gather) +
         explain_exchange("reduce-scatters of all units", reduce_scatter) +
         (setup.shards->across ? explain_exchange("all-reduces between nodes", across) : "");
}

// How long averaging takes alone, and how long a whole iteration takes.
std::string explain_averaging(const Setup& setup, Routes& routes) {
  const std::optional<Averaging> known = averaging(setup, routes);
  if (!known)
    return setup.traffic.partners == Schedule::Partners::neighbours
               ? "  copies of parameters         not known: whom workers ask is drawn, what they "
                 "call goes on changing, profiles change their time, or they are too many to "
                 "follow\n"
               : "  exchange of all buckets      not known: the platform's profiles change its "
                 "time\n";
  if (setup.traffic.partners == Schedule::Partners::neighbours)
    return explain_exchange("copies of parameters alone", known->exchange) +
           explain_iteration(setup, *known);
  if (setup.shards)
    return explain_shards(setup, *known) + explain_iteration(setup, *known);
  const ExchangeTime& sum = known->exchange;
  std::string text = explain_exchange(
      setup.traffic.round > 1 ? "one exchange of all buckets" : "exchange of all buckets", sum);
  if (setup.within)
    text += fmt::format("  of all buckets in a group    {:.6f}, in every iteration\n",
                        known->in_group.exchange_s());
  if (setup.traffic.compression.on())
    text += fmt::format("  compressing {:.6f}, decompressing {:.6f}, within the exchange {}\n",
                        sum.compress_s, sum.decompress_s,
                        sum.between_s > 0 ? fmt::format("{:.6f}", sum.between_s) : "0");
  text += explain_iteration(setup, *known);
  return text + (known->even ? explain_break_even(setup, routes, *known) : "");
}

// Lower bounds for every schedule, and the time of the exchange alone, without simulating.
std::string explain_bounds(const Setup& setup, Routes& routes) {
  const std::vector<LinkLoad> loads = link_loads(setup, routes);
  const LowerBounds bounds = lower_bounds(setup, routes, loads);
  const bool together = all_go_together(setup);
  std::string text = explain_links(setup, routes, loads);
  text += "\nbounds, seconds per iteration" +
          (setup.traffic.round > 1 ? fmt::format(", in the mean of {}", setup.traffic.round) : "") +
          "\n";
  text += fmt::format("  computation, {}  {:.6f}\n", together ? "slowest worker" : "of the mean   ",
                      bounds.compute_s);
  text += fmt::format("  busiest link                 {:.6f}{}\n", bounds.link_s,
                      !loads.empty() && bounds.link_s < loads.front().seconds
                          ? ", if the workers that it slows least go ahead"
                          : "");
  if (bounds.server_s > 0)
    text += fmt::format(
        "  cores of the fullest server  {:.6f}, full with {:.3g} such workers\n", bounds.server_s,
        setup.traffic.cluster.topology.workers() * bounds.compute_s / bounds.server_s);
  text += fmt::format(
      "  {}{:.6f}{}\n",
      // Until a slow worker has delayed those far away, they are faster.
      setup.traffic.partners == Schedule::Partners::neighbours ? "no long run is faster than   "
                                                               : "no run is faster than        ",
      bounds.all_s(),
      setup.scenario.jitter > 0 ? ", in the mean: jitter has short iterations, too" : "");
  return together ? text + explain_averaging(setup, routes) : text;
}

std::string described(const Need& need) {
  return fmt::format(
      "{:.0f} iterations: {:.3g} flows, {:.2g} s of one core, {:.2g} GB of memory; --trace {:.2g} "
      "GB\n",
      need.iterations, need.flows, need.seconds, need.memory_bytes / 1e9, need.trace_bytes / 1e9);
}

std::string explain_model(const Setup& setup) {
  const Model& model = setup.model;
  std::string text = printable(model.name) + fmt::format(": {} parameters, {} bytes of gradient, ",
                                                         model.parameters(), setup.model_bytes());
  if (!model.times)
    return text + fmt::format("{:.4g} GFLOP forward per ", model.forward_flop() / 1e9) +
           model.sample + "\n";
  return text + fmt::format("{:.6g} s forward, {:.6g} s backward, {:.6g} s update\n",
                            model.times->forward_s, model.times->backward_s, model.times->step_s);
}

std::string explain_estimate(const Setup& setup) {
  const Estimate simulation = estimate(setup);
  const std::string runs =
      simulation.runs > 1 ? "; all of " + std::to_string(simulation.runs) + " runs" : "";
  const bool by_arithmetic = setup.scenario.fidelity == Fidelity::analytic;
  std::string text = "\nsimulating this " +
                     (by_arithmetic ? "by arithmetic" : "as " + fidelity_word(setup) + "s") +
                     ", about (modelled" + runs + ")\n  " + described(simulation.least);
  if (simulation.most.iterations > simulation.least.iterations)
    text += "  or up to " + described(simulation.most);
  return text;
}

std::string explain(const Scenario& scenario, bool json) {
  const Limits limits = limits_of({});
  require_room_for_data(scenario, limits, 1);
  const MemoryLimit limit(limits.memory_bytes);
  const PlatformFile platform = read_platform(scenario);
  require_room_for_platform(platform, scenario.platform, limits);
  Setup setup = prepare(with_computation_alone(scenario, platform), platform);
  choose_fidelity(setup);
  if (json) {
    Routes routes = setup.traffic.cluster.routes();
    return explained(setup, routes).dump();
  }
  const Topology& topology = setup.traffic.cluster.topology;
  std::string text = "scenario\n";
  if (const auto name = scenario.written.find("name"); name != scenario.written.end())
    text += fmt::format("  {:<20} {}\n", "name", name->second);
  for (const Option& option : scenario_options())
    if (const auto value = scenario.written.find(option.name);
        value != scenario.written.end() && !value->second.empty())
      text += fmt::format("  {:<20} {}\n", option.name, value->second);
  if (const std::string taken = scenario.framework.described(); !taken.empty())
    text += "  defaults of " + taken + "\n";
  if (const std::string taken = scenario.reality.described(); !taken.empty())
    text += "  reality: " + taken + "\n";

  text += fmt::format("\ncluster\n  {} on {} (", counted(index(topology.workers()), "worker"),
                      counted(topology.nodes.size(), "node"));
  for (std::size_t i = 0; i < std::min<std::size_t>(topology.nodes.size(), 8); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : " ", topology.nodes[i].size());
  text += topology.nodes.size() > 8 ? " ...)\n" : ")\n";
  if (scenario.exchange->uses_servers)
    text += fmt::format("  {}, {}\n", counted(index(topology.servers), "server"),
                        scenario.servers == 0   ? "one on each node"
                        : topology.servers == 1 ? "on a host of its own"
                                                : "on hosts of their own");
  for (const Warning& warning : setup.warnings)
    text += "  warning: " + warning.text + "\n";
  text +=
      fmt::format("  worker 0 is {}, worker {} is {}\n", setup.traffic.cluster.workers.front().name,
                  topology.workers() - 1, setup.traffic.cluster.workers.back().name);

  text += "\nmodel\n  " + explain_model(setup);
  text += fmt::format(
      "  computation {:.6f} s per iteration on worker 0{} ({})\n", setup.compute.solo_s(0),
      setup.compute.micro_steps == 1 ? ""
                                     : fmt::format(", in {} micro-steps of {} samples",
                                                   setup.compute.micro_steps, scenario.batch),
      setup.compute.source);
  if (!setup.price.empty())
    text += fmt::format("  price {:.4g} for an hour of a worker, in the mean: {}\n",
                        *setup.scenario.price, setup.price);
  if (setup.memory)
    text += "  memory at least " + setup.memory->arithmetic + "\n";
  if (setup.traffic.compression.on())
    text += fmt::format("  compression priced by {}\n", setup.traffic.compression.provenance());
  text += fmt::format("  network {}: {}\n", scenario.network->name, scenario.network->sentence);
  if (const std::string taken = exchange_taken(setup); !taken.empty())
    text += "  exchange " + taken + "\n";
  text += explain_buckets(setup);
  Routes routes = setup.traffic.cluster.routes();
  return text + explain_bounds(setup, routes) + explain_estimate(setup);
}

}  // namespace

int explain_command(const std::vector<std::string>& arguments) {
  const CommandLine line = command_line("explain", arguments);
  const bool json = line.has("json");
  if (line.has("measured"))
    return explain_measured(line);
  if (line.has("html"))
    throw std::invalid_argument("--html of explain needs --measured: allowed without is --json");
  const Sweep sweep = expand(merged_with_file(line));
  nlohmann::ordered_json cells = nlohmann::ordered_json::array();
  bool first = true;
  std::vector<std::string> errors;
  for (const Scenario& scenario : sweep.cells)
    run_children({[&] { return explain(scenario, json); }}, 1,
                 [&](std::size_t, const Outcome& outcome) {
                   if (outcome.ok && json)
                     cells.push_back(nlohmann::ordered_json::parse(outcome.output));
                   else if (outcome.ok)
                     std::printf("%s%s", std::exchange(first, false) ? "" : "\n----\n\n",
                                 outcome.output.c_str());
                   else
                     errors.push_back(error_of(scenario, outcome));
                   return true;
                 });
  if (first && cells.empty())
    throw std::runtime_error(errors.front());
  if (json)
    print_json({{"cells", cells}});
  return print_left_out(sweep, errors);
}

}  // namespace syncline
