#include "sim/study/ranking.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "sim/options/options.h"
#include "sim/report/figure_columns.h"
#include "sim/report/report.h"
#include "sim/report/runs.h"
#include "sim/report/shown.h"
#include "sim/study/learning_ranking.h"
#include "sim/study/study.h"

namespace syncline {
namespace {

using Results = std::vector<Result>;
using Words = std::vector<std::string>;

// Cells that differ in it have contests of their own.
bool makes_contests(const std::string& option) {
  return role_of(option) != Role::choice;
}

// Not even where nothing else differs does it compete.
bool never_competes(const std::string& option) {
  return makes_contests(option) && role_of(option) != Role::question;
}

constexpr double rounding = 1e-9;

double half_width_of(const Figures& figures) {
  const double halves = std::abs(figures.halves_differ);
  const double interval = figures.throughput_interval.value_or(halves);
  const double part = is_unsteady(figures) ? std::max(interval, halves / 2) : interval;
  return std::max(part, rounding) * figures.throughput_samples_per_s;
}

double error_of_fidelity(const Result& result) {
  if (result.provenance.fidelity != "flow")
    return 0;
  const std::vector<std::string>& warnings = result.figures.warnings;
  return std::ranges::find(warnings, doubt_of_flows) == warnings.end() ? error_of_flows
                                                                       : error_of_doubted_flows;
}

// What was simulated as flows is known by so much less, unless all that competes was simulated
// alike.
void widen_flows(const Results& results, Contest& contest) {
  std::set<double> errors;
  for (const RankedCell& cell : contest.cells)
    errors.insert(error_of_fidelity(results[cell.result]));
  if (errors.size() == 1)
    return;
  for (RankedCell& cell : contest.cells)
    cell.half_width += error_of_fidelity(results[cell.result]) * cell.samples_per_s;
}

bool has(const Words& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

std::string setting_shown(const std::pair<std::string, std::string>& setting) {
  const auto& [option, value] = setting;
  return option == "workers" ? value + (value == "1" ? " worker" : " workers")
                             : option + " " + value;
}

// "bsp over ring with topk, density 0.01", of the options that differ.
std::string choice_shown(const Result& result, const Words& told) {
  const auto part = [&](const char* option) {
    return has(told, option) ? result.option(option) : std::string();
  };
  std::string text = part("name");
  const std::string exchange = part("exchange");
  const std::string compressor = part("compressor");
  if (text.empty())
    text = part("schedule");
  if (text.empty() && !compressor.empty())
    text = compressor == "none" ? "no compressor" : compressor;
  else if (!compressor.empty())
    text += compressor == "none" ? " uncompressed" : " with " + compressor;
  if (!exchange.empty())
    text += (text.empty() ? "" : " over ") + exchange;
  for (const std::string& option : told)
    if (option != "name" && option != "schedule" && option != "exchange" &&
        option != "compressor" && !result.option(option).empty())
      text += (text.empty() ? "" : ", ") + setting_shown({option, result.setting(option)});
  return text;
}

// Of the options that differ, those that tell the cells apart; schedule, exchange and compressor
// always.
Words told_of(const Results& results, const Words& differing) {
  std::vector<std::string> seen(results.size());
  const auto different = [&] { return std::set<std::string>(seen.begin(), seen.end()).size(); };
  const auto add = [&](const std::string& option) {
    for (std::size_t i = 0; i < results.size(); ++i)
      seen[i] += "\n" + results[i].setting(option);
  };
  Words told;
  for (const std::string option : {"name", "schedule", "exchange", "compressor"})
    if (has(differing, option) && (told.empty() || told.front() != "name")) {
      told.push_back(option);
      add(option);
    }
  for (const std::string& option : differing) {
    const std::size_t before = different();
    const std::vector<std::string> kept = seen;
    if (has(told, option))
      continue;
    add(option);
    if (different() > before)
      told.push_back(option);
    else
      seen = kept;
  }
  return told;
}

// Whether cells of one name have one value of it: then it belongs to the name.
bool follows_name(const Results& results, const std::string& option) {
  std::map<std::string, std::string> of_name;
  return std::ranges::all_of(results, [&](const Result& result) {
    const std::string value = result.setting(option);
    return of_name.emplace(result.option("name"), value).first->second == value;
  });
}

bool faster(const RankedCell& a, const RankedCell& b) {
  return a.samples_per_s > b.samples_per_s;
}

std::vector<Contest> contests_of(const Results& results, const Words& settings, const Words& told) {
  std::vector<Contest> contests;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Figures& figures = results[i].figures;
    std::vector<std::pair<std::string, std::string>> setting;
    for (const std::string& option : settings)
      setting.emplace_back(option, results[i].setting(option));
    auto contest = std::ranges::find(contests, setting, &Contest::setting);
    if (contest == contests.end())
      contest = contests.insert(contest,
                                {.setting = setting, .workers = figures.worker_count, .cells = {}});
    contest->cells.push_back({.result = i,
                              .choice = choice_shown(results[i], told),
                              .samples_per_s = figures.throughput_samples_per_s,
                              .half_width = half_width_of(figures),
                              .epoch_s = figures.epoch_s,
                              .epoch_cost = figures.epoch_cost});
  }
  for (Contest& contest : contests) {
    std::ranges::stable_sort(contest.cells, faster);
    widen_flows(results, contest);
    const RankedCell& first = contest.cells.front();
    contest.tied = static_cast<std::size_t>(
        std::ranges::find_if(contest.cells,
                             [&](const RankedCell& cell) {
                               return cell.samples_per_s + cell.half_width <
                                      first.samples_per_s - first.half_width;
                             }) -
        contest.cells.begin());
  }
  return contests;
}

std::string times(double ratio) {
  return ratio < 1.095 ? format("%.2g %% ahead of", 100 * (ratio - 1))
                       : format(ratio < 9.95 ? "%.2g x" : "%.0f x", ratio);
}

Words choices_of(const Contest& contest, std::size_t count) {
  Words choices;
  for (std::size_t i = 0; i < count; ++i)
    choices.push_back(contest.cells[i].choice);
  return choices;
}

// "..., with gradients 31 updates old": what samples/s do not show.
std::string stale_note(const Results& results, const RankedCell& cell) {
  const double stale = results[cell.result].figures.staleness_mean;
  return stale < 0.5 ? "" : format(" (its gradients miss %.3g others)", stale);
}

// "..., the mean of 5 runs".
std::string runs_note(const Results& results, const RankedCell& cell) {
  const std::int64_t runs = results[cell.result].figures.runs;
  return runs == 1 ? "" : " (the mean of " + runs_shown(runs) + ")";
}

// Of those that tie: "1,007 to 998.9".
std::string range_shown(const Contest& contest) {
  const std::string most = count_shown(contest.cells.front().samples_per_s);
  const std::string least = count_shown(contest.cells[contest.tied - 1].samples_per_s);
  return most == least ? most : most + " to " + least;
}

// "bsp over ring is the fastest: 1,234 samples/s, 1.8 x the next, asp over ps".
std::string won(const Results& results, const Contest& contest) {
  const RankedCell& first = contest.cells.front();
  std::string text;
  if (contest.cells.size() == 1)
    return first.choice + " is alone: " + count_shown(first.samples_per_s) + " samples/s";
  if (contest.tied == 1)
    text = first.choice + " is the fastest: " + count_shown(first.samples_per_s) + " samples/s" +
           runs_note(results, first) + stale_note(results, first);
  else
    text = few(choices_of(contest, contest.tied)) + " tie at " + range_shown(contest) +
           " samples/s, within their intervals";
  if (contest.tied == contest.cells.size())
    return text;
  const RankedCell& next = contest.cells[contest.tied];
  return text + ", " + times(first.samples_per_s / next.samples_per_s) + " the next, " +
         next.choice + " (" + count_shown(next.samples_per_s) + ")";
}

std::string setting_shown(const Contest& contest) {
  Words words;
  for (const auto& setting : contest.setting)
    words.push_back(setting_shown(setting));
  return and_listed(words);
}

// Who wins in how many contests, where they differ in more than their workers.
Words wins(const Results& results, const std::vector<Contest>& contests, const Words& settings) {
  std::vector<std::pair<std::string, int>> won_by;
  int ties = 0;
  const Contest* clearest = nullptr;
  double lead = 0;
  for (const Contest& contest : contests) {
    if (contest.tied > 1) {
      ++ties;
      continue;
    }
    const std::string& choice = contest.cells.front().choice;
    auto found = std::ranges::find(won_by, choice, &std::pair<std::string, int>::first);
    if (found == won_by.end())
      found = won_by.insert(found, {choice, 0});
    ++found->second;
    if (contest.cells.size() > 1)
      if (const double own = contest.cells[0].samples_per_s / contest.cells[1].samples_per_s;
          own > lead) {
        lead = own;
        clearest = &contest;
      }
  }
  std::ranges::stable_sort(won_by,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  Words parts;
  for (const auto& [choice, count] : won_by)
    parts.push_back(choice + " in " + std::to_string(count));
  std::string first =
      "Of " + std::to_string(contests.size()) + " combinations of " + and_listed(settings) + ", ";
  first +=
      won_by.empty()
          ? "none has a winner, all are ties."
          : "the fastest is " + few(parts) +
                (ties > 0 ? "; " + std::to_string(ties) + (ties == 1 ? " is a tie." : " are ties.")
                          : ".");
  if (clearest == nullptr)
    return {first};
  return {first, "The largest lead is at " + setting_shown(*clearest) + ": " +
                     won(results, *clearest) + "."};
}

// The winner with the most workers, and where it is another with fewer.
Words wins_by_workers(const Results& results, const std::vector<Contest>& contests) {
  std::vector<const Contest*> order;
  for (const Contest& contest : contests)
    order.push_back(&contest);
  std::ranges::stable_sort(order, [](auto* a, auto* b) { return a->workers > b->workers; });
  Words sentences{"At " + setting_shown(*order.front()) + " " + won(results, *order.front()) + "."};
  std::vector<std::pair<std::string, Words>> at;  // winners, and where
  for (auto contest = order.begin() + 1; contest != order.end(); ++contest) {
    const Words tied = choices_of(**contest, (*contest)->tied);
    const std::string who = (tied.size() > 1 ? "a tie of " : "") + few(tied);
    auto found = std::ranges::find(at, who, &std::pair<std::string, Words>::first);
    if (found == at.end())
      found = at.insert(found, {who, {}});
    found->second.push_back(std::to_string((*contest)->workers));
  }
  Words parts;
  for (const auto& [who, where] : at)
    parts.push_back(who + " at " + and_listed(where));
  if (parts.size() > 4) {
    parts.resize(4);
    parts.emplace_back("others");
  }
  std::string text;
  for (const std::string& part : parts)
    text += (text.empty() ? "" : "; ") + part;
  sentences.push_back("With fewer workers: " + text + ".");
  return sentences;
}

// Where only the number of workers differs.
std::string scaled(const Results& results, const Contest& contest) {
  const RankedCell& first = contest.cells.front();
  const RankedCell& last = contest.cells.back();
  const double efficiency = results[first.result].figures.scaling_efficiency;
  return first.choice + ": " + count_shown(first.samples_per_s) + " samples/s, " +
         times(first.samples_per_s / last.samples_per_s) + " " + last.choice +
         format(", at a scaling efficiency of %.0f %%.", 100 * efficiency);
}

// What an epoch takes where it is fastest and costs where it is cheapest; empty without a price and
// a size.
std::string epoch_sentence(const Results& results, const Ranking& ranking) {
  const RankedCell& fastest = ranking.cells.front();
  const auto sized = number_of(results[fastest.result].option("epoch-samples"));
  if (!sized && !fastest.epoch_cost)
    return {};
  const auto whom = [&](const RankedCell& cell) {
    const Contest& contest = *std::ranges::find_if(ranking.contests, [&](const Contest& one) {
      return std::ranges::any_of(
          one.cells, [&](const RankedCell& other) { return other.result == cell.result; });
    });
    const std::string where = setting_shown(contest);
    return where.empty() ? cell.choice : where + (cell.choice.empty() ? "" : ", " + cell.choice);
  };
  std::string text = (!sized ? "A million samples take "
                             : "An epoch of " + count_shown(*sized) + " samples takes ") +
                     duration_shown(fastest.epoch_s) + " at the fastest (" + whom(fastest) + ")";
  if (!fastest.epoch_cost)
    return text + ".";
  text += (!sized ? " and cost " : " and costs ") + cost_shown(*fastest.epoch_cost);
  const auto priced = [](const RankedCell& cell) { return cell.epoch_cost.value_or(HUGE_VAL); };
  const RankedCell& cheapest = *std::ranges::min_element(ranking.cells, {}, priced);
  const double least = priced(cheapest) * (1 + cheapest.half_width / cheapest.samples_per_s);
  if (*fastest.epoch_cost * (1 - fastest.half_width / fastest.samples_per_s) <= least)
    return text + ", and nothing is cheaper.";
  return text + "; the cheapest is " + whom(cheapest) + ": " + cost_shown(priced(cheapest)) +
         " in " + duration_shown(cheapest.epoch_s) + ".";
}

Ranking ranked_by_throughput(const Results& results) {
  Ranking ranking;
  Words differing = differing_options(results);
  Words settings;
  for (const std::string& option : differing)
    if (makes_contests(option) && (role_of(option) == Role::lesson || !has(differing, "name") ||
                                   !follows_name(results, option)))
      settings.push_back(option);
  const auto all_differ = [&] {
    return ranking.contests.size() == results.size() && results.size() > 1;
  };
  const Words all_settings = settings;
  const auto contest_over = [&](const Words& chosen) {
    Words choices;
    for (const std::string& option : differing)
      if (!has(chosen, option))
        choices.push_back(option);
    ranking.contests = contests_of(results, chosen, told_of(results, choices));
  };
  contest_over(settings);
  if (all_differ()) {  // nothing is chosen: then what is asked about competes, if it can
    std::erase_if(settings, std::not_fn(never_competes));
    contest_over(settings);
  }
  for (const Contest& contest : ranking.contests)
    ranking.cells.insert(ranking.cells.end(), contest.cells.begin(), contest.cells.end());
  std::ranges::stable_sort(ranking.cells, faster);
  if (results.size() < 2 || all_differ())
    return ranking;

  if (ranking.contests.size() == 1 && differing == Words{"workers"})
    ranking.sentences = {scaled(results, ranking.contests.front())};
  else if (ranking.contests.size() == 1)
    ranking.sentences = {won(results, ranking.contests.front()) + "."};
  else if (settings == Words{"workers"})
    ranking.sentences = wins_by_workers(results, ranking.contests);
  else
    ranking.sentences = wins(results, ranking.contests, settings);
  const bool one_model = !has(all_settings, "model") && !has(all_settings, "epoch-samples");
  if (const std::string epoch = epoch_sentence(results, ranking); one_model && !epoch.empty())
    ranking.sentences.push_back(epoch);
  return ranking;
}

}  // namespace

Ranking rank(const Results& results) {
  return with_learning(results, ranked_by_throughput);
}

}  // namespace syncline
