// `syncline explain --measured X`: how far a measured rate is from the scenario's, and what, by
// itself, would make up the difference.
#include "sim/commands/explain_measured.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "kernels/io/text.h"
#include "sim/clock/gap.h"
#include "sim/collectives.h"
#include "sim/commands/commands.h"
#include "sim/commands/finding.h"
#include "sim/commands/results_json.h"
#include "sim/options/expand.h"
#include "sim/options/reality.h"
#include "sim/report/readable.h"
#include "sim/setup/setup.h"
#include "sim/sweep/limits.h"
#include "sim/sweep/one_worker.h"
#include "sim/sweep/process.h"
#include "sim/sweep/sweep.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

constexpr double near = 0.05;       // another scenario explains the measurement
constexpr double around = 0.15;     // it may
constexpr double most_of_it = 0.5;  // the part of the difference that such a scenario has at least

// An option with another value, as a run may have it without its owner knowing.
struct Variation {
  std::string name;
  std::string option, value;
  std::string what;
  std::string look_at;
};

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
      {"flat-ring", "exchange", "ring", "gradients are averaged by a ring",
       "NCCL_DEBUG=INFO prints the algorithm; NCCL_ALGO chooses it"},
      {"tree", "exchange", "tree", "gradients are averaged by a tree",
       "NCCL_DEBUG=INFO prints the algorithm; NCCL_ALGO chooses it"},
      {"fp32", "precision", "fp32", "gradients are sent in fp32",
       "the type of the gradients when they are exchanged"},
  };
  return all;
}

// What a scenario's process finds.
struct Found {
  double iteration_s = 0;
  double samples = 0;    // of all workers, in an iteration
  int node_workers = 1;  // of the largest node
  NetworkCards cards;
  std::vector<Slowdown> causes;
};

Found found_for(const Scenario& scenario, const MeasuredRate* measured) {
  const Limits limits = limits_of({});
  const PlatformFile platform = read_platform(scenario);
  require_room_for_platform(platform, scenario.platform, limits);
  const Setup setup = prepare(with_computation_alone(scenario, platform), platform);
  Routes routes = setup.traffic.cluster.routes();
  const Topology& topology = setup.traffic.cluster.topology;
  Found found{.iteration_s = scenario_iteration_s(setup, routes),
              .samples = 1.0 * topology.workers() * scenario.samples(),
              .node_workers = largest_node(topology),
              .cards = platform.cards};
  if (measured != nullptr)
    if (const double iteration_s = measured->iteration_s(found.samples);
        iteration_s > found.iteration_s * (1 + no_difference))
      found.causes = slowdowns_of(setup, iteration_s);
  return found;
}

std::string as_text(const Found& found) {
  Json causes = Json::array();
  for (const Slowdown& cause : found.causes)
    causes.push_back({static_cast<int>(cause.kind),
                      cause.amount ? Json(*cause.amount) : Json(nullptr), cause.rate_Bps});
  return Json{found.iteration_s, found.samples, found.node_workers, found.cards.kind, causes}
      .dump();
}

Found found_in(const std::string& text) {
  const Json json = Json::parse(text);
  Found found{.iteration_s = json[0],
              .samples = json[1],
              .node_workers = json[2],
              .cards = {.kind = json[3]}};
  for (const Json& cause : json[4])
    found.causes.push_back(
        {.kind = static_cast<Slowdown::Kind>(cause[0].get<int>()),
         .amount = cause[1].is_null() ? std::nullopt : std::optional<double>(cause[1]),
         .rate_Bps = cause[2]});
  return found;
}

Finding about_option(const Variation& variation, double with_s, double nominal_s,
                     double measured_s) {
  const double apart = std::abs(std::log(with_s / measured_s));
  const double share = (with_s - nominal_s) / (measured_s - nominal_s);
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
  finding.what +=
      fmt::format(" ({} = {}): {} per iteration, {} of the difference", variation.option,
                  variation.value, seconds_shown(with_s), percent(share));
  return finding;
}

// Another value of the option than the scenario's, whose iterations are longer.
std::vector<Finding> findings_of(const std::vector<Section>& sections, const Found& nominal,
                                 double measured_s, int at_once) {
  std::vector<Finding> findings;
  for (const Slowdown& cause : nominal.causes) {
    const std::string name = name_of(cause.kind);
    Finding finding{.what = name + ": however bad", .reach = Finding::Reach::too_little};
    if (cause.amount)
      finding = about(cause, nominal.cards.kind, nominal.node_workers);
    finding.name = name;
    finding.amount = cause.amount;
    findings.push_back(std::move(finding));
  }
  std::vector<Job> jobs;
  for (const Variation& variation : variations())
    jobs.emplace_back([&] {
      std::vector<Section> varied = sections;
      varied.front().options[variation.option] = {variation.value, "--" + variation.option};
      return as_text(found_for(expand(varied).cells.front(), nullptr));
    });
  run_children(jobs, at_once, [&](std::size_t job, const Outcome& outcome) {
    // One that does not fit this scenario is none.
    if (outcome.ok)
      if (const double with_s = found_in(outcome.output).iteration_s;
          with_s > nominal.iteration_s * (1 + 1e-9))
        findings.push_back(
            about_option(variations()[job], with_s, nominal.iteration_s, measured_s));
    return true;
  });
  std::ranges::stable_sort(findings, {}, [](const Finding& one) {
    return std::tuple(one.reach != Finding::Reach::enough, one.likelihood, !one.iteration_s,
                      one.distance, one.name);
  });
  put_same_together(findings);
  return findings;
}

std::string how_likely(const Finding& finding) {
  constexpr const char* of_amounts[] = {"usual", "possible", "unusual"};
  constexpr const char* of_variations[] = {"fits", "near", "far"};
  const int i = static_cast<int>(finding.likelihood);
  return finding.iteration_s ? of_variations[i] : of_amounts[i];
}

Json as_json(const Finding& finding) {
  constexpr const char* reaches[] = {"too little", "enough", "too much"};
  Json json{{"name", finding.name},
            {"reach", reaches[static_cast<int>(finding.reach)]},
            {"sentence", finding.what}};
  if (finding.reach == Finding::Reach::enough)
    json["likelihood"] = how_likely(finding);
  if (finding.amount)
    json["amount"] = *finding.amount;
  if (finding.iteration_s)
    json["iteration_s"] = *finding.iteration_s;
  if (!finding.same_as.empty())
    json["same_as"] = finding.same_as;
  if (!finding.look_at.empty())
    json["look_at"] = finding.look_at;
  return json;
}

void print_findings(const std::vector<Finding>& findings) {
  std::printf("\nwhat by itself would make iterations as long, the likeliest first\n");
  int number = 0;
  std::string others[3];
  for (const Finding& finding : findings)
    if (finding.reach != Finding::Reach::enough)
      others[static_cast<int>(finding.reach)] += "  " + finding.what + "\n";
    else if (!finding.same_as.empty())
      std::printf("     or, as long: %s\n     look at: %s\n", finding.what.c_str(),
                  finding.look_at.c_str());
    else
      std::printf("%3d  %s: %s\n     look at: %s\n", ++number, how_likely(finding).c_str(),
                  finding.what.c_str(), finding.look_at.c_str());
  if (const std::vector<std::string> names = not_told_apart(findings); !names.empty())
    std::printf("\nas likely as each other by this rate alone, which cannot tell them apart: %s\n",
                fmt::format("{}", fmt::join(names, ", ")).c_str());
  if (const std::string& little = others[static_cast<int>(Finding::Reach::too_little)];
      !little.empty())
    std::printf("\nnot by itself\n%s", little.c_str());
  if (const std::string& much = others[static_cast<int>(Finding::Reach::too_much)]; !much.empty())
    std::printf("\nwould make them longer still\n%s", much.c_str());
}

}  // namespace

double MeasuredRate::iteration_s(double samples) const {
  return seconds ? *seconds : samples / *samples_per_s;
}

MeasuredRate measured_rate(const std::string& text) {
  const auto positive = [](const std::string& number, double unit) -> std::optional<double> {
    const auto value = number_in<double>(number);
    return value && *value > 0 && *value < 1e15 ? std::optional(*value * unit) : std::nullopt;
  };
  MeasuredRate rate;
  if (text.ends_with("ms"))
    rate.seconds = positive(text.substr(0, text.size() - 2), 1e-3);
  else if (text.ends_with("s"))
    rate.seconds = positive(text.substr(0, text.size() - 1), 1);
  else
    rate.samples_per_s = positive(text, 1);
  if (!rate.seconds && !rate.samples_per_s)
    throw std::invalid_argument(
        fmt::format("--measured = {}: allowed are samples/s of all workers, such as 6679, or the "
                    "seconds of an iteration, such as 153ms or 0.153s",
                    brief(text)));
  return rate;
}

int explain_measured(std::vector<Section> sections, const MeasuredRate& measured, bool json,
                     int at_once) {
  // What machines usually leave of their nominal rates is one of the causes.
  for (Section& section : sections)
    section.options.try_emplace("reality", nominal_reality, "--reality");
  const Sweep sweep = expand(sections);
  if (sweep.cells.size() != 1)
    throw std::invalid_argument(
        fmt::format("--measured: there are {} cells; allowed is one, of which it was measured",
                    sweep.cells.size()));
  const Found nominal =
      found_in(run_child([&] { return as_text(found_for(sweep.cells.front(), &measured)); }));
  const double measured_s = measured.iteration_s(nominal.samples);
  const double times = measured_s / nominal.iteration_s;
  std::vector<Finding> findings;
  if (times > 1 + no_difference)
    findings = findings_of(sections, nominal, measured_s, at_once);
  if (json) {
    Json causes = Json::array();
    for (const Finding& finding : findings)
      causes.push_back(as_json(finding));
    print_json({{"measured",
                 {{"iteration_s", measured_s},
                  {"throughput_samples_per_s", nominal.samples / measured_s}}},
                {"scenario",
                 {{"iteration_s", nominal.iteration_s},
                  {"throughput_samples_per_s", nominal.samples / nominal.iteration_s}}},
                {"causes", causes},
                {"not_told_apart", not_told_apart(findings)}});
    return 0;
  }
  const auto line = [&](const char* what, double seconds) {
    std::printf("%-10s %s samples/s, %s per iteration\n", what,
                count_shown(nominal.samples / seconds).c_str(), seconds_shown(seconds).c_str());
  };
  line("measured", measured_s);
  line("scenario", nominal.iteration_s);
  if (times > 1 + no_difference) {
    std::printf("%-10s %s longer than the scenario says, %.3g times as long\n", "difference",
                seconds_shown(measured_s - nominal.iteration_s).c_str(), times);
    print_findings(findings);
  } else if (times < 1 - no_difference) {
    std::printf(
        "%-10s faster than the scenario allows: its throughput of a worker alone, batch, "
        "precision, workers or platform are not those that were measured\n",
        "difference");
  } else {
    std::printf("%-10s none to explain: within %s of the scenario\n", "difference",
                percent(no_difference).c_str());
  }
  return 0;
}

}  // namespace syncline
