#include "sim/study/ranking.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "sim/options/options.h"
#include "sim/report/report.h"
#include "sim/study/lists.h"
#include "sim/study/ranking_sentences.h"
#include "sim/study/study.h"

namespace syncline {
namespace {

using Places = std::vector<std::size_t>;  // of results

// Whether cells that differ in the option have contests of their own.
bool makes_contests(const std::string& option) {
  return role_of(option) != Role::choice;
}

// Whether cells that differ in the option never compete, even if nothing else differs.
bool never_competes(const std::string& option) {
  return makes_contests(option) && role_of(option) != Role::question &&
         role_of(option) != Role::purchase;
}

double half_width_of(const Figures& figures) {
  const double halves = std::abs(figures.halves_differ);
  const double interval = figures.throughput_interval.value_or(halves);
  return std::max(interval, smallest_lead / 2) * figures.throughput_samples_per_s;
}

double error_of_fidelity(const Result& result) {
  if (result.provenance.fidelity != "flow")
    return 0;
  return std::ranges::find(result.figures.warnings, WarningKind::doubted_flows, &Warning::kind) !=
                 result.figures.warnings.end()
             ? error_of_doubted_flows
             : error_of_flows;
}

// Widens the intervals of flows by their error, unless all competing cells were simulated alike.
void widen_flows(const Results& results, CompetingCells& contest) {
  std::set<double> errors;
  for (const RankedCell& cell : contest.cells)
    errors.insert(error_of_fidelity(results[cell.result]));
  if (errors.size() == 1)
    return;
  for (RankedCell& cell : contest.cells)
    cell.half_width += error_of_fidelity(results[cell.result]) * cell.samples_per_s;
}

// "bsp over ring with topk, density 0.01", from the options in `told`.
std::string choice_shown(const Result& result, const Words& told) {
  const auto part = [&](const char* option) {
    return is_among(option, told) ? result.option(option) : std::string();
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

// The options that tell the cells apart, among those that differ; if these include schedule,
// exchange, compressor and framework, always these.
Words told_of(const Results& results, const Places& places, const Words& differing) {
  Words seen(places.size());
  const auto with = [&](const std::string& option) {
    Words more = seen;
    for (std::size_t i = 0; i < places.size(); ++i)
      more[i].append("\n").append(results[places[i]].setting(option));
    return more;
  };
  const auto different = [](const Words& keys) {
    return std::set<std::string>(keys.begin(), keys.end()).size();
  };
  Words told;
  for (const std::string option : {"name", "schedule", "exchange", "compressor", "framework"})
    if (is_among(option, differing) && (told.empty() || told.front() != "name")) {
      told.push_back(option);
      seen = with(option);
    }
  for (const std::string& option : differing)
    if (auto more = with(option); !is_among(option, told) && different(more) > different(seen)) {
      told.push_back(option);
      seen = std::move(more);
    }
  return told;
}

// Whether cells that agree in `others` have one value of `option`, which then follows from them.
bool follows(const Results& results, const Places& places, const std::string& option,
             const Words& others) {
  std::map<std::string, std::string> value_of;
  return std::ranges::all_of(places, [&](std::size_t i) {
    std::string alike;
    for (const std::string& other : others)
      alike += results[i].setting(other) + "\n";
    const std::string value = results[i].setting(option);
    return value_of.emplace(alike, value).first->second == value;
  });
}

// Whether the option is a worker's part of a global batch, which nobody has chosen.
bool is_share_of_global_batch(const Results& results, const Places& places,
                              const std::string& option) {
  return (option == "batch" || option == "accumulation") &&
         std::ranges::none_of(
             places, [&](std::size_t i) { return results[i].option("global-batch").empty(); }) &&
         follows(results, places, option, {"workers", "global-batch"});
}

bool ranks_before(const RankedCell& a, const RankedCell& b) {
  return std::tuple(!a.is_candidate, !a.fits, -a.samples_per_s) <
         std::tuple(!b.is_candidate, !b.fits, -b.samples_per_s);
}

std::size_t tied_in(const CompetingCells& contest) {
  const RankedCell& first = contest.cells.front();
  if (contest.cells.size() == 1)
    return first.fits ? 1 : 0;
  const auto behind = std::ranges::find_if(contest.cells, [&](const RankedCell& cell) {
    return !cell.is_candidate || !ties(cell, first);
  });
  return static_cast<std::size_t>(behind - contest.cells.begin());
}

std::vector<CompetingCells> contests_of(const Results& results, const Places& places,
                                        const Words& settings, const Words& told) {
  std::vector<CompetingCells> contests;
  for (const std::size_t i : places) {
    const Figures& figures = results[i].figures;
    std::vector<std::pair<std::string, std::string>> setting;
    for (const std::string& option : settings)
      setting.emplace_back(option, results[i].setting(option));
    CompetingCells& contest = found_or_added(contests, setting, &CompetingCells::setting);
    contest.workers = contest.cells.empty() ? figures.worker_count : contest.workers;
    contest.cells.push_back({.result = i,
                             .choice = choice_shown(results[i], told),
                             .samples_per_s = figures.throughput_samples_per_s,
                             .half_width = half_width_of(figures),
                             .epoch_s = figures.epoch_s,
                             .epoch_cost = figures.epoch_cost,
                             .fits = figures.fits_memory(),
                             .is_candidate = can_win(figures)});
  }
  for (CompetingCells& contest : contests) {
    std::ranges::stable_sort(contest.cells, ranks_before);
    widen_flows(results, contest);
    contest.tied = tied_in(contest);
    contest.cells.front().level_with = std::max<std::size_t>(contest.tied, 1) - 1;
  }
  return contests;
}

// Ranks the results at these places.
Ranking ranked_by_throughput(const Results& results, const Places& places) {
  Ranking ranking;
  Words differing = differing_options(results, places);
  std::erase_if(differing, [&](const std::string& option) {
    return is_share_of_global_batch(results, places, option);
  });
  Words settings;
  for (const std::string& option : differing)
    if (makes_contests(option) &&
        (role_of(option) == Role::lesson || !is_among("name", differing) ||
         !follows(results, places, option, {"name"})))
      settings.push_back(option);
  const auto all_differ = [&] {
    return ranking.contests.size() == places.size() && places.size() > 1;
  };
  const bool one_model = !is_among("model", settings) && !is_among("epoch-samples", settings);
  const auto contest_over = [&](const Words& chosen) {
    Words choices;
    for (const std::string& option : differing)
      if (!is_among(option, chosen))
        choices.push_back(option);
    ranking.contests = contests_of(results, places, chosen, told_of(results, places, choices));
  };
  contest_over(settings);
  if (all_differ()) {  // no choice differs: then purchases compete, wherever they are asked about
    std::erase_if(settings,
                  [](const std::string& option) { return role_of(option) == Role::purchase; });
    contest_over(settings);
  }
  if (all_differ()) {  // then questions compete, if they can
    std::erase_if(settings, std::not_fn(never_competes));
    contest_over(settings);
  }
  for (const CompetingCells& contest : ranking.contests)
    ranking.cells.insert(ranking.cells.end(), contest.cells.begin(), contest.cells.end());
  std::ranges::stable_sort(ranking.cells, ranks_before);
  if (places.size() < 2 || all_differ())
    return ranking;

  ranking.sentences = sentences_of(results, ranking.contests, settings, differing);
  if (const auto purchase = std::ranges::find(settings, Role::purchase, role_of);
      purchase != settings.end() && std::ranges::none_of(settings, never_competes))
    ranking.sentences.insert(ranking.sentences.begin(),
                             each_by_its_best(ranking.contests, *purchase));
  if (const std::string epoch = epoch_sentence(results, ranking); one_model && !epoch.empty())
    ranking.sentences.push_back(epoch);
  return ranking;
}

}  // namespace

bool may_be_as_fast(const RankedCell& slower, const RankedCell& faster) {
  return slower.samples_per_s + slower.half_width >= faster.samples_per_s - faster.half_width;
}

bool ties(const RankedCell& slower, const RankedCell& faster) {
  return may_be_as_fast(slower, faster) &&
         slower.samples_per_s >= (1 - near_numbers) * faster.samples_per_s;
}

Ranking rank(const Results& results, const std::string& without) {
  Ranking ranking = std::ranges::any_of(results, &Result::learns)
                        ? with_learning(results, ranked_by_throughput)
                        : ranked_by_throughput(results, all_places(results));
  if (without.empty())
    return ranking;
  if (ranking.sentences.empty())
    ranking.sentences.push_back("Without " + without + ".");
  else
    ranking.sentences.front().insert(0, "Without " + without + ": ");
  return ranking;
}

}  // namespace syncline
