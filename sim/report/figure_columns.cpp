#include "sim/report/figure_columns.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/report/readable.h"

namespace syncline {
namespace {

std::string shown_in(Unit unit, double value) {
  switch (unit) {
    case Unit::share:
      return percent(value, 1);
    case Unit::seconds:
      return seconds_shown(value);
    case Unit::duration:
      return duration_shown(value);
    case Unit::bytes:
      return bytes_shown(value);
    case Unit::money:
      return cost_shown(value);
    default:
      return fmt::format("{:.3g}", value);
  }
}

}  // namespace

std::optional<double> column_value(const Figure& figure, const Result& result) {
  const auto value = value_of(figure, result);
  return value && figure.has(Figure::part) ? *value / result.figures.iteration_mean_s : value;
}

std::string shown_in_table(const Figure& figure, const Result& result) {
  if (figure.traits.shown != nullptr)
    return figure.traits.shown(result);
  if (const auto* text = std::get_if<std::string Figures::*>(&figure.member))
    return result.figures.*(*text);
  const auto value = column_value(figure, result);
  if (!value)
    return "";
  return figure.has(Figure::part) ? percent(*value) : shown_in(figure.unit, *value);
}

std::string title_of(const Figure& figure, const std::vector<Result>& results) {
  if (figure.traits.title != nullptr)
    return figure.traits.title(results);
  return figure.traits.titles.empty() ? figure.name : figure.traits.titles.front();
}

std::vector<const Figure*> columns_of(const std::vector<Result>& results, Figure::Role role) {
  std::vector<const Figure*> columns;
  for (const Figure& figure : figure_rows())
    if (figure.has(role) &&
        (figure.traits.matters == nullptr || std::ranges::any_of(results, figure.traits.matters)))
      columns.push_back(&figure);
  return columns;
}

std::string busiest_link_shown(const Result& result) {
  const std::vector<BusyLink>& links = result.figures.busiest_links;
  return links.empty() ? "-" : links[0].name + " " + percent(links[0].utilisation);
}

}  // namespace syncline
