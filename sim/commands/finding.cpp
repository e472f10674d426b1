#include "sim/commands/finding.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/catalogue/reality.h"
#include "sim/report/readable.h"

namespace syncline {
namespace {

Finding about_cards(const Slowdown& cause, const std::string& kind) {
  const double part = *cause.amount, rate_Bps = part * cause.rate_Bps;
  const UsualPart usual = usual_part(kind, cause.rate_Bps);
  const UsualPart sockets = usual_part("tcp", cause.rate_Bps);
  Finding finding{.likelihood = likelihood(1 / part, 1 / usual.low, 2 / usual.low),
                  .distance = std::max(0.0, std::log(usual.low / part))};
  finding.what = fmt::format(
      "links between nodes carry {} of their rate: {:.3g} of {:.3g} Gbit/s on the busiest; usual "
      "{} {} to {}",
      percent(part, 1), rate_Bps * 8e-9, cause.rate_Bps * 8e-9,
      kind.empty() ? "is, of any kind of network," : "of " + kind + " is", percent(usual.low),
      percent(usual.high));
  finding.look_at =
      "ib_write_bw or iperf3 between two nodes; NCCL_DEBUG=INFO prints the cards and GDRDMA";
  if (kind != "tcp" && finding.likelihood != Likelihood::usual && part >= sockets.low &&
      part <= sockets.high) {
    finding.likelihood = Likelihood::usual;
    finding.what +=
        fmt::format("; NCCL over sockets, without RDMA, carries {:.3g} to {:.3g} Gbit/s a card",
                    sockets.low * cause.rate_Bps * 8e-9, sockets.high * cause.rate_Bps * 8e-9);
    finding.look_at = "NCCL_DEBUG=INFO prints NET/Socket instead of NET/IB";
  }
  return finding;
}

// NCCL's rings carried 235 of 300 GB/s on A100s and 368 of 450 on H100s. Two, four and eight GPUs
// of one measured host without access to each other moved 6, 10.8 and 13.4 GB/s together.
Finding about_inside(const Slowdown& cause, int node_workers) {
  constexpr double usual_part_of_links = 0.75;
  constexpr double least_of_hosts_Bps = 5e9, most_of_hosts_Bps = 14e9;
  const double part = *cause.amount, rate_Bps = part * cause.rate_Bps;
  Finding finding{.likelihood = likelihood(1 / part, 1 / usual_part_of_links, 3),
                  .distance = std::max(0.0, std::log(usual_part_of_links / part))};
  finding.what = fmt::format("links inside nodes carry {} of their rate: {:.3g} of {:.3g} GB/s",
                             percent(part, 1), rate_Bps / 1e9, cause.rate_Bps / 1e9);
  finding.look_at = "nvidia-smi topo -m and nvlink --status; nccl-tests on one node";
  if (const double together_Bps = rate_Bps * node_workers;
      finding.likelihood != Likelihood::usual && together_Bps >= least_of_hosts_Bps &&
      together_Bps <= most_of_hosts_Bps) {
    finding.likelihood = Likelihood::possible;
    finding.what += fmt::format(
        "; {:.3g} for all GPUs of a node together, which moved 6 to 13 GB/s through a host's "
        "memory",
        together_Bps / 1e9);
    finding.look_at = "NCCL_DEBUG=INFO prints SHM instead of P2P; nvidia-smi topo -m";
  }
  return finding;
}

}  // namespace

Likelihood likelihood(double amount, double usual, double possible) {
  return amount <= usual      ? Likelihood::usual
         : amount <= possible ? Likelihood::possible
                              : Likelihood::unusual;
}

Finding about(const Slowdown& cause, const std::string& cards, int node_workers) {
  if (cause.kind == Slowdown::Kind::cards)
    return about_cards(cause, cards);
  if (cause.kind == Slowdown::Kind::inside)
    return about_inside(cause, node_workers);
  if (cause.kind == Slowdown::Kind::steps)
    return {.what = fmt::format("each step of an exchange takes {} longer (step-overhead)",
                                seconds_shown(*cause.amount)),
            .look_at = "nccl-tests with 8 bytes: its time over the number of steps",
            .likelihood = likelihood(*cause.amount, 1e-5, 1e-4),
            .distance = std::max(0.0, std::log(*cause.amount / 1e-5))};
  return {
      .what = fmt::format(
          "computation takes {:.3g} times as long: collectives beside it (1.19 is published, at "
          "most 1.4), input that comes late, clocks, or one slow worker; all look the same here",
          *cause.amount),
      .look_at = "the time of forward by rank; a worker alone on the same input; made-up input",
      .likelihood = likelihood(*cause.amount, 1 + published_overlap_slowdown, 1.4),
      .distance = std::log(*cause.amount)};
}

const char* name_of(Slowdown::Kind kind) {
  constexpr const char* names[] = {"cards", "inside", "steps", "computation"};
  return names[static_cast<int>(kind)];
}

void put_same_together(std::vector<Finding>& findings) {
  const auto option = [](const Finding& finding) {
    return finding.iteration_s && finding.reach == Finding::Reach::enough;
  };
  for (auto first = findings.begin(); first != findings.end(); ++first) {
    if (!option(*first) || !first->same_as.empty())
      continue;
    const auto end = std::stable_partition(first + 1, findings.end(), [&](const Finding& other) {
      return option(other) && std::abs(std::log(*other.iteration_s / *first->iteration_s)) <
                                  std::log1p(no_difference);
    });
    for (auto other = first + 1; other != end; ++other)
      other->same_as = first->name;
  }
}

std::vector<std::string> not_told_apart(const std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const Finding& finding : findings)
    if (finding.reach == Finding::Reach::enough &&
        (finding.likelihood == findings.front().likelihood ||
         std::ranges::find(names, finding.same_as) != names.end()))
      names.push_back(finding.name);
  return names.size() > 1 ? names : std::vector<std::string>{};
}

}  // namespace syncline
