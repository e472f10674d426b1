// Several runs of a cell, with seeds of their own: their mean, and how well it is known.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/result.h"
#include "sim/window.h"

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

// What a result states of a single run where chance decides when workers meet. Batches of a window
// tell how much throughput differs only if workers meet otherwise in the next one: if the places of
// two, relative to one another, move by less than 0.4 of an iteration (root of the mean square) in
// a fifth of it, and do not stay where they are, the spread of five batches is made wider by what
// they have not seen. None: not known, or not to 100 %.
std::optional<double> interval_of_one_run(const std::vector<Progress>& workers, Window window);

// "1 run", "5 runs".
std::string runs_shown(std::int64_t runs);
// A line below a table of these says how they were simulated: "step, 5 runs".
std::string how_simulated(const std::vector<Result>& results);

}  // namespace syncline
