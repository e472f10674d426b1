#include "sim/report/figure_columns.h"

#include <algorithm>

#include "sim/report/shown.h"

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
      return format("%.3g", value);
  }
}

}  // namespace

std::optional<double> column_value(const Figure& figure, const Result& result) {
  const auto value = value_of(figure, result);
  return value && figure.roles.part ? *value / result.figures.iteration_mean_s : value;
}

std::string shown_in_table(const Figure& figure, const Result& result) {
  if (figure.shown != nullptr)
    return figure.shown(result);
  if (const auto* text = std::get_if<std::string Figures::*>(&figure.member))
    return result.figures.*(*text);
  const auto value = column_value(figure, result);
  if (!value)
    return "";
  return figure.roles.part ? percent(*value) : shown_in(figure.unit, *value);
}

std::string title_of(const Figure& figure, const std::vector<Result>& results) {
  if (figure.title != nullptr)
    return figure.title(results);
  return figure.titles.empty() ? figure.name : figure.titles.front();
}

std::vector<const Figure*> columns_of(const std::vector<Result>& results,
                                      bool Figure::Roles::*role) {
  std::vector<const Figure*> columns;
  for (const Figure& figure : figure_rows())
    if (figure.roles.*role &&
        (figure.matters == nullptr || std::ranges::any_of(results, figure.matters)))
      columns.push_back(&figure);
  return columns;
}

std::string busiest_link_shown(const Result& result) {
  const std::vector<BusyLink>& links = result.figures.busiest_links;
  return links.empty() ? "-" : links[0].name + " " + percent(links[0].utilisation);
}

}  // namespace syncline
