#include "sim/report/figures.h"

#include <algorithm>

#include "sim/report/figure_columns.h"
#include "sim/report/learning.h"
#include "sim/report/report.h"
#include "sim/report/shown.h"

namespace syncline {
namespace {

constexpr AllowedNumbers from_one{.least = 1};

bool does_compress(const Result& result) {
  return result.figures.compress_s > 0;
}
bool learns(const Result& result) {
  return result.learns();
}
bool has_target(const Result& result) {
  return target_in(result).has_value();
}
bool is_sized(const Result& result) {
  return !result.option("epoch-samples").empty();
}
bool has_price(const Result& result) {
  return result.figures.epoch_cost.has_value();
}
bool has_epoch(const Result& result) {
  return is_sized(result) || has_price(result);
}

std::string epoch_title(const std::vector<Result>& results) {
  return std::ranges::any_of(results, is_sized) ? "epoch" : "10^6 samples";
}

std::string throughput_shown(const Result& result) {
  return format("%s%.1f", is_unsteady(result.figures) ? "~" : "",
                result.figures.throughput_samples_per_s);
}

}  // namespace

const std::vector<Figure>& figure_rows() {
  static const std::vector<Figure> all{
      {.name = "worker_count",
       .titles = {},
       .sentence = "how many workers took part",
       .more = "It is the platform's number of workers unless the option workers is given.",
       .member = &Figures::worker_count,
       .allowed = from_one},
      {.name = "throughput_samples_per_s",
       .titles = {"samples/s", "throughput"},
       .sentence =
           "samples whose gradients were applied, per simulated second, of all workers together",
       .more = "It is a result, called throughput in reports; the option throughput is what one "
               "worker does alone.",
       .member = &Figures::throughput_samples_per_s,
       .unit = Unit::samples_per_s,
       .roles = {.column = true, .summary = true, .mean = true},
       .shown = throughput_shown},
      {.name = "runs",
       .titles = {"mean of"},
       .sentence = "how many runs a cell had, each with a seed of its own",
       .more = "Figures are their means; the window, percentiles, links and the picture are of the "
               "first.",
       .member = &Figures::runs,
       .allowed = from_one},
      {.name = "throughput_of_runs",
       .titles = {},
       .sentence = "throughput of each run, the scenario's own seed first",
       .more = "Their spread is what the interval of their mean is computed from.",
       .member = &Figures::throughput_of_runs},
      {.name = "throughput_interval",
       .titles = {},
       .sentence = "half the 95 % interval of throughput, as a part of it",
       .more = "It is null where all iterations are alike or too few.",
       .member = &Figures::throughput_interval,
       .allowed = any_count.or_null(),
       .unit = Unit::share},
      {.name = "halves_differ",
       .titles = {},
       .sentence =
           "throughput of the second half of the window less that of the first, as a part of both",
       .more = "More than 3 % is a warning, and a ~ before samples/s in tables.",
       .member = &Figures::halves_differ,
       .allowed = any_printable,
       .unit = Unit::share,
       .roles = {.mean = true}},
      {.name = "window_from_s",
       .titles = {},
       .sentence = "simulated seconds at which the window begins that figures are of",
       .more = "All workers work in it, and warm-up is over.",
       .member = &Figures::window_from_s,
       .unit = Unit::seconds},
      {.name = "window_to_s",
       .titles = {},
       .sentence = "simulated seconds at which the window ends that figures are of",
       .more = "It is where the first worker does its last iteration.",
       .member = &Figures::window_to_s,
       .unit = Unit::seconds},
      {.name = "window_iterations",
       .titles = {},
       .sentence = "iterations of the window, per worker",
       .more = "Parts of iterations count as parts.",
       .member = &Figures::window_iterations},
      {.name = "scaling_efficiency",
       .titles = {"scaling", "scaling efficiency"},
       .sentence = "throughput over what the same workers would do alone",
       .more = "It is a result; the option efficiency is the part of a host's peak that a model "
               "reaches.",
       .member = &Figures::scaling_efficiency,
       .allowed = any_share,
       .unit = Unit::share,
       .roles = {.column = true, .summary = true, .mean = true}},
      {.name = "loss",
       .titles = {},
       .sentence =
           "the training objective at the end: over all training data, with what the problem adds",
       .more = "Only cells with the option learn have it; it is null after a divergence.",
       .member = &Figures::loss,
       .allowed = any_loss,
       .roles = {.column = true, .summary = true, .if_learned = true},
       .shown = loss_shown,
       .matters = learns},
      {.name = "accuracy",
       .titles = {},
       .sentence = "the part of the held-out samples that is classified right at the end",
       .more = "Nobody learned from these samples; it is null after a divergence.",
       .member = &Figures::accuracy,
       .allowed = any_share.or_null(),
       .unit = Unit::share,
       .roles = {.column = true, .summary = true, .if_learned = true},
       .shown = accuracy_shown,
       .matters = learns},
      {.name = "target_s",
       .titles = {"target"},
       .sentence = "simulated seconds until what the option until asks for was met",
       .more = "It is null where it was missed or nothing was asked for.",
       .member = &Figures::target_s,
       .allowed = any_count.or_null(),
       .unit = Unit::seconds,
       .roles = {.column = true, .summary = true, .if_learned = true},
       .shown = target_shown,
       .matters = has_target},
      {.name = "epoch_s",
       .titles = {"epoch", "10^6 samples"},
       .sentence = "seconds of an epoch at this throughput",
       .more = "It has epoch-samples samples, or a million.",
       .member = &Figures::epoch_s,
       .unit = Unit::duration,
       .roles = {.column = true},
       .matters = has_epoch,
       .title = epoch_title},
      {.name = "epoch_cost",
       .titles = {"cost"},
       .sentence = "what an epoch costs: its hours times the workers times the price",
       .more = "It is null without the option price.",
       .member = &Figures::epoch_cost,
       .allowed = any_count.or_null(),
       .unit = Unit::money,
       .roles = {.column = true},
       .matters = has_price},
      {.name = "iteration_mean_s",
       .titles = {"iteration"},
       .sentence = "seconds from one forward to the end of the step, mean",
       .more = "It is compute, compress, exposed communication and waiting together.",
       .member = &Figures::iteration_mean_s,
       .unit = Unit::seconds,
       .roles = {.column = true, .summary = true, .mean = true, .explains = true}},
      {.name = "iteration_p50_s",
       .titles = {},
       .sentence = "the median of iterations' seconds",
       .more = "It is the nearest rank.",
       .member = &Figures::iteration_p50_s,
       .unit = Unit::seconds},
      {.name = "iteration_p99_s",
       .titles = {},
       .sentence = "seconds that 99 % of the iterations take at most",
       .more = "It is the nearest rank.",
       .member = &Figures::iteration_p99_s,
       .unit = Unit::seconds},
      {.name = "compute_s",
       .titles = {"compute"},
       .sentence = "seconds of an iteration in forward, backward and the step",
       .more = "Tables have it as a part of the iteration.",
       .member = &Figures::compute_s,
       .unit = Unit::seconds,
       .roles = {.column = true, .part = true, .mean = true, .explains = true},
       .words = "computation"},
      {.name = "compress_s",
       .titles = {"compress"},
       .sentence =
           "seconds of an iteration in which messages are made or read and nothing is computed",
       .more = "Tables have it as a part of the iteration, where anything compresses.",
       .member = &Figures::compress_s,
       .unit = Unit::seconds,
       .roles = {.column = true, .part = true, .mean = true, .explains = true},
       .words = "compression",
       .matters = does_compress},
      {.name = "exposed_communication_s",
       .titles = {"exposed"},
       .sentence =
           "seconds of an iteration in which a worker stands still while its own bytes move",
       .more = "More bandwidth, fewer bytes or more overlap make it smaller.",
       .member = &Figures::exposed_communication_s,
       .unit = Unit::seconds,
       .roles = {.column = true, .summary = true, .part = true, .mean = true, .explains = true},
       .words = "exposed communication"},
      {.name = "waiting_s",
       .titles = {"waiting"},
       .sentence =
           "seconds of an iteration in which a worker stands still and nothing of its own moves",
       .more = "It waits for slower workers or for servers.",
       .member = &Figures::waiting_s,
       .unit = Unit::seconds,
       .roles = {.column = true, .summary = true, .part = true, .mean = true, .explains = true},
       .words = "waiting"},
      {.name = "staleness_mean",
       .titles = {"stale", "staleness"},
       .sentence = "gradients of single workers applied between a gradient's parameters being read "
                   "and it being applied, mean",
       .more = "It compares schedules; the option staleness bounds it where a schedule has one.",
       .member = &Figures::staleness_mean,
       .roles = {.column = true, .mean = true, .explains = true},
       .words = "staleness"},
      {.name = "staleness_max",
       .titles = {},
       .sentence = "the largest staleness of a gradient in gradients",
       .more = "The option staleness bounds iterations, not this.",
       .member = &Figures::staleness_max},
      {.name = "staleness_updates_mean",
       .titles = {},
       .sentence = "staleness counted in updates of the parameters",
       .more = "An update of inhad has several gradients.",
       .member = &Figures::staleness_updates_mean,
       .roles = {.mean = true}},
      {.name = "staleness_iterations_mean",
       .titles = {},
       .sentence = "staleness counted in iterations, as SSP's clocks",
       .more = "It is never more than the option staleness of ssp.",
       .member = &Figures::staleness_iterations_mean,
       .roles = {.mean = true}},
      {.name = "staleness_histogram",
       .titles = {},
       .sentence = "how many gradients had which staleness, in gradients",
       .more = "Each part of a gradient, bucket and server, counts.",
       .member = &Figures::staleness_histogram},
      {.name = "bytes_sent",
       .titles = {"sent/worker"},
       .sentence = "bytes sent by workers and nodes, per worker and iteration",
       .more = "What servers answer is among the bytes received.",
       .member = &Figures::bytes_sent,
       .unit = Unit::bytes,
       .roles = {.column = true, .mean = true, .explains = true},
       .words = "bytes sent"},
      {.name = "bytes_received",
       .titles = {},
       .sentence = "bytes received by workers and nodes, per worker and iteration",
       .more = "Where servers answer, it differs from the bytes sent.",
       .member = &Figures::bytes_received,
       .unit = Unit::bytes,
       .roles = {.mean = true}},
      {.name = "busiest_links",
       .titles = {"busiest link"},
       .sentence = "the links that are fullest: bytes over bandwidth times seconds",
       .more = "A full link is a bottleneck whatever else the report says.",
       .member = &Figures::busiest_links,
       .unit = Unit::text,
       .roles = {.column = true},
       .shown = busiest_link_shown},
      {.name = "bottleneck",
       .titles = {},
       .sentence = "what an iteration's time goes into, in words",
       .more = "Parts of a tenth and more are named after the largest.",
       .member = &Figures::bottleneck,
       .unit = Unit::text,
       .roles = {.summary = true}},
      {.name = "updates",
       .titles = {},
       .sentence = "how often the first bucket's parameters changed in the whole run",
       .more = "Without servers it is the number of steps.",
       .member = &Figures::updates},
      {.name = "run_iteration_s",
       .titles = {},
       .sentence = "seconds of the whole run per iteration",
       .more = "It has warm-up and the end in it.",
       .member = &Figures::run_iteration_s,
       .unit = Unit::seconds,
       .roles = {.mean = true}},
      {.name = "bound_compute_s",
       .titles = {},
       .sentence = "seconds of the slowest worker's computation per iteration",
       .more = "No iteration is faster, or the result has a warning.",
       .member = &Figures::bound_compute_s,
       .unit = Unit::seconds,
       .roles = {.mean = true, .explains = true},
       .words = "the slowest worker's computation"},
      {.name = "bound_link_s",
       .titles = {},
       .sentence = "seconds of the busiest link's bytes over its bandwidth, per iteration",
       .more = "No iteration is faster, or the result has a warning.",
       .member = &Figures::bound_link_s,
       .unit = Unit::seconds,
       .roles = {.mean = true, .explains = true},
       .words = "the busiest link's bytes / bandwidth"},
      {.name = "simulated_s",
       .titles = {},
       .sentence = "seconds that passed in the simulation",
       .more = "They are not those you wait.",
       .member = &Figures::simulated_s,
       .unit = Unit::seconds},
      {.name = "flows",
       .titles = {},
       .sentence = "how many transfers SimGrid simulated",
       .more = "About ten microseconds of a core go into each.",
       .member = &Figures::flows},
      {.name = "warnings",
       .titles = {},
       .sentence = "sentences on what to know before figures are used",
       .more = "A sweep prints each of them once.",
       .member = &Figures::warnings},
  };
  return all;
}

const Figure* find_figure(const std::string& name) {
  const auto found = std::ranges::find(figure_rows(), name, &Figure::name);
  return found == figure_rows().end() ? nullptr : &*found;
}

std::optional<double> value_of(const Figure& figure, const Result& result) {
  const auto* number = std::get_if<NumberMember<Figures>>(&figure.member);
  return number == nullptr || (figure.roles.if_learned && !result.learns())
             ? std::nullopt
             : number_in(result.figures, *number);
}

std::optional<double> value_of(const std::string& figure, const Result& result) {
  const Figure* row = find_figure(figure);
  return row == nullptr ? std::nullopt : value_of(*row, result);
}

}  // namespace syncline
