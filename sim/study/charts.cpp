#include "sim/study/charts.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <map>

#include "sim/report/figures.h"
#include "sim/report/readable.h"
#include "sim/study/ordered_lists.h"

namespace syncline {
namespace {

using Cells = std::vector<const ComparedCell*>;

constexpr std::size_t most_bars = 16;  // the page's table has all
constexpr std::size_t most_variants = 16;
constexpr double full_link = 0.95;

std::string samples(double per_s) {
  return count_shown(per_s) + " samples/s";
}

// Cells that are drawn together.
struct Group {
  std::string name;
  Cells cells;
};

// The series of a case, each sorted by x. Series that are best at their end come first.
std::vector<Group> curves_of(const Cells& cells) {
  std::vector<Group> curves;
  for (const ComparedCell* cell : cells)
    found_or_added(curves, cell->series, &Group::name).cells.push_back(cell);
  for (Group& curve : curves)
    std::ranges::stable_sort(curve.cells, {}, &ComparedCell::x);
  std::ranges::stable_sort(curves, std::greater(), [](const Group& curve) {
    return std::pair(curve.cells.back()->x, curve.cells.back()->throughput());
  });
  return curves;
}

std::vector<Series> lines_of(const std::vector<Group>& curves, const std::string& figure) {
  std::vector<Series> all;
  for (std::size_t i = 0; i < std::min(curves.size(), most_series); ++i) {
    const Group& curve = curves[i];
    Series line{.name = curve.name,
                .colour = curve.cells.front()->colour,
                .dash = curve.cells.front()->dash};
    for (const ComparedCell* cell : curve.cells) {
      line.x.push_back(cell->x);
      line.y.push_back(value_of(figure, *cell->result).value_or(0));
      if (seeds_of(*cell->result) > 1)
        line.bands.push_back(
            band_of(figure, *cell->result).value_or(SeedBand{line.y.back(), line.y.back()}));
    }
    if (line.bands.size() < line.y.size())
      line.bands.clear();
    all.push_back(std::move(line));
  }
  return all;
}

// The series "ideal": what workers would do alone, as the mean of all cells with this number of
// workers. Empty if platforms differ in it.
Series ideal_of(const Cells& cells) {
  std::map<double, std::pair<double, int>> sums;
  for (const ComparedCell* cell : cells)
    if (cell->efficiency() > 0) {
      sums[cell->x].first += cell->throughput() / cell->efficiency();
      ++sums[cell->x].second;
    }
  const auto differs = [&](const ComparedCell* cell) {
    const auto& [sum, count] = sums[cell->x];
    const double alone = cell->efficiency() > 0 ? cell->throughput() / cell->efficiency() : 0;
    return cell->result->option("platform") != cells.front()->result->option("platform") &&
           alone > 0 && std::abs(alone / (sum / count) - 1) > smallest_lead;
  };
  if (std::ranges::any_of(cells, differs))
    return {};
  Series ideal{.name = "ideal"};
  for (const auto& [x, sum] : sums) {
    ideal.x.push_back(x);
    ideal.y.push_back(sum.first / sum.second);
  }
  return ideal;
}

Scale scale_of(const Comparison& compared, const Cells& cells) {
  if (compared.x_option == "workers")
    return Scale::log2;
  const auto [least, most] = std::ranges::minmax_element(cells, {}, &ComparedCell::x);
  return (*most)->x / (*least)->x >= 8 ? Scale::log10 : Scale::linear;
}

Chart throughput_chart(const Comparison& compared, const Cells& cells,
                       const std::vector<Group>& curves) {
  const ComparedCell &best = *curves.front().cells.back(), &last = *curves.back().cells.back();
  const ComparedCell& first = *curves.front().cells.front();
  std::string sentence =
      "With " + compared.at(best.x) + " " + best.series + " reaches " + samples(best.throughput());
  if (first.x < best.x && first.throughput() > 0 &&
      std::abs(best.throughput() / first.throughput() - 1) >= smallest_lead)
    sentence +=
        fmt::format(", {:.3g} times what it does with ", best.throughput() / first.throughput()) +
        compared.at(first.x);
  if (curves.size() > 1 && last.x == best.x)
    sentence += "; " + last.series + ", the slowest, " + samples(last.throughput());
  Chart chart{.kind = Chart::Kind::lines,
              .id = "throughput",
              .title = "Throughput",
              .sentence = sentence + of_more(curves.size(), most_series) + ".",
              .x = {compared.x_option, "", scale_of(compared, cells)},
              .y = {"samples/s", "samples/s", Scale::log10},
              .series = lines_of(curves, "throughput_samples_per_s")};
  if (compared.x_option == "workers")
    if (Series ideal = ideal_of(cells); !ideal.x.empty())
      chart.series.push_back(std::move(ideal));
  return chart;
}

// "; asp keeps less than half from 16 workers on, where node3-nic_DOWN is full".
std::string where_it_falls(const Comparison& compared, const Group& curve) {
  for (const ComparedCell* cell : curve.cells)
    if (cell->efficiency() < 0.5) {
      const Figures& figures = cell->result->figures;
      return "; " + curve.name + " keeps less than half from " + compared.at(cell->x) + " on" +
             (figures.fullest_link() >= full_link
                  ? ", where " + figures.busiest_links[0].name + " is full"
                  : "");
    }
  return "";
}

Chart efficiency_chart(const Comparison& compared, const Cells& cells,
                       const std::vector<Group>& curves) {
  std::vector<const ComparedCell*> ends;
  for (const Group& curve : curves)
    if (curve.cells.back()->x == curves.front().cells.back()->x)
      ends.push_back(curve.cells.back());
  const ComparedCell& best = **std::ranges::max_element(ends, {}, &ComparedCell::efficiency);
  return {.kind = Chart::Kind::lines,
          .id = "efficiency",
          .title = "Scaling efficiency",
          .sentence = best.series + " keeps " + percent(best.efficiency()) + " with " +
                      compared.at(best.x) +
                      (curves.size() > 1 ? where_it_falls(compared, curves.back()) : "") + ".",
          .x = {compared.x_option, "", scale_of(compared, cells)},
          .y = {"of what the workers would do alone", "%", Scale::linear},
          .series = lines_of(curves, "scaling_efficiency")};
}

// Cells to compare side by side: the cells of each x, best first. The largest x comes last.
std::vector<Group> variants_of(const Comparison& compared, const Cells& cells) {
  std::map<double, Cells> by_x;
  for (const ComparedCell* cell : cells)
    by_x[cell->x].push_back(cell);
  while (by_x.size() > most_variants)  // a study is about the largest
    by_x.erase(by_x.begin());
  std::vector<Group> variants;
  for (auto& [x, of_x] : by_x) {
    std::ranges::stable_sort(of_x, std::greater(), &ComparedCell::throughput);
    variants.push_back({compared.at(x), of_x});
  }
  return variants;
}

void add_category(Chart& chart, const ComparedCell& cell) {
  chart.categories.push_back(cell.series);
  chart.colours.push_back(cell.colour);
}

Chart breakdown_chart(const Group& variant) {
  const Cells& cells = variant.cells;
  const auto still = [](const ComparedCell* cell) {
    return cell->result->figures.standing_still_s() / cell->result->figures.iteration_mean_s;
  };
  const ComparedCell& best = *cells.front();
  std::string sentence = "An iteration of " + best.series + " takes " +
                         seconds_shown(best.result->figures.iteration_mean_s) + ": ";
  Chart chart{.kind = Chart::Kind::stack,
              .id = "breakdown",
              .title = "Where an iteration goes",
              .variant = variant.name,
              .x = {"seconds of an iteration", "s", Scale::linear}};
  Words parts;
  for (const Figure& figure : figure_rows()) {
    if (!figure.has(Figure::part))
      continue;
    if (const auto part = column_value(figure, *best.result); part >= 0.005)
      parts.push_back(percent(*part) + " " + figure.traits.words);
    Series series{.name = figure.traits.words};
    bool matters = figure.traits.matters == nullptr;
    for (std::size_t i = 0; i < std::min(cells.size(), most_bars); ++i) {
      series.y.push_back(value_of(figure, *cells[i]->result).value_or(0));
      matters = matters || figure.traits.matters(*cells[i]->result);
    }
    if (matters)
      chart.series.push_back(std::move(series));
  }
  sentence += and_listed(parts);
  if (cells.size() > 1) {
    const ComparedCell& worst = **std::ranges::max_element(cells, {}, still);
    if (&worst != &best && still(&worst) > still(&best) + 0.02)
      sentence += "; workers of " + worst.series + " stand still for " + percent(still(&worst)) +
                  " of theirs";
  }
  chart.sentence = sentence + of_more(cells.size(), most_bars) + ".";
  for (std::size_t i = 0; i < std::min(cells.size(), most_bars); ++i)
    add_category(chart, *cells[i]);
  return chart;
}

Chart links_chart(const Group& variant) {
  Chart chart{.kind = Chart::Kind::bars,
              .id = "links",
              .title = "The busiest link",
              .variant = variant.name,
              .x = {"of its bandwidth, in the window", "%", Scale::linear},
              .series = {{.name = "in use"}}};
  Cells cells;
  for (const ComparedCell* cell : variant.cells)
    if (!cell->result->figures.busiest_links.empty() && cells.size() < most_bars)
      cells.push_back(cell);
  if (cells.empty())
    return chart;
  Words full;
  const auto used = [](const ComparedCell* cell) { return cell->result->figures.fullest_link(); };
  for (const ComparedCell* cell : cells) {
    if (used(cell) >= full_link)
      full.push_back(cell->series);
    add_category(chart, *cell);
    chart.series[0].y.push_back(used(cell));
    Words names;
    for (const BusyLink& link : cell->result->figures.busiest_links)
      names.push_back(link.name + " " + percent(link.utilisation));
    chart.series[0].notes.push_back(and_listed(names));
  }
  const ComparedCell* most = *std::ranges::max_element(cells, {}, used);
  const std::string& link = most->result->figures.busiest_links[0].name;
  if (full.empty())
    chart.sentence =
        fmt::format("No link is full: the busiest, {}, has {} of its bandwidth in use with {}.",
                    link, percent(used(most)), most->series);
  else if (full.size() > 4)
    chart.sentence = fmt::format("A link is full with {} of {}: they run at its speed.",
                                 full.size(), cells.size());
  else
    chart.sentence = fmt::format("A link is full with {} ({}{} at its speed.", and_listed(full),
                                 link, full.size() == 1 ? "): it runs" : " first): they run");
  return chart;
}

// A histogram of at most `most_columns` columns, each of a whole number of staleness values.
Series histogram_of(const ComparedCell& cell) {
  constexpr double most_columns = 40;
  std::map<double, double> counts;
  double total = 0;
  for (const auto& [staleness, count] : cell.result->figures.staleness_histogram)
    if (staleness >= 0 && count > 0) {
      counts[static_cast<double>(staleness)] += static_cast<double>(count);
      total += static_cast<double>(count);
    }
  Series series{.name = cell.series, .colour = cell.colour, .dash = cell.dash};
  if (counts.empty())
    return series;
  const double least = counts.begin()->first, most = counts.rbegin()->first;
  const double width = std::ceil((most - least + 1) / most_columns);
  std::map<double, double> columns;
  for (const auto& [staleness, count] : counts)
    columns[least + width * std::floor((staleness - least) / width)] += count / total;
  for (const auto& [staleness, share] : columns) {
    series.x.push_back(staleness);
    series.y.push_back(share);
    series.notes.push_back(width > 1 ? count_shown(staleness) + " to " +
                                           count_shown(staleness + width - 1) + " gradients"
                                     : count_shown(staleness) + " gradients");
  }
  return series;
}

Chart staleness_chart(const Group& variant) {
  Chart chart{.kind = Chart::Kind::columns,
              .id = "staleness",
              .title = "How old gradients are",
              .variant = variant.name,
              .x = {"staleness, in gradients of single workers", "", Scale::linear},
              .y = {"of all gradients", "%", Scale::linear}};
  Cells stale;
  Words fresh;
  for (const ComparedCell* cell : variant.cells)
    if (cell->result->figures.staleness_max > 0)
      stale.push_back(cell);
    else
      fresh.push_back(cell->series);
  if (stale.empty())
    return chart;
  const auto staleness = [](const ComparedCell* cell) {
    return cell->result->figures.staleness_mean;
  };
  std::ranges::stable_sort(stale, {}, staleness);
  const auto mean = [&](const ComparedCell& cell) {
    return fmt::format("{:.3g}", staleness(&cell));
  };
  chart.sentence =
      "A gradient of " + stale.back()->series + " misses " + mean(*stale.back()) +
      " others on average" +
      (stale.size() > 1 ? ", one of " + stale.front()->series + " " + mean(*stale.front()) : "") +
      (fresh.empty() || fresh.size() > 3 ? "" : "; " + and_listed(fresh) + " none") + ".";
  for (std::size_t i = 0; i < std::min(stale.size(), most_series); ++i)
    chart.series.push_back(histogram_of(*stale[i]));
  return chart;
}

// Leaves out cells that do not fit into memory, unless none does. Returns a sentence that says so.
std::string leave_out_too_large(Cells& cells) {
  const auto fits = [](const ComparedCell* cell) { return cell->result->figures.fits_memory(); };
  const auto fitting = std::ranges::count_if(cells, fits);
  const auto too_large = std::ssize(cells) - fitting;
  if (too_large == 0 || cells.size() == 1)
    return "";
  if (fitting == 0)
    return " Nothing here fits into memory.";
  std::erase_if(cells, std::not_fn(fits));
  return fmt::format(" {} not fit into memory and {} not drawn.",
                     too_large == 1 ? "One does" : fmt::format("{} do", too_large),
                     too_large == 1 ? "is" : "are");
}

}  // namespace

std::string of_more(std::size_t all, std::size_t most) {
  return all > most
             ? "; the " + std::to_string(most) + " best of " + std::to_string(all) + " are drawn"
             : "";
}

std::vector<Chart> charts_of(const Comparison& compared, std::size_t in_case) {
  Cells cells = compared.cells_of(in_case);
  const std::string left_out = leave_out_too_large(cells);
  std::vector<Chart> charts;
  const std::vector<Group> curves = curves_of(cells);
  if (!compared.x_option.empty() &&
      std::ranges::any_of(curves, [](const Group& curve) { return curve.cells.size() > 1; })) {
    charts.push_back(throughput_chart(compared, cells, curves));
    charts.push_back(efficiency_chart(compared, cells, curves));
  }
  std::ranges::move(learning_charts(compared, in_case), std::back_inserter(charts));
  const std::vector<Group> variants = variants_of(compared, cells);
  for (const auto& chart_of : {breakdown_chart, staleness_chart, links_chart})
    for (const Group& variant : variants)
      if (Chart chart = chart_of(variant); !chart.sentence.empty())
        charts.push_back(std::move(chart));
  if (!charts.empty())
    charts.front().sentence += left_out;
  return charts;
}

}  // namespace syncline
