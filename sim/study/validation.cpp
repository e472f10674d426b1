#include "sim/study/validation.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/study/charts.h"
#include "sim/study/ordered_lists.h"

namespace syncline {

double kendall_tau(const std::vector<double>& a, const std::vector<double>& b) {
  double concordant = 0;
  double ties_a = 0;
  double ties_b = 0;
  double pairs = 0;
  const auto order = [](double x, double y) {
    constexpr double rounding = 1e-9;  // differs between machines and versions of SimGrid
    return std::abs(x - y) <= rounding * std::abs(x) ? 0 : x > y ? 1 : -1;
  };
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const int order_a = order(a[i], a[j]);
      const int order_b = order(b[i], b[j]);
      concordant += order_a * order_b;
      ties_a += order_a == 0 ? 1 : 0;
      ties_b += order_b == 0 ? 1 : 0;
      ++pairs;
    }
  const double scale = std::sqrt((pairs - ties_a) * (pairs - ties_b));
  return scale > 0 ? concordant / scale : 0;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

namespace {

const std::string& name_of(const ValidationRow& row) {
  return row.named.empty() ? row.label : row.named;
}

}  // namespace

const ValidationRow* worst_of(const std::vector<ValidationRow>& rows) {
  const ValidationRow* worst = nullptr;
  for (const ValidationRow& row : rows)
    if (!row.fit && (worst == nullptr || std::abs(row.error()) > std::abs(worst->error())))
      worst = &row;
  return worst;
}

Agreement agreement(const std::vector<ValidationRow>& rows) {
  std::vector<double> errors;
  std::vector<double> of_perfect;
  std::vector<double> measured;
  std::vector<double> simulated;
  for (const ValidationRow& row : rows) {
    if (row.fit)
      continue;
    errors.push_back(std::abs(row.error()));
    of_perfect.push_back(std::abs(row.perfect / row.measured - 1));
    measured.push_back(row.measured);
    simulated.push_back(row.simulated);
  }
  if (errors.empty())
    return {};
  return {.rows = static_cast<int>(errors.size()),
          .median_error = median(errors),
          .worst_error = std::ranges::max(errors),
          .perfect_median_error = median(of_perfect),
          .tau = kendall_tau(measured, simulated)};
}

Chart agreement_chart(const std::vector<ValidationRow>& rows) {
  Chart chart{.kind = Chart::Kind::points,
              .id = "agreement",
              .title = "Measured against simulated",
              .x = {"measured, samples/s", "samples/s", Scale::log10},
              .y = {"simulated, samples/s", "samples/s", Scale::log10}};
  std::vector<std::string> folders;
  const ValidationRow* worst = worst_of(rows);
  for (const ValidationRow& row : rows) {
    const std::string name = row.folder + (row.fit ? " (fit)" : "");
    Series& series = found_or_added(chart.series, name, &Series::name);
    series.colour = static_cast<int>(place_in(folders, row.folder));  // one per folder
    series.dash = row.fit ? 1 : 0;
    series.x.push_back(row.measured);
    series.y.push_back(row.simulated);
    series.notes.push_back(fmt::format("{}, {:+.1f} %", name_of(row), 100 * row.error()));
  }
  chart.sentence =
      worst == nullptr
          ? "All rows were used to choose factors: none is left to judge by."
          : fmt::format(
                "On the line simulated is as measured; furthest from it is {} of {}, by {:+.0f} %.",
                name_of(*worst), worst->folder, 100 * worst->error());
  return chart;
}

std::vector<std::string> agreement_sentences(const std::vector<ValidationRow>& rows) {
  const Agreement figures = agreement(rows);
  return {
      fmt::format("Half of {} measured rows are simulated to within {:.1f} %; perfect scaling "
                  "alone predicts half to within {:.1f} %.",
                  figures.rows, 100 * figures.median_error, 100 * figures.perfect_median_error),
      fmt::format(
          "The worst is {:.0f} % off; the order of all agrees to a Kendall's \xCF\x84 of {:.2f}.",
          100 * figures.worst_error, figures.tau)};
}

}  // namespace syncline
