// Several runs of a cell, with seeds of their own: their mean, and how well it is known.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/result.h"

namespace syncline {

// Makes the figures of run 0 those of all runs: figures that are a mean over iterations become
// means over runs. The interval of throughput is interval_of_runs.
// Percentiles, histograms, links, words, what is learned and what belongs to a picture stay those
// of run 0.
void take_means(Figures& figures, const std::vector<Figures>& other_runs);

// The interval of the mean of these runs' throughputs, as a part of it: Student's over runs, at
// least what their own intervals come to (parts; of runs, or of what has several of them; none
// where one of them is not known), and, as the root of the sum of squares, what the second halves
// of their windows differ from the first in the mean.
double interval_of_runs(const std::vector<double>& runs,
                        const std::vector<std::optional<double>>& own, double halves_differ);

// "1 run", "5 runs".
std::string runs_shown(std::int64_t runs);
// A line below a table of these says how they were simulated: "step, 5 runs".
std::string how_simulated(const std::vector<Result>& results);

}  // namespace syncline
