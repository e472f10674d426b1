// The outcome of one simulation, as a value. Reports, pages and gates are made of it. Only
// sim/report/result_json.h knows its form in a file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/learned.h"
#include "sim/verb.h"
#include "sim/warning.h"

namespace syncline {

// An option that has a value, given or default, by its name on the command line.
struct WrittenOption {
  std::string name;
  std::string value;
  bool is_number = false;  // also in JSON

  bool operator==(const WrittenOption&) const = default;
};

struct Provenance {
  std::string compute;      // of the seconds of computation
  std::string compression;  // cost tables and their own provenance; empty: nothing compresses
  std::string adding;       // memory rate of servers and nodes; empty: there are none
  std::string framework;    // the framework whose defaults count, and those defaults; empty: none
  std::string reality;      // what `reality` set, with sources; empty: nominal
  std::string exchange;     // what the program chose for the user; empty: nothing
  std::string price;        // of devices, with seller and date; empty: the user's price, or none
  std::string network;      // the network model's sentence
  std::string fidelity = "step";  // how it was simulated: step, flow or analytic
};

struct BusyLink {
  std::string name;
  double utilisation = 0;          // part of its bandwidth, in the window
  double bytes_per_iteration = 0;  // of all workers
};

// What one worker did in the window; one entry stands for neighbours that did the same.
struct WorkerFigures {
  std::string name;       // "worker 3", "worker 0 to 7"
  double iterations = 0;  // that count in the window, of each worker
  double iteration_mean_s = 0;
  double compute_s = 0;  // this and the next three add up to iteration_mean_s
  double compress_s = 0;
  double exposed_communication_s = 0;
  double waiting_s = 0;
};

// Each member is named as in JSON, and its row in sim/report/figures.cpp says what it means. All
// are of the window of measurement, unless the row says that they are of the whole run.
struct Figures {
  std::int64_t worker_count = 0;
  double throughput_samples_per_s = 0;
  std::int64_t runs = 1;
  std::vector<double> throughput_of_runs;
  std::optional<double> throughput_interval;
  std::optional<double> prediction_low_samples_per_s;  // this and the next: sim/report/prediction.h
  std::optional<double> prediction_high_samples_per_s;
  double halves_differ = 0;
  double window_from_s = 0;
  double window_to_s = 0;
  double window_iterations = 0;
  double scaling_efficiency = 0;
  double recomputed = 0;
  std::optional<double> tokens_per_s;
  std::optional<double> mfu;
  std::optional<double> hfu;
  std::optional<double> loss;
  std::optional<double> accuracy;
  std::optional<double> target_s;
  double epoch_s = 0;
  std::optional<double> epoch_cost;
  std::optional<double> memory_bytes;  // this and the next: none if no device is known
  std::optional<double> device_memory_bytes;
  double iteration_mean_s = 0;
  double iteration_p50_s = 0;
  double iteration_p99_s = 0;
  double compute_s = 0;  // this and the next three add up to iteration_mean_s
  double compress_s = 0;
  double exposed_communication_s = 0;
  double waiting_s = 0;
  double bytes_sent = 0;  // the sum of the next two
  double bytes_sent_off_node = 0;
  double bytes_sent_in_node = 0;
  double bytes_received = 0;
  std::vector<BusyLink> busiest_links;  // at most three, the fullest first
  std::vector<WorkerFigures> workers;
  std::optional<double> server_busy;
  std::string bottleneck;
  double staleness_mean = 0;
  std::int64_t staleness_max = 0;
  double staleness_updates_mean = 0;
  double staleness_iterations_mean = 0;
  std::map<std::int64_t, std::int64_t> staleness_histogram;
  std::int64_t updates = 0;
  double run_iteration_s = 0;
  double bound_compute_s = 0;
  double bound_link_s = 0;
  double simulated_s = 0;
  std::int64_t flows = 0;
  std::vector<Warning> warnings;

  double standing_still_s() const { return exposed_communication_s + waiting_s; }
  bool fits_memory() const {
    return !memory_bytes || !device_memory_bytes || *memory_bytes <= *device_memory_bytes;
  }
  double fullest_link() const {
    return busiest_links.empty() ? 0 : busiest_links.front().utilisation;
  }
};

struct Slice {
  double start_s = 0;
  double end_s = 0;
  Verb verb = Verb::wait;
  std::int64_t bucket = -1;     // -1: all of them, or several
  std::int64_t iteration = -1;  // -1: none, or several
};

// A stream of a rank. Its slices are in order and do not overlap.
struct Track {
  std::string name;  // of the rank
  std::string kind;  // worker, server or node
  // As in the CSV; messages that overlap are in lanes of their own, "messages-2", "messages-3", ...
  std::string stream;
  std::vector<Slice> slices;
};

// One or a few iterations as a picture (sim/report/timeline.h).
struct Timeline {
  double from_s = 0;
  double to_s = 0;
  std::vector<Track> tracks;
};

constexpr int result_schema = 3;  // experiments/result.schema.json describes it

struct Result {
  int schema = result_schema;
  std::string tool;     // "syncline 0.3.0"
  std::string build;    // fingerprint of the program
  std::string simgrid;  // version
  std::string inputs;   // fingerprint of the files that the run read
  std::vector<WrittenOption> options;
  Provenance provenance;
  Figures figures;
  std::optional<Learned> learned;
  Timeline timeline;
  std::string trace;  // fingerprint of the trace's files; empty: none were kept
  // Of a cell that is compared with others (sim/study/pooled.h): the cells that it stands for,
  // which differ in their seed only. Empty: it stands for itself. Never in a file.
  std::vector<Result> repetitions;

  // The value of an option; empty if it was not given and has no default.
  const std::string& option(const std::string& name) const {
    static const std::string none;
    for (const WrittenOption& one : options)
      if (one.name == name)
        return one.value;
    return none;
  }
  // As option(), but `workers` is the number that took part, also if the option was not given.
  std::string setting(const std::string& name) const {
    return name == "workers" ? std::to_string(figures.worker_count) : option(name);
  }
  bool learns() const { return learned.has_value(); }
  bool diverged() const { return learned && learned->diverged_s; }
};

}  // namespace syncline
