// The sentences of a ranking by throughput: who won, by how much, over whom.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/study/ranking.h"

namespace syncline {

// Sentences on at least two cells that compete: `settings` are the options that tell the contests
// apart, among all that are `differing`.
std::vector<std::string> sentences_of(const std::vector<Result>& results,
                                      const std::vector<CompetingCells>& contests,
                                      const std::vector<std::string>& settings,
                                      const std::vector<std::string>& differing);

// Says what an epoch takes where it is fastest and costs where it is cheapest; empty without a
// price and a size.
std::string epoch_sentence(const std::vector<Result>& results, const Ranking& ranking);

// "32 workers" or "density 0.01": an option and its value.
std::string setting_shown(const std::pair<std::string, std::string>& setting);

// "bsp in 3", "asp in 2": whoever is named most often comes first.
std::vector<std::string> counted(const std::vector<std::string>& names);

// Four of the parts at most; if there are more, "others" stands for the rest.
std::vector<std::string> with_others(std::vector<std::string> parts);

}  // namespace syncline
