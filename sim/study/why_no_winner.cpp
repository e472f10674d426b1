#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/report/readable.h"
#include "sim/study/ranking_sentences.h"

namespace syncline {
namespace {

// Whether a choice is plural, such as "8 workers".
bool is_plural(const std::string& choice) {
  return choice.ends_with(" workers") && choice.find(' ') == choice.rfind(' ');
}

}  // namespace

void WhyNoWinner::add(const CompetingCells& contest) {
  for (const RankedCell& cell : contest.cells) {
    too_large = too_large || !cell.fits;
    unsteady = unsteady || (!cell.is_candidate && cell.fits);
  }
}

std::string WhyNoWinner::words(bool plural) const {
  Words words;
  if (unsteady)
    words.emplace_back(plural ? "are steady" : "is steady");
  if (too_large)
    words.emplace_back(plural ? "fit into memory" : "fits into memory");
  return fmt::format("{}", fmt::join(words, " and "));
}

std::string left_out_note(const Results& results, const CompetingCells& contest) {
  Words unsteady, too_large;
  double most = 0;                 // by which halves of a window differ
  const Figures* least = nullptr;  // of the cells that do not fit, the one that takes least memory
  for (const RankedCell& cell : contest.cells) {
    const Figures& figures = results[cell.result].figures;
    if (!cell.fits) {
      too_large.push_back(cell.choice);
      if (least == nullptr || *figures.memory_bytes < *least->memory_bytes)
        least = &figures;
    } else if (!cell.is_candidate) {
      unsteady.push_back(cell.choice);
      most = std::max(most, std::abs(figures.halves_differ));
    }
  }
  Words notes;
  if (const bool one = unsteady.size() == 1; !unsteady.empty()) {
    const bool several = !one || is_plural(unsteady.front());
    notes.push_back(fmt::format("{} {}: the halves of {} differ by {}{}", listed_briefly(unsteady),
                                several ? "are no candidates" : "is no candidate",
                                several ? "their windows" : "its window", one ? "" : "up to ",
                                percent(most)));
  }
  if (const bool one = too_large.size() == 1; !too_large.empty()) {
    const std::string bytes =
        bytes_shown(*least->memory_bytes) + " of " + bytes_shown(*least->device_memory_bytes);
    notes.push_back(too_large.size() == contest.cells.size() && !one
                        ? fmt::format("nothing fits into memory (at least {})", bytes)
                        : fmt::format("{} {} not fit into memory ({}{}): {}",
                                      listed_briefly(too_large),
                                      one && !is_plural(too_large.front()) ? "does" : "do",
                                      one ? "" : "at least ", bytes,
                                      one ? "not a candidate" : "no candidates"));
  }
  return fmt::format("{}", fmt::join(notes, "; "));
}

}  // namespace syncline
