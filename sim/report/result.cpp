#include "sim/report/result.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "sim/report/learned_tables.h"
#include "sim/report/learning.h"
#include "sim/report/shown.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;

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

constexpr double most_of_a_figure = 1e18;  // so that each can be printed
constexpr double least_iteration_s = 1e-12;
constexpr double samples_without_epoch = 1e6;

bool is_printable_number(const Json& json) {
  return json.is_number() && std::abs(json.get<double>()) <= most_of_a_figure;
}

// Options have no parts of their own.
bool is_written(const Json& scenario) {
  return scenario.is_object() && std::ranges::all_of(scenario, [](const Json& value) {
           return value.is_string() || is_printable_number(value);
         });
}

// Like numbers where one has numbers, and so on, to the last member. As deep as `like` is, however
// deep the other is.
bool is_like(const Json& json, const Json& like) {
  if (like.is_boolean())  // anything: it is looked at elsewhere
    return true;
  if (like.is_array() && like.size() > 1)  // one after another
    return json.is_array() && json.size() == like.size() && std::ranges::equal(json, like, is_like);
  if (like.is_array())
    return json.is_array() &&
           std::ranges::all_of(json, [&](const Json& one) { return is_like(one, like.front()); });
  if (!like.is_object())
    return json.is_number() ? like.is_number() && is_printable_number(json)
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
  report.throughput = 1;
  Json like = to_json({}, Json::object(), {}, report, timeline);
  const auto scenario = json.find("scenario");
  if (scenario == json.end() || !is_written(*scenario))
    return false;
  like["scenario"] = *scenario;
  like["figures"]["staleness_histogram"] = {{"any", 0}};
  if (json.contains("trace"))
    like["trace"] = "";
  const auto source = json.find("provenance");
  if (source != json.end() && source->is_object() && !source->contains("fidelity"))
    like["provenance"].erase("fidelity");  // one of before, when all were flows
  if (const auto figures = json.find("figures"); figures != json.end() && figures->is_object())
    for (const char* name : {"throughput_interval", "epoch_cost"})
      if (const auto found = figures->find(name);
          found != figures->end() && found->is_number())  // or null
        like["figures"][name] = 0;
  for (const char* newer : {"runs", "throughput_of_runs"})  // results of one run were without
    if (json.contains("figures") && json["figures"].is_object() && !json["figures"].contains(newer))
      like["figures"].erase(newer);
  if (!json.contains("figures") || !json["figures"].is_object() || !is_learning_whole(json))
    return false;
  if (json.contains("learning")) {
    like["learning"] = true;
    for (const std::string& name : learned_figures)
      like["figures"][name] = true;
  }
  if (!is_like(json, like))
    return false;
  const Json& figures = json["figures"];
  const bool counted = figures.contains("runs") && figures.contains("throughput_of_runs");
  if (counted && figures["runs"] != figures["throughput_of_runs"].size())
    return false;
  return json["figures"]["throughput_samples_per_s"].get<double>() > 0 &&
         json["figures"]["iteration_mean_s"].get<double>() >= least_iteration_s;
}

Json to_json(const Scenario& scenario, const Json& written, const Provenance& provenance,
             const Report& report, const Timeline& timeline) {
  Json links = Json::array();
  for (const BusyLink& link : report.busiest_links)
    links.push_back({{"name", link.name},
                     {"utilisation", link.utilisation},
                     {"bytes_per_iteration", link.bytes_per_iteration}});
  Json histogram = Json::object();
  for (const auto& [staleness, count] : report.staleness.histogram)
    histogram[std::to_string(staleness)] = count;
  const double epoch_s = scenario.epoch_samples.value_or(samples_without_epoch) / report.throughput;
  Json figures{
      {"worker_count", report.workers},
      {"throughput_samples_per_s", report.throughput},
      {"runs", std::max<std::size_t>(report.throughput_of_runs.size(), 1)},
      {"throughput_of_runs", report.throughput_of_runs.empty() ? Json::array({report.throughput})
                                                               : Json(report.throughput_of_runs)},
      {"throughput_interval",
       report.throughput_interval ? Json(*report.throughput_interval) : Json(nullptr)},
      {"halves_differ", report.halves_differ},
      {"window_from_s", report.window_from_s},
      {"window_to_s", report.window_to_s},
      {"window_iterations", report.window_iterations},
      {"scaling_efficiency", report.scaling_efficiency},
      {"epoch_s", epoch_s},
      {"epoch_cost",
       scenario.price ? Json(*scenario.price * report.workers * epoch_s / 3600) : Json(nullptr)},
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
      {"flows", report.flows}};
  if (report.learned)
    figures.update(figures_of(*report.learned));
  figures["warnings"] = report.warnings;
  Json result{{"schema", result_schema},
              {"tool", tool_version()},
              {"build", provenance.build},
              {"simgrid", provenance.simgrid},
              {"inputs", provenance.inputs},
              {"scenario", written},
              {"provenance",
               {{"compute", provenance.compute},
                {"compression", provenance.compression},
                {"adding", provenance.adding},
                {"network", provenance.network},
                {"fidelity", provenance.fidelity}}},
              {"figures", figures}};
  if (report.learned)
    result["learning"] = to_json(*report.learned);
  result["timeline"] = to_json(timeline);
  return result;
}

std::vector<std::string> number_figures() {
  Report report;
  report.learned.emplace();
  const Json any = to_json({}, Json::object(), {}, report, {});
  std::vector<std::string> names;
  for (const auto& [name, value] : any["figures"].items())
    if (value.is_number() || value.is_null())
      names.push_back(name);
  return names;
}

std::string result_text(const Json& result) {
  Json tracks = Json::array();
  Json rest = result;
  std::swap(tracks, rest["timeline"]["tracks"]);
  const bool learned = learns(result);
  if (learned)
    for (const std::string& table : learned_tables)
      for (Json& column : rest["learning"][table])
        column = Json::array();
  std::string text = rest.dump(2);
  // After the last of these, in their order: strings have no line breaks, so none of them is in
  // one.
  const auto put = [&](std::size_t from, const std::string& place, const std::string& values) {
    const std::size_t at = text.find(place, from) + place.size();
    text.insert(at, values);
    return at + values.size();
  };
  std::size_t at = 0;
  for (const std::string& table : learned ? learned_tables : std::vector<std::string>()) {
    at = text.find("\n    \"" + table + "\": {", at);
    for (const auto& [name, column] : result["learning"][table].items()) {
      const std::string values = column.dump();
      at = put(at, "\n      \"" + name + "\": [", values.substr(1, values.size() - 2));
    }
  }
  std::string lines;
  for (const Json& track : tracks)
    lines += (lines.empty() ? "\n      " : ",\n      ") + track.dump();
  put(text.find("\n  \"timeline\": {"), "\"tracks\": [", lines);
  return text + "\n";
}

std::string cell_name(const std::map<std::string, std::string>& written,
                      const std::vector<std::string>& swept) {
  std::string name;
  for (const std::string& option : swept) {
    const auto found = written.find(option);
    if (found == written.end() || found->second.empty())
      continue;
    name += name.empty() ? "" : "_";
    name += option;
    name += "-";
    name += in_file_name(found->second);
  }
  return name.empty() ? "result" : name;
}

std::string fidelity_of(const Json& result) {
  return result["provenance"].value("fidelity", "flow");
}

std::string option_text(const Json& result, const std::string& option) {
  const auto found = result["scenario"].find(option);
  if (found == result["scenario"].end())
    return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::vector<std::string> differing_options(const std::vector<Json>& results) {
  std::map<std::string, std::set<std::string>> values;
  for (const Json& result : results)
    for (const auto& [option, value] : result["scenario"].items())
      values[option].insert(option_text(result, option));
  std::vector<std::string> differing;
  for (const auto& [option, different] : values)
    if (different.size() > 1)
      differing.push_back(option);
  return differing;
}

}  // namespace syncline
