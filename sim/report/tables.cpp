#include "sim/report/tables.h"

#include <algorithm>
#include <cmath>

#include "sim/report/learning.h"
#include "sim/report/report.h"
#include "sim/report/result.h"
#include "sim/report/runs.h"
#include "sim/report/shown.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

// As its warning says (sim/report/report.cpp).
bool is_unsteady(const Json& figures) {
  return std::abs(figures["halves_differ"].get<double>()) > agreeing_halves;
}

}  // namespace

std::string comparison_table(const std::vector<Json>& results,
                             const std::vector<std::string>& swept) {
  std::vector<std::string> options = swept;
  for (const std::string& option : differing_options(results))
    if (std::ranges::find(swept, option) == swept.end())
      options.push_back(option);
  std::vector<Column> columns;
  for (const std::string& option : options) {
    columns.push_back({.title = option, .cells = {}, .left = true});
    for (const Json& result : results)
      columns.back().cells.push_back(option_text(result, option));
  }
  const auto figure = [&](const char* title, auto show) {
    columns.push_back({.title = title, .cells = {}});
    for (const Json& result : results)
      columns.back().cells.push_back(show(result["figures"]));
  };
  const auto part = [](const char* name) {
    return [name](const Json& figures) {
      return format("%.0f %%",
                    100 * figures[name].get<double>() / figures["iteration_mean_s"].get<double>());
    };
  };
  bool unsteady = false;
  figure("samples/s", [&unsteady](const Json& f) {
    unsteady = unsteady || is_unsteady(f);
    return format("%s%.1f", is_unsteady(f) ? "~" : "", f["throughput_samples_per_s"].get<double>());
  });
  figure("scaling", [](const Json& f) {
    return format("%.1f %%", 100 * f["scaling_efficiency"].get<double>());
  });
  const auto learned = [&](const char* title, auto show) {
    columns.push_back({.title = title, .cells = {}});
    for (const Json& result : results)
      columns.back().cells.push_back(show(result));
  };
  if (std::ranges::any_of(results, learns)) {
    learned("loss", loss_shown);
    learned("accuracy", accuracy_shown);
  }
  if (std::ranges::any_of(results,
                          [](const Json& result) { return target_in(result).has_value(); }))
    learned("target", target_shown);
  const bool sized = std::ranges::any_of(
      results, [](const Json& result) { return !option_text(result, "epoch-samples").empty(); });
  const bool priced = std::ranges::any_of(
      results, [](const Json& result) { return !result["figures"]["epoch_cost"].is_null(); });
  if (sized || priced)
    figure(sized ? "epoch" : "10^6 samples",
           [](const Json& f) { return duration_shown(f["epoch_s"]); });
  if (priced)
    figure("cost", [](const Json& f) {
      return f["epoch_cost"].is_null() ? "" : cost_shown(f["epoch_cost"]);
    });
  figure("iteration", [](const Json& f) { return seconds_shown(f["iteration_mean_s"]); });
  figure("compute", part("compute_s"));
  if (std::ranges::any_of(results, [](const Json& result) {
        return result["figures"]["compress_s"].get<double>() > 0;
      }))
    figure("compress", part("compress_s"));
  figure("exposed", part("exposed_communication_s"));
  figure("waiting", part("waiting_s"));
  figure("stale", [](const Json& f) { return format("%.3g", f["staleness_mean"].get<double>()); });
  figure("sent/worker", [](const Json& f) { return bytes_shown(f["bytes_sent"]); });
  figure("busiest link", [](const Json& f) {
    const Json& links = f["busiest_links"];
    return links.empty() ? std::string("-")
                         : links[0]["name"].get<std::string>() +
                               format(" %.0f %%", 100 * links[0]["utilisation"].get<double>());
  });
  columns.back().left = true;
  return aligned(columns, results.size()) + "simulated as " + how_simulated(results) + "\n" +
         (unsteady ? "~: the halves of the window differ by more than 3 %; a longer run says more\n"
                   : "");
}

std::string full_report(const Json& result) {
  const Json& f = result["figures"];
  const double iteration_s = f["iteration_mean_s"];
  std::string text;
  const auto line = [&](const std::string& name, const std::string& value) {
    text += format("%-24s", name.c_str()) + value + "\n";
  };
  const auto part = [&](const char* title, const char* name) {
    line(title,
         seconds_shown(f[name]) + format(" (%.1f %%)", 100 * f[name].get<double>() / iteration_s));
  };
  line("throughput",
       format("%.2f samples/s", f["throughput_samples_per_s"].get<double>()) +
           (f["throughput_interval"].is_null()
                ? ""
                : format(" +- %.2g %%", 100 * f["throughput_interval"].get<double>())));
  line("simulated as", how_simulated({result}));
  if (const int runs = runs_in(result); runs > 1) {
    std::string values;
    for (const Json& value : f["throughput_of_runs"])
      values += (values.empty() ? "" : ", ") + count_shown(value);
    line("mean of", runs_shown(runs) + ": " + values +
                        " samples/s; window, percentiles, links and picture are the first one's");
  }
  line("window", seconds_shown(f["window_from_s"]) + " to " + seconds_shown(f["window_to_s"]) +
                     format(", %.4g iterations per worker", f["window_iterations"].get<double>()));
  line("scaling efficiency", format("%.1f %%", 100 * f["scaling_efficiency"].get<double>()));
  const std::string samples = option_text(result, "epoch-samples");
  if (!samples.empty() || !f["epoch_cost"].is_null())
    line(samples.empty() ? "a million samples" : "epoch",
         (samples.empty() ? "" : samples + " samples: ") + duration_shown(f["epoch_s"]) +
             (f["epoch_cost"].is_null() ? "" : ", costs " + cost_shown(f["epoch_cost"])));
  line("iteration", seconds_shown(iteration_s) + " mean, " + seconds_shown(f["iteration_p50_s"]) +
                        " p50, " + seconds_shown(f["iteration_p99_s"]) + " p99");
  part("  compute", "compute_s");
  part("  compress", "compress_s");
  part("  exposed communication", "exposed_communication_s");
  part("  waiting", "waiting_s");
  line("sent per worker", bytes_shown(f["bytes_sent"]) + " per iteration");
  line("received per worker", bytes_shown(f["bytes_received"]) + " per iteration");
  for (const Json& link : f["busiest_links"])
    line("busy link", link["name"].get<std::string>() +
                          format(": %.1f %% full, ", 100 * link["utilisation"].get<double>()) +
                          bytes_shown(link["bytes_per_iteration"]) + " per iteration");
  line("bottleneck", f["bottleneck"]);
  line("staleness",
       format("%.3g gradients mean, %lld max; %.3g updates, %.3g iterations",
              f["staleness_mean"].get<double>(), static_cast<long long>(f["staleness_max"]),
              f["staleness_updates_mean"].get<double>(),
              f["staleness_iterations_mean"].get<double>()));
  for (const auto& [name, words] : learning_lines(result))
    line(name, words);
  line("updates", format("%lld", static_cast<long long>(f["updates"])));
  line("lower bound", seconds_shown(std::max(f["bound_compute_s"].get<double>(),
                                             f["bound_link_s"].get<double>())) +
                          " per iteration (compute " + seconds_shown(f["bound_compute_s"]) +
                          ", busiest link " + seconds_shown(f["bound_link_s"]) + ")");
  line("compute cost", result["provenance"]["compute"]);
  if (const std::string compression = result["provenance"].value("compression", "");
      !compression.empty())
    line("compression cost", compression);
  if (const std::string adding = result["provenance"].value("adding", ""); !adding.empty())
    line("adding on servers", adding);
  line("network",
       option_text(result, "network") + ": " + result["provenance"]["network"].get<std::string>());
  for (const Json& warning : f["warnings"])
    line("warning", warning);
  return text;
}

std::string results_csv(const std::vector<Json>& results, const std::vector<std::string>& options) {
  const std::vector<std::string> figures = number_figures();
  std::string text;
  for (const std::string& option : options)
    text += option + ",";
  text += "simulated_as,";
  for (const std::string& figure : figures)
    text += figure + (figure == figures.back() ? "\n" : ",");
  for (const Json& result : results) {
    for (const std::string& option : options)
      text += csv_field(option_text(result, option)) + ",";
    text += fidelity_of(result) + ",";
    for (const std::string& figure : figures)
      text += (figure_in(result, figure) ? result["figures"][figure].dump() : "") +
              (figure == figures.back() ? "\n" : ",");
  }
  return text;
}

}  // namespace syncline
