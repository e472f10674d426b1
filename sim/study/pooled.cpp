#include "sim/study/pooled.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "kernels/io/text.h"
#include "sim/report/learning.h"
#include "sim/report/readable.h"
#include "sim/report/report.h"
#include "sim/report/runs.h"
#include "sim/study/comparison.h"
#include "sim/study/ordered_lists.h"
#include "sim/window.h"

namespace syncline {
namespace {

using Numbers = std::vector<double>;

constexpr std::size_t most_named = 10;  // seeds in a note
constexpr double infinite = std::numeric_limits<double>::infinity();

double seed_of(const Result& cell) {
  return number_in(cell.option("seed")).value_or(0);
}

// Groups the cells that differ in their seed only, ordered by it. A second cell with the same seed
// is not a repetition.
std::vector<Results> repeated(Results cells) {
  LongList<std::string> keys;
  std::vector<Results> groups;
  std::set<std::pair<std::string, double>> seen;
  for (Result& cell : cells) {
    std::string key = options_but(cell, {"seed"});
    while (!seen.emplace(key, seed_of(cell)).second)
      key += "again\n";
    const std::size_t place = keys.place_of(key);
    groups.resize(keys.all.size());
    groups[place].push_back(std::move(cell));
  }
  for (Results& group : groups)
    std::ranges::sort(group, {}, seed_of);
  return groups;
}

double middle_of(Numbers values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// The figure of each cell, in order. A cell without it, because it missed a target or diverged,
// gets the worst value.
Numbers numbers_in(const Figure& figure, const Results& cells) {
  Numbers numbers;
  for (const Result& cell : cells)
    numbers.push_back(
        value_of(figure, cell).value_or(figure.name == "accuracy" ? -infinite : infinite));
  return numbers;
}

Numbers runs_in(const Results& cells) {
  Numbers runs;
  for (const Result& cell : cells)
    if (const Numbers& own = cell.figures.throughput_of_runs; own.empty())
      runs.push_back(cell.figures.throughput_samples_per_s);
    else
      runs.insert(runs.end(), own.begin(), own.end());
  return runs;
}

// Warnings of repetitions differ only in their numbers.
std::string without_digits(const std::string& text) {
  std::string words;
  std::ranges::copy_if(text, std::back_inserter(words),
                       [](char c) { return (c < '0' || c > '9') && c != '.' && c != ','; });
  return words;
}

void take_medians(const Results& cells, Figures& figures) {
  for (const Figure& figure : figure_rows()) {
    const auto* member = std::get_if<NumberMember<Figures>>(&figure.member);
    if (member == nullptr)
      continue;
    if (const double middle = middle_of(numbers_in(figure, cells)); std::isfinite(middle))
      put_number(figures, *member, middle);
    else if (figure.traits.allowed.null)
      put_number(figures, *member, std::nullopt);
  }
  for (const Figure& figure : figure_rows())
    if (figure.has(Figure::part)) {
      Numbers shares;
      for (const Result& cell : cells)
        shares.push_back(column_value(figure, cell).value_or(0));
      put_number(figures, std::get<NumberMember<Figures>>(figure.member),
                 mean_of(shares) * figures.iteration_mean_s);
    }
  figures.throughput_of_runs = runs_in(cells);
  figures.throughput_samples_per_s = middle_of(figures.throughput_of_runs);
  std::vector<std::optional<double>> own;
  for (const Result& cell : cells)
    own.push_back(cell.figures.throughput_interval);
  figures.throughput_interval =
      interval_of_runs(figures.throughput_of_runs, own, figures.halves_differ);
  figures.runs = 0;
  figures.staleness_max = 0;
  figures.staleness_histogram.clear();
  figures.warnings.clear();
  std::set<std::string> warned;
  for (const Result& cell : cells) {
    figures.runs += cell.figures.runs;
    figures.staleness_max = std::max(figures.staleness_max, cell.figures.staleness_max);
    for (const auto& [staleness, count] : cell.figures.staleness_histogram)
      figures.staleness_histogram[staleness] += count;
    for (const Warning& warning : cell.figures.warnings)
      if ((is_unsteady(figures) || warning.kind != WarningKind::unsteady) &&
          warned.insert(without_digits(warning.text)).second)
        figures.warnings.push_back(warning);
  }
}

using CurveColumn = double CurvePoint::*;
constexpr std::array<CurveColumn, 4> progress_columns{&CurvePoint::seconds, &CurvePoint::samples,
                                                      &CurvePoint::bytes, &CurvePoint::iterations};
constexpr std::array<CurveColumn, 4> learned_columns{&CurvePoint::loss, &CurvePoint::accuracy,
                                                     &CurvePoint::train_accuracy,
                                                     &CurvePoint::heldout_loss};

// The values of a column at one evaluation. A run that has ended, because it met its target, goes
// on at its pace with its last values. No evaluation then mixes its end with runs that are still on
// their way. A run that diverged has the worst value.
Numbers at_evaluation(const Results& cells, std::size_t evaluation, CurveColumn column) {
  const bool is_progress = std::ranges::count(progress_columns, column) > 0;
  const bool more_is_better =
      column == &CurvePoint::accuracy || column == &CurvePoint::train_accuracy;
  Numbers values;
  for (const Result& cell : cells) {
    const auto& curve = cell.learned->curve;
    const std::size_t ran = curve.size() - 1;
    const bool ended = evaluation > ran;
    if (curve.empty() || (is_progress && ended && ran == 0))
      continue;
    double value = curve[std::min(evaluation, ran)].*column;
    if (is_progress && ended)
      value *= static_cast<double>(evaluation) / static_cast<double>(ran);
    const bool is_known = std::isfinite(value) && !(ended && cell.diverged());
    values.push_back(is_progress || is_known ? value : more_is_better ? -infinite : infinite);
  }
  return values;
}

// A curve as long as the median of the curves.
std::vector<CurvePoint> median_curve(const Results& cells) {
  std::vector<std::size_t> ends;
  std::size_t longest = 0;
  for (const Result& cell : cells)
    longest = std::max(longest, cell.learned->curve.size());
  for (const Result& cell : cells)
    ends.push_back(cell.diverged() ? longest : cell.learned->curve.size());
  std::ranges::sort(ends);
  std::vector<CurvePoint> curve(ends[ends.size() / 2]);
  for (const auto* columns : {&progress_columns, &learned_columns})
    for (const CurveColumn column : *columns)
      for (std::size_t i = 0; i < curve.size(); ++i)
        curve[i].*column = middle_of(at_evaluation(cells, i, column));
  return curve;
}

// Writes the same value of an option into all results. Pooled results then compete, although one of
// them has not all seeds, or is not the best of several.
void write_alike(Results& results, const std::string& name, const std::string& value) {
  for (Result& result : results) {
    std::erase_if(result.options, [&](const WrittenOption& one) { return one.name == name; });
    if (!value.empty())
      result.options.push_back({.name = name, .value = value});
  }
}

// Why ssp may be faster than asp, and its gradients staler, where a reader expects the opposite.
// Empty if they are not compared.
std::string note_of_caches(const Results& results) {
  const auto any = [&](const char* schedule, const char* cache) {
    return std::ranges::any_of(results, [&](const Result& result) {
      return result.option("schedule") == schedule && result.option("cache") == cache;
    });
  };
  return any("asp", "") && any("ssp", "on")
             ? "ssp's workers do not wait for the servers' answers (cache = on), asp's do; "
               "cache = off compares like with like"
             : "";
}

// The values of the option in these cells, in the order in which they appear.
Words different_values(const std::string& option, const Results& cells) {
  Words values;
  for (const Result& cell : cells)
    if (const std::string& value = cell.option(option); !value.empty())
      found_or_added(values, value);
  return values;
}

// "41 s to missed": the band in words; empty if there is none.
std::string range_of_seeds(const Figure& figure, const Result& result) {
  const std::optional<SeedBand> band = band_of(figure.name, result);
  if (!band)
    return "";
  const auto end_shown = [&](double end) {
    if (figure.unit == Unit::samples_per_s)
      return count_shown(end);
    const Numbers numbers = numbers_in(figure, result.repetitions);
    const auto place = std::ranges::find(numbers, end) - numbers.begin();
    return shown_in_table(figure, result.repetitions[static_cast<std::size_t>(place)]);
  };
  return end_shown(band->least) + " to " + end_shown(band->most);
}

}  // namespace

Result pool_of(Results repetitions) {
  std::vector<const Result*> order;
  for (const Result& cell : repetitions)
    order.push_back(&cell);
  std::ranges::stable_sort(order, [](auto* a, auto* b) { return is_better(*a, *b); });
  Result pool = *order[order.size() / 2];
  if (repetitions.size() > 1) {
    take_medians(repetitions, pool.figures);
    if (pool.learned) {
      pool.learned->curve = median_curve(repetitions);
      pool.learned->target_s = pool.figures.target_s;
    }
  }
  pool.repetitions = std::move(repetitions);
  for (Result& cell : pool.repetitions)
    cell.timeline = {};
  return pool;
}

Pool pooled(Results cells) {
  Pool pool;
  std::vector<Results> groups = best_of(repeated(std::move(cells)), pool.notes);
  const bool repeats =
      std::ranges::any_of(groups, [](const Results& group) { return group.size() > 1; });
  std::map<double, std::string> seeds;
  std::set<std::size_t> counts;
  bool several_runs = false;  // of one seed
  for (Results& group : groups) {
    if (!repeats) {
      pool.results.push_back(std::move(group.front()));
      continue;
    }
    counts.insert(group.size());
    for (const Result& cell : group) {
      seeds.emplace(seed_of(cell), cell.option("seed"));
      several_runs = several_runs || cell.figures.runs > 1;
    }
    pool.results.push_back(pool_of(std::move(group)));
  }
  for (const std::string option : {"best-of", "best-of-seeds"})
    if (const auto values = different_values(option, pool.results); !values.empty())
      write_alike(pool.results, option, fmt::format("{}", fmt::join(values, "; ")));
  if (repeats) {
    Words shown;
    for (const auto& [number, seed] : seeds)
      shown.push_back(seed);
    write_alike(pool.results, "seed", fmt::format("{}", fmt::join(shown, ", ")));
    pool.notes.push_back(fmt::format(
        "each is the median of {}{} seeds ({}){}; in brackets the least and the most",
        *counts.begin() == *counts.rbegin() ? "" : fmt::format("{} to ", *counts.begin()),
        *counts.rbegin(), shown.size() > most_named ? listed_briefly(shown) : and_listed(shown),
        several_runs ? ", throughput of all their runs" : ""));
  }
  if (const std::string note = note_of_caches(pool.results); !note.empty())
    pool.notes.push_back(note);
  return pool;
}

std::optional<SeedBand> band_of(const std::string& figure, const Result& result) {
  const Figure* row = find_figure(figure);
  if (row == nullptr || result.repetitions.size() < 2)
    return std::nullopt;
  const Numbers numbers = row->unit == Unit::samples_per_s ? runs_in(result.repetitions)
                                                           : numbers_in(*row, result.repetitions);
  const auto [least, most] = std::ranges::minmax(numbers);
  return least < most ? std::optional<SeedBand>({least, most}) : std::nullopt;
}

std::vector<SeedBand> curve_band(const Result& result, double CurvePoint::*column) {
  std::vector<SeedBand> bands;
  if (result.repetitions.size() < 2 || !result.learns())
    return bands;
  for (std::size_t i = 0; i < result.learned->curve.size(); ++i) {
    Numbers values = at_evaluation(result.repetitions, i, column);
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    const double middle = result.learned->curve[i].*column;
    const auto [least, most] = values.empty() ? std::ranges::minmax_result<double>{middle, middle}
                                              : std::ranges::minmax(values);
    bands.push_back({least, most});
  }
  return bands;
}

bool has_ranges(const Figure& figure, const Results& results) {
  return (figure.unit == Unit::samples_per_s || figure.has(Figure::if_learned)) &&
         std::ranges::any_of(results, [&](const Result& result) {
           return band_of(figure.name, result).has_value();
         });
}

std::string shown_with_range(const Figure& figure, const Result& result) {
  const std::string range = has_ranges(figure, {result}) ? range_of_seeds(figure, result) : "";
  return shown_in_table(figure, result) + (range.empty() ? "" : " (" + range + ")");
}

std::vector<std::vector<std::size_t>> places_of(const Results& pooled, const Results& cells) {
  static const Words said_of_all{"best-of", "best-of-seeds"};
  std::map<std::string, std::vector<std::size_t>> all;
  for (std::size_t i = 0; i < cells.size(); ++i)
    all[options_but(cells[i], said_of_all)].push_back(i);
  std::vector<std::vector<std::size_t>> places;
  for (const Result& result : pooled) {
    std::set<std::string> keys{options_but(result, said_of_all)};
    for (const Result& cell : result.repetitions)
      keys.insert(options_but(cell, said_of_all));
    std::set<std::size_t> own;
    for (const std::string& key : keys)
      if (const auto found = all.find(key); found != all.end())
        own.insert(found->second.begin(), found->second.end());
    places.emplace_back(own.begin(), own.end());
  }
  return places;
}

std::size_t seeds_of(const Result& result) {
  return std::max<std::size_t>(result.repetitions.size(), 1);
}

bool is_of_chance(const Result& result) {
  const auto above_zero = [&](const char* option) {
    return number_in(result.option(option)).value_or(0) > 0;
  };
  if (result.learns() || above_zero("jitter") || above_zero("server-jitter"))
    return true;
  // Software given by its name varies as it was measured.
  const std::string& software = result.option("server-overhead");
  return !software.empty() && software != "none" && !number_in(software) &&
         result.option("server-jitter").empty();
}

std::string medians_shown(const Result& result) {
  return fmt::format("medians of {} seeds", seeds_of(result));
}

std::string basis_of(const std::vector<const Result*>& competing, const std::string& figure,
                     bool (*before)(const Result&, const Result&)) {
  const Result& first = *competing.front();
  const auto once = [](const Result* result) {
    return is_of_chance(*result) && result->figures.runs == 1;
  };
  if (seeds_of(first) == 1)
    return std::ranges::any_of(competing, once) ? "one seed" : "";
  std::size_t shared = 0, won = 0;  // seeds that it shares with any other, and in which it is first
  for (const Result& own : first.repetitions) {
    bool is_shared = false, is_first = true;
    for (std::size_t i = 1; i < competing.size(); ++i)
      for (const Result& other : competing[i]->repetitions)
        if (seed_of(other) == seed_of(own)) {
          is_shared = true;
          is_first = is_first && !before(other, own);
        }
    shared += is_shared ? 1 : 0;
    won += is_shared && is_first ? 1 : 0;
  }
  const std::string range = range_of_seeds(*find_figure(figure), first);
  return fmt::format("median of {} seeds{}{}", seeds_of(first), range.empty() ? "" : ", " + range,
                     shared == 0 ? "" : fmt::format("; first in {} of {}", won, shared));
}

}  // namespace syncline
