#include "sim/commands/explained.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "sim/clock/gap.h"
#include "sim/collectives.h"
#include "sim/commands/all_reduce.h"
#include "sim/commands/results_json.h"
#include "sim/options/expand.h"
#include "sim/options/resolve.h"
#include "sim/report/prediction.h"
#include "sim/report/readable.h"
#include "sim/setup/setup.h"
#include "sim/study/ordered_lists.h"
#include "sim/sweep/limits.h"
#include "sim/sweep/one_worker.h"
#include "sim/sweep/process.h"
#include "sim/sweep/sweep.h"
#include "sim/traffic/exchange_time.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

constexpr double near = 0.05;       // another scenario explains the measurement
constexpr double around = 0.15;     // it may
constexpr double most_of_it = 0.5;  // the part of the difference that such a scenario has at least
constexpr double no_part = 0.005;   // the part of it that counts as nothing

// An option with another value, as a run may have it without its owner knowing.
struct Variation {
  std::string name;
  std::string option, value;
  std::string what;
  std::string look_at;
};

const std::string of_nccl =
    "NCCL_DEBUG=INFO prints algorithm and protocol; NCCL_ALGO and NCCL_PROTO choose them";

const std::vector<Variation>& variations() {
  static const std::vector<Variation> all{
      {"typical", "reality", "typical", "networks and software take what they usually take",
       "nothing: this is usual"},
      {"no-overlap", "overlap", "off", "gradients are exchanged after backward, not beside it",
       "a profile of one iteration: does anything wait for the device before backward has ended?"},
      {"one-card", "channels", "1", "collectives use one card of each node",
       "NCCL_DEBUG=INFO prints the cards; NCCL_IB_HCA and NCCL_SOCKET_IFNAME choose them"},
      {"tensor-by-tensor", "bucket-bytes", "0", "each tensor is sent by itself",
       "the number of collectives in an iteration; the framework's fusion size"},
      {"one-bucket", "bucket-bytes", "all", "all gradients are sent together",
       "the number of collectives in an iteration; the framework's fusion size"},
      {"mixed-ranks", "placement", "spread",
       "ranks go round the nodes instead of filling one after the other",
       "the host of each rank, in their order"},
      {"flat-ring", "exchange", "ring", "gradients are averaged by a ring", of_nccl},
      {"tree", "exchange", "tree", "gradients are averaged by a tree", of_nccl},
      {"fp32", "wire-precision", "fp32", "gradients are sent in fp32",
       "the type of the gradients when they are exchanged"},
  };
  return all;
}

// Whether it is an exchange, and the scenario takes it, though by another protocol of NCCL.
bool is_taken(const Variation& variation, const Explained& scenario) {
  return variation.option == "exchange" && scenario.exchange.starts_with(variation.value);
}

// What a scenario's process finds.
struct Found {
  Explained what;        // without what others find
  int node_workers = 1;  // of the largest node
  std::string cards;     // their kind of network
  std::vector<Slowdown> causes;
};

// As `run` says it, from the arithmetic of iterations.
void add_prediction(const Setup& setup, Explained& what) {
  Figures figures{.worker_count = what.workers};
  figures.throughput_samples_per_s = what.samples / what.scenario_s;
  figures.scaling_efficiency =
      figures.throughput_samples_per_s / (setup.scenario.samples() * setup.alone_per_s());
  figures.iteration_mean_s = what.scenario_s;
  figures.compute_s = setup.compute.solo_s(0);
  add_prediction(setup.scenario, figures);
  what.prediction_low = figures.prediction_low_samples_per_s;
  what.prediction_high = figures.prediction_high_samples_per_s;
}

Setup prepared_for(Scenario scenario, const PlatformFile& platform,
                   const MeasuredDuration& measured) {
  require_room_for_platform(platform, scenario.platform, limits_of({}));
  if (measured.bytes == 0)
    return prepare(with_computation_alone(scenario, platform), platform);
  std::erase_if(scenario.candidates, [](const CandidateExchange& one) {
    return !is_among(one.exchange->name, nccl_candidates());
  });
  return prepare_all_reduce(scenario, platform, measured.bytes);
}

Found found_for(const Scenario& scenario, const MeasuredDuration& measured, bool with_causes) {
  const PlatformFile platform = read_platform(scenario);
  const Setup setup = prepared_for(scenario, platform, measured);
  Routes routes = setup.traffic.cluster.routes();
  const Topology& topology = setup.traffic.cluster.topology;
  Found found{
      .what = {.bytes = measured.bytes,
               .scenario_s = scenario_iteration_s(setup, routes),
               .samples = 1.0 * topology.workers() * setup.scenario.samples(),
               .workers = topology.workers(),
               .nodes = static_cast<int>(topology.nodes.size()),
               .exchange = setup.choices.empty() ? setup.traffic.exchange->name
                                                 : setup.choices.front().seconds.front().first},
      .node_workers = largest_node(topology),
      .cards = platform.cards.kind};
  Explained& what = found.what;
  what.measured_s = measured.rate.iteration_s(what.samples);
  if (measured.bytes == 0) {
    add_prediction(setup, what);
  } else {
    const ExchangeTime time =
        exchange_time(setup.traffic, routes, dense(whole_values(measured.bytes)));
    what.fixed_part = time.fixed_s / time.exchange_s();
  }
  if (with_causes && what.times() > 1 + no_difference)
    found.causes = slowdowns_of(setup, what.measured_s);
  if (measured.bytes > 0)  // it computes nothing
    std::erase_if(found.causes,
                  [](const Slowdown& cause) { return cause.kind == Slowdown::Kind::computation; });
  return found;
}

std::optional<double> number_at(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

Json as_json(const std::vector<Slowdown>& causes) {
  Json all = Json::array();
  for (const Slowdown& cause : causes)
    all.push_back({static_cast<int>(cause.kind), or_null(cause.amount), cause.rate_Bps});
  return all;
}

std::vector<Slowdown> slowdowns_in(const Json& json) {
  std::vector<Slowdown> causes;
  for (const Json& cause : json)
    causes.push_back({.kind = static_cast<Slowdown::Kind>(cause[0].get<int>()),
                      .amount = number_at(cause[1]),
                      .rate_Bps = cause[2]});
  return causes;
}

std::string as_text(const Found& found) {
  const Explained& what = found.what;
  return Json{what.bytes,
              what.measured_s,
              what.scenario_s,
              what.samples,
              what.workers,
              what.nodes,
              what.exchange,
              what.fixed_part,
              or_null(what.prediction_low),
              or_null(what.prediction_high),
              found.node_workers,
              found.cards,
              as_json(found.causes)}
      .dump();
}

Found found_in(const std::string& text) {
  const Json json = Json::parse(text);
  return {.what = {.bytes = json[0],
                   .measured_s = json[1],
                   .scenario_s = json[2],
                   .samples = json[3],
                   .workers = json[4],
                   .nodes = json[5],
                   .exchange = json[6],
                   .fixed_part = json[7],
                   .prediction_low = number_at(json[8]),
                   .prediction_high = number_at(json[9])},
          .node_workers = json[10],
          .cards = json[11],
          .causes = slowdowns_in(json[12])};
}

// Seconds with each cause or variation; none: it does not fit this scenario.
using VariedSeconds = std::vector<std::optional<double>>;

// The other measurement, and how long it would take with causes and variations of this one.
struct Other {
  const Explained& what;
  VariedSeconds with_causes, varied_s;
};

// What makes the other measurement too long is no cause of this one.
void exclude(Finding& finding, const Other* other, const std::optional<double>& others_s) {
  if (!others_s ||
      *others_s <= (1 + around) * std::max(other->what.measured_s, other->what.scenario_s))
    return;
  finding.reach = Finding::Reach::too_much;
  finding.what += fmt::format("; but then {} B would take {} instead of {}", other->what.bytes,
                              seconds_shown(*others_s), seconds_shown(other->what.measured_s));
}

Finding about_slowdown(const Slowdown& cause, const Found& nominal) {
  const std::string name = name_of(cause.kind);
  Finding finding{.what = name + ": however bad", .reach = Finding::Reach::too_little};
  if (cause.amount)
    finding = about(cause, nominal.cards, nominal.node_workers);
  finding.name = name;
  finding.amount = cause.amount;
  return finding;
}

Finding about_option(const Variation& variation, double with_s, const Explained& scenario) {
  const double apart = std::abs(std::log(with_s / scenario.measured_s));
  const double share = (with_s - scenario.scenario_s) / (scenario.measured_s - scenario.scenario_s);
  Finding finding{.name = variation.name,
                  .what = variation.what,
                  .look_at = variation.look_at,
                  .likelihood = likelihood(apart, std::log1p(near), std::log1p(around)),
                  .distance = apart,
                  .iteration_s = with_s};
  if (share < most_of_it)
    finding.reach = Finding::Reach::too_little;
  else if (finding.likelihood == Likelihood::unusual)
    finding.reach = share < 1 ? Finding::Reach::too_little : Finding::Reach::too_much;
  finding.what += fmt::format(
      " ({} = {}): {}, {} of the difference", variation.option, variation.value,
      scenario.bytes > 0 ? scenario.shown(with_s) : seconds_shown(with_s) + " per iteration",
      percent(share));
  return finding;
}

// Causes by amount, and other values of options with which it takes longer.
std::vector<Finding> findings_of(const Found& nominal, const VariedSeconds& varied_s,
                                 const Other* other) {
  const Explained& what = nominal.what;
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < nominal.causes.size(); ++i) {
    findings.push_back(about_slowdown(nominal.causes[i], nominal));
    if (other != nullptr)
      exclude(findings.back(), other, other->with_causes[i]);
  }
  for (std::size_t i = 0; i < variations().size(); ++i)
    if (varied_s[i] && !is_taken(variations()[i], what) &&
        *varied_s[i] - what.scenario_s > no_part * (what.measured_s - what.scenario_s)) {
      findings.push_back(about_option(variations()[i], *varied_s[i], what));
      if (other != nullptr)
        exclude(findings.back(), other, other->varied_s[i]);
    }
  std::ranges::stable_sort(findings, {}, [](const Finding& one) {
    return std::tuple(one.reach != Finding::Reach::enough, one.likelihood, !one.iteration_s,
                      one.distance, one.name);
  });
  put_same_together(findings);
  return findings;
}

// How long a measurement takes with each of these causes.
VariedSeconds slowed_seconds(const Scenario& scenario, const MeasuredDuration& measured,
                             const std::vector<Slowdown>& causes) {
  const Json found = Json::parse(run_child([&] {
    const Setup setup = prepared_for(scenario, read_platform(scenario), measured);
    Json seconds = Json::array();
    for (const Slowdown& cause : causes)
      seconds.push_back(cause.amount ? Json(slowed_iteration_s(setup, cause)) : Json(nullptr));
    return seconds.dump();
  }));
  VariedSeconds seconds;
  for (const Json& one : found)
    seconds.push_back(number_at(one));
  return seconds;
}

// The seconds of every measurement, in the scenario with another value of an option: by value,
// then by measurement.
std::vector<VariedSeconds> varied_seconds(const std::vector<Section>& sections,
                                          const std::vector<MeasuredDuration>& all, int at_once) {
  const bool needs_model = all.front().bytes == 0;
  std::vector<Job> jobs;
  const auto add = [&](const std::string& option, const std::string& value) {
    for (const MeasuredDuration& measured : all)
      jobs.emplace_back([=, &sections] {
        std::vector<Section> varied = sections;
        varied.front().options[option] = {value, "--" + option};
        return as_text(found_for(expand(varied, needs_model).cells.front(), measured, false));
      });
  };
  for (const Variation& variation : variations())
    add(variation.option, variation.value);
  add("reality", "nominal");
  std::vector<VariedSeconds> seconds(all.size(), VariedSeconds(variations().size() + 1));
  run_children(jobs, at_once, [&](std::size_t job, const Outcome& outcome) {
    if (outcome.ok)
      seconds[job % all.size()][job / all.size()] = found_in(outcome.output).what.scenario_s;
    return true;
  });
  return seconds;
}

}  // namespace

double MeasuredRate::iteration_s(double samples) const {
  return seconds ? *seconds : samples / *samples_per_s;
}

double Explained::rate(double seconds) const {
  return bytes > 0 ? bus_bandwidth_Bps(workers, static_cast<double>(bytes), seconds)
                   : samples / seconds;
}

std::string Explained::shown(double seconds) const {
  if (bytes == 0)
    return count_shown(rate(seconds)) + " samples/s, " + seconds_shown(seconds) + " per iteration";
  return shows_latency()
             ? seconds_shown(seconds)
             : fmt::format("busbw {:.2f} GB/s, {}", rate(seconds) / 1e9, seconds_shown(seconds));
}

std::vector<Explained> explanations_of(const std::vector<Section>& sections,
                                       const std::vector<MeasuredDuration>& all, int at_once) {
  const Sweep sweep = expand(sections, all.front().bytes == 0);
  if (sweep.cells.size() != 1)
    throw std::invalid_argument(
        fmt::format("--measured: there are {} cells; allowed is one, of which it was measured",
                    sweep.cells.size()));
  std::vector<Found> found(all.size());
  std::vector<Job> jobs;
  for (const MeasuredDuration& measured : all)
    jobs.emplace_back([&] { return as_text(found_for(sweep.cells.front(), measured, true)); });
  run_children(jobs, at_once, [&](std::size_t job, const Outcome& outcome) {
    if (!outcome.ok)
      throw std::runtime_error(error_of(sweep.cells.front(), outcome));
    found[job] = found_in(outcome.output);
    return true;
  });
  const std::vector<VariedSeconds> varied_s = varied_seconds(sections, all, at_once);
  std::vector<Explained> all_explained;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Explained one = found[i].what;
    one.nominal_s = varied_s[i].back();
    one.typical_s = varied_s[i].front();
    const std::size_t second = all.size() - 1 - i;
    std::optional<Other> other;
    if (second != i)
      other.emplace(Other{found[second].what,
                          slowed_seconds(sweep.cells.front(), all[second], found[i].causes),
                          varied_s[second]});
    if (one.times() > 1 + no_difference)
      one.causes = findings_of(found[i], varied_s[i], other ? &*other : nullptr);
    all_explained.push_back(std::move(one));
  }
  return all_explained;
}

}  // namespace syncline
