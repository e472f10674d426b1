#include "tests/reference/cells.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <unistd.h>

#include "sim/engine/fidelity.h"
#include "sim/engine/simulation.h"
#include "sim/options/resolve.h"
#include "sim/report/report.h"
#include "sim/sweep/process.h"
#include "tests/reference/channels.h"
#include "tests/reference/iterations.h"

namespace syncline::reference {
namespace {

Scenario scenario_of(const Cell& cell, const std::string& fidelity) {
  GivenOptions given;
  for (const auto& [name, value] : cell.options)
    given[name] = {value, cell.what};
  given["fidelity"] = {fidelity, cell.what};
  if (cell.cards.empty())
    given["channels"] = {"1", cell.what};
  return resolve(given);
}

std::string exact(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17g ", value);
  return text;
}

constexpr int orders_tried = 6;

// The program's channels in the form of the reference.
std::vector<std::vector<std::vector<int>>> its_channels(const Topology& topology) {
  std::vector<std::vector<std::vector<int>>> channels;
  for (const Channel& channel : topology.channels) {
    channels.emplace_back();
    for (std::size_t i = 0; i < channel.ring.size();) {
      const std::size_t node = topology.node_with(channel.ring[i]).size();
      channels.back().emplace_back(channel.ring.begin() + static_cast<std::ptrdiff_t>(i),
                                   channel.ring.begin() + static_cast<std::ptrdiff_t>(i + node));
      i += node;
    }
  }
  return channels;
}

Setup prepared(const Scenario& scenario) {
  return prepare(scenario, read_platform(scenario));
}

std::string in_steps(const Cell& cell) {
  const Setup setup = prepared(scenario_of(cell, "step"));
  const int iterations = *setup.iterations;
  Facts facts = facts_of(setup);
  double in_its_channels_s = 0;
  if (!cell.cards.empty()) {
    facts.channels = its_channels(setup.traffic.cluster.topology);
    in_its_channels_s = seconds_of(facts, iterations);
    facts.channels = channels_of(facts.nodes, cell.cards);
  }
  const double seconds = seconds_of(facts, iterations);
  // SimGrid treats times within a nanosecond as equal, and sends whole bytes; a byte takes up to
  // 5e-8 s on the slowest shared card.
  const double most_s = std::max(5e-8, 1e-6 * seconds / iterations);
  std::mt19937 random(1);
  facts.nudge_s = [&] { return std::generate_canonical<double, 24>(random) * most_s; };
  double undecided = 0;
  for (int order = 0; facts.answers_each && order < orders_tried; ++order)
    undecided = std::max(undecided, std::abs(seconds_of(facts, iterations) / seconds - 1));
  return exact(seconds) + exact(in_its_channels_s) + exact(undecided) +
         exact(simulate(setup).end_s);
}

std::string in_flows(const Cell& cell) {
  const Setup setup = prepared(scenario_of(cell, "flow"));
  const Trace trace = simulate(setup);
  const Figures figures = figures_of(trace, setup.scenario.samples());
  const bool warned = doubts_flows(setup, figures.fullest_link());
  return exact(trace.end_s) + (warned ? "1" : "0");
}

}  // namespace

std::string file_of(const std::string& text, const std::string& end) {
  static int number = 0;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("syncline-reference-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / (std::to_string(number++) + end)).string();
  std::ofstream(path) << text;
  return path;
}

std::string model_file(const std::vector<std::uint64_t>& parameters) {
  std::string text = "layer,parameters,forward_flop\n";
  for (std::size_t i = 0; i < parameters.size(); ++i)
    text += "layer" + std::to_string(i) + "," + std::to_string(parameters[i]) + ",1000\n";
  return file_of(text, ".csv");
}

double reference_s(const Words& options) {
  return std::stod(run_child([&] {
    const Setup setup = prepared(scenario_of({.what = "reference", .options = options}, "step"));
    return exact(seconds_of(facts_of(setup), *setup.iterations));
  }));
}

std::vector<Outcome> outcomes_of(const std::vector<Cell>& cells, int at_once) {
  std::vector<Outcome> outcomes(cells.size());
  std::vector<Job> jobs;
  for (const Cell& cell : cells) {
    jobs.emplace_back([&cell] { return in_steps(cell); });
    jobs.emplace_back([&cell] { return in_flows(cell); });
  }
  run_children(jobs, at_once, [&](std::size_t job, const syncline::Outcome& ended) {
    Outcome& outcome = outcomes[job / 2];
    std::istringstream in(ended.output);
    if (!ended.ok && ended.error.find("same number of workers") != std::string::npos)
      outcome.refused = true;
    else if (!ended.ok)
      outcome.error = ended.error;
    else if (job % 2 == 0)
      in >> outcome.reference_s >> outcome.in_its_channels_s >> outcome.undecided >> outcome.step_s;
    else
      in >> outcome.flow_s >> outcome.warned;
    return true;
  });
  return outcomes;
}

}  // namespace syncline::reference
