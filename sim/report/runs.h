// Several runs of a cell, with seeds of their own: their mean, and how well it is known.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/report/report.h"

namespace syncline {

// The figures of one run that a mean is taken of, for its process to hand over.
nlohmann::ordered_json run_figures(const Report& report);

// Makes the report of run 0 that of all runs: figures that are a mean over iterations become means
// over runs. The interval of throughput is Student's over runs, and, as the root of the sum of
// squares, what the second halves of their windows differ from the first in the mean. Percentiles,
// histograms, links, words, what is learned and what belongs to a picture stay those of run 0.
void take_means(Report& report, const std::vector<nlohmann::ordered_json>& other_runs);

// How many runs a result is the mean of.
int runs_in(const nlohmann::ordered_json& result);
// "1 run", "5 runs".
std::string runs_shown(int runs);
// What a line below a table of these says of how they were simulated: "step, 5 runs".
std::string how_simulated(const std::vector<nlohmann::ordered_json>& results);

}  // namespace syncline
