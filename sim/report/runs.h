// Several runs of a cell, with seeds of their own: their mean, and its interval.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/result.h"
#include "sim/window.h"

namespace syncline {

// Turns the figures of run 0 into those of all runs: figures that are means over iterations become
// means over runs. The interval of throughput is interval_of_runs(). Percentiles, histograms,
// links, texts, what is learned and the data of pictures stay those of run 0.
void take_means(Figures& figures, const std::vector<Figures>& other_runs);

// The interval of the mean of these runs' throughputs, as a part of it. It is Student's interval
// over the runs, but at least what `own` comes to: the intervals of single runs, or of results of
// several runs, as parts (none if one is not known). Added to it, as the root of the sum of
// squares, is the mean difference between the halves of their windows.
double interval_of_runs(const std::vector<double>& runs,
                        const std::vector<std::optional<double>>& own, double halves_differ);

// The interval of a single run, as a result states it, if chance decides when workers meet. Batches
// of a window show how much throughput varies only if workers meet at other times in the next
// batch. Suppose that the places of two workers, relative to one another, move by less than 0.4 of
// an iteration (root of the mean square) in a fifth of the window, and do not stay where they are.
// The spread of five batches is then widened by what they have not seen. None: not known, or 100 %
// and more.
std::optional<double> interval_of_one_run(const std::vector<Progress>& workers, Window window);

// A line below a table of these results: "step, 5 runs".
std::string how_simulated(const std::vector<Result>& results);

}  // namespace syncline
