// The values and texts of figures in results.
#include <algorithm>
#include <fmt/format.h>

#include "sim/report/figures.h"
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

const Figure* find_figure(const std::string& name) {
  const auto found = std::ranges::find(figure_rows(), name, &Figure::name);
  return found == figure_rows().end() ? nullptr : &*found;
}

std::optional<double> value_of(const Figure& figure, const Result& result) {
  const auto* number = std::get_if<NumberMember<Figures>>(&figure.member);
  return number == nullptr || (figure.has(Figure::if_learned) && !result.learns())
             ? std::nullopt
             : number_in(result.figures, *number);
}

std::optional<double> value_of(const std::string& figure, const Result& result) {
  const Figure* found = find_figure(figure);
  return found == nullptr ? std::nullopt : value_of(*found, result);
}

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

bool may_be_missing(const Figure& figure) {
  for (const char* later :
       {"runs", "throughput_of_runs", "server_busy", "workers", "bytes_sent_off_node",
        "bytes_sent_in_node", "memory_bytes", "device_memory_bytes", "recomputed", "tokens_per_s",
        "mfu", "hfu", "prediction_low_samples_per_s", "prediction_high_samples_per_s"})
    if (figure.name == later)
      return true;
  return false;
}

}  // namespace syncline
