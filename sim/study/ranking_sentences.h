// The sentences of a ranking: which choice won by throughput, by how much, over which others; and
// what was learned.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/study/ranking.h"

namespace syncline {

using Results = std::vector<Result>;
using Words = std::vector<std::string>;

// Ranks the results at these places.
using RankPlaces = Ranking (*)(const Results& results, const std::vector<std::size_t>& places);

// The ranking by throughput of results that did not diverge, with sentences on learning: which
// result reached the target first, or ended with the least loss. With a target, the cells are in
// the order in which they reached it.
Ranking with_learning(const Results& results, RankPlaces by_throughput);

// Sentences on at least two competing cells. `differing` are the options in which they differ;
// `settings` those among them that tell the contests apart.
Words sentences_of(const Results& results, const std::vector<CompetingCells>& contests,
                   const Words& settings, const Words& differing);

// Says which value of an option that tells contests apart has the fastest cell, with the best cell
// of each value.
std::string each_by_its_best(const std::vector<CompetingCells>& contests,
                             const std::string& option);

// Says what an epoch takes in the fastest cell and costs in the cheapest; empty without a price and
// a size.
std::string epoch_sentence(const Results& results, const Ranking& ranking);

// "32 workers" or "density 0.01": an option and its value.
std::string setting_shown(const std::pair<std::string, std::string>& setting);

// Whether their intervals overlap.
bool may_be_as_fast(const RankedCell& slower, const RankedCell& faster);

// What a verdict rests on, besides the number of the winner, which is the first of `competing`:
// "median of 5 seeds, 11.9 s to 13 s; first in 4 of 5", or "one seed" if results depend on chance
// and nothing was repeated. Empty if nothing depends on chance.
std::string basis_of(const std::vector<const Result*>& competing, const std::string& figure,
                     bool (*before)(const Result&, const Result&));

// "less than 0.5 % apart", or "within their intervals", said of numbers that tie.
std::string how_near(double less, double more);

// "medians of 5 seeds".
std::string medians_shown(const Result& result);

// " (text)"; empty for an empty text.
std::string in_brackets(const std::string& text);

// "bsp in 3", "asp in 2": the most frequent name first.
Words counted(const Words& names);

// At most four of the parts; if there are more, "others" stands for the rest.
Words with_others(Words parts);

}  // namespace syncline
