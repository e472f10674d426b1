// Scenarios for the laws: small platforms and models built for each law, and their simulations.
// Each simulation runs in a child process, so that one law can compare several.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/clock/break_even.h"
#include "sim/report/report.h"
#include "sim/scenario.h"
#include "sim/trace.h"

namespace syncline {

using Options = std::map<std::string, std::string>;  // an empty value means the default

// Sums of seconds are exact to `precise`; SimGrid ends an activity up to 1e-9 s early, and a run
// has many (`early_end_s`).
inline constexpr double precise = 1e-9;
inline constexpr double early_end_s = 1e-7;

struct Simulated {
  Trace trace;
  Figures figures;

  // Rows of a verb, in the order of the trace.
  std::vector<Row> rows(const std::string& verb) const;
  double iteration_s() const { return figures.iteration_mean_s; }
  // Whether it was faster than its lower bound; other warnings of a short run do not count.
  bool below_its_bound() const;
};

struct Star {
  int nodes = 2;
  int workers_per_node = 1;
  double nic_Bps = 1e9;
  double nic_latency_s = 1e-5;  // of one card; a route between nodes crosses two
  double bus_Bps = 1e10;        // only where a node has several workers
  double bus_latency_s = 0;
  double bus_latency_growth_s = 0;  // added to the bus latency from worker to worker
  int servers = 0;                  // hosts with role = server, each on a card of its own
  std::string prefix = "node";
  double slow_speed = 1;      // of the slow worker, relative to the others
  int slow_worker = -1;       // counted node by node; -1: the last
  double server_nic_Bps = 0;  // 0: as the others'
  std::string profile = {};   // of the last worker's speed: lines of seconds and a factor
  int cores = 1;              // of each worker; a second one is for compression only
  bool fatpipe_nics = false;  // cards limit each flow by itself
  bool zones = false;         // each node is a zone with a router, as in platforms/
  double host_Bps = 0;        // of the link of each node's host with role = host; 0: no such host
};

// Writes the platform into the test's temporary folder and returns its path.
std::string star_platform(const Star& star);

// Writes a platform, or a file that a platform names, into the test's temporary folder and returns
// its path.
std::string written_platform(const std::string& text);

// Writes a model's CSV into the test's temporary folder and returns its path.
std::string written_model(const std::string& csv);

// A model of these tensors, in forward order, with equal flop each.
std::string model_of(const std::vector<std::uint64_t>& parameters);

// Writes a cost table for every compressor with any settings: seconds per element of making a
// message, of adding one into a sum and, if given, of adding each further one decoded with it. 0
// becomes 1e-12 s in all, because tables must not hold zero.
std::string cost_table(double compress_s, double decompress_s,
                       std::optional<double> further_s = {});

// Whether the schedule sends this compressor's messages with an exchange that can carry them.
bool takes(const Schedule& schedule, const std::string& compressor);

// Exchanges that accept this compressor's messages.
std::vector<std::string> exchanges_for(const std::string& compressor);

// Generated data, learned in small batches.
inline Options small_data() {
  return {{"data", "generated"}, {"samples", "150"}, {"features", "6"},
          {"classes", "3"},      {"batch", "4"},     {"learning-rate", "0.2"}};
}

// The scenario of these options, with the defaults of simulated().
Scenario resolved(Options options);

// Simulates. Defaults: `throughput` 100 samples/s and `batch` 10 (so 0.1 s per iteration), `device`
// a table of 1e-9 and 1e-10 seconds per element, 10 `iterations`, `fidelity` flow.
Simulated simulated(Options options);

// Simulates a section of a configuration file, with these options replaced and without the laws'
// defaults.
Simulated simulated_section(const std::string& file, const std::string& name, const Options& but);

// Simulates with an unregistered schedule in place of the one in the options. Throws
// std::runtime_error with the simulation's error.
Simulated simulated_by(const Schedule& schedule, Options options);
// Simulates with an unregistered compressor, or another one of that name, with the settings of the
// compressor in the options.
Simulated simulated_by(const Compressor& compressor, Options options);

// Closed forms for a scenario, without simulating it (sim/traffic/exchange_time.h).
struct Predicted {
  double bound_s = 0;  // no run is faster, per iteration (sim/clock/lower_bounds.h)
  std::string busiest_link;
  std::map<std::string, double> link_bytes;  // of one iteration, by link
  // Where the schedule averages:
  double exchange_s = 0;  // all buckets
  bool about = false;     // the time is approximate
  double iteration_s = 0;
  double without_overlap_s = 0;
  // Where something compresses:
  double rival_s = 0;  // `bsp`, `ring`, nothing compressed
  bool even_known = true;
  std::vector<BandwidthRange> without_overlap;  // where compression is faster
  std::vector<BandwidthRange> with_overlap;
};

// With the defaults of simulated().
Predicted predicted(Options options);
Predicted predicted_by(const Schedule& schedule, Options options);

// The estimate for the shortest run (sim/engine/estimate.h): its messages, and its evaluations of
// the learned parameters.
double estimated_flows(Options options);
double estimated_flows_by(const Schedule& schedule, Options options);
double estimated_evaluations(Options options);

// What `fidelity = auto` resolves to: step or flow.
std::string settled_fidelity(Options options);

// The trace as CSV.
std::string trace_text(const Trace& trace);

}  // namespace syncline
