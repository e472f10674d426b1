// Law 27 (tests/laws/README.md): the figures of a cell agree with each other, for every schedule,
// in randomly drawn cells. What workers do at each moment is counted again, from the rows alone and
// by another method.
#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>

#include "sim/page/drawn_timeline.h"
#include "sim/page/tables.h"
#include "sim/report/figures.h"
#include "sim/report/readable.h"
#include "sim/report/timeline.h"
#include "sim/schedule.h"
#include "sim/study/charts.h"
#include "sim/window.h"
#include "tests/laws/awkward.h"
#include "tests/laws/moments.h"
#include "tests/laws/simulated.h"

namespace syncline {
namespace {

constexpr int shards = 4;
constexpr std::size_t cells_of_each = 6;  // schedule, in a shard

// A cell and its results.
struct DrawnCell {
  std::string about;
  Options options;
  double samples = 0;  // of all workers, in one iteration
  // True if all iterations but the first must be equal: without jitter and profiles, in schedules
  // that step together. All workers begin the first one together.
  bool alike = false;
  Simulated run;
  Result result;
};

Options drawn_options(Draws& draws, const std::string& schedule) {
  Star star{.nodes = 1 + draws.below(3),
            .workers_per_node = 1 + draws.below(3),
            .nic_Bps = draws.of<double>({5e7, 2e8, 1e9}),
            .nic_latency_s = draws.of<double>({0, 1e-5, 2e-3}),
            .bus_Bps = draws.of<double>({5e8, 1e10}),
            .servers = draws.below(3),
            .slow_speed = draws.of<double>({1, 1, 0.6}),
            .cores = 1 + draws.below(2)};
  star.slow_worker = draws.one_in(2) ? 0 : -1;
  star.host_Bps = draws.one_in(3) ? 1e10 : 0;
  if (draws.one_in(6))
    star.profile = "0 1\n0.31 0.5\nPERIODICITY 0.5";
  Options options{
      {"platform", star_platform(star)},
      {"model", model_of({draws.of<std::uint64_t>({1'000, 400'000}), 900'000, 100, 700'000})},
      {"schedule", schedule},
      {"servers", std::to_string(star.servers)},
      {"batch", std::to_string(1 + draws.below(40))},
      {"overlap", draws.of<std::string>({"on", "off"})},
      {"bucket-bytes", draws.of<std::string>({"0", "all", "3000000"})},
      {"fidelity", draws.of<std::string>({"step", "flow"})},
      {"jitter", draws.of<std::string>({"0", "0", "0.2"})},
      {"seed", std::to_string(1 + draws.below(1000))},
      {"warmup", std::to_string(draws.below(4))},
      {"iterations", std::to_string(6 + draws.below(20))}};
  const auto& entry = Registered<Schedule>::find(schedule);
  options["compressor"] = entry.sparsifiers_only ? "topk" : "none";
  if (draws.one_in(3) && takes(entry, "topk"))
    options["compressor"] = draws.of<std::string>({"topk", "qsgd", "randomk"});
  if (entry.chooses_exchange())
    options["exchange"] = draws.of(exchanges_for(options["compressor"]));
  if (draws.one_in(4))
    options["step-overhead"] = "1e-4";
  if (draws.one_in(4))
    options["server-overhead"] = "1e-4";
  if (schedule == "asp" && options["compressor"] == "none" && draws.one_in(3))
    options["server-placement"] = "tensors";
  if (schedule == "fsdp")
    options["zero"] = std::to_string(1 + draws.below(3));
  if (schedule == "ssp")
    options["staleness"] = std::to_string(draws.below(4));
  if (schedule == "local-sgd") {
    options["local-steps"] = std::to_string(1 + draws.below(4));
    options["replica"] = draws.of<std::string>({"worker", "node"});
    options["average-delay"] = draws.one_in(2) ? "0" : "1";
  }
  return options;
}

// The next cell whose options do not exclude each other.
DrawnCell drawn_cell_of(Draws& draws, const std::string& schedule) {
  for (int tries = 0; tries < 40; ++tries) {
    DrawnCell cell{.about = {}, .options = drawn_options(draws, schedule)};
    for (const auto& [name, value] : cell.options)
      cell.about += name + "=" + value + " ";
    try {
      cell.run = simulated(cell.options);
    } catch (const std::exception&) {
      continue;
    }
    cell.samples = cell.run.trace.workers * std::stod(cell.options.at("batch"));
    cell.alike = cell.run.trace.in_step && cell.options.at("jitter") == "0" &&
                 cell.run.trace.profiles_s == 0 && cell.options.at("warmup") != "0";
    for (const auto& [name, value] : cell.options)
      cell.result.options.push_back({.name = name, .value = value});
    cell.result.figures = cell.run.figures;
    cell.result.timeline = timeline_of(cell.run.trace);
    return cell;
  }
  throw std::runtime_error("no cell of " + schedule + " that is allowed");
}

// Calls `look` with the cells of one of the shards; schedules take turns.
void for_each_cell(int shard, const std::function<void(const DrawnCell&)>& look) {
  Draws draws(static_cast<std::uint64_t>(shard) + 27);
  const std::vector<std::string> schedules = Registered<Schedule>::names();
  for (std::size_t i = 0; i < cells_of_each * schedules.size(); ++i)
    look(drawn_cell_of(draws, schedules[i % schedules.size()]));
}

double sum_of_parts(const auto& figures) {
  return figures.compute_s + figures.compress_s + figures.exposed_communication_s +
         figures.waiting_s;
}

void expect_one_window(const DrawnCell& cell) {
  const Figures& figures = cell.run.figures;
  const double iteration_s = figures.iteration_mean_s, exact = 1e-9 * iteration_s;
  EXPECT_NEAR(iteration_s * figures.throughput_samples_per_s / cell.samples, 1, 1e-9);
  EXPECT_NEAR(sum_of_parts(figures), iteration_s, exact);
  EXPECT_NEAR(figures.bytes_sent_off_node + figures.bytes_sent_in_node, figures.bytes_sent,
              1e-9 * figures.bytes_sent);
  double iterations = 0, window_s = 0;
  for (const WorkerFigures& worker : figures.workers) {
    const auto to = worker.name.find(" to ");
    const double alike = to == std::string::npos
                             ? 1
                             : std::stod(worker.name.substr(to + 4)) -
                                   std::stod(worker.name.substr(worker.name.find(' '))) + 1;
    EXPECT_NEAR(sum_of_parts(worker), worker.iteration_mean_s, 1e-9 * worker.iteration_mean_s);
    iterations += alike * worker.iterations;
    window_s += alike * worker.iterations * worker.iteration_mean_s;
  }
  const auto workers = static_cast<double>(cell.run.trace.workers);
  EXPECT_NEAR(iterations, workers * figures.window_iterations, 1e-9 * iterations);
  // A backup worker whose gradients were never applied has no iterations that cover the window.
  const bool all_count = std::ranges::all_of(
      figures.workers, [](const WorkerFigures& worker) { return worker.iterations > 0; });
  if (all_count) {
    EXPECT_NEAR(window_s, workers * (figures.window_to_s - figures.window_from_s), 1e-5 * window_s);
  }
}

void expect_no_less_than_bounds(const DrawnCell& cell) {
  const Figures& figures = cell.run.figures;
  const double most_s = figures.iteration_mean_s * (1 + 1e-9);
  EXPECT_LE(figures.bound_compute_s, most_s);
  EXPECT_LE(figures.bound_link_s, most_s);
  const Trace& trace = cell.run.trace;
  EXPECT_NEAR(figures.scaling_efficiency * trace.alone_per_s * figures.iteration_mean_s,
              trace.workers, 1e-9 * trace.workers);
  EXPECT_LE(figures.scaling_efficiency, cell.alike ? 1 + 1e-9 : HUGE_VAL);  // else by chance
  EXPECT_LE(figures.server_busy.value_or(0), 1);
  EXPECT_FALSE(cell.run.below_its_bound());
  for (const BusyLink& link : figures.busiest_links)
    EXPECT_LE(link.utilisation, 1) << link.name;
  for (const LinkUse& link : trace.links)  // at most the ends of a window
    if (!link.fatpipe) {
      const double used =
          link.bandwidth.part_used(link.measured_bytes, figures.window_from_s, figures.window_to_s);
      EXPECT_LE(used, 1.05) << link.name;
    }
  EXPECT_LE(figures.iteration_p50_s, figures.iteration_p99_s);
}

// Bars and the table show the figures.
void expect_same_in_bars_and_table(const DrawnCell& cell) {
  const Figures& figures = cell.run.figures;
  const std::vector<Result> results{cell.result};
  const Comparison compared = comparison_of(results);
  const std::map<std::string, double> expected{
      {"computation", figures.compute_s},
      {"compression", figures.compress_s},
      {"exposed communication", figures.exposed_communication_s},
      {"waiting", figures.waiting_s}};
  std::size_t bars = 0;
  for (const Chart& chart : charts_of(compared, 0))
    if (chart.id == "breakdown")
      for (const Series& series : chart.series) {
        EXPECT_DOUBLE_EQ(series.y.at(0), expected.at(series.name)) << series.name;
        ++bars;
      }
  EXPECT_GE(bars, 3U);
  const std::string table = comparison_table(results, {});
  for (const double part : {figures.compute_s, figures.exposed_communication_s, figures.waiting_s})
    EXPECT_NE(table.find(" " + percent(part / figures.iteration_mean_s)), std::string::npos)
        << table;
  EXPECT_NE(table.find(" " + seconds_shown(figures.iteration_mean_s)), std::string::npos) << table;
}

// What a worker does in its measured iterations, each by the share that lies in the window.
// Iterations end at steps, or where gradients are applied; in a window from the start, when all
// have ended, and what comes before a worker's first iteration belongs to the window, too.
Spent measured_of(const Trace& trace, int worker, const Moments& moments, double warmup) {
  std::vector<double> ends_s{0};
  double from_s = 0;
  for (const Row& row : trace.rows)
    if (trace.in_step && row.rank == worker && row.stream == Stream::compute &&
        (warmup == 0 || (row.verb == Verb::step && row.iteration >= 0)))
      (row.iteration < warmup && warmup > 0 ? from_s : ends_s.back()) = row.end_s;
  if (trace.in_step)
    return moments.between(from_s, ends_s.back());
  const Progress progress = progress_of(trace).at(static_cast<std::size_t>(worker));
  ends_s.front() = std::min(progress.start_s, trace.window.from_s);
  ends_s.push_back(progress.start_s);
  ends_s.insert(ends_s.end(), progress.counted_s.begin(), progress.counted_s.end());
  if (warmup == 0 || !trace.window.warm)
    ends_s.push_back(std::max(ends_s.back(), trace.window.to_s));
  Spent sum;
  const auto add = [&sum](const Spent& more, double part) {
    sum.computes_s += part * more.computes_s;
    sum.compresses_s += part * more.compresses_s;
    sum.exposed_s += part * more.exposed_s;
    sum.waits_s += part * more.waits_s;
  };
  for (std::size_t i = 1; i < ends_s.size(); ++i)
    if (const double inside_s =
            std::min(ends_s[i], trace.window.to_s) - std::max(ends_s[i - 1], trace.window.from_s);
        inside_s > 0)
      add(moments.between(ends_s[i - 1], ends_s[i]), inside_s / (ends_s[i] - ends_s[i - 1]));
  return sum;
}

void expect_same_in_timeline(const DrawnCell& cell) {
  const Trace& trace = cell.run.trace;
  const Figures& figures = cell.run.figures;
  const int round = trace.round;
  const double warmup = std::ceil(std::stod(cell.options.at("warmup")) / round) * round;
  const bool own_core = std::ranges::none_of(trace.one_core, [](bool one) { return one; });
  const double iterations = figures.window_iterations * trace.workers;
  const Timeline& timeline = cell.result.timeline;
  Spent all, pictured;
  for (int worker = 0; worker < trace.workers; ++worker) {
    const Moments moments(trace, worker);
    const Spent spent = measured_of(trace, worker, moments, warmup);
    all.computes_s += spent.computes_s / iterations;
    all.compresses_s += spent.compresses_s / iterations;
    all.exposed_s += spent.exposed_s / iterations;
    all.waits_s += spent.waits_s / iterations;

    const Spent shown = moments.between(timeline.from_s, timeline.to_s);
    pictured.exposed_s += shown.exposed_s;
    pictured.waits_s += shown.waits_s;
    std::map<Verb, double> drawn;
    for (const Track& track : timeline.tracks)
      if (track.name == trace.rank_names.at(static_cast<std::size_t>(worker)) &&
          track.stream == "compute")
        for (const Slice& slice : track.slices)
          drawn[slice.verb] += slice.end_s - slice.start_s;
    if (drawn.empty())
      continue;  // a worker beyond those that are drawn
    const double rounding = 1e-4 * (timeline.to_s - timeline.from_s);
    EXPECT_NEAR(drawn[Verb::exposed], shown.exposed_s, rounding) << worker;
    EXPECT_NEAR(drawn[Verb::wait], shown.waits_s, rounding) << worker;
    EXPECT_NEAR(drawn[Verb::compress] + drawn[Verb::decompress], shown.compresses_s, rounding)
        << worker;
    if (cell.alike && round == 1 && trace.workers <= 8 && own_core) {
      EXPECT_NEAR(shown.exposed_s, spent.exposed_s * trace.workers / iterations, rounding);
      EXPECT_NEAR(shown.waits_s, spent.waits_s * trace.workers / iterations, rounding);
    }
  }
  // The pictured stretch is typical: it shows what a bar has. A window of few iterations has few
  // stretches to choose from.
  const double pictured_s = (timeline.to_s - timeline.from_s) * trace.workers;
  EXPECT_NEAR(pictured.exposed_s / pictured_s,
              figures.exposed_communication_s / figures.iteration_mean_s, 0.1);
  EXPECT_NEAR(pictured.waits_s / pictured_s, figures.waiting_s / figures.iteration_mean_s, 0.1);
  if (trace.in_step && trace.profiles_s > 0)
    return;  // its first and last iteration count in part
  const double exact = 1e-6 * figures.iteration_mean_s;
  EXPECT_NEAR(all.exposed_s, figures.exposed_communication_s, exact);
  EXPECT_NEAR(all.waits_s, figures.waiting_s, exact);
  EXPECT_NEAR(all.computes_s + all.compresses_s, figures.compute_s + figures.compress_s, exact);
}

// A row of a server or a node is blue only while a message to or from it is on its way, or during
// the overhead of the step that sends it.
void expect_blue_only_while_bytes_move(const DrawnCell& cell) {
  const Trace& trace = cell.run.trace;
  const auto drawn = drawn_timeline(cell.result.timeline, cell.result.figures);
  ASSERT_TRUE(drawn);
  const double visible_s = 2e-3 * drawn->seconds;
  const double overhead_s =
      cell.options.contains("step-overhead") ? std::stod(cell.options.at("step-overhead")) : 0;
  for (const DrawnTrack& track : drawn->tracks) {
    const auto name = std::ranges::find(trace.rank_names, track.name);
    const auto rank = static_cast<int>(name - trace.rank_names.begin());
    if (rank < trace.workers)
      continue;
    for (const DrawnSlice& slice : track.slices) {
      if (slice.activity != Activity::communicate)
        continue;
      double until_s = slice.start_s + cell.result.timeline.from_s;
      const double end_s = slice.end_s + cell.result.timeline.from_s;
      for (bool more = true; more && until_s + visible_s < end_s;) {
        more = false;
        for (const TracedMessage& message : trace.messages)
          if ((message.from == rank || message.to == rank) &&
              message.sent_s - overhead_s <= until_s + visible_s && message.arrived_s > until_s) {
            until_s = message.arrived_s;
            more = true;
          }
      }
      EXPECT_GE(until_s + visible_s, end_s)
          << track.name << " " << track.stream << " " << name_of(slice.verb) << " from "
          << slice.start_s << " to " << slice.end_s << " of " << drawn->seconds;
    }
  }
}

class Law27 : public testing::TestWithParam<int> {};

TEST_P(Law27, FiguresOfDrawnCellsAgree) {
  std::map<std::string, int> looked_at;
  for_each_cell(GetParam(), [&](const DrawnCell& cell) {
    SCOPED_TRACE(cell.about);
    expect_one_window(cell);
    expect_no_less_than_bounds(cell);
    expect_same_in_bars_and_table(cell);
    expect_same_in_timeline(cell);
    expect_blue_only_while_bytes_move(cell);
    ++looked_at[cell.options.at("schedule")];
  });
  for (const std::string& schedule : Registered<Schedule>::names())
    EXPECT_GE(looked_at[schedule], 6) << schedule;
}

INSTANTIATE_TEST_SUITE_P(Drawn, Law27, testing::Range(0, shards));

}  // namespace
}  // namespace syncline
