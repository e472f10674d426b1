#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/report/shown.h"
#include "sim/study/charts.h"

namespace syncline {
namespace {

// One colour per folder.
int colour_in(std::vector<std::string>& folders, const std::string& folder) {
  auto found = std::ranges::find(folders, folder);
  if (found == folders.end())
    found = folders.insert(found, folder);
  return static_cast<int>(found - folders.begin());
}

}  // namespace

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
    auto series = std::ranges::find(chart.series, name, &Series::name);
    if (series == chart.series.end())
      series = chart.series.insert(
          series,
          {.name = name, .colour = colour_in(folders, row.folder), .dash = row.fit ? 1 : 0});
    series->x.push_back(row.measured);
    series->y.push_back(row.simulated);
    series->notes.push_back(row.label + format(", %+.1f %%", 100 * row.error()));
    if (!row.fit && (worst == nullptr || std::abs(row.error()) > std::abs(worst->error())))
      worst = &row;
  }
  if (worst != nullptr)
    chart.sentence = "On the line simulated is as measured; furthest from it is " + worst->label +
                     " of " + worst->folder + format(", by %+.0f %%.", 100 * worst->error());
  else
    chart.sentence = "All rows chose factors: there is none to judge by.";
  return chart;
}

std::vector<std::string> agreement_sentences(const std::vector<ValidationRow>& rows) {
  const Agreement figures = agreement(rows);
  return {"Half of " + std::to_string(figures.rows) + " measured rows are simulated to within " +
              format("%.1f %%; ", 100 * figures.median_error) +
              format("of what perfect scaling alone says, to within %.1f %%.",
                     100 * figures.perfect_median_error),
          format("The worst is %.0f %% off; ", 100 * figures.worst_error) +
              format("the order of all agrees to a Kendall's \xCF\x84 of %.2f.", figures.tau)};
}

}  // namespace syncline
