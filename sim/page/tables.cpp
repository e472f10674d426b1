#include "sim/page/tables.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <optional>

#include "kernels/io/text.h"
#include "sim/report/figures.h"
#include "sim/report/learning.h"
#include "sim/report/prediction.h"
#include "sim/report/readable.h"
#include "sim/report/report.h"
#include "sim/report/result_json.h"
#include "sim/report/runs.h"
#include "sim/report/worker_figures.h"
#include "sim/study/comparison.h"
#include "sim/study/pooled.h"

namespace syncline {
namespace {

// "5 runs: 98, 100, 101, 99 and 102 samples/s; ..."; empty for one run.
std::string runs_line(const Figures& figures) {
  if (figures.runs == 1)
    return "";
  std::vector<std::string> values;
  std::ranges::transform(figures.throughput_of_runs, std::back_inserter(values), count_shown);
  return fmt::format(
      "{}: {} samples/s; window, percentiles, links, workers and picture are of the first run",
      counted(figures.runs, "run"), fmt::join(values, ", "));
}

// Empty without a price and a size.
std::string epoch_line(const Figures& figures, const std::string& samples) {
  if (samples.empty() && !figures.epoch_cost)
    return "";
  return (samples.empty() ? "" : samples + " samples: ") + duration_shown(figures.epoch_s) +
         (figures.epoch_cost ? ", costs " + cost_shown(*figures.epoch_cost) : "");
}

// "4,096 tokens/s, MFU 37.5 %, HFU 50.0 %"; empty if neither tokens nor devices are known.
std::string utilisation_line(const Figures& figures) {
  std::vector<std::string> parts;
  if (figures.tokens_per_s)
    parts.push_back(count_shown(*figures.tokens_per_s) + " tokens/s");
  if (figures.mfu)
    parts.push_back("MFU " + percent(*figures.mfu, 1));
  if (figures.hfu && figures.recomputed > 0)
    parts.push_back("HFU " + percent(*figures.hfu, 1));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// How each worker's iterations are spent, if workers differ; of many workers some, with the first
// and the last.
std::string workers_table(const Result& result) {
  constexpr std::size_t most = 16;
  if (result.figures.workers.size() < 2)
    return "";
  const std::vector<WorkerFigures> shown = spread(result.figures.workers, most);
  std::vector<Column> columns;
  const auto add = [&](const std::string& title, const auto& text_of) {
    columns.push_back({.title = title, .cells = {}, .left = columns.empty()});
    for (const WorkerFigures& worker : shown)
      columns.back().cells.push_back(text_of(worker));
  };
  add("", std::mem_fn(&WorkerFigures::name));
  add("iterations",
      [](const WorkerFigures& worker) { return fmt::format("{:.4g}", worker.iterations); });
  add("iteration",
      [](const WorkerFigures& worker) { return seconds_shown(worker.iteration_mean_s); });
  const auto add_part = [&](const char* title, double WorkerFigures::*part) {
    add(title, [part](const WorkerFigures& worker) {
      return worker.iterations > 0 ? percent(worker.*part / worker.iteration_mean_s) : "-";
    });
  };
  add_part("compute", &WorkerFigures::compute_s);
  if (result.figures.compress_s > 0)
    add_part("compress", &WorkerFigures::compress_s);
  add_part("exposed", &WorkerFigures::exposed_communication_s);
  add_part("waiting", &WorkerFigures::waiting_s);
  const std::size_t left = result.figures.workers.size() - shown.size();
  return fmt::format("\n{}{}", aligned(columns, shown.size()),
                     left > 0 ? fmt::format("{} more rows: --json has {}\n", left,
                                            result.figures.workers.size() < most_worker_rows
                                                ? "all"
                                                : fmt::format("{} of them", most_worker_rows))
                              : "");
}

}  // namespace

std::string comparison_table(const std::vector<Result>& results,
                             const std::vector<std::string>& swept) {
  std::vector<Column> columns;
  const auto add = [&](const std::string& title, bool left, const auto& shown) {
    columns.push_back({.title = title, .cells = {}, .left = left});
    for (const Result& result : results)
      columns.back().cells.push_back(shown(result));
  };
  const bool repeated =
      std::ranges::any_of(results, [](const Result& one) { return seeds_of(one) > 1; });
  for (const std::string& option : with_differing(swept, results))
    if (option != "seed" || !repeated)
      add(option, true, [&](const Result& result) { return result.option(option); });
  for (const Figure* figure : columns_of(results))
    add(title_of(*figure, results), figure->unit == Unit::text,
        [&](const Result& result) { return shown_with_range(*figure, result); });
  const bool unsteady = std::ranges::any_of(results, is_unsteady, &Result::figures);
  return aligned(columns, results.size()) + "simulated as " + how_simulated(results) + "\n" +
         (unsteady ? "~: the halves of the window differ by more than 3 %; a longer run says more\n"
                   : "");
}

std::string full_report(const Result& result) {
  const Figures& figures = result.figures;
  const std::string& samples = result.option("epoch-samples");
  std::string text;
  const auto line = [&](const std::string& name, const std::string& words) {
    if (!words.empty())
      text += fmt::format("{:<24}{}\n", name, words);
  };
  std::string throughput = rate_shown(figures.throughput_samples_per_s, 2) + " samples/s";
  if (const std::optional<double>& interval = figures.throughput_interval) {
    constexpr double rounded = 1e-9;  // an interval below it is of rounded times
    throughput += fmt::format(" +- {:.2g} %", *interval < rounded ? 0 : 100 * *interval);
  }
  line("throughput", throughput);
  if (const std::string interval = prediction_shown(figures); !interval.empty())
    line("prediction interval",
         interval + ": 90 % of published measurements with such an efficiency");
  line("simulated as", how_simulated({result}));
  line("mean of", runs_line(figures));
  line("window",
       fmt::format("{} to {}, {:.4g} iterations per worker", seconds_shown(figures.window_from_s),
                   seconds_shown(figures.window_to_s), figures.window_iterations));
  line("scaling efficiency",
       percent(figures.scaling_efficiency, 1) +
           (figures.recomputed > 0 ? fmt::format("; {} of the time computes again what forward had",
                                                 percent(figures.recomputed, 1))
                                   : ""));
  line("utilisation", utilisation_line(figures));
  line(samples.empty() ? "a million samples" : "epoch", epoch_line(figures, samples));
  line("iteration",
       fmt::format("{} mean, {} p50, {} p99", seconds_shown(figures.iteration_mean_s),
                   seconds_shown(figures.iteration_p50_s), seconds_shown(figures.iteration_p99_s)));
  for (const Figure& figure : figure_rows())
    if (figure.has(Figure::part))
      line("  " + figure.traits.words, seconds_shown(*value_of(figure, result)) + " (" +
                                           percent(*column_value(figure, result), 1) + ")");
  line("sent per worker",
       bytes_shown(figures.bytes_sent_off_node) + " per iteration" +
           (figures.bytes_sent_in_node > 0
                ? " off its node, " + bytes_shown(figures.bytes_sent_in_node) + " in it"
                : ""));
  line("received per worker", bytes_shown(figures.bytes_received) + " per iteration");
  for (const BusyLink& link : figures.busiest_links)
    line("busy link",
         fmt::format("{}: {} full, {} per iteration", link.name, percent(link.utilisation, 1),
                     bytes_shown(link.bytes_per_iteration)));
  line("bottleneck", figures.bottleneck);
  line("staleness", fmt::format("{:.3g} gradients mean, {} max; {:.3g} updates, {:.3g} iterations",
                                figures.staleness_mean, figures.staleness_max,
                                figures.staleness_updates_mean, figures.staleness_iterations_mean));
  for (const auto& [name, words] : learning_lines(result))
    line(name, words);
  line("updates", std::to_string(figures.updates));
  const double served_s = figures.server_busy.value_or(0) * figures.iteration_mean_s;
  line("lower bound",
       fmt::format(
           "{} per iteration (compute {}, busiest link {}{})",
           seconds_shown(std::max({figures.bound_compute_s, figures.bound_link_s, served_s})),
           seconds_shown(figures.bound_compute_s), seconds_shown(figures.bound_link_s),
           figures.server_busy ? ", server cores " + seconds_shown(served_s) : ""));
  line("compute cost", result.provenance.compute);
  line("compression cost", result.provenance.compression);
  line("adding on servers", result.provenance.adding);
  line("framework", result.provenance.framework);
  line("reality", result.provenance.reality);
  line("exchange", result.provenance.exchange);
  line("price", result.provenance.price);
  line("network", result.option("network") + ": " + result.provenance.network);
  for (const Warning& warning : figures.warnings)
    line("warning", warning.text);
  return text + workers_table(result);
}

std::string results_csv(const std::vector<Result>& results, const std::vector<std::string>& options,
                        const std::vector<std::vector<WrittenOption>>& missing) {
  std::string text;
  for (const std::string& option : options)
    text += option + ",";
  text += "simulated_as";
  for (const Figure& figure : figure_rows())
    if (figure.is_number())
      text += "," + figure.name;
  text += "\n";
  const auto add = [&](const Result& cell, bool is_there) {
    for (const std::string& option : options)
      text += csv_field(cell.option(option)) + ",";
    text += is_there ? cell.provenance.fidelity : "";
    for (const Figure& figure : figure_rows())
      if (figure.is_number())
        text += fmt::format(",{}", is_there ? figure_text(figure, cell) : "");
    text += "\n";
  };
  for (const Result& result : results)
    add(result, true);
  for (const std::vector<WrittenOption>& cell : missing)
    add({.options = cell}, false);
  return text;
}

}  // namespace syncline
