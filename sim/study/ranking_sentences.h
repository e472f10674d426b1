// The sentences of a ranking: who won by throughput, by how much, over whom; and what was learned.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/study/ranking.h"

namespace syncline {

using Results = std::vector<Result>;
using Words = std::vector<std::string>;

// Ranks the results in these places.
using RankPlaces = Ranking (*)(const Results& results, const std::vector<std::size_t>& places);

// The ranking by throughput, of what did not diverge, has what was learned in its sentences: who
// reached the target first, or ended with the least loss. Where there is a target the cells are in
// the order in which they reached it.
Ranking with_learning(const Results& results, RankPlaces by_throughput);

// Sentences on at least two cells that compete: `settings` are the options that tell the contests
// apart, among all that are `differing`.
Words sentences_of(const Results& results, const std::vector<CompetingCells>& contests,
                   const Words& settings, const Words& differing);

// Says which value of this option, which tells contests apart, has the fastest cell, each by its
// best.
std::string each_by_its_best(const std::vector<CompetingCells>& contests,
                             const std::string& option);

// Says what an epoch takes where it is fastest and costs where it is cheapest; empty without a
// price and a size.
std::string epoch_sentence(const Results& results, const Ranking& ranking);

// "32 workers" or "density 0.01": an option and its value.
std::string setting_shown(const std::pair<std::string, std::string>& setting);

// Whether their intervals overlap.
bool may_be_as_fast(const RankedCell& slower, const RankedCell& faster);

// What a verdict rests on, beside the number of the winner, which is the first of these: "median of
// 5 seeds, 11.9 s to 13 s; first in 4 of 5", or "one seed" where chance has a part in it and
// nothing was repeated. Empty where there is no chance.
std::string basis_of(const std::vector<const Result*>& competing, const std::string& figure,
                     bool (*before)(const Result&, const Result&));

// "less than 0.5 % apart", or "within their intervals": of numbers that tie.
std::string how_near(double less, double more);

// "medians of 5 seeds".
std::string medians_shown(const Result& result);

// " (text)"; empty where there is none.
std::string in_brackets(const std::string& text);

// "bsp in 3", "asp in 2": whoever is named most often comes first.
Words counted(const Words& names);

// Four of the parts at most; if there are more, "others" stands for the rest.
Words with_others(Words parts);

}  // namespace syncline
