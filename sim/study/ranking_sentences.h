// The sentences of a ranking: which choice won by throughput, by how much, over which others; and
// what was learned (learning_ranking.cpp).
#pragma once

#include <string>
#include <vector>

#include "sim/study/ranking.h"

namespace syncline {

// The sentences on throughput; none if nothing competes. `contests` are those that were ranked.
Words sentences_of(const Results& results, const Ranking& ranking, const Contests& contests);

// Adds a sentence on learning: which result reached the target first, or ended with the least loss.
// With a target, the cells then are in the order in which they reached it.
void add_learning(const Results& results, Ranking& ranking);

// "less than 0.5 % apart", or "within their intervals", said of numbers that tie.
std::string how_near(double less, double more);

// " (text)"; empty for an empty text.
std::string in_brackets(const std::string& text);

// "32 workers and density 0.01": what tells the contest from others.
std::string settings_shown(const CompetingCells& contest);

// "bsp in 3", "asp in 2": the most frequent name first.
Words times_each(const Words& names);

// At most four of the parts; if there are more, "others" stands for the rest.
Words with_others(Words parts);

// Why some cells of contests cannot win.
struct WhyNoWinner {
  bool unsteady = false;
  bool too_large = false;

  void add(const CompetingCells& contest);
  bool any() const { return unsteady || too_large; }
  // What the other cells are or do: "are steady and fit into memory", or "is steady".
  std::string words(bool plural = true) const;
};

// "asp is no candidate: the halves of its window differ by 12 %; batch 64 does not fit into memory
// (96.2 GB of 80 GB): not a candidate"; empty if all are candidates.
std::string left_out_note(const Results& results, const CompetingCells& contest);

}  // namespace syncline
