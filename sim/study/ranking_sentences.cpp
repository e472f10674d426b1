#include "sim/study/ranking_sentences.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "kernels/io/text.h"
#include "sim/report/readable.h"
#include "sim/study/names.h"
#include "sim/study/ordered_lists.h"
#include "sim/study/pooled.h"

namespace syncline {
namespace {

std::string times(double ratio) {
  return ratio < 1.095  ? fmt::format("{:.2g} % ahead of", 100 * (ratio - 1))
         : ratio < 9.95 ? fmt::format("{:.2g} x", ratio)
                        : fmt::format("{:.0f} x", ratio);
}

Words choices_of(const CompetingCells& contest, std::size_t count) {
  Words choices;
  for (std::size_t i = 0; i < count; ++i)
    choices.push_back(contest.cells[i].choice);
  return choices;
}

// " (its gradients miss 31 others)": a disadvantage that samples/s do not show.
std::string stale_note(const Results& results, const RankedCell& cell) {
  const double stale = results[cell.result].figures.staleness_mean;
  return stale < 0.5 ? "" : fmt::format(" (its gradients miss {:.3g} others)", stale);
}

bool is_faster(const Result& a, const Result& b) {
  return a.figures.throughput_samples_per_s > b.figures.throughput_samples_per_s;
}

// The cells of a contest that can win.
std::vector<const Result*> candidates_in(const Results& results, const CompetingCells& contest) {
  std::vector<const Result*> candidates;
  for (std::size_t i = 0; i < contest.candidates(); ++i)
    candidates.push_back(&results[contest.cells[i].result]);
  return candidates;
}

// What the winner's throughput rests on: " (the mean of 5 runs)", or its seeds.
std::string basis_note(const Results& results, const CompetingCells& contest) {
  const Result& first = results[contest.cells.front().result];
  if (seeds_of(first) == 1 && first.figures.runs > 1)
    return " (the mean of " + counted(first.figures.runs, "run") + ")";
  return in_brackets(
      basis_of(candidates_in(results, contest), "throughput_samples_per_s", is_faster));
}

// The range of the cells that tie: "1,007 to 998.9".
std::string range_shown(const CompetingCells& contest) {
  const std::string most = count_shown(contest.cells.front().samples_per_s);
  const std::string least = count_shown(contest.cells[contest.tied - 1].samples_per_s);
  return most == least ? most : most + " to " + least;
}

// "bsp over ring is the fastest: 1,234 samples/s, 1.8 x the next, asp over ps"
std::string won(const Results& results, const CompetingCells& contest) {
  const RankedCell& first = contest.cells.front();
  const std::string left_out = left_out_note(results, contest);
  if (contest.cells.size() == 1 && contest.tied == 1)
    return first.choice + " is alone: " + count_shown(first.samples_per_s) + " samples/s";
  if (contest.tied == 0)
    return first.fits ? "none is known to be the fastest: " + left_out : left_out;
  std::string text;
  if (contest.tied == 1)
    text = first.choice + " is the fastest: " + count_shown(first.samples_per_s) + " samples/s" +
           basis_note(results, contest) + stale_note(results, first);
  else
    text = listed_briefly(choices_of(contest, contest.tied)) + " tie at " + range_shown(contest) +
           " samples/s, " +
           how_near(contest.cells[contest.tied - 1].samples_per_s, first.samples_per_s) +
           (seeds_of(results[first.result]) > 1 ? in_brackets(medians_shown(results[first.result]))
                                                : basis_note(results, contest));
  if (contest.tied < contest.candidates()) {
    const RankedCell& next = contest.cells[contest.tied];
    text += ", " + times(first.samples_per_s / next.samples_per_s) + " the next, " + next.choice +
            " (" + count_shown(next.samples_per_s) + ")" +
            (may_be_as_fast(next, first) ? ", but their intervals overlap" : "");
  }
  return text + (left_out.empty() ? "" : "; " + left_out);
}

// "; each of 3 seeds", or "; each of one seed".
std::string repeated_note(const Results& results, const std::vector<CompetingCells>& contests) {
  std::size_t seeds = 1;
  bool once = false;
  for (const CompetingCells& contest : contests)
    for (const RankedCell& cell : contest.cells) {
      const Result& result = results[cell.result];
      seeds = std::max(seeds, seeds_of(result));
      once = once || (is_of_chance(result) && result.figures.runs == 1);
    }
  return seeds > 1 ? fmt::format("; each of {} seeds", seeds) : once ? "; each of one seed" : "";
}

constexpr const char* all_level = "all";

// The names of the cells that tie for first place.
std::string level_in(const CompetingCells& contest) {
  if (contest.tied == contest.cells.size() && contest.tied > 2)
    return all_level;
  Words names = choices_of(contest, contest.tied);
  std::ranges::sort(names);
  return and_listed(names);
}

// "with both values of jitter", "in all 6 combinations of jitter and bandwidth-factor"
std::string everywhere(std::size_t contests, const Words& settings) {
  const std::string all = contests == 2 ? "both" : fmt::format("all {}", contests);
  return settings.size() == 1 ? "with " + all + " values of " + settings.front()
                              : "in " + all + " combinations of " + and_listed(settings);
}

// Says which choice wins in how many contests, if these differ in more than their workers.
Words wins(const Results& results, const std::vector<CompetingCells>& contests,
           const Words& settings) {
  Words winners, level;  // names of winners, and of those that tie for first place
  std::size_t hindered = 0;
  WhyNoWinner obstacles;
  const CompetingCells* clearest = nullptr;
  double lead = 0;
  for (const CompetingCells& contest : contests) {
    const std::vector<RankedCell>& cells = contest.cells;
    hindered += contest.candidates() < cells.size() ? 1 : 0;
    obstacles.add(contest);
    if (contest.tied > 1)
      level.push_back(level_in(contest));
    if (contest.tied != 1)
      continue;
    winners.push_back(cells.front().choice);
    const double by =
        contest.candidates() > 1 ? cells[0].samples_per_s / cells[1].samples_per_s : 0;
    if (by > lead) {
      lead = by;
      clearest = &contest;
    }
  }
  const bool one_wins = winners.size() == contests.size() && times_each(winners).size() == 1;
  const std::string first =
      (one_wins
           ? winners[0] + " is the fastest " + everywhere(contests.size(), settings)
           : fmt::format("Of {} combinations of {}, ", contests.size(), and_listed(settings))) +
      (one_wins           ? ""
       : !winners.empty() ? "the fastest is " + listed_briefly(times_each(winners))
       : hindered > 0     ? "none has a winner"
       : std::ranges::all_of(level, [](const std::string& names) { return names == all_level; })
           ? "none has a winner, all are ties"
           : "none has one winner; ties for first place: " + listed_briefly(times_each(level))) +
      ((winners.empty() && hindered == 0) || level.empty()
           ? ""
           : "; ties for first place: " + listed_briefly(times_each(level))) +
      (hindered == 0 ? "" : fmt::format("; in {} not all {}", hindered, obstacles.words())) +
      repeated_note(results, contests) + ".";
  if (clearest == nullptr)
    return {first};
  return {first, "The largest lead is at " + settings_shown(*clearest) + ": " +
                     won(results, *clearest) + "."};
}

// Names the winner with the most workers, and the winners with fewer.
Words wins_by_workers(const Results& results, const std::vector<CompetingCells>& contests) {
  std::vector<const CompetingCells*> order;
  for (const CompetingCells& contest : contests)
    order.push_back(&contest);
  std::ranges::stable_sort(order, [](auto* a, auto* b) { return a->workers > b->workers; });
  Words sentences{"At " + settings_shown(*order.front()) + " " + won(results, *order.front()) +
                  "."};
  std::vector<std::pair<std::string, Words>> at;  // winners, and with how many workers they win
  for (auto contest = order.begin() + 1; contest != order.end(); ++contest) {
    const Words tied = choices_of(**contest, (*contest)->tied);
    WhyNoWinner obstacles;
    obstacles.add(**contest);
    const std::string who =
        (tied.empty() ? "none" : (tied.size() > 1 ? "a tie of " : "") + listed_briefly(tied)) +
        (obstacles.any() ? " among cells that " + obstacles.words() : "");
    found_or_added(at, who, &std::pair<std::string, Words>::first)
        .second.push_back(std::to_string((*contest)->workers));
  }
  Words parts;
  for (const auto& [who, where] : at)
    parts.push_back(who + " at " + and_listed(where));
  sentences.push_back(fmt::format("With fewer workers: {}.", fmt::join(with_others(parts), "; ")));
  return sentences;
}

// Says how a choice scales, if only the number of workers differs.
std::string scaled(const Results& results, const CompetingCells& contest) {
  const std::string left_out = left_out_note(results, contest);
  if (contest.candidates() == 0)
    return won(results, contest) + ".";
  const RankedCell& first = contest.cells.front();
  const RankedCell& last = contest.cells[contest.candidates() - 1];
  const Figures& figures = results[first.result].figures;
  return first.choice + ": " + count_shown(first.samples_per_s) + " samples/s" +
         (contest.candidates() == 1
              ? ""
              : ", " + times(first.samples_per_s / last.samples_per_s) + " " + last.choice) +
         fmt::format(", at a scaling efficiency of {}{}{}{}.", percent(figures.scaling_efficiency),
                     figures.recomputed > 0 ? fmt::format(" ({} of the time computes again)",
                                                          percent(figures.recomputed))
                                            : "",
                     left_out.empty() ? "" : "; ", left_out);
}

// Says which value of an option that tells contests apart has the fastest cell, with the best cell
// of each value.
std::string each_by_its_best(const std::vector<CompetingCells>& contests,
                             const std::string& option) {
  struct Best {
    std::string value;
    RankedCell cell;
    std::string of;  // the other settings, and the choice
    std::int64_t workers = 0;

    double rate_of_worker() const { return cell.samples_per_s / static_cast<double>(workers); }
  };
  std::vector<Best> bests;
  Words without;  // values with which no cell can win
  WhyNoWinner obstacles;
  for (const CompetingCells& contest : contests) {
    obstacles.add(contest);
    const RankedCell& cell = contest.cells.front();
    Words others;
    std::string value;
    for (const auto& setting : contest.setting)
      if (setting.first == option)
        value = setting.second;
      else
        others.push_back(setting_shown(setting.first, setting.second));
    if (!cell.is_candidate) {
      found_or_added(without, value);
      continue;
    }
    if (!cell.choice.empty())
      others.push_back(cell.choice);
    Best& best = found_or_added(bests, value, &Best::value);
    if (cell.samples_per_s > best.cell.samples_per_s)
      best = {value, cell, fmt::format("{}", fmt::join(others, ", ")), contest.workers};
  }
  std::erase_if(without, [&](const std::string& value) {
    return std::ranges::count(bests, value, &Best::value) > 0;
  });
  std::ranges::stable_sort(bests, std::greater(),
                           [](const Best& best) { return best.cell.samples_per_s; });
  const auto shown = [&](const Best& best) {
    return count_shown(best.cell.samples_per_s) + " samples/s" + in_brackets(best.of);
  };
  if (bests.size() < 2)
    return fmt::format("No two values of {} {}.", option, obstacles.words());
  const std::string left_out = without.empty()
                                   ? ""
                                   : fmt::format("; nothing {} with {} {}", obstacles.words(false),
                                                 option, listed_briefly(without));
  const Best &first = bests[0], &next = bests[1];
  if (ties(next.cell, first.cell))
    return fmt::format("Each by its best, {} {} and {} tie: {} and {}{}.", option, first.value,
                       next.value, shown(first), shown(next), left_out);
  return fmt::format(
      "Each by its best, {} {} is the fastest: {}, {} the next, {}: {}; a sample costs the same on "
      "both if an hour of the first's worker costs {:.3g} times the other's{}.",
      option, first.value, shown(first), times(first.cell.samples_per_s / next.cell.samples_per_s),
      next.value, shown(next), first.rate_of_worker() / next.rate_of_worker(), left_out);
}

// Sellers and dates of the devices' prices; empty if the price is the user's.
std::string prices_of(const Results& results, const Ranking& ranking) {
  std::set<std::string> prices;
  for (const RankedCell& cell : ranking.cells)
    for (const std::string& price : split(results[cell.result].provenance.price, ';'))
      if (!price.empty())
        prices.insert(price);
  return prices.empty() ? "" : fmt::format(" Prices: {}.", fmt::join(prices, "; "));
}

// Says what an epoch takes in the fastest cell and costs in the cheapest; empty without a price and
// a size.
std::string epoch_sentence(const Results& results, const Ranking& ranking) {
  const RankedCell& fastest = ranking.cells.front();  // a candidate, if there is one
  if (!fastest.is_candidate)
    return {};
  const auto sized = finite_number_in(results[fastest.result].option("epoch-samples"));
  if (!sized && !fastest.epoch_cost)
    return {};
  const auto whom = [&](const RankedCell& cell) {
    const CompetingCells& contest =
        *std::ranges::find_if(ranking.contests, [&](const CompetingCells& one) {
          return std::ranges::any_of(
              one.cells, [&](const RankedCell& other) { return other.result == cell.result; });
        });
    const std::string where = settings_shown(contest);
    return where.empty() ? cell.choice : where + (cell.choice.empty() ? "" : ", " + cell.choice);
  };
  const std::string amount = sized ? "epoch of " + count_shown(*sized) : "million";
  const std::string text =
      fmt::format("A{} {} samples take{} {} at the fastest ({})", sized ? "n" : "", amount,
                  sized ? "s" : "", duration_shown(fastest.epoch_s), whom(fastest));
  if (!fastest.epoch_cost)
    return text + ".";
  const auto priced = [](const RankedCell& cell) {
    return cell.is_candidate ? cell.epoch_cost.value_or(HUGE_VAL) : HUGE_VAL;
  };
  const std::string cost = cost_shown(*fastest.epoch_cost);
  const RankedCell& cheapest = *std::ranges::min_element(ranking.cells, {}, priced);
  if (*fastest.epoch_cost <= priced(cheapest) * (1 + smallest_lead))
    return fmt::format("The fastest ({}) is also the cheapest: {} per {} samples, in {}.{}",
                       whom(fastest), cost, amount, duration_shown(fastest.epoch_s),
                       prices_of(results, ranking));
  const bool by_chance = *fastest.epoch_cost * (1 - fastest.uncertainty()) <=
                         priced(cheapest) * (1 + cheapest.uncertainty());
  return fmt::format("{} and cost{} {}; the cheapest is {}: {} in {}{}.{}", text, sized ? "s" : "",
                     cost, whom(cheapest), cost_shown(priced(cheapest)),
                     duration_shown(cheapest.epoch_s), by_chance ? ", which may be chance" : "",
                     prices_of(results, ranking));
}

}  // namespace

Words sentences_of(const Results& results, const Ranking& ranking, const Contests& contests) {
  const std::vector<CompetingCells>& ranked = ranking.contests;
  const Words& settings = contests.settings;
  if (contests.none_competes)
    return {};
  Words sentences;
  if (ranked.size() == 1)
    sentences = {contests.differing == Words{"workers"} ? scaled(results, ranked.front())
                                                        : won(results, ranked.front()) + "."};
  else if (settings == Words{"price"})  // which does not change speed
    sentences = {"With every price " + won(results, ranked.front()) + "."};
  else
    sentences = settings == Words{"workers"} ? wins_by_workers(results, ranked)
                                             : wins(results, ranked, settings);
  if (!contests.purchase.empty())
    sentences.insert(sentences.begin(), each_by_its_best(ranked, contests.purchase));
  if (!is_among("model", settings) && !is_among("epoch-samples", settings))
    if (const std::string epoch = epoch_sentence(results, ranking); !epoch.empty())
      sentences.push_back(epoch);
  return sentences;
}

std::string settings_shown(const CompetingCells& contest) {
  Words words;
  for (const auto& [option, value] : contest.setting)
    words.push_back(setting_shown(option, value));
  return and_listed(words);
}

std::string how_near(double less, double more) {
  return more <= less * (1 + smallest_lead) ? "less than 0.5 % apart" : "within their intervals";
}

std::string in_brackets(const std::string& text) {
  return text.empty() ? "" : " (" + text + ")";
}

Words times_each(const Words& names) {
  Words parts;
  for (const auto& [name, count] : tallied(names))
    parts.push_back(fmt::format("{} in {}", name, count));
  return parts;
}

Words with_others(Words parts) {
  constexpr std::size_t most = 4;
  if (parts.size() > most) {
    parts.resize(most);
    parts.emplace_back("others");
  }
  return parts;
}

}  // namespace syncline
