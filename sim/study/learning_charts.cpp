// Learning curves: loss and held-out accuracy against simulated seconds, samples and bytes.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "sim/report/learning.h"
#include "sim/report/readable.h"
#include "sim/study/charts.h"

namespace syncline {
namespace {

using Cells = std::vector<const ComparedCell*>;

constexpr std::size_t most_points = 200;
constexpr std::size_t fewest_points = 6;
constexpr std::size_t most_points_of_page = 24'000;
constexpr double most_of_a_loss = 1e18;  // larger losses would hide the others in a chart
constexpr double wide = 5;               // from this ratio of losses on, their axis is logarithmic

struct Against {
  const char* name;
  double CurvePoint::*column;
  const char* title;
  const char* unit;
  std::string (*shown)(double);
};
std::string samples_shown(double samples) {
  return count_shown(samples) + " samples";
}
constexpr std::array<Against, 3> all_against{
    {{"bytes", &CurvePoint::bytes, "bytes that all have sent", "B", bytes_shown},
     {"samples", &CurvePoint::samples, "samples", "samples", samples_shown},
     {"seconds", &CurvePoint::seconds, "simulated seconds", "s", seconds_shown}}};

struct Measure {
  const char* id;
  std::optional<double> Figures::*figure;
  double CurvePoint::*column;
  const char* title;
  const char* axis;
  const char* unit;
  std::string (*shown)(const Result&);
};
constexpr std::array<Measure, 2> measures{
    {{"loss", &Figures::loss, &CurvePoint::loss, "Loss", "loss over the training data", "",
      loss_shown},
     {"accuracy", &Figures::accuracy, &CurvePoint::accuracy, "Accuracy",
      "of the held-out samples, right", "%", accuracy_shown}}};

// Points of each curve, so that a page has room for all its curves.
std::size_t points_of(const Comparison& compared) {
  std::map<std::size_t, std::size_t> curves;  // by case
  std::size_t all = 0;
  for (const ComparedCell& cell : compared.cells)
    if (cell.result->learns() && ++curves[cell.in_case] <= most_series)
      ++all;
  const std::size_t drawn = std::max<std::size_t>(all, 1) * all_against.size() * measures.size();
  return std::clamp(most_points_of_page / drawn, fewest_points, most_points);
}

// The seconds, samples or bytes until the target was met, at the evaluation that found it met.
std::optional<double> needed(const ComparedCell& cell, const Against& against) {
  const auto target_s = cell.result->figures.target_s;
  if (!target_s || against.unit == std::string("s"))
    return target_s;
  const std::vector<CurvePoint>& curve = cell.result->learned->curve;
  const auto found = std::ranges::lower_bound(curve, *target_s, {}, &CurvePoint::seconds);
  if (curve.empty())
    return {};
  // Only about right for several seeds.
  return (found == curve.end() ? curve.back() : *found).*against.column;
}

// "bsp reaches accuracy 0.95 after 2.1 s, asp after 3.4 s; 2 miss it".
std::string target_sentence(const Comparison& compared, const Cells& cells, const Against& against,
                            const std::string& target) {
  std::vector<std::pair<double, const ComparedCell*>> reached;
  for (const ComparedCell* cell : cells)
    if (const auto taken = needed(*cell, against))
      reached.emplace_back(*taken, cell);
  if (reached.empty())
    return "None reaches " + target;
  std::ranges::stable_sort(reached, {}, [](const auto& one) { return one.first; });
  std::string text = compared.name_in_case(*reached[0].second) + " reaches " + target + " after " +
                     against.shown(reached[0].first);
  if (reached.size() > 1)
    text += ", " + compared.name_in_case(*reached.back().second) + " after " +
            against.shown(reached.back().first);
  const auto lost =
      std::ranges::count_if(cells, [](const auto* c) { return c->result->diverged(); });
  const std::size_t missed = cells.size() - reached.size() - static_cast<std::size_t>(lost);
  return text + (missed == 0
                     ? ""
                     : "; " + std::to_string(missed) + (missed == 1 ? " misses it" : " miss it"));
}

// "bsp ends with loss 0.0123 after 12.3 s, asp with 0.4 after 10 s".
std::string end_sentence(const Comparison& compared, const Cells& cells, const Against& against,
                         const Measure& measure) {
  Cells known;
  for (const ComparedCell* cell : cells)
    if (cell->result->figures.*measure.figure && !cell->result->learned->curve.empty())
      known.push_back(cell);
  if (known.empty())
    return cells.size() == 1 ? "It diverges" : "All diverge";
  const double sign = measure.id == std::string("loss") ? 1 : -1;
  const auto badness = [&](const ComparedCell* cell) {
    return sign * *(cell->result->figures.*measure.figure);
  };
  const auto ends = [&](const ComparedCell& cell) {
    return measure.shown(*cell.result) + " after " +
           against.shown(last_of_curve(*cell.result, against.column));
  };
  const auto [best, worst] = std::ranges::minmax_element(known, {}, badness);
  std::string text = compared.name_in_case(**best) + " ends with " +
                     (measure.id == std::string("loss") ? "loss " : "accuracy ") + ends(**best);
  if (badness(*best) < badness(*worst))
    text += ", " + compared.name_in_case(**worst) + " with " + ends(**worst);
  const std::size_t lost = cells.size() - known.size();
  return text +
         (lost == 0 ? "" : "; " + std::to_string(lost) + (lost == 1 ? " diverges" : " diverge"));
}

// "; each is the median of 3 seeds, in a band of all of them"; empty if nothing is repeated.
std::string seeds_sentence(const Cells& cells) {
  const auto [least, most] = std::ranges::minmax(
      cells, {}, [](const ComparedCell* cell) { return seeds_of(*cell->result); });
  const std::size_t seeds = seeds_of(*most->result);
  return seeds == 1
             ? ""
             : fmt::format("; each is the median of {}{} seeds, in a band of all of them",
                           least == most || seeds_of(*least->result) == seeds ? "" : "up to ",
                           seeds);
}

Chart chart_of(const Comparison& compared, const Cells& cells, const Against& against,
               const Measure& measure) {
  Chart chart{.kind = Chart::Kind::curves,
              .id = measure.id,
              .title = measure.title,
              .sentence = end_sentence(compared, cells, against, measure),
              .variant = against.name,
              .x = {against.title, against.unit, Scale::linear},
              .y = {measure.axis, measure.unit, Scale::linear}};
  const std::size_t most = points_of(compared);
  std::map<int, int> of_colour;
  std::vector<double> xs, ys;
  std::optional<LearningTarget> target;
  for (std::size_t i = 0; i < std::min(cells.size(), most_series); ++i) {
    const ComparedCell& cell = *cells[i];
    Series line{.name = compared.name_in_case(cell),
                .colour = cell.colour,
                .dash = of_colour[cell.colour]++};
    const std::vector<CurvePoint> curve = spread(cell.result->learned->curve, most);
    const std::vector<SeedBand> bands = spread(curve_band(*cell.result, measure.column), most);
    for (std::size_t place = 0; place < curve.size(); ++place) {
      const CurvePoint& point = curve[place];
      if (!(std::abs(point.*measure.column) <= most_of_a_loss))  // or not a number
        continue;
      line.x.push_back(point.*against.column);
      line.y.push_back(point.*measure.column);
      if (!bands.empty()) {
        const SeedBand& band = line.bands.emplace_back(
            SeedBand{bands[place].least, std::min(bands[place].most, most_of_a_loss)});
        ys.insert(ys.end(), {band.least, band.most});
      }
    }
    xs.insert(xs.end(), line.x.begin(), line.x.end());
    ys.insert(ys.end(), line.y.begin(), line.y.end());
    if (const auto own = target_in(*cell.result);
        own && own->figure == measure.id && std::abs(own->value) <= most_of_a_loss)
      target = own;
    chart.series.push_back(std::move(line));
  }
  if (xs.empty() || std::ranges::min(xs) == std::ranges::max(xs))
    return {};  // nothing moved: there is no curve
  if (target) {
    chart.sentence =
        target_sentence(compared, cells, against, target->shown) + "; " + chart.sentence;
    chart.series.push_back({.name = target->shown,
                            .x = {std::ranges::min(xs), std::ranges::max(xs)},
                            .y = {target->value, target->value}});
    ys.push_back(target->value);
  }
  const auto [least, greatest] = std::ranges::minmax(ys);
  if (measure.unit != std::string("%")) {
    if (least == 0 && greatest == 0)
      return {};
    if (least > 0 && greatest / least >= wide)
      chart.y.scale = Scale::log10;
  }
  chart.sentence += seeds_sentence(cells) + of_more(cells.size(), most_series) + ".";
  return chart;
}

}  // namespace

std::vector<Chart> learning_charts(const Comparison& compared, std::size_t in_case) {
  Cells cells = compared.cells_of(in_case);
  std::erase_if(cells, [](const ComparedCell* cell) { return !cell->result->learns(); });
  std::ranges::stable_sort(cells, [](const ComparedCell* a, const ComparedCell* b) {
    return learned_before(*a->result, *b->result);
  });
  std::vector<Chart> charts;
  for (const Measure& measure : measures)
    for (const Against& against : all_against)
      if (Chart chart = chart_of(compared, cells, against, measure); !chart.sentence.empty())
        charts.push_back(std::move(chart));
  return charts;
}

}  // namespace syncline
