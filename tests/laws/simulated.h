// Scenarios for the laws: platforms and models that are small and built for each law, and their
// simulations. Each simulation runs in a child process, so that one law can compare several.
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

using Options = std::map<std::string, std::string>;  // an empty value is the default

// Sums of seconds are this exact; SimGrid ends an activity up to 1e-9 s early, and there are many.
inline constexpr double precise = 1e-9;
inline constexpr double early_end_s = 1e-7;

struct Simulated {
  Trace trace;
  Figures figures;

  // Rows of a verb, in the trace's order.
  std::vector<Row> rows(const std::string& verb) const;
  double iteration_s() const { return figures.iteration_mean_s; }
  // Whether it was faster than its lower bound; a short run may warn of other things.
  bool below_its_bound() const;
};

struct Star {
  int nodes = 2;
  int workers_per_node = 1;
  double nic_Bps = 1e9;
  double nic_latency_s = 1e-5;  // of one card; a route between nodes crosses two
  double bus_Bps = 1e10;        // only where a node has several workers
  double bus_latency_s = 0;
  double bus_latency_growth_s = 0;  // each next worker's bus in a node has so much more
  int servers = 0;                  // hosts with role = server, each on a card of its own
  std::string prefix = "node";
  double slow_speed = 1;      // of the slow worker, relative to the others
  int slow_worker = -1;       // counted node by node; -1: the last
  double server_nic_Bps = 0;  // 0: as the others
  std::string profile = {};   // of the last worker's speed: lines of seconds and a factor
  int cores = 1;              // of each worker; a second one is for compression only
  bool fatpipe_nics = false;  // cards limit each flow by itself
  bool zones = false;         // each node a zone with a router, as in platforms/; else all in one
  double host_Bps = 0;        // of the link of each node's host with role = host; 0: it has none
};

// Writes the platform into this test's temporary folder and returns its path.
std::string star_platform(const Star& star);

// Writes a platform, or a file that one names, into this test's temporary folder and returns its
// path.
std::string written_platform(const std::string& text);

// A model of these tensors, in forward order, with equal flop each.
std::string model_of(const std::vector<std::uint64_t>& parameters);

// Writes a cost table for every compressor with any settings: seconds per element of making a
// message, of adding one into a sum and, if it has that, of adding each that is decoded with it. 0
// becomes 1e-12 s in all, because tables hold no zero.
std::string cost_table(double compress_s, double decompress_s,
                       std::optional<double> further_s = {});

// Whether the schedule sends what this compressor makes, with an exchange that carries it.
bool takes(const Schedule& schedule, const std::string& compressor);

// Exchanges that accept this compressor's messages.
std::vector<std::string> exchanges_for(const std::string& compressor);

// Generated data that are learned in small batches.
inline Options small_data() {
  return {{"data", "generated"}, {"samples", "150"}, {"features", "6"},
          {"classes", "3"},      {"batch", "4"},     {"learning-rate", "0.2"}};
}

// The scenario of these options, with the defaults of simulated().
Scenario resolved(Options options);

// Simulates. Defaults: `throughput` 100 samples/s and `batch` 10 (so 0.1 s per iteration), `device`
// a table of 1e-9 and 1e-10 seconds per element, 10 `iterations`, `fidelity` flow.
Simulated simulated(Options options);

// Simulates what a section of a configuration file says but for these options, without defaults of
// the laws' own.
Simulated simulated_section(const std::string& file, const std::string& name, const Options& but);

// Simulates by a schedule that is not registered, in place of the one that the options name. Throws
// std::runtime_error with the simulation's error.
Simulated simulated_by(const Schedule& schedule, Options options);
// By a compressor that is not, or another of that name, with the settings of the one that the
// options name.
Simulated simulated_by(const Compressor& compressor, Options options);

// Closed forms for a scenario, without simulating it (sim/traffic/exchange_time.h).
struct Predicted {
  double bound_s = 0;  // no run is faster, per iteration (sim/clock/lower_bounds.h)
  std::string busiest_link;
  std::map<std::string, double> link_bytes;  // of one iteration, by link
  // Where the schedule averages:
  double exchange_s = 0;  // of all buckets
  bool about = false;     // it may take another time
  double iteration_s = 0;
  double without_overlap_s = 0;
  // Where something compresses, too:
  double rival_s = 0;  // `bsp`, `ring`, nothing compressed
  bool even_known = true;
  std::vector<BandwidthRange> without_overlap;  // where compression is faster
  std::vector<BandwidthRange> with_overlap;
};

// With the same defaults as simulated().
Predicted predicted(Options options);
Predicted predicted_by(const Schedule& schedule, Options options);

// The estimate of the shortest run (sim/engine/estimate.h): its messages, and the evaluations of
// what it has learned.
double estimated_flows(Options options);
double estimated_flows_by(const Schedule& schedule, Options options);
double estimated_evaluations(Options options);

// What `fidelity = auto` comes to: step or flow.
std::string settled_fidelity(Options options);

// The trace as CSV.
std::string trace_text(const Trace& trace);

}  // namespace syncline
