#include "sim/study/hindrances.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/report/readable.h"

namespace syncline {
namespace {

// Whether a choice is plural, such as "8 workers".
bool is_plural(const std::string& choice) {
  return choice.ends_with(" workers") && choice.find(' ') == choice.rfind(' ');
}

// "batch 64 does not fit into memory (96.2 GB of 80 GB): not a candidate"; of several cells, the
// least memory that one takes. Empty if all fit.
std::string memory_note(const std::vector<Result>& results, const CompetingCells& contest) {
  std::vector<std::string> words;
  const Figures* least = nullptr;
  for (const RankedCell& cell : contest.cells)
    if (const Figures& figures = results[cell.result].figures; !figures.fits_memory()) {
      words.push_back(cell.choice);
      if (least == nullptr || *figures.memory_bytes < *least->memory_bytes)
        least = &figures;
    }
  if (words.empty())
    return "";
  const std::string bytes =
      bytes_shown(*least->memory_bytes) + " of " + bytes_shown(*least->device_memory_bytes);
  if (words.size() == contest.cells.size() && words.size() > 1)
    return fmt::format("nothing fits into memory (at least {})", bytes);
  const bool one = words.size() == 1;
  return fmt::format("{} {} not fit into memory ({}{}): {}", few(words),
                     one && !is_plural(words.front()) ? "does" : "do", one ? "" : "at least ",
                     bytes, one ? "not a candidate" : "no candidates");
}

}  // namespace

void Hindrances::add(const CompetingCells& contest) {
  for (const RankedCell& cell : contest.cells) {
    too_large = too_large || !cell.fits;
    unsteady = unsteady || (!cell.is_candidate && cell.fits);
  }
}

std::string Hindrances::words(bool plural) const {
  return fmt::format("{}{}{}",
                     !unsteady ? ""
                     : plural  ? "are steady"
                               : "is steady",
                     unsteady && too_large ? " and " : "",
                     !too_large ? ""
                     : plural   ? "fit into memory"
                                : "fits into memory");
}

std::string left_out_note(const std::vector<Result>& results, const CompetingCells& contest) {
  std::vector<std::string> words;
  double most = 0;
  for (const RankedCell& cell : contest.cells)
    if (!cell.is_candidate && cell.fits) {
      words.push_back(cell.choice);
      most = std::max(most, std::abs(results[cell.result].figures.halves_differ));
    }
  const std::string memory = memory_note(results, contest);
  if (words.empty())
    return memory;
  const bool one = words.size() == 1;
  const bool several = !one || is_plural(words.front());
  return fmt::format("{}: the halves of {} differ by {}{}{}{}",
                     few(words) + (several ? " are no candidates" : " is no candidate"),
                     several ? "their windows" : "its window", one ? "" : "up to ", percent(most),
                     memory.empty() ? "" : "; ", memory);
}

}  // namespace syncline
