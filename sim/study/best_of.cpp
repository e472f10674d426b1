#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "kernels/io/text.h"
#include "sim/report/learning.h"
#include "sim/report/readable.h"
#include "sim/report/report.h"
#include "sim/study/comparison.h"
#include "sim/study/ordered_lists.h"
#include "sim/study/pooled.h"

namespace syncline {
namespace {

// The options that best-of names.
Words tuned_in(const Result& cell) {
  const std::string& options = cell.option("best-of");
  return options.empty() ? Words() : split(options, ',');
}

// The seeds in best-of-seeds, which a sweep writes as "seeds 5, 1".
std::set<double> choosing_seeds(const Result& cell) {
  std::set<double> seeds;
  const std::string& written = cell.option("best-of-seeds");
  if (!cell.option("best-of").empty())
    for (const std::string& seed : split(written.substr(written.find(' ') + 1), ','))
      if (const auto number = number_in(seed))
        seeds.insert(*number);
  return seeds;
}

bool has_seed_of(const Result& cell, const std::set<double>& seeds) {
  return seeds.contains(number_in(cell.option("seed")).value_or(0));
}

// Options that only some cells have, with one value: they come with a value of another option, as
// chunk-bytes with exchange = ring, and nobody has chosen them.
Words options_that_come_with_others(const std::vector<Results>& cells) {
  std::map<std::string, std::vector<std::string>> values;
  for (const Results& cell : cells)
    for (const WrittenOption& option : cell.front().options)
      values[option.name].push_back(option.value);
  Words some;
  for (const auto& [option, written] : values)
    if (written.size() < cells.size() &&
        std::ranges::adjacent_find(written, std::not_equal_to<>()) == written.end())
      some.push_back(option);
  return some;
}

// A key that is equal for cells that compete for the same place; `apart` are options that do not
// count.
std::string kind_of(const Result& cell, Words apart) {
  std::ranges::move(tuned_in(cell), std::back_inserter(apart));
  apart.emplace_back("seed");
  return options_but(cell, apart);
}

// The values of the tuned options, to sort by: numbers as numbers.
auto values_in(const Result& cell) {
  std::vector<std::pair<double, std::string>> values;
  for (const std::string& option : tuned_in(cell))
    values.emplace_back(number_in(cell.option(option)).value_or(0), cell.option(option));
  return values;
}

// The repetitions with these seeds, or with others if not `these`; if there are none, all.
Results with_seeds(const Results& all, const std::set<double>& seeds, bool these) {
  Results some;
  std::ranges::copy_if(all, std::back_inserter(some),
                       [&](const Result& cell) { return has_seed_of(cell, seeds) == these; });
  return some.empty() ? all : some;
}

// How a cell is chosen: "the first to reach accuracy 0.9".
std::string rule_of(const Result& cell) {
  if (const auto target = target_in(cell))
    return "the first to reach " + target->shown;
  return cell.learns() ? "that with the least loss at the end" : "the fastest";
}

std::string seeds_said(const std::set<double>& seeds) {
  Words words;
  for (const double seed : seeds)
    words.push_back(number_text(seed));
  return (seeds.size() == 1 ? "seed " : "seeds ") + listed_briefly(words);
}

// A note on all cells that were chosen by one rule.
struct Rule {
  std::string tuned;
  std::string text;
  std::size_t least = 0, most = 0;  // number of cells from which one was chosen
  std::size_t chosen = 0, at_end = 0;
  bool reports_others = true;  // there are seeds besides those that chose
  std::string held_out;        // the samples whose accuracy decided; empty: something else decided
};

std::string rule_note(const Rule& rule, const std::set<double>& seeds) {
  const std::string count = rule.least == rule.most
                                ? std::to_string(rule.most)
                                : fmt::format("{} to {}", rule.least, rule.most);
  const std::string end =
      rule.at_end == 0
          ? ""
          : fmt::format("; {} of {} are at an end of what was tried", rule.at_end, rule.chosen);
  const std::string samples =
      rule.held_out.empty()
          ? ""
          : fmt::format(
                "; the samples that choose also measure accuracy, held-out = {}: {}report the "
                "choice with held-out = test",
                rule.held_out,
                rule.held_out == "test" ? "choose with held-out = validation, and " : "");
  return fmt::format(
      "best-of = {}: of {} each has {} with {}, which {} {}{}{}", rule.tuned, count, rule.text,
      seeds_said(seeds), seeds.size() == 1 ? "is" : "are",
      rule.reports_others
          ? "not reported"
          : "also what is reported: on seeds that did not choose, it may do less well",
      end, samples);
}

// The cells that have one of the choosing seeds; all, if none has. A cell without such a seed does
// not compete with cells that have one.
std::vector<std::size_t> with_choice(const std::vector<Results>& cells,
                                     const std::vector<std::size_t>& places,
                                     const std::set<double>& choosing) {
  std::vector<std::size_t> some;
  std::ranges::copy_if(places, std::back_inserter(some), [&](std::size_t i) {
    return std::ranges::any_of(cells[i],
                               [&](const Result& cell) { return has_seed_of(cell, choosing); });
  });
  return some.empty() ? places : some;
}

// Whether a tuned option has the least or the greatest of three or more numbers: a wider range may
// have a better one.
bool is_at_end(const Result& chosen, const std::vector<Results>& cells,
               const std::vector<std::size_t>& places) {
  return std::ranges::any_of(tuned_in(chosen), [&](const std::string& option) {
    std::set<double> tried;
    for (const std::size_t i : places)
      if (const auto number = number_in(cells[i].front().option(option)))
        tried.insert(*number);
    const auto own = number_in(chosen.option(option));
    return own && tried.size() > 2 && (*own == *tried.begin() || *own == *tried.rbegin());
  });
}

}  // namespace

bool is_better(const Result& a, const Result& b) {
  if (a.learns() && b.learns())
    return learned_before(a, b);
  const auto place = [](const Result& result) {
    return std::tuple(!can_win(result.figures), -result.figures.throughput_samples_per_s);
  };
  return place(a) < place(b);
}

std::vector<Results> best_of(std::vector<Results> cells, Words& notes) {
  std::set<double> choosing;
  std::map<std::string, std::vector<std::size_t>> kinds;  // places of cells
  const Words come_along = options_that_come_with_others(cells);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    choosing.merge(choosing_seeds(cells[i].front()));
    kinds[kind_of(cells[i].front(), come_along)].push_back(i);
  }
  if (choosing.empty())
    return cells;
  std::vector<Rule> rules;
  std::set<std::size_t> kept;
  for (auto& [kind, places] : kinds) {
    std::ranges::sort(places, {}, [&](std::size_t i) { return values_in(cells[i].front()); });
    places = with_choice(cells, places, choosing);
    Results scores;
    for (const std::size_t i : places)
      scores.push_back(pool_of(with_seeds(cells[i], choosing, true)));
    const std::size_t best = places[static_cast<std::size_t>(
        std::ranges::min_element(scores, is_better) - scores.begin())];
    kept.insert(best);
    const Result& one = cells[best].front();
    if (const std::string& tuned = one.option("best-of"); !tuned.empty() && places.size() > 1) {
      const std::string text = rule_of(one);
      auto rule = std::ranges::find_if(
          rules, [&](const Rule& other) { return other.tuned == tuned && other.text == text; });
      if (rule == rules.end())
        rule = rules.insert(rule, {tuned, text, places.size(), places.size()});
      if (const auto target = target_in(one); target && target->figure == "accuracy")
        rule->held_out = one.option("held-out");
      rule->least = std::min(rule->least, places.size());
      rule->most = std::max(rule->most, places.size());
      ++rule->chosen;
      rule->at_end += is_at_end(one, cells, places) ? 1 : 0;
      rule->reports_others =
          rule->reports_others && !std::ranges::all_of(cells[best], [&](const Result& cell) {
            return has_seed_of(cell, choosing);
          });
    }
  }
  for (const Rule& rule : rules)
    notes.push_back(rule_note(rule, choosing));
  std::vector<Results> chosen;
  for (const std::size_t place : kept)
    chosen.push_back(with_seeds(cells[place], choosing, false));
  return chosen;
}

}  // namespace syncline
