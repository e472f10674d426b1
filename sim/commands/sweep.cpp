#include "sim/commands/sweep.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

#include "kernels/text.h"
#include "kernels/whole_file.h"
#include "sim/commands/process.h"
#include "sim/commands/written.h"
#include "sim/engine/estimate.h"
#include "sim/engine/self_test.h"
#include "sim/engine/simulation.h"
#include "sim/report/report.h"
#include "sim/report/result.h"
#include "sim/report/trace_csv.h"
#include "sim/setup/files.h"
#include "sim/setup/inputs.h"
#include "sim/setup/network.h"
#include "sim/setup/platform.h"
#include "sim/setup/platform_check.h"
#include "sim/setup/setup.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// Of a platform that is refused, itself: whoever simulates it says what is wrong.
std::vector<std::string> files_of_platform(const std::string& path) {
  try {
    return check_platform(path).files;
  } catch (const std::runtime_error&) {
    return {path};
  }
}

// What the version does not tell: between releases, programs of one version differ.
std::string build_of_program() {
  static const std::string fingerprint = fingerprint_of_files({"/proc/self/exe"});
  return fingerprint;
}

Setup prepare_within(const Limits& limits, const Scenario& scenario) {
  const MemoryLimit limit(limits.memory_bytes);
  return prepare(scenario);
}

std::string simulate_cell(const SweepCell& cell, const Limits& limits, int at_once) {
  const Scenario& scenario = cell.scenario;
  const std::string inputs = inputs_of(scenario);  // before they are read: they may change later
  const Setup setup = prepare_within(limits, scenario);
  require_room(estimate(setup), limits, at_once);
  const Trace trace = simulate(setup);
  Report report = make_report(trace, scenario.batch);
  report.warnings.insert(report.warnings.begin(), setup.warnings.begin(), setup.warnings.end());
  Json result = to_json(scenario, written_options(scenario),
                        {.compute = setup.compute.source,
                         .compression = setup.traffic.compression.provenance(),
                         .adding = setup.adding,
                         .network = scenario.network->sentence,
                         .simgrid = simgrid_version(),
                         .build = build_of_program(),
                         .inputs = inputs},
                        report, timeline_of(trace));
  if (!cell.trace_path.empty()) {
    std::ostringstream text;
    write_csv(trace, text);
    write_atomically(cell.trace_path, text.str());
    result["trace"] = fingerprint_of_text(text.str());
  }
  return result.dump();
}

void test_simgrid() {
  std::string wrong;
  try {
    wrong = run_child([] { return self_test(find_network("exact")); });
  } catch (const std::runtime_error& error) {
    wrong = "this SimGrid (" + simgrid_version() + ") fails its self-test: " + error.what();
  }
  if (!wrong.empty())
    throw std::runtime_error(wrong);
}

// A line that is rewritten whenever a cell ends, on a terminal only.
class Progress {
 public:
  explicit Progress(std::size_t total) : total_(total) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::size_t done) {
    if (!terminal_ || total_ < 2)
      return;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began_;
    std::fprintf(stderr, "\r\033[K%zu of %zu cells", done, total_);
    if (done > 0)
      std::fprintf(
          stderr, ", about %.0f s left",
          elapsed.count() / static_cast<double>(done) * static_cast<double>(total_ - done));
  }
  void clear() {
    if (terminal_ && total_ > 1)
      std::fputs("\r\033[K", stderr);
  }

 private:
  std::size_t total_;
  bool terminal_ = isatty(STDERR_FILENO) == 1;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// Whether all of its texts may be printed: a result of ours has no others.
bool is_plain(const Json& json) {
  const auto plain = [](const std::string& text) { return printable(text) == text; };
  if (!json.is_structured())
    return !json.is_string() || plain(json);
  return std::ranges::all_of(json.items(), [&](const auto& member) {
    return plain(member.key()) && is_plain(member.value());
  });
}

}  // namespace

std::vector<std::size_t> longest_first(const std::vector<SweepCell>& cells, int at_once,
                                       const Limits& limits) {
  std::vector<std::size_t> order(cells.size());
  std::iota(order.begin(), order.end(), 0);
  if (at_once == 1 || static_cast<int>(cells.size()) == at_once)
    return order;
  std::vector<std::function<std::string()>> jobs;
  for (const SweepCell& cell : cells)
    jobs.emplace_back([&cell, &limits] {
      return std::to_string(estimate(prepare_within(limits, cell.scenario)).most.seconds);
    });
  std::vector<double> seconds(cells.size());
  run_children(jobs, at_once, [&](std::size_t i, const Outcome& outcome) {
    seconds[i] = outcome.ok ? std::stod(outcome.output) : 0;  // what cannot be simulated fails soon
    return true;
  });
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return seconds[a] > seconds[b]; });
  return order;
}

std::vector<CellResult> simulate_all(
    const std::vector<SweepCell>& cells, int at_once, const Limits& limits,
    const std::function<void(std::size_t, const nlohmann::ordered_json&)>& ended) {
  if (!cells.empty())
    test_simgrid();
  std::vector<CellResult> results(cells.size());
  const int together = std::min(at_once, static_cast<int>(cells.size()));
  const std::vector<std::size_t> order = longest_first(cells, together, limits);
  std::vector<std::function<std::string()>> jobs;
  for (const std::size_t i : order)
    jobs.emplace_back(
        [&cell = cells[i], &limits, together] { return simulate_cell(cell, limits, together); });

  Progress progress(cells.size());
  std::size_t done = 0;
  run_children(
      jobs, at_once,
      [&](std::size_t job, const Outcome& outcome) {
        const std::size_t i = order[job];
        if (outcome.ok) {
          results[i].result = nlohmann::ordered_json::parse(outcome.output);
          ended(i, results[i].result);
        } else {
          results[i].error = error_of(cells[i].scenario, outcome);
        }
        progress.show(++done);
        return true;
      },
      [&] { progress.show(done); });
  progress.clear();
  return results;
}

std::string inputs_of(const Scenario& scenario) {
  std::vector<std::string> paths = files_of_platform(scenario.platform);
  paths.push_back(scenario.model);
  paths.push_back(data_root() + "/models/throughput.csv");
  if (!scenario.cost_table.empty())
    paths.push_back(scenario.cost_table);
  else if (scenario.compresses())  // the hosts' devices choose among all tables
    for (const std::string& name : names_in("kernels/profiles", ".csv"))
      paths.push_back(data_root() + "/kernels/profiles/" + name + ".csv");
  return fingerprint_of_files(paths);
}

Json read_result(const std::string& path) {
  std::error_code error;
  std::ifstream file;
  if (fs::is_regular_file(path, error))  // a pipe would be waited for
    file.open(path);
  const Json result = file.is_open() ? Json::parse(file, nullptr, false) : Json();
  return is_result(result) && is_plain(result) ? result : Json();
}

bool is_finished(const SweepCell& cell, const Json& result) {
  const auto says = [&](const char* name, const Json& value) {
    return result.contains(name) && result[name] == value;
  };
  const auto trace_is_of = [&](const Json& kept) {
    return kept.contains("trace") && kept["trace"] == fingerprint_of_files({cell.trace_path});
  };
  return says("schema", result_schema) && says("tool", tool_version()) &&
         says("build", build_of_program()) && says("simgrid", simgrid_version()) &&
         says("scenario", written_options(cell.scenario)) &&
         says("inputs", inputs_of(cell.scenario)) &&
         (cell.trace_path.empty() || trace_is_of(result));
}

std::string error_of(const Scenario& scenario, const Outcome& outcome) {
  // What SimGrid says where a message is sent, which may be after all that we have looked at.
  static const std::regex no_path(
      "(?:You're trying to send data|No route|Bad gateways for route) from '?(.*?)'? to "
      "'?(.*?)'?(?: but there is no .*|[.]|)");
  if (std::smatch ends; std::regex_match(outcome.error, ends, no_path))
    return "platform " + scenario.platform + ": hosts " + ends[1].str() + " and " + ends[2].str() +
           " have no route between them: allowed are platforms with one for each message";
  // The message of a thrown error names the file; what SimGrid prints before it aborts may not.
  if (!outcome.aborted)
    return outcome.error;
  const bool crashed = outcome.error.find("Segmentation fault") != std::string::npos;
  return "platform " + scenario.platform + ": SimGrid refuses it: " + outcome.error +
         (crashed ? " If it has a <cluster> with a topology, SimGrid 4.1 needs a <zone "
                    "routing=\"Full\"> around that"
                  : "");
}

int print_left_out(const Sweep& sweep, const std::vector<std::string>& errors) {
  for (const std::string& note : sweep.left_out)
    std::fprintf(stderr, "left out: %s\n", printable(note).c_str());
  for (auto error = errors.begin(); error != errors.end(); ++error)
    if (std::find(errors.begin(), error, *error) == error)  // cells of one platform have the same
      std::fprintf(stderr, "syncline: cells left out: %s\n", printable(*error).c_str());
  return errors.empty() ? 0 : 2;
}

}  // namespace syncline
