#include "sim/report/report.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sim/report/learning.h"
#include "sim/report/readable.h"
#include "sim/report/worker_figures.h"

namespace syncline {
namespace {

// The value below which a fraction of the sorted values lies, by the nearest-rank rule.
double percentile(const std::vector<double>& sorted, double fraction) {
  const double rank = std::ceil(fraction * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

std::int64_t updates_in(const Trace& trace) {
  std::int64_t steps = 0;
  std::int64_t updates = 0;
  for (const Row& row : trace.rows)
    if (row.verb == Verb::step && row.rank == 0 && row.version >= 0)
      steps = std::max(steps, row.version);
    else if (row.verb == Verb::apply && row.rank == trace.workers && row.bucket <= 0)
      updates = std::max(updates, row.version);
  return updates > 0 ? updates : steps;
}

// The part of the window for which the busiest server does any of this; none if no server does.
std::optional<double> busiest_server(const Trace& trace, const std::set<Verb>& verbs) {
  const Window& window = trace.window;
  std::map<int, double> busy_s;  // by rank
  for (const Row& row : trace.rows)
    if (row.rank >= trace.workers && row.rank < trace.workers + trace.servers &&
        row.stream != Stream::messages && verbs.contains(row.verb))
      busy_s[row.rank] +=
          std::max(0.0, std::min(row.end_s, window.to_s) - std::max(row.start_s, window.from_s));
  double most_s = 0;
  for (const auto& [rank, seconds] : busy_s)
    most_s = std::max(most_s, seconds);
  if (busy_s.empty())
    return std::nullopt;
  return std::min(most_s / (window.to_s - window.from_s), 1.0);
}

// Names what delays a run, with the shares of other parts that take a tenth of an iteration or
// more. A link that is busy for longer than the device is the first thing to make faster, even if
// most of its bytes move while the device computes.
std::string bottleneck_of(const Trace& trace, const std::vector<WorkerRows>& workers,
                          const Figures& figures) {
  struct Part {
    const char* name;
    double share;
  };
  const double iteration_s = figures.iteration_mean_s;
  const Part compute{"computation", figures.compute_s / iteration_s};
  const Part compress{"compression", figures.compress_s / iteration_s};
  const Part exposed{"communication", figures.exposed_communication_s / iteration_s};
  const Part waiting{"waiting", figures.waiting_s / iteration_s};
  const double link = figures.fullest_link();
  const double busy = compute.share + compress.share;
  const bool stands_still = exposed.share + waiting.share > busy;
  const Part& first = stands_still ? (exposed.share >= waiting.share ? exposed : waiting)
                      : exposed.share >= waiting.share && exposed.share > 0 && link > busy ? exposed
                      : compress.share > compute.share ? compress
                                                       : compute;

  std::string text = std::string(first.name) + ": " + percent(first.share) + " of an iteration";
  if (&first == &exposed)
    text += " stands still for it";
  for (const Part* part : {&compute, &compress, &exposed, &waiting})
    if (part != &first && part->share >= 0.1)
      text += std::string(", ") + part->name + " " + percent(part->share);
  constexpr double nearly_all = 0.5;
  const double adding = busiest_server(trace, {Verb::sum, Verb::update}).value_or(0);
  if (adding >= nearly_all)
    text += "; the busiest server adds gradients in its host's memory for " + percent(adding) +
            " of the time";
  else if (&first == &waiting) {
    const auto iteration_compute_s = [](const WorkerRows& worker) {
      return worker.all_compute_s / static_cast<double>(worker.iterations.size());
    };
    const auto slowest = std::ranges::max_element(workers, {}, iteration_compute_s);
    double mean_s = 0;
    for (const WorkerRows& worker : workers)
      mean_s += iteration_compute_s(worker) / static_cast<double>(workers.size());
    constexpr double least_shown = 1.005;
    if (const double times = iteration_compute_s(*slowest) / mean_s; times >= least_shown)
      text +=
          fmt::format("; the slowest, {}, computes for {:.2f} times the mean",
                      trace.rank_names[static_cast<std::size_t>(slowest - workers.begin())], times);
  }
  if (!figures.busiest_links.empty())
    text += "; the busiest link, " + figures.busiest_links.front().name + ", is " + percent(link) +
            " full";
  if (figures.server_busy)
    text += "; the busiest server handles messages for " + percent(*figures.server_busy) +
            " of the time";
  return text;
}

void add_links(const Trace& trace, Figures& figures) {
  // The part of the link's capacity in the window that is used. Flows between two ranks may
  // overlap, so the capacity of one flow does not limit all of them.
  const auto full = [&](const LinkUse& link) {
    const auto part_of = [&](double bytes) {
      return link.bandwidth.part_used(bytes, trace.window.from_s, trace.window.to_s);
    };
    return std::min(1.0, part_of(link.fatpipe ? link.measured_flow_bytes : link.measured_bytes));
  };
  std::vector<std::pair<double, const LinkUse*>> links;
  for (const LinkUse& link : trace.links)
    links.emplace_back(full(link), &link);
  std::vector<std::pair<double, const LinkUse*>> fullest(std::min<std::size_t>(3, links.size()));
  std::ranges::partial_sort_copy(links, fullest, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second->name < b.second->name;
  });
  for (const auto& [utilisation, link] : fullest)
    figures.busiest_links.push_back(
        {.name = link->name,
         .utilisation = utilisation,
         .bytes_per_iteration = link->measured_bytes / figures.window_iterations});
}

// In step: the part of the window by which the slowest worker's rounds take longer than the
// fastest's. Only while averages arrive late can that be more than half an iteration.
double gets_ahead(const Trace& trace, const std::vector<Progress>& progress) {
  const Progress pace = pace_of(progress, trace.round);
  const auto rounds_until = [&](double moment_s) {
    return static_cast<std::size_t>(std::ranges::upper_bound(pace.counted_s, moment_s) -
                                    pace.counted_s.begin());
  };
  const std::size_t first = rounds_until(trace.window.from_s);
  const std::size_t last = rounds_until(trace.window.to_s);
  if (first == 0 || last <= first)
    return 0;
  const auto [fastest_s, slowest_s] = between_rounds(progress, first, last, trace.round);
  const double half_an_iteration_s =
      slowest_s / (2 * static_cast<double>(last - first) * trace.round);
  return slowest_s - fastest_s > half_an_iteration_s ? 1 - fastest_s / slowest_s : 0;
}

// Adds the window, and how well its throughput is known.
void add_window(const Trace& trace, const std::vector<Progress>& progress,
                const MeasuredWindow& measured, int batch, Figures& figures) {
  const Window& window = trace.window;
  const double seconds = window.to_s - window.from_s;
  figures.window_from_s = window.from_s;
  figures.window_to_s = window.to_s;
  figures.window_iterations = measured.iterations() / trace.workers;
  figures.throughput_samples_per_s = batch * measured.iterations() / seconds;
  figures.throughput_of_runs = {figures.throughput_samples_per_s};
  if (!window.warm)
    figures.warnings.emplace_back(
        "the run ended before the slowest worker was warm: figures are from the start");
  if (window.warm && !trace.in_step && figures.window_iterations < 2)
    figures.warnings.emplace_back(
        "the window has fewer than two iterations per worker, so where it begins and ends decides "
        "its figures: more iterations say more");
  const Certainty certainty = certainty_of(trace, progress);
  figures.throughput_interval = certainty.interval;
  figures.halves_differ = certainty.halves_differ;
  if (is_unsteady(figures))
    figures.warnings.push_back(unsteady_warning(figures));
  if (trace.cut_short)
    figures.warnings.emplace_back(
        "max-iterations was reached before the run was steady and throughput known as well as "
        "interval asks");
  constexpr double worth_saying = 0.02;
  if (const double part = trace.in_step ? gets_ahead(trace, progress) : 0; part > worth_saying)
    figures.warnings.push_back(fmt::format(
        "in this window the fastest worker gets {:.2g} % ahead of the slowest, for which "
        "it has to wait later: throughput is too high, more iterations lower it",
        100 * part));
  if (seconds < trace.profiles_s) {
    figures.warnings.push_back(
        fmt::format("the window has {:.3g} s, but the platform's profiles need {:.3g} s to show "
                    "all that they do: the interval of throughput is not known",
                    seconds, trace.profiles_s));
  }
}

// Adds the seconds of an iteration: the window's seconds of all workers over the iterations that
// count in it, as for throughput. Adds the parts of these seconds, too.
void add_iterations(const std::vector<WorkerRows>& workers, const std::vector<SpentSeconds>& spent,
                    const MeasuredWindow& measured, Figures& figures) {
  const double iterations = measured.iterations();
  figures.iteration_mean_s = static_cast<double>(spent.size()) * measured.seconds() / iterations;
  for (const SpentSeconds& worker : spent) {
    figures.compute_s += worker.compute_s / iterations;
    figures.compress_s += worker.compress_s / iterations;
    figures.exposed_communication_s += worker.exposed_s / iterations;
    figures.waiting_s += worker.waiting_s / iterations;
  }
  for (const WorkerRows& worker : workers)
    figures.recomputed += worker.again_s / iterations / figures.iteration_mean_s;
}

// Adds percentiles of single iterations, from forward to step.
void add_percentiles(const std::vector<WorkerRows>& workers, const MeasuredWindow& measured,
                     Figures& figures) {
  std::vector<double> durations;
  for (const WorkerRows& worker : workers) {
    const std::vector<Interval>& all = worker.iterations;
    const auto add = [&](bool any) {
      for (std::size_t i = 0; i < all.size(); ++i)
        if (any || measured.has_iteration(static_cast<int>(i), all[i].start_s, all[i].end_s))
          durations.push_back(all[i].end_s - all[i].start_s);
    };
    const std::size_t before = durations.size();
    add(false);
    if (durations.size() == before)  // too slow for the window: all its iterations
      add(true);
  }
  std::ranges::sort(durations);
  figures.iteration_p50_s = percentile(durations, 0.5);
  figures.iteration_p99_s = percentile(durations, 0.99);
}

void add_bytes(const Trace& trace, const MeasuredWindow& measured, Figures& figures) {
  for (const Row& row : trace.rows)  // aggregators send on behalf of their workers
    if (row.rank < trace.workers || row.rank >= trace.workers + trace.servers) {
      const double part = measured.part(row) / measured.iterations();
      const auto rank = static_cast<std::size_t>(row.rank);
      const double sent = static_cast<double>(row.bytes_sent) * part;
      const double off_node = rank < trace.off_node.size() ? trace.off_node[rank] : 1;
      figures.bytes_sent += sent;
      figures.bytes_sent_off_node += off_node * sent;
      figures.bytes_sent_in_node += (1 - off_node) * sent;
      figures.bytes_received += static_cast<double>(row.bytes_received) * part;
    }
}

// Least seconds of computation in any iteration of the window. Where all wait for all: the largest
// part of any worker's time. Otherwise: seconds of an iteration if each worker goes as fast as it
// computes.
double least_compute_s(const std::vector<WorkerRows>& workers,
                       const std::vector<SpentSeconds>& spent, bool in_step, double iteration_s) {
  double most = 0;
  double rate = 0;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    most = std::max(most, spent[i].compute_s / workers[i].window_s);
    rate += workers[i].counted > 0 ? workers[i].counted / spent[i].compute_s : 0;
  }
  return in_step ? most * iteration_s : static_cast<double>(workers.size()) / rate;
}

// Adds the bounds of the window, like the figures beside which they are shown. The whole run is
// checked against its own bounds.
void add_bounds(const Trace& trace, const std::vector<WorkerRows>& workers,
                const std::vector<SpentSeconds>& spent, Figures& figures) {
  double iterations = 0;  // in the whole run, per worker
  for (const WorkerRows& worker : workers)
    iterations += static_cast<double>(worker.iterations.size()) / trace.workers;
  double bound_s = 0;
  for (const WorkerRows& worker : workers)
    bound_s = std::max(bound_s, worker.all_compute_s / iterations);
  for (const LinkUse& link : trace.links)
    if (!link.fatpipe)
      bound_s = std::max(bound_s, link.bandwidth.seconds_for(link.bytes) / iterations);
  figures.run_iteration_s = trace.end_s / iterations;
  if (figures.run_iteration_s < bound_s * (1 - 1e-6))
    figures.warnings.push_back(
        fmt::format("an iteration took {:f} s, less than its lower bound of {:f} s: this is a bug, "
                    "please report it",
                    figures.run_iteration_s, bound_s));
  figures.bound_compute_s =
      least_compute_s(workers, spent, trace.in_step, figures.iteration_mean_s);
  figures.bound_link_s = figures.fullest_link() * figures.iteration_mean_s;
}

}  // namespace

bool is_unsteady(const Figures& figures) {
  return std::abs(figures.halves_differ) > steady_halves;
}

Warning unsteady_warning(const Figures& figures) {
  return Warning(
      WarningKind::unsteady,
      fmt::format(
          "{:.4g} samples/s in the first half of the window, {:.4g} samples/s in the second",
          figures.throughput_samples_per_s * (1 - figures.halves_differ / 2),
          figures.throughput_samples_per_s * (1 + figures.halves_differ / 2)));
}

bool can_win(const Figures& figures) {
  return !is_unsteady(figures) && figures.fits_memory();
}

Figures figures_of(const Trace& trace, int batch) {
  return figures_of(trace, TraceByWorker(trace), batch);
}

Figures figures_of(const Trace& trace, const TraceByWorker& by_worker, int batch) {
  Figures figures{.worker_count = trace.workers};
  const auto& [progress, measured, workers] = by_worker;
  std::vector<SpentSeconds> spent;
  for (std::size_t w = 0; w < workers.size(); ++w)
    spent.push_back(spent_by(workers[w], w < trace.one_core.size() && trace.one_core[w]));
  figures.simulated_s = trace.end_s;
  figures.flows = static_cast<std::int64_t>(trace.flows);
  figures.updates = updates_in(trace);
  add_iterations(workers, spent, measured, figures);
  add_percentiles(workers, measured, figures);
  add_window(trace, progress, measured, batch, figures);
  add_workers(trace, workers, spent, figures);
  figures.scaling_efficiency = figures.throughput_samples_per_s / (batch * trace.alone_per_s);
  add_bytes(trace, measured, figures);
  add_links(trace, figures);
  add_staleness(trace, figures);
  figures.server_busy = busiest_server(trace, {Verb::handle});
  figures.bottleneck = bottleneck_of(trace, workers, figures);
  if (trace.learned) {
    add_learned(*trace.learned, figures);
    if (const int without = trace.learned->workers_without_samples; without > 0)
      figures.warnings.push_back(fmt::format(
          "skew leaves {} of {} workers without samples: each computes all its gradients "
          "on one sample of another's",
          without, trace.workers));
  }
  add_bounds(trace, workers, spent, figures);
  return figures;
}

void add_learned(const Learned& learned, Figures& figures) {
  std::ranges::move(learning_warnings(learned), std::back_inserter(figures.warnings));
  if (learned.diverged_s || learned.curve.empty())
    return;
  const auto finite = [](double number) {
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
  };
  figures.loss = finite(learned.curve.back().loss);
  figures.accuracy = finite(learned.curve.back().accuracy);
  figures.target_s = learned.target_s;
}

void add_epoch(const Scenario& scenario, Figures& figures) {
  constexpr double samples_without_epoch = 1e6;
  figures.epoch_s =
      scenario.epoch_samples.value_or(samples_without_epoch) / figures.throughput_samples_per_s;
  if (scenario.price)
    figures.epoch_cost =
        *scenario.price * static_cast<double>(figures.worker_count) * figures.epoch_s / 3600;
}

}  // namespace syncline
