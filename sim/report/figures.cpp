#include "sim/report/figures.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/report/learning.h"
#include "sim/report/readable.h"
#include "sim/report/report.h"

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
bool is_served(const Result& result) {
  return result.figures.server_busy.has_value();
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

bool is_too_large(const Result& result) {
  return !result.figures.fits_memory();
}

// "96.2 GB of 80 GB"; "-" if no device is known.
std::string memory_shown(const Result& result) {
  const Figures& figures = result.figures;
  return figures.memory_bytes && figures.device_memory_bytes
             ? bytes_shown(*figures.memory_bytes) + " of " +
                   bytes_shown(*figures.device_memory_bytes)
             : "-";
}

bool recomputes(const Result& result) {
  return result.figures.recomputed > 0;
}
bool has_tokens(const Result& result) {
  return result.figures.tokens_per_s.has_value();
}
// Users who train on tokens want the column; a report always has it.
bool asks_for_utilisation(const Result& result) {
  return has_tokens(result) && result.figures.mfu.has_value();
}
bool utilisations_differ(const Result& result) {
  return asks_for_utilisation(result) && recomputes(result);
}

std::string tokens_shown(const Result& result) {
  return has_tokens(result) ? count_shown(*result.figures.tokens_per_s) : "-";
}

bool sends_in_node(const Result& result) {
  return result.figures.bytes_sent_in_node > 0;
}

std::string sent_title(const std::vector<Result>& results) {
  return std::ranges::any_of(results, sends_in_node) ? "sent off node" : "sent/worker";
}

std::string epoch_title(const std::vector<Result>& results) {
  return std::ranges::any_of(results, is_sized) ? "epoch" : "time/10^6 samples";
}
std::string cost_title(const std::vector<Result>& results) {
  return std::ranges::any_of(results, is_sized) ? "cost" : "cost/10^6 samples";
}

// "node0-nic_UP 97 %"; "-" if no link is used.
std::string busiest_link_shown(const Result& result) {
  const std::vector<BusyLink>& links = result.figures.busiest_links;
  return links.empty() ? "-" : links[0].name + " " + percent(links[0].utilisation);
}

std::string throughput_shown(const Result& result) {
  return fmt::format("{}{}", is_unsteady(result.figures) ? "~" : "",
                     rate_shown(result.figures.throughput_samples_per_s, 1));
}

Figure row(const char* name, const FigureMember& member, Unit unit, unsigned roles,
           const char* sentence, const char* more, const Figure::Traits& traits = {}) {
  return {name, member, unit, roles, sentence, more, traits};
}

using enum Figure::Role;

const std::vector<Figure> all_rows{
    row("worker_count", &Figures::worker_count, Unit::number, none, "how many workers took part",
        "It is the platform's number of workers unless the option workers is given.",
        {.allowed = from_one}),
    row("throughput_samples_per_s", &Figures::throughput_samples_per_s, Unit::samples_per_s,
        column | summary | mean,
        "samples whose gradients were applied, per simulated second, of all workers together",
        "It is a result, called throughput in reports; the option throughput is what one worker "
        "does alone.",
        {.titles = {"samples/s", "throughput"}, .shown = throughput_shown}),
    row("runs", &Figures::runs, Unit::number, none,
        "how many runs a cell had, each with a seed of its own",
        "Figures are their means; the window, percentiles, links, the table of workers and the "
        "picture are of the first.",
        {.titles = {"mean of"}, .allowed = from_one}),
    row("throughput_of_runs", &Figures::throughput_of_runs, Unit::number, none,
        "throughput of each run, the scenario's own seed first",
        "The interval of their mean is computed from their spread."),
    row("throughput_interval", &Figures::throughput_interval, Unit::share, none,
        "half the 95 % interval of throughput, as a part of it",
        "It is null if all iterations are alike or too few.", {.allowed = any_count.or_null()}),
    row("prediction_low_samples_per_s", &Figures::prediction_low_samples_per_s, Unit::samples_per_s,
        none, "samples per second that 95 % of comparable published measurements exceed",
        "It is a part of the simulated throughput. Comparable are measurements with a similar "
        "simulated scaling efficiency, simulated with nominal numbers or, with straggling, typical "
        "ones (experiments/validation). "
        "It is null for one worker, whose throughput is an input.",
        {.titles = {"prediction interval"}, .allowed = any_count.or_null()}),
    row("prediction_high_samples_per_s", &Figures::prediction_high_samples_per_s,
        Unit::samples_per_s, none,
        "samples per second that 5 % of comparable published measurements exceed",
        "With prediction_low_samples_per_s it is the prediction interval, in which 90 % lie.",
        {.allowed = any_count.or_null()}),
    row("halves_differ", &Figures::halves_differ, Unit::share, mean,
        "throughput of the second half of the window minus throughput of the first, as a part of "
        "both",
        "More than 3 % is a warning, and a ~ before samples/s in tables.",
        {.allowed = any_printable}),
    row("window_from_s", &Figures::window_from_s, Unit::seconds, none,
        "simulated seconds at which the window of the figures begins",
        "All workers work in it, and warm-up is over."),
    row("window_to_s", &Figures::window_to_s, Unit::seconds, none,
        "simulated seconds at which the window of the figures ends",
        "It is where the first worker does its last iteration."),
    row("window_iterations", &Figures::window_iterations, Unit::number, none,
        "iterations of the window, per worker", "Parts of iterations count as parts."),
    row("scaling_efficiency", &Figures::scaling_efficiency, Unit::share, column | summary | mean,
        "throughput over what the same workers would do alone, in the long run",
        "Alone each has its batch and precision, takes the optimizer's whole step, computes "
        "nothing again and sends nothing, whatever schedule, compressor and recompute do. It is "
        "more than 100 % where workers take only a share of that step (fsdp) or servers take it, "
        "and by chance with jitter. It is a result; the option efficiency is the part of a host's "
        "peak that a model reaches.",
        {.titles = {"scaling", "scaling efficiency"}}),
    row("recomputed", &Figures::recomputed, Unit::share, column | mean,
        "the part of an iteration in which backward computes again what forward had computed",
        "It is a part of compute, and scaling counts it as lost: one worker alone does not do it. "
        "The option recompute decides it.",
        {.matters = recomputes}),
    row("tokens_per_s", &Figures::tokens_per_s, Unit::number, column,
        "tokens of the samples whose gradients were applied, per simulated second",
        "It is throughput times the tokens of a sample; null where the model's file has none.",
        {.titles = {"tokens/s"},
         .allowed = any_count.or_null(),
         .shown = tokens_shown,
         .matters = has_tokens}),
    row("mfu", &Figures::mfu, Unit::share, column,
        "model FLOP utilisation: the model's operations per second over the devices' peak",
        "It counts forward once and backward twice of the samples that throughput counts, and no "
        "recompute (PaLM, Chowdhery et al. 2022, appendix B); the peak is in platforms/devices.csv "
        "for the precision; without it the figure is null.",
        {.titles = {"MFU"}, .allowed = any_count.or_null(), .matters = asks_for_utilisation}),
    row("hfu", &Figures::hfu, Unit::share, column,
        "hardware FLOP utilisation: as mfu, with what recompute computes again",
        "Without recompute it is mfu.",
        {.titles = {"HFU"}, .allowed = any_count.or_null(), .matters = utilisations_differ}),
    row("loss", &Figures::loss, Unit::number, column | summary | if_learned,
        "the training objective at the end: over all training data, with the problem's own terms",
        "Only cells with the option learn have it; it is null after a divergence.",
        {.allowed = any_loss, .shown = loss_shown, .matters = learns}),
    row("accuracy", &Figures::accuracy, Unit::share, column | summary | if_learned,
        "the part of the held-out samples that is classified right at the end",
        "Nobody learned from these samples; it is null after a divergence.",
        {.allowed = any_share.or_null(), .shown = accuracy_shown, .matters = learns}),
    row("target_s", &Figures::target_s, Unit::seconds, column | summary | if_learned,
        "simulated seconds until the target of the option until was met",
        "It is null if the target was missed or none was given.",
        {.titles = {"target"},
         .allowed = any_count.or_null(),
         .shown = target_shown,
         .matters = has_target}),
    row("epoch_s", &Figures::epoch_s, Unit::duration, column,
        "seconds of an epoch at this throughput",
        "An epoch has epoch-samples samples, or a million.",
        {.titles = {"epoch", "time/10^6 samples"}, .matters = has_epoch, .title = epoch_title}),
    row("epoch_cost", &Figures::epoch_cost, Unit::money, column,
        "what an epoch costs: its hours times the workers times the price",
        "It is null without the option price.",
        {.titles = {"cost", "cost/10^6 samples"},
         .allowed = any_count.or_null(),
         .matters = has_price,
         .title = cost_title}),
    row("memory_bytes", &Figures::memory_bytes, Unit::bytes, column,
        "bytes that training keeps in a worker's memory at least, on the device that has the least",
        "A cell that takes more than the device has is no candidate, and has a warning with the "
        "arithmetic; the figure is null if no device is known.",
        {.titles = {"memory"},
         .allowed = any_count.or_null(),
         .shown = memory_shown,
         .matters = is_too_large}),
    row("device_memory_bytes", &Figures::device_memory_bytes, Unit::bytes, none,
        "bytes of memory that this device has", "It is null where no device is known.",
        {.allowed = any_count.or_null()}),
    row("iteration_mean_s", &Figures::iteration_mean_s, Unit::seconds,
        column | summary | mean | explains,
        "workers times batch (times accumulation) over throughput: seconds that a worker has for "
        "each iteration",
        "It is the sum of compute, compress, exposed communication and waiting in the window of "
        "throughput; of several runs, in each.",
        {.titles = {"iteration"}}),
    row("iteration_p50_s", &Figures::iteration_p50_s, Unit::seconds, none,
        "the median of iterations' seconds, from one forward to the end of the step",
        "It is the nearest rank."),
    row("iteration_p99_s", &Figures::iteration_p99_s, Unit::seconds, none,
        "seconds that 99 % of the iterations take at most", "It is the nearest rank."),
    row("workers", &Figures::workers, Unit::number, none,
        "each worker's iterations in the window, and how its iterations are spent",
        "Neighbours that did the same share a row. Of more than 4,096 rows, 4,096 are kept, evenly "
        "spread, with the worker that computes longest.",
        {.titles = {"workers' table"}}),
    row("compute_s", &Figures::compute_s, Unit::seconds, column | part | mean | explains,
        "seconds of an iteration in forward, backward and the step",
        "Tables have it as a part of the iteration.",
        {.titles = {"compute"}, .words = "computation"}),
    row("compress_s", &Figures::compress_s, Unit::seconds, column | part | mean | explains,
        "seconds of an iteration in which messages are made or read and nothing is computed",
        "Tables have it as a part of the iteration, if anything compresses.",
        {.titles = {"compress"}, .words = "compression", .matters = does_compress}),
    row("exposed_communication_s", &Figures::exposed_communication_s, Unit::seconds,
        column | summary | part | mean | explains,
        "seconds of an iteration in which a worker stands still while its own bytes move",
        "More bandwidth, fewer bytes or more overlap make it smaller.",
        {.titles = {"exposed"}, .words = "exposed communication"}),
    row("waiting_s", &Figures::waiting_s, Unit::seconds, column | summary | part | mean | explains,
        "seconds of an iteration in which a worker stands still and nothing of its own moves",
        "It waits for slower workers or for servers.", {.titles = {"waiting"}, .words = "waiting"}),
    row("staleness_mean", &Figures::staleness_mean, Unit::number, column | mean | explains,
        "gradients of single workers applied between a gradient's parameters being read and it "
        "being applied, mean",
        "It compares schedules; the option staleness bounds it where a schedule has one.",
        {.titles = {"stale", "staleness"}, .words = "staleness"}),
    row("staleness_max", &Figures::staleness_max, Unit::number, none,
        "the largest staleness of a gradient in gradients",
        "The option staleness bounds iterations, not this."),
    row("staleness_updates_mean", &Figures::staleness_updates_mean, Unit::number, mean,
        "staleness counted in updates of the parameters",
        "An update of inhad has several gradients."),
    row("staleness_iterations_mean", &Figures::staleness_iterations_mean, Unit::number, mean,
        "staleness counted in iterations, as SSP's clocks",
        "It is never more than the option staleness of ssp."),
    row("staleness_histogram", &Figures::staleness_histogram, Unit::number, none,
        "how many gradients had which staleness, in gradients",
        "Each part of a gradient, bucket and server, counts."),
    row("bytes_sent", &Figures::bytes_sent, Unit::bytes, mean | explains,
        "bytes sent by workers and nodes, per worker and iteration",
        "Servers' answers are among the bytes received.", {.words = "bytes sent"}),
    row("bytes_sent_off_node", &Figures::bytes_sent_off_node, Unit::bytes, column | mean,
        "bytes that leave their node, sent by workers and nodes, per worker and iteration",
        "They go through the node's network card.",
        {.titles = {"sent/worker", "sent off node"}, .title = sent_title}),
    row("bytes_sent_in_node", &Figures::bytes_sent_in_node, Unit::bytes, column | mean,
        "bytes that stay in their node, sent by workers and nodes, per worker and iteration",
        "They go through its buses; what stays on one host is not counted.",
        {.titles = {"sent in node"}, .matters = sends_in_node}),
    row("bytes_received", &Figures::bytes_received, Unit::bytes, mean,
        "bytes received by workers and nodes, per worker and iteration",
        "Where servers answer, it differs from the bytes sent."),
    row("busiest_links", &Figures::busiest_links, Unit::text, column,
        "the links that are fullest: bytes over bandwidth times seconds",
        "A full link is a bottleneck whatever else the report says.",
        {.titles = {"busiest link"}, .shown = busiest_link_shown}),
    row("server_busy", &Figures::server_busy, Unit::share, column,
        "the part of the window in which the busiest server's cores handle messages",
        "It is null without server-overhead; where it is near 100 %, more workers add nothing.",
        {.titles = {"server cores"}, .allowed = any_share.or_null(), .matters = is_served}),
    row("bottleneck", &Figures::bottleneck, Unit::text, summary,
        "what an iteration's time goes into, in words",
        "Parts of a tenth and more are named after the largest."),
    row("updates", &Figures::updates, Unit::number, none,
        "how often the first bucket's parameters changed in the whole run",
        "Without servers it is the number of steps."),
    row("run_iteration_s", &Figures::run_iteration_s, Unit::seconds, mean,
        "seconds of the whole run per iteration", "It includes warm-up and the end of the run."),
    row("bound_compute_s", &Figures::bound_compute_s, Unit::seconds, mean | explains,
        "seconds of the slowest worker's computation per iteration; where not all wait for all, "
        "seconds of an iteration if each worker goes as fast as it computes",
        "No iteration is faster, or the result has a warning.",
        {.words = "the slowest worker's computation"}),
    row("bound_link_s", &Figures::bound_link_s, Unit::seconds, mean | explains,
        "seconds of the busiest link's bytes over its bandwidth, per iteration",
        "No iteration is faster, or the result has a warning.",
        {.words = "the busiest link's time for its bytes"}),
    row("simulated_s", &Figures::simulated_s, Unit::seconds, none,
        "seconds that passed in the simulation", "They are not the seconds that you wait."),
    row("flows", &Figures::flows, Unit::number, none, "how many transfers SimGrid simulated",
        "About ten microseconds of a core go into each."),
    row("warnings", &Figures::warnings, Unit::number, none,
        "sentences on what to know before figures are used", "A sweep prints each of them once."),
};

}  // namespace

const std::vector<Figure>& figure_rows() {
  return all_rows;
}

const std::vector<NamedNumber<WorkerFigures>>& numbers_of(const WorkerFigures&) {
  static const std::vector<NamedNumber<WorkerFigures>> numbers{
      {"iterations", any_printable, &WorkerFigures::iterations},
      {"iteration_mean_s", any_printable, &WorkerFigures::iteration_mean_s},
      {"compute_s", any_printable, &WorkerFigures::compute_s},
      {"compress_s", any_printable, &WorkerFigures::compress_s},
      {"exposed_communication_s", any_printable, &WorkerFigures::exposed_communication_s},
      {"waiting_s", any_printable, &WorkerFigures::waiting_s}};
  return numbers;
}

const std::vector<NamedNumber<BusyLink>>& numbers_of(const BusyLink&) {
  static const std::vector<NamedNumber<BusyLink>> numbers{
      {"utilisation", any_printable, &BusyLink::utilisation},
      {"bytes_per_iteration", any_printable, &BusyLink::bytes_per_iteration}};
  return numbers;
}

}  // namespace syncline
