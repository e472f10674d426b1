// A result is what one simulation has come to, as a value: reports, pages and gates are made of it.
// Only sim/report/result_json.h knows how it stands in a file.
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

// An option that has a value, given or default, by its word on the command line.
struct WrittenOption {
  std::string name;
  std::string value;
  bool is_number = false;  // in JSON, too

  bool operator==(const WrittenOption&) const = default;
};

struct Provenance {
  std::string compute;            // where seconds of computation come from
  std::string compression;        // cost tables and their own provenance; empty: nothing compresses
  std::string adding;             // memory rate of servers and nodes; empty: there are none
  std::string framework;          // whose defaults count, and which; empty: nobody's
  std::string exchange;           // what was chosen of it for the user; empty: nothing
  std::string price;              // of devices, with seller and date; empty: the user's, or none
  std::string network;            // the model's sentence
  std::string fidelity = "step";  // what it came to: step or flow
};

struct BusyLink {
  std::string name;
  double utilisation = 0;          // of its bandwidth, in the window
  double bytes_per_iteration = 0;  // of all workers
};

// What one worker did in the window; of neighbours that did the same there is one.
struct WorkerFigures {
  std::string name;       // "worker 3", "worker 0 to 7"
  double iterations = 0;  // that count in the window, of each
  double iteration_mean_s = 0;
  double compute_s = 0;  // this and the next three add up to iteration_mean_s
  double compress_s = 0;
  double exposed_communication_s = 0;
  double waiting_s = 0;
};

// Each is named as in JSON; sim/report/figures.cpp has a row for each, which says what it means.
// They are of the window of measurement, unless the row says that they are of the whole run.
struct Figures {
  std::int64_t worker_count = 0;
  double throughput_samples_per_s = 0;
  std::int64_t runs = 1;
  std::vector<double> throughput_of_runs;
  std::optional<double> throughput_interval;
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
  std::optional<double> memory_bytes;  // this and the next: none where no device is known
  std::optional<double> device_memory_bytes;
  double iteration_mean_s = 0;
  double iteration_p50_s = 0;
  double iteration_p99_s = 0;
  double compute_s = 0;  // this and the next three add up to iteration_mean_s
  double compress_s = 0;
  double exposed_communication_s = 0;
  double waiting_s = 0;
  double bytes_sent = 0;  // this is the sum of the next two
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
  // Its name as in the CSV; messages that overlap are in lanes of their own, "messages-2" and so
  // on.
  std::string stream;
  std::vector<Slice> slices;
};

// A timeline is one iteration as a picture (sim/report/timeline.h).
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
  std::string inputs;   // fingerprint of the files that were read
  std::vector<WrittenOption> options;
  Provenance provenance;
  Figures figures;
  std::optional<Learned> learned;
  Timeline timeline;
  std::string trace;  // fingerprint of the files of its trace; empty: none were kept
  // Of a cell as it is compared with others (sim/study/pooled.h): the cells that differ in their
  // seed only, which it stands for. Empty: it stands for itself. No file has it.
  std::vector<Result> repetitions;

  // The value of an option; empty if it was not given and has no default.
  const std::string& option(const std::string& name) const {
    static const std::string none;
    for (const WrittenOption& one : options)
      if (one.name == name)
        return one.value;
    return none;
  }
  // The value of an option; of `workers` how many took part, also where all of the platform's were
  // taken.
  std::string setting(const std::string& name) const {
    return name == "workers" ? std::to_string(figures.worker_count) : option(name);
  }
  bool learns() const { return learned.has_value(); }
  bool diverged() const { return learned && learned->diverged_s; }
};

}  // namespace syncline
