#include "sim/report/result.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <set>

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

// "12.3 ms": three digits and a suitable unit.
std::string seconds(double s) {
  if (s == 0)
    return "0 s";
  if (s >= 1)
    return format("%.3g s", s);
  return s >= 1e-3 ? format("%.3g ms", s * 1e3) : format("%.3g us", s * 1e6);
}

std::string bytes(double b) {
  for (const char* unit : {"B", "kB", "MB", "GB", "TB"}) {
    if (b < 1000)
      return format("%.4g %s", b, unit);
    b /= 1000;
  }
  return format("%.4g PB", b);
}

// Escaped as in URLs, so that different values give different names.
std::string in_file_name(const std::string& value) {
  std::string name;
  for (const char c : value) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '+')
      name += c;
    else
      name += format("%%%02X", static_cast<unsigned char>(c));
  }
  return name;
}

// In quotes where commas or quotes are in it.
std::string csv_field(const std::string& value) {
  if (value.find_first_of(",\"") == std::string::npos)
    return value;
  std::string quoted = "\"";
  for (const char c : value)
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

struct Column {
  std::string title;
  std::vector<std::string> cells;
  bool left = false;
};

std::string aligned(const std::vector<Column>& columns, std::size_t rows) {
  // In characters, not bytes: names can be in any script.
  const auto length = [](const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
  };
  std::string table;
  for (std::size_t row = 0; row <= rows; ++row) {
    std::string line;
    for (const Column& column : columns) {
      std::size_t width = length(column.title);
      for (const std::string& cell : column.cells)
        width = std::max(width, length(cell));
      const std::string& text = row == 0 ? column.title : column.cells[row - 1];
      const std::string padding(width - length(text), ' ');
      line += (line.empty() ? "" : "  ") + (column.left ? text + padding : padding + text);
    }
    table += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return table;
}

// As its warning says (sim/report/report.cpp).
bool is_unsteady(const Json& figures) {
  return std::abs(figures["halves_differ"].get<double>()) > agreeing_halves;
}

constexpr double most_of_a_figure = 1e18;  // so that each can be printed
constexpr double least_iteration_s = 1e-12;

// Like numbers where one has numbers, and so on, to the last member. As deep as `like` is, however
// deep the other is.
bool is_like(const Json& json, const Json& like) {
  if (like.is_array() && like.size() > 1)  // one after another
    return json.is_array() && json.size() == like.size() && std::ranges::equal(json, like, is_like);
  if (like.is_array())
    return json.is_array() &&
           std::ranges::all_of(json, [&](const Json& one) { return is_like(one, like.front()); });
  if (!like.is_object())
    return json.is_number() ? like.is_number() && std::abs(json.get<double>()) <= most_of_a_figure
                            : json.type() == like.type();
  if (!json.is_object())
    return false;
  if (like.contains("any"))  // of any names
    return std::ranges::all_of(json, [&](const Json& one) { return is_like(one, like["any"]); });
  if (json.size() != like.size())
    return false;
  for (const auto& [name, value] : like.items())
    if (!json.contains(name) || !is_like(json[name], value))
      return false;
  return true;
}

}  // namespace

std::string tool_version() {
  return std::string("syncline ") + SYNCLINE_VERSION;
}

bool is_result(const Json& json) {
  if (!json.is_object())
    return false;
  Report report;
  report.busiest_links.emplace_back();
  report.warnings.emplace_back();
  const Timeline timeline{
      .from_s = 0, .to_s = 1, .tracks = {{.slices = {{.start_s = 0, .end_s = 1}}}}};
  Json like = to_json({}, {}, report, timeline);
  like["scenario"] = {{"any", ""}};
  like["figures"]["staleness_histogram"] = {{"any", 0}};
  if (json.contains("trace"))
    like["trace"] = "";
  if (const auto figures = json.find("figures"); figures != json.end() && figures->is_object())
    if (const auto found = figures->find("throughput_interval");
        found != figures->end() && found->is_number())  // or null
      like["figures"]["throughput_interval"] = 0;
  return is_like(json, like) &&
         json["figures"]["iteration_mean_s"].get<double>() >= least_iteration_s;
}

Json scenario_json(const Scenario& scenario) {
  Json options = Json::object();
  if (const auto name = scenario.written.find("name"); name != scenario.written.end())
    options["name"] = name->second;
  options.update(Json(scenario.written));
  return options;
}

Json to_json(const Scenario& scenario, const Provenance& provenance, const Report& report,
             const Timeline& timeline) {
  Json links = Json::array();
  for (const BusyLink& link : report.busiest_links)
    links.push_back({{"name", link.name},
                     {"utilisation", link.utilisation},
                     {"bytes_per_iteration", link.bytes_per_iteration}});
  Json histogram = Json::object();
  for (const auto& [staleness, count] : report.staleness.histogram)
    histogram[std::to_string(staleness)] = count;
  return {{"schema", result_schema},
          {"tool", tool_version()},
          {"build", provenance.build},
          {"simgrid", provenance.simgrid},
          {"inputs", provenance.inputs},
          {"scenario", scenario_json(scenario)},
          {"provenance",
           {{"compute", provenance.compute},
            {"compression", provenance.compression},
            {"adding", provenance.adding},
            {"network", provenance.network}}},
          {"figures",
           {{"throughput_samples_per_s", report.throughput},
            {"throughput_interval",
             report.throughput_interval ? Json(*report.throughput_interval) : Json(nullptr)},
            {"halves_differ", report.halves_differ},
            {"window_from_s", report.window_from_s},
            {"window_to_s", report.window_to_s},
            {"window_iterations", report.window_iterations},
            {"scaling_efficiency", report.scaling_efficiency},
            {"iteration_mean_s", report.iteration_mean_s},
            {"iteration_p50_s", report.iteration_p50_s},
            {"iteration_p99_s", report.iteration_p99_s},
            {"compute_s", report.compute_s},
            {"compress_s", report.compress_s},
            {"exposed_communication_s", report.exposed_s},
            {"waiting_s", report.waiting_s},
            {"bytes_sent", report.bytes_sent},
            {"bytes_received", report.bytes_received},
            {"busiest_links", links},
            {"bottleneck", report.bottleneck},
            {"staleness_mean", report.staleness.gradients_mean},
            {"staleness_max", report.staleness.gradients_max},
            {"staleness_updates_mean", report.staleness.updates_mean},
            {"staleness_iterations_mean", report.staleness.iterations_mean},
            {"staleness_histogram", histogram},
            {"updates", report.updates},
            {"run_iteration_s", report.run_iteration_s},
            {"bound_compute_s", report.bound_compute_s},
            {"bound_link_s", report.bound_link_s},
            {"simulated_s", report.simulated_s},
            {"flows", report.flows},
            {"warnings", report.warnings}}},
          {"timeline", to_json(timeline)}};
}

std::string result_text(const Json& result) {
  Json tracks = Json::array();
  Json rest = result;
  std::swap(tracks, rest["timeline"]["tracks"]);
  std::string text = rest.dump(2);
  std::string lines;
  for (const Json& track : tracks)
    lines += (lines.empty() ? "\n      " : ",\n      ") + track.dump();
  const std::string place = "\"tracks\": [";
  const std::size_t timeline = text.find("\n  \"timeline\": {");
  return text.insert(text.find(place, timeline) + place.size(), lines) + "\n";
}

std::string cell_name(const Json& result, const std::vector<std::string>& swept) {
  std::string name;
  for (const std::string& option : swept) {
    const std::string value = result["scenario"].value(option, "");
    if (value.empty())
      continue;
    name += name.empty() ? "" : "_";
    name += option;
    name += "-";
    name += in_file_name(value);
  }
  return name.empty() ? "result" : name;
}

std::string comparison_table(const std::vector<Json>& results,
                             const std::vector<std::string>& swept) {
  std::vector<Column> columns;
  for (const std::string& option : swept) {
    columns.push_back({.title = option, .cells = {}, .left = true});
    for (const Json& result : results)
      columns.back().cells.push_back(result["scenario"].value(option, ""));
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
  figure("efficiency", [](const Json& f) {
    return format("%.1f %%", 100 * f["scaling_efficiency"].get<double>());
  });
  figure("iteration", [](const Json& f) { return seconds(f["iteration_mean_s"]); });
  figure("compute", part("compute_s"));
  if (std::ranges::any_of(results, [](const Json& result) {
        return result["figures"]["compress_s"].get<double>() > 0;
      }))
    figure("compress", part("compress_s"));
  figure("exposed", part("exposed_communication_s"));
  figure("waiting", part("waiting_s"));
  figure("staleness",
         [](const Json& f) { return format("%.3g", f["staleness_mean"].get<double>()); });
  figure("sent/worker", [](const Json& f) { return bytes(f["bytes_sent"]); });
  figure("busiest link", [](const Json& f) {
    const Json& links = f["busiest_links"];
    return links.empty() ? std::string("-")
                         : links[0]["name"].get<std::string>() +
                               format(" %.0f %%", 100 * links[0]["utilisation"].get<double>());
  });
  columns.back().left = true;
  return aligned(columns, results.size()) +
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
    line(title, seconds(f[name]) + format(" (%.1f %%)", 100 * f[name].get<double>() / iteration_s));
  };
  line("throughput",
       format("%.2f samples/s", f["throughput_samples_per_s"].get<double>()) +
           (f["throughput_interval"].is_null()
                ? ""
                : format(" +- %.2g %%", 100 * f["throughput_interval"].get<double>())));
  line("window", seconds(f["window_from_s"]) + " to " + seconds(f["window_to_s"]) +
                     format(", %.4g iterations per worker", f["window_iterations"].get<double>()));
  line("scaling efficiency", format("%.1f %%", 100 * f["scaling_efficiency"].get<double>()));
  line("iteration", seconds(iteration_s) + " mean, " + seconds(f["iteration_p50_s"]) + " p50, " +
                        seconds(f["iteration_p99_s"]) + " p99");
  part("  compute", "compute_s");
  part("  compress", "compress_s");
  part("  exposed communication", "exposed_communication_s");
  part("  waiting", "waiting_s");
  line("sent per worker", bytes(f["bytes_sent"]) + " per iteration");
  line("received per worker", bytes(f["bytes_received"]) + " per iteration");
  for (const Json& link : f["busiest_links"])
    line("busy link", link["name"].get<std::string>() +
                          format(": %.1f %% full, ", 100 * link["utilisation"].get<double>()) +
                          bytes(link["bytes_per_iteration"]) + " per iteration");
  line("bottleneck", f["bottleneck"]);
  line("staleness",
       format("%.3g gradients mean, %lld max; %.3g updates, %.3g iterations",
              f["staleness_mean"].get<double>(), static_cast<long long>(f["staleness_max"]),
              f["staleness_updates_mean"].get<double>(),
              f["staleness_iterations_mean"].get<double>()));
  line("updates", format("%lld", static_cast<long long>(f["updates"])));
  line("lower bound",
       seconds(std::max(f["bound_compute_s"].get<double>(), f["bound_link_s"].get<double>())) +
           " per iteration (compute " + seconds(f["bound_compute_s"]) + ", busiest link " +
           seconds(f["bound_link_s"]) + "; the run took " + seconds(f["run_iteration_s"]) + ")");
  line("compute cost", result["provenance"]["compute"]);
  if (const std::string compression = result["provenance"].value("compression", "");
      !compression.empty())
    line("compression cost", compression);
  if (const std::string adding = result["provenance"].value("adding", ""); !adding.empty())
    line("adding on servers", adding);
  line("network", result["scenario"].value("network", "") + ": " +
                      result["provenance"]["network"].get<std::string>());
  for (const Json& warning : f["warnings"])
    line("warning", warning);
  return text;
}

std::string results_csv(const std::vector<Json>& results) {
  std::set<std::string> options;
  for (const Json& result : results)
    for (const auto& [name, value] : result["scenario"].items())
      options.insert(name);
  std::string text;
  for (const std::string& option : options)
    text += option + ",";
  std::vector<std::string> figures;
  if (!results.empty())
    for (const auto& [name, value] : results.front()["figures"].items())
      if (value.is_number() || value.is_null())
        figures.push_back(name);
  for (const std::string& figure : figures)
    text += figure + (figure == figures.back() ? "" : ",");
  text += "\n";
  for (const Json& result : results) {
    for (const std::string& option : options)
      text += csv_field(result["scenario"].value(option, "")) + ",";
    for (const std::string& figure : figures)
      text += (result["figures"][figure].is_null() ? "" : result["figures"][figure].dump()) +
              (figure == figures.back() ? "" : ",");
    text += "\n";
  }
  return text;
}

}  // namespace syncline
