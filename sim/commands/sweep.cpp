#include "sim/commands/sweep.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <unistd.h>

#include "kernels/text.h"
#include "kernels/whole_file.h"
#include "sim/commands/input_files.h"
#include "sim/commands/out_folder.h"
#include "sim/commands/process.h"
#include "sim/commands/progress.h"
#include "sim/commands/turns.h"
#include "sim/commands/written.h"
#include "sim/engine/estimate.h"
#include "sim/engine/fidelity.h"
#include "sim/engine/repeats.h"
#include "sim/engine/self_test.h"
#include "sim/engine/simulation.h"
#include "sim/report/learned_tables.h"
#include "sim/report/learning.h"
#include "sim/report/report.h"
#include "sim/report/result.h"
#include "sim/report/runs.h"
#include "sim/report/trace_csv.h"
#include "sim/setup/files.h"
#include "sim/setup/inputs.h"
#include "sim/setup/network.h"
#include "sim/setup/platform.h"
#include "sim/setup/setup.h"

namespace syncline {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// What the version does not tell: between releases, programs of one version differ.
std::string build_of_program() {
  static const std::string fingerprint = fingerprint_of_files({"/proc/self/exe"});
  return fingerprint;
}

Setup prepare_within(const Limits& limits, const Scenario& scenario) {
  const MemoryLimit limit(limits.memory_bytes);
  Setup setup = prepare(scenario);
  settle_fidelity(setup);
  return setup;
}

// The answer of a process that has not simulated its cell, with the estimated seconds.
const std::string is_long = "long ";
// The answer of one that could not write its files, with the reason: others could not either.
const std::string is_unwritten = "unwritten ";
constexpr double short_s = 0.25;  // is not much more than preparing it twice takes

// Figures of runs 1, 2, ..., one after another, each in a process of its own, as SimGrid needs it.
std::vector<Json> runs_but_the_first(const Setup& setup, int runs) {
  std::vector<Json> figures;
  for (int run = 1; run < runs; ++run)
    figures.push_back(Json::parse(run_child([&] {
      Setup other = setup;
      other.reseed(seed_of_run(setup.scenario.seed, run));
      other.keep_messages = false;
      return run_figures(make_report(simulate(other), other.scenario.batch)).dump();
    })));
  return figures;
}

std::string simulate_cell(const SweepCell& cell, const Limits& limits, int at_once, bool may_wait,
                          LatestLoss& latest) {
  const Scenario& scenario = cell.scenario;
  const std::string inputs = inputs_of(scenario);  // before they are read: they may change later
  Setup setup = prepare_within(limits, scenario);
  setup.keep_messages = cell.keeps_messages();
  const Estimate needs = estimate(setup);
  require_room(needs, limits, at_once);
  if (may_wait && needs.most.seconds > short_s)
    return is_long + std::to_string(needs.most.seconds);
  const std::vector<Json> other_runs = runs_but_the_first(setup, needs.runs);
  const Trace trace =
      simulate(setup, [&](const CurvePoint& point) { latest.say(point.seconds, point.loss); });
  Report report = make_report(trace, scenario.batch);
  take_means(report, other_runs);
  if (doubts_flows(setup, report.fullest_link()))
    report.warnings.emplace_back(doubt_of_flows);
  if (are_too_few(setup, needs.runs))
    report.warnings.emplace_back(too_few_runs);
  report.warnings.insert(report.warnings.begin(), setup.warnings.begin(), setup.warnings.end());
  Json result = to_json(scenario, written_options(scenario),
                        {.compute = setup.compute.source,
                         .compression = setup.traffic.compression.provenance(),
                         .adding = setup.adding,
                         .network = scenario.network->sentence,
                         .fidelity = fidelity_word(setup),
                         .simgrid = simgrid_version(),
                         .build = build_of_program(),
                         .inputs = inputs},
                        report, timeline_of(trace));
  try {
    if (!cell.trace_csv.empty())
      write_atomically(cell.trace_csv, [&](std::ostream& out) { write_csv(trace, out); });
    write_exports(cell.exports, setup, trace);
    keep_learned(cell, result);
    if (!cell.trace_csv.empty())
      result["trace"] = fingerprint_of_files({cell.trace_csv, cell.exports.trace});
    if (!cell.result_path.empty())
      write_atomically(cell.result_path, result_text(result));
  } catch (const std::runtime_error& error) {
    return is_unwritten + error.what();
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

bool is_file_of(const std::string& text, const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) != text.size())
    return false;
  std::ifstream file(path, std::ios::binary);
  std::string there(text.size(), '\0');
  return file.read(there.data(), static_cast<std::streamsize>(there.size())) && there == text;
}

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

void simulate_all(const std::vector<SweepCell>& cells, int at_once, const Limits& limits,
                  const std::function<void(std::size_t, CellResult)>& ended) {
  if (cells.empty())
    return;
  test_simgrid();
  build_of_program();  // once, and not in each process
  const int together = std::min(at_once, static_cast<int>(cells.size()));
  Turns turns(cells.size(), together);
  std::vector<bool> looks(cells.size());
  LatestLoss latest;
  const auto next = [&]() -> std::optional<NumberedJob> {
    const auto turn = turns.next();
    if (!turn)
      return {};
    looks[turn->cell] = turn->may_wait;
    return NumberedJob{
        .number = turn->cell,
        .job = [&cell = cells[turn->cell], &limits, &latest, together, may_wait = turn->may_wait] {
          return simulate_cell(cell, limits, together, may_wait, latest);
        }};
  };

  const auto began = std::chrono::steady_clock::now();
  ProgressLine progress(cells.size(), isatty(STDERR_FILENO) == 1);
  std::size_t done = 0;
  const auto show = [&] {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
    std::fputs(progress.text(done, elapsed.count(), latest.text()).c_str(), stderr);
  };
  const auto note = [&](std::size_t i, const Outcome& outcome) {
    if (looks[i])
      turns.looked();
    if (outcome.ok && outcome.output.starts_with(is_long)) {
      turns.found_long(i, std::stod(outcome.output.substr(is_long.size())));
      return true;
    }
    if (outcome.ok && outcome.output.starts_with(is_unwritten))
      throw std::runtime_error(outcome.output.substr(is_unwritten.size()));
    ++done;
    if (outcome.ok)
      ended(i, {.result = Json::parse(outcome.output), .error = ""});
    else
      ended(i, {.result = {}, .error = error_of(cells[i].scenario, outcome)});
    show();
    return true;
  };
  try {
    run_children(next, at_once, note, show);
  } catch (...) {
    std::fputs(progress.clearing().c_str(), stderr);
    throw;
  }
  std::fputs(progress.clearing().c_str(), stderr);
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
    return kept.contains("trace") &&
           kept["trace"] == fingerprint_of_files({cell.trace_csv, cell.exports.trace});
  };
  return says("schema", result_schema) && says("tool", tool_version()) &&
         says("build", build_of_program()) && says("simgrid", simgrid_version()) &&
         says("scenario", written_options(cell.scenario)) &&
         says("inputs", inputs_of(cell.scenario)) &&
         (cell.trace_csv.empty() ? !cell.exports.any() : trace_is_of(result));
}

void keep_learned(const SweepCell& cell, const Json& result) {
  if (cell.learned_path.empty())
    return;
  for (const std::string& table : learned_tables) {
    const std::string path = cell.learned_path + "." + table + ".csv";
    const std::string text = learns(result) ? table_csv(result, table) : "";
    if (text.empty())
      remove_if_ours(path);
    else if (!is_file_of(text, path))
      write_atomically(path, text);
  }
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
