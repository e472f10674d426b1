#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

#include "sim/study/charts.h"
#include "sim/study/lists.h"

namespace syncline {

Chart agreement_chart(const std::vector<ValidationRow>& rows) {
  Chart chart{.kind = Chart::Kind::points,
              .id = "agreement",
              .title = "Measured against simulated",
              .x = {"measured, samples/s", "samples/s", Scale::log10},
              .y = {"simulated, samples/s", "samples/s", Scale::log10}};
  std::vector<std::string> folders;
  const ValidationRow* worst = nullptr;
  for (const ValidationRow& row : rows) {
    const std::string name = row.folder + (row.fit ? " (fit)" : "");
    Series& series = found_or_added(chart.series, name, &Series::name);
    series.colour = static_cast<int>(place_in(folders, row.folder));  // one per folder
    series.dash = row.fit ? 1 : 0;
    series.x.push_back(row.measured);
    series.y.push_back(row.simulated);
    series.notes.push_back(fmt::format("{}, {:+.1f} %", row.label, 100 * row.error()));
    if (!row.fit && (worst == nullptr || std::abs(row.error()) > std::abs(worst->error())))
      worst = &row;
  }
  chart.sentence =
      worst == nullptr
          ? "All rows chose factors: there is none to judge by."
          : fmt::format(
                "On the line simulated is as measured; furthest from it is {} of {}, by {:+.0f} %.",
                worst->label, worst->folder, 100 * worst->error());
  return chart;
}

std::vector<std::string> agreement_sentences(const std::vector<ValidationRow>& rows) {
  const Agreement figures = agreement(rows);
  return {
      fmt::format("Half of {} measured rows are simulated to within {:.1f} %; of what perfect "
                  "scaling alone says, to within {:.1f} %.",
                  figures.rows, 100 * figures.median_error, 100 * figures.perfect_median_error),
      fmt::format(
          "The worst is {:.0f} % off; the order of all agrees to a Kendall's \xCF\x84 of {:.2f}.",
          100 * figures.worst_error, figures.tau)};
}

}  // namespace syncline
