#include "sim/page/tables.h"

#include <algorithm>

#include "sim/report/figure_columns.h"
#include "sim/report/learning.h"
#include "sim/report/report.h"
#include "sim/report/result_json.h"
#include "sim/report/runs.h"
#include "sim/report/shown.h"
#include "sim/study/study.h"

namespace syncline {
namespace {

// The lines of a report: a name and what there is to say.
class Lines {
 public:
  void add(const std::string& name, const std::string& value) {
    if (!value.empty())
      text_ += format("%-24s", name.c_str()) + value + "\n";
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string throughput_line(const Figures& figures) {
  return format("%.2f samples/s", figures.throughput_samples_per_s) +
         (figures.throughput_interval ? format(" +- %.2g %%", 100 * *figures.throughput_interval)
                                      : "");
}

// "5 runs: 98, 100, 101, 99 and 102 samples/s; ..."; empty of one run.
std::string runs_line(const Figures& figures) {
  std::string values;
  for (const double value : figures.throughput_of_runs)
    values += (values.empty() ? "" : ", ") + count_shown(value);
  return figures.runs == 1
             ? ""
             : runs_shown(figures.runs) + ": " + values +
                   " samples/s; window, percentiles, links and picture are the first one's";
}

std::string window_line(const Figures& figures) {
  return seconds_shown(figures.window_from_s) + " to " + seconds_shown(figures.window_to_s) +
         format(", %.4g iterations per worker", figures.window_iterations);
}

// Empty where there is no price and no size.
std::string epoch_line(const Figures& figures, const std::string& samples) {
  if (samples.empty() && !figures.epoch_cost)
    return "";
  return (samples.empty() ? "" : samples + " samples: ") + duration_shown(figures.epoch_s) +
         (figures.epoch_cost ? ", costs " + cost_shown(*figures.epoch_cost) : "");
}

std::string iteration_line(const Figures& figures) {
  return seconds_shown(figures.iteration_mean_s) + " mean, " +
         seconds_shown(figures.iteration_p50_s) + " p50, " +
         seconds_shown(figures.iteration_p99_s) + " p99";
}

std::string staleness_line(const Figures& figures) {
  return format("%.3g gradients mean, %lld max; %.3g updates, %.3g iterations",
                figures.staleness_mean, static_cast<long long>(figures.staleness_max),
                figures.staleness_updates_mean, figures.staleness_iterations_mean);
}

std::string bound_line(const Figures& figures) {
  return seconds_shown(std::max(figures.bound_compute_s, figures.bound_link_s)) +
         " per iteration (compute " + seconds_shown(figures.bound_compute_s) + ", busiest link " +
         seconds_shown(figures.bound_link_s) + ")";
}

}  // namespace

std::string comparison_table(const std::vector<Result>& results,
                             const std::vector<std::string>& swept) {
  std::vector<std::string> options = swept;
  for (const std::string& option : differing_options(results))
    if (std::ranges::find(swept, option) == swept.end())
      options.push_back(option);
  std::vector<Column> columns;
  const auto add = [&](const std::string& title, bool left, const auto& shown) {
    columns.push_back({.title = title, .cells = {}, .left = left});
    for (const Result& result : results)
      columns.back().cells.push_back(shown(result));
  };
  for (const std::string& option : options)
    add(option, true, [&](const Result& result) { return result.option(option); });
  for (const Figure* figure : columns_of(results))
    add(title_of(*figure, results), figure->unit == Unit::text,
        [&](const Result& result) { return shown_in_table(*figure, result); });
  const bool unsteady = std::ranges::any_of(results, is_unsteady, &Result::figures);
  return aligned(columns, results.size()) + "simulated as " + how_simulated(results) + "\n" +
         (unsteady ? "~: the halves of the window differ by more than 3 %; a longer run says more\n"
                   : "");
}

std::string full_report(const Result& result) {
  const Figures& figures = result.figures;
  const std::string& samples = result.option("epoch-samples");
  Lines lines;
  lines.add("throughput", throughput_line(figures));
  lines.add("simulated as", how_simulated({result}));
  lines.add("mean of", runs_line(figures));
  lines.add("window", window_line(figures));
  lines.add("scaling efficiency", percent(figures.scaling_efficiency, 1));
  lines.add(samples.empty() ? "a million samples" : "epoch", epoch_line(figures, samples));
  lines.add("iteration", iteration_line(figures));
  for (const Figure& figure : figure_rows())
    if (figure.roles.part)
      lines.add("  " + figure.words, seconds_shown(*value_of(figure, result)) + " (" +
                                         percent(*column_value(figure, result), 1) + ")");
  lines.add("sent per worker", bytes_shown(figures.bytes_sent) + " per iteration");
  lines.add("received per worker", bytes_shown(figures.bytes_received) + " per iteration");
  for (const BusyLink& link : figures.busiest_links)
    lines.add("busy link", link.name + ": " + percent(link.utilisation, 1) + " full, " +
                               bytes_shown(link.bytes_per_iteration) + " per iteration");
  lines.add("bottleneck", figures.bottleneck);
  lines.add("staleness", staleness_line(figures));
  for (const auto& [name, words] : learning_lines(result))
    lines.add(name, words);
  lines.add("updates", std::to_string(figures.updates));
  lines.add("lower bound", bound_line(figures));
  lines.add("compute cost", result.provenance.compute);
  lines.add("compression cost", result.provenance.compression);
  lines.add("adding on servers", result.provenance.adding);
  lines.add("network", result.option("network") + ": " + result.provenance.network);
  for (const std::string& warning : figures.warnings)
    lines.add("warning", warning);
  return lines.text();
}

std::string results_csv(const std::vector<Result>& results,
                        const std::vector<std::string>& options) {
  std::string text;
  for (const std::string& option : options)
    text += option + ",";
  text += "simulated_as";
  for (const Figure& figure : figure_rows())
    if (figure.is_number())
      text += "," + figure.name;
  text += "\n";
  for (const Result& result : results) {
    for (const std::string& option : options)
      text += csv_field(result.option(option)) + ",";
    text += result.provenance.fidelity;
    for (const Figure& figure : figure_rows())
      if (figure.is_number())
        text += "," + figure_text(figure, result);
    text += "\n";
  }
  return text;
}

}  // namespace syncline
