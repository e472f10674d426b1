#include "sim/simulate.h"

#include <fmt/format.h>
#include <stdexcept>

#include "sim/catalogue/network.h"
#include "sim/engine/estimate.h"
#include "sim/engine/fidelity.h"
#include "sim/engine/simulation.h"
#include "sim/platform/platform.h"
#include "sim/report/prediction.h"
#include "sim/report/report.h"
#include "sim/report/result_json.h"
#include "sim/report/runs.h"
#include "sim/report/timeline.h"
#include "sim/setup/repeated_runs.h"
#include "sim/setup/worker_devices.h"
#include "sim/sweep/cell_inputs.h"
#include "sim/sweep/huge_pages.h"
#include "sim/sweep/one_worker.h"
#include "sim/sweep/process.h"

namespace syncline {
namespace {

// Limit for a cell that need not wait: preparing it twice takes about as long.
constexpr double short_s = 0.25;

Setup prepare_cell(const SweepCell& cell, const PlatformFile& platform, const Limits& limits) {
  const MemoryLimit limit(limits.memory_bytes);
  Setup setup = prepare(with_computation_alone(cell.scenario, platform), platform);
  choose_fidelity(setup);
  setup.keep_messages = cell.keeps_messages();
  return setup;
}

// Figures that depend on the model and its devices.
void add_utilisation(const Setup& setup, Figures& figures) {
  const Model& model = setup.model;
  const double samples_per_s = figures.throughput_samples_per_s;
  if (const auto tokens = model.tokens())
    figures.tokens_per_s = *tokens * samples_per_s;
  const auto peak = peak_flops(setup.scenario, setup.traffic.cluster);
  if (!peak || model.times || model.forward_flop() == 0)
    return;
  figures.mfu = samples_per_s * model.training_flop() / *peak;
  figures.hfu = samples_per_s * (model.training_flop() + model.again_flop()) / *peak;
}

// Figures of runs 1, 2, ..., one after another, each in a process of its own.
std::vector<Figures> runs_but_the_first(const Setup& setup, int runs) {
  std::vector<Figures> figures;
  for (int run = 1; run < runs; ++run) {
    const auto other = result_in(run_child([&] {
      Setup reseeded = setup;
      reseeded.reseed(seed_of_run(setup.scenario.seed, run));
      reseeded.keep_messages = false;
      return text_of({.figures = figures_of(simulate(reseeded), setup.scenario.samples())});
    }));
    figures.push_back(other.value().figures);
  }
  return figures;
}

}  // namespace

SimulatedCell simulate_cell(const SweepCell& cell, const Limits& limits, int at_once, bool may_wait,
                            const std::function<void(const CurvePoint&)>& evaluated) {
  if (cell.scenario.fidelity == Fidelity::analytic)
    use_huge_pages();
  const PlatformFile platform = read_platform(cell.scenario);
  const std::string inputs =
      // Before the other files are read, because those may change.
      inputs_of(cell.scenario, platform);
  require_room_for_platform(platform, cell.scenario.platform, limits);
  require_room_for_data(cell.scenario, limits, at_once);
  Setup setup = prepare_cell(cell, platform, limits);
  const Estimate needs = estimate(setup, limits.seconds);
  require_room(needs, limits, at_once);
  check_exports(cell.exports, setup);
  if (cell.keeps_trace())
    require_room_for_trace(needs.least.trace_bytes, limits);
  if (may_wait && needs.most.seconds > short_s)
    return {.waits_s = needs.most.seconds};
  setup.scenario.interval = interval_of_each(setup.scenario.interval, needs.runs);
  const std::vector<Figures> other_runs = runs_but_the_first(setup, needs.runs);
  const Trace trace = simulate(setup, evaluated);
  if (cell.keeps_trace())  // only now is the length of the run known
    require_room_for_trace(trace_bytes_of(static_cast<double>(trace.rows.size()),
                                          static_cast<double>(trace.messages.size())),
                           limits);
  Result result = result_of(setup, trace, other_runs, inputs);
  try {
    write_files(cell, setup, trace, result);
  } catch (const std::runtime_error& error) {
    return {.not_written = error.what()};
  }
  return {.result = std::move(result)};
}

Result result_of(const Setup& setup, const Trace& trace, const std::vector<Figures>& other_runs,
                 const std::string& inputs) {
  const Scenario& scenario = setup.scenario;
  const TraceByWorker by_worker(trace);
  Result result{.tool = tool_version(),
                .build = build_of_program(),
                .simgrid = simgrid_version(),
                .inputs = inputs,
                .options = written_options(scenario),
                .provenance = {.compute = setup.compute.source,
                               .compression = setup.traffic.compression.provenance(),
                               .adding = setup.adding,
                               .framework = scenario.framework.described(),
                               .reality = scenario.reality.described(),
                               .exchange = exchange_taken(setup),
                               .price = setup.price,
                               .network = scenario.network->sentence,
                               .fidelity = fidelity_word(setup)},
                .figures = figures_of(trace, by_worker, scenario.samples()),
                .learned = trace.learned,
                .timeline = timeline_of(trace, by_worker)};
  Figures& figures = result.figures;
  if (other_runs.empty() && chance_decides(setup))
    figures.throughput_interval = interval_of_one_run(by_worker.progress, trace.window);
  take_means(figures, other_runs);
  // No run has seen all that the profiles do.
  if (trace.window.to_s - trace.window.from_s < trace.profiles_s)
    figures.throughput_interval.reset();
  add_epoch(scenario, figures);
  add_utilisation(setup, figures);
  add_prediction(scenario, figures);
  if (setup.memory) {
    figures.memory_bytes = setup.memory->bytes;
    figures.device_memory_bytes = setup.memory->has_bytes;
  }
  if (doubts_flows(setup, figures.fullest_link()))
    figures.warnings.emplace_back(WarningKind::doubted_flows);
  if (scenario.learns() && figures.runs > 1)
    figures.warnings.push_back(
        fmt::format("loss, accuracy and the curve are of the first of {} runs: repeats only gives "
                    "more runs of throughput; several values of seed give a curve each",
                    figures.runs));
  if (const std::string why = too_few_runs(setup, static_cast<int>(figures.runs)); !why.empty())
    figures.warnings.push_back(why);
  figures.warnings.insert(figures.warnings.begin(), setup.warnings.begin(), setup.warnings.end());
  return result;
}

}  // namespace syncline
