// Results as a sweep writes them, without a simulation.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/io/text.h"
#include "sim/report/report.h"
#include "sim/result.h"
#include "sim/study/ranking.h"

namespace syncline {

inline Ranking ranked(const Results& results, const std::string& without = "") {
  return rank(comparison_of(results), without);
}

// A result with these options; numbers are stored as numbers.
inline Result result_with(const std::map<std::string, std::string>& options, double samples_per_s) {
  Result result{.tool = "syncline 0.3.0", .build = "b", .simgrid = "3.32", .inputs = "i"};
  for (const auto& [name, value] : options)
    result.options.push_back({.name = name,
                              .value = value,
                              .is_number = finite_number_in(value).has_value() && name != "name"});
  Figures& figures = result.figures;
  figures.worker_count =
      static_cast<std::int64_t>(finite_number_in(result.option("workers")).value_or(8));
  figures.throughput_samples_per_s = samples_per_s;
  figures.throughput_of_runs = {samples_per_s};
  figures.scaling_efficiency = 0.8;
  figures.iteration_mean_s = 1;
  Scenario scenario;
  scenario.epoch_samples = finite_number_in(result.option("epoch-samples"));
  scenario.price = finite_number_in(result.option("price"));
  add_epoch(scenario, figures);
  return result;
}

inline Result made_result(const std::map<std::string, std::string>& options, double samples_per_s,
                          int slices = 4, const std::optional<Learned>& learned = {}) {
  std::map<std::string, std::string> written{{"model", "resnet50"}, {"platform", "two-hosts"},
                                             {"workers", "2"},      {"schedule", "bsp"},
                                             {"exchange", "ring"},  {"batch", "32"}};
  for (const auto& [option, value] : options)
    written[option] = value;
  Result result = result_with(written, samples_per_s);
  result.provenance = {.compute = "given", .network = "latency + bytes / bandwidth"};
  Figures& figures = result.figures;
  figures.throughput_interval = 0.01;
  figures.iteration_mean_s = figures.iteration_p50_s = figures.iteration_p99_s = 0.25;
  figures.compute_s = 0.2;
  figures.exposed_communication_s = 0.04;
  figures.waiting_s = 0.01;
  figures.busiest_links = {{.name = "node0-nic_UP", .utilisation = 0.5}};
  figures.bottleneck = "computation";
  figures.staleness_mean = 3;
  figures.staleness_max = 4;
  figures.staleness_histogram = {{2, 10}, {4, 10}};
  figures.warnings = {Warning("a warning")};
  if (learned) {
    result.learned = learned;
    add_learned(*learned, figures);
    figures.warnings = {Warning("a warning")};
  }
  result.timeline = {.from_s = 1, .to_s = 2, .tracks = {}};
  for (const char* kind : {"worker", "server"}) {
    Track track{.name = std::string(kind) + " 0", .kind = kind, .stream = "compute", .slices = {}};
    for (int i = 0; i < slices; ++i)
      track.slices.push_back({.start_s = 1 + static_cast<double>(i) / slices,
                              .end_s = 1 + (i + 0.9) / slices,
                              .verb = i % 2 == 0 ? Verb::forward : Verb::wait,
                              .bucket = i,
                              .iteration = 7});
    result.timeline.tracks.push_back(track);
  }
  return result;
}

// Straight lines from loss 2 and accuracy 0.1 at the start to these values, in `points` - 1 steps
// of 1 s.
inline Learned made_learned(double loss, double accuracy, int points = 11) {
  Learned learned{.data = "made up", .parameters = 650, .epoch_samples = 1000};
  for (int i = 0; i < points; ++i) {
    const double part = points == 1 ? 1 : static_cast<double>(i) / (points - 1);
    learned.curve.push_back({.seconds = static_cast<double>(i),
                             .samples = 500.0 * i,
                             .bytes = 1e6 * i,
                             .iterations = 10.0 * i,
                             .loss = 2 + part * (loss - 2),
                             .accuracy = 0.1 + part * (accuracy - 0.1),
                             .train_accuracy = 0.1 + part * (accuracy - 0.1) / 2,
                             .heldout_loss = 2.5});
  }
  return learned;
}

// Adds two iterations of compressed messages, and a histogram of two bins.
inline Learned made_compressed(Learned learned) {
  const Compressed largest{.iteration = 0,
                           .messages = 4,
                           .values = 1000,
                           .sent_values = 12.5,
                           .least_sent_values = 9,
                           .most_sent_values = 16,
                           .left_out = 0.75,
                           .bits_per_value = 0.5,
                           .target_values = 10,
                           .left_out_bound = 0.99,
                           .left_out_bound_squared = 0.9801};
  const Compressed code{.iteration = 1,
                        .messages = 3,
                        .values = 1000,
                        .sent_values = 12.5,
                        .left_out = 0.75,
                        .bits_per_value = 0.5,
                        .bits_bound = 0.625};
  learned.each_compressed = {largest, code};
  learned.histogram = {{.from = {},
                        .to = 0.25,
                        .share = 0.5,
                        .square_share = 0.625,
                        .normal_share = 0.5625,
                        .normal_square_share = 0.5},
                       {.from = 0.25,
                        .to = {},
                        .share = 0.5,
                        .square_share = 0.375,
                        .normal_share = 0.4375,
                        .normal_square_share = 0.5}};
  return learned;
}

inline Learned made_divergence(double diverged_s) {
  Learned learned = made_learned(2, 0.1, 3);
  learned.curve.back().loss = learned.curve.back().heldout_loss = std::nan("");
  learned.diverged_s = diverged_s;
  return learned;
}

inline std::vector<Result> made_sweep() {
  std::vector<Result> results;
  for (const int workers : {1, 2, 4, 8})
    for (const std::string schedule : {"bsp", "asp"})
      results.push_back(made_result({{"workers", std::to_string(workers)},
                                     {"schedule", schedule},
                                     {"exchange", schedule == "bsp" ? "ring" : "ps"}},
                                    workers * (schedule == "bsp" ? 100.0 : 80.0)));
  return results;
}

// `target_s`: when the target of option `until` was met.
inline Result learned_result(const std::map<std::string, std::string>& options,
                             double samples_per_s, Learned learned,
                             std::optional<double> target_s = {}) {
  learned.target_s = target_s;
  return made_result(options, samples_per_s, 4, learned);
}

}  // namespace syncline
