#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>

#include "kernels/io/text.h"
#include "sim/report/readable.h"
#include "sim/study/charts.h"
#include "sim/study/names.h"
#include "sim/study/ordered_lists.h"

namespace syncline {
namespace {

using At = std::pair<std::size_t, std::size_t>;  // indices in xs and ys

using Competing = std::map<std::string, const RankedCell*>;  // by choice

// The cells of one map, by place and choice.
struct Grid {
  std::vector<double> xs, ys;
  std::map<At, Competing> at;
};

// The options on the axes: the first two whose values are all numbers, at least two of them.
Words axes_of(const Comparison& compared) {
  Words axes;
  const auto consider = [&](const std::string& option) {
    if (numbers_of(*compared.results, option).size() > 1 && !is_among(option, axes) &&
        option != "seed")
      axes.push_back(option);
  };
  if (!compared.x_option.empty())
    consider(compared.x_option);
  // First those that are no choices: a bandwidth before a density.
  for (const bool choices : {false, true})
    for (const std::string& option : compared.telling_options)
      if (is_among(option, compared.series_options) == choices)
        consider(option);
  axes.resize(std::min<std::size_t>(axes.size(), 2));
  return axes;
}

struct Place {
  double x = 0, y = 0;
};

// The place between two neighbours with different winners at which both winners are equally fast.
// Logarithms of throughput are interpolated, because they are nearly linear. None beside a tie,
// which is such a place itself.
std::optional<Place> crossing(const Grid& grid, const At& a, const At& b,
                              const std::map<At, const Tile*>& tiles) {
  if (!tiles.contains(a) || !tiles.contains(b) || tiles.at(a)->first == tiles.at(b)->first ||
      !tiles.at(a)->winner || !tiles.at(b)->winner)
    return std::nullopt;
  const std::string &one = tiles.at(a)->first, &other = tiles.at(b)->first;
  const auto lead = [&](const At& at) -> std::optional<double> {
    const auto& cells = grid.at.at(at);
    if (!cells.contains(one) || !cells.contains(other))
      return std::nullopt;
    return std::log(cells.at(one)->samples_per_s / cells.at(other)->samples_per_s);
  };
  const auto from = lead(a), to = lead(b);
  if (!from || !to || !std::isfinite(*from) || !std::isfinite(*to) || *from == *to)
    return std::nullopt;
  const double part = std::clamp(*from / (*from - *to), 0.0, 1.0);
  const auto between = [&](std::size_t here, std::size_t there) {
    return static_cast<double>(here) +
           part * (static_cast<double>(there) - static_cast<double>(here));
  };
  return Place{between(a.first, b.first), between(a.second, b.second)};
}

// Joins the crossings on the sides of each square of four neighbours: two directly, more of them
// through their middle.
std::vector<Crossing> crossings_of(const Grid& grid, const std::vector<Tile>& tiles) {
  std::map<At, const Tile*> by_place;
  for (const Tile& tile : tiles)
    by_place[{tile.x, tile.y}] = &tile;
  std::vector<Crossing> all;
  for (std::size_t y = 0; y + 1 < grid.ys.size(); ++y)
    for (std::size_t x = 0; x + 1 < grid.xs.size(); ++x) {
      std::vector<Place> places;
      const std::array<At, 5> round{{{x, y}, {x + 1, y}, {x + 1, y + 1}, {x, y + 1}, {x, y}}};
      for (std::size_t side = 0; side < 4; ++side)
        if (const auto place = crossing(grid, round[side], round[side + 1], by_place))
          places.push_back(*place);
      if (places.size() == 2) {
        all.push_back({places[0].x, places[0].y, places[1].x, places[1].y});
      } else if (places.size() > 2) {
        Place middle;
        for (const Place& place : places) {
          middle.x += place.x / static_cast<double>(places.size());
          middle.y += place.y / static_cast<double>(places.size());
        }
        for (const Place& place : places)
          all.push_back({place.x, place.y, middle.x, middle.y});
      }
    }
  return all;
}

std::string map_sentence(const Map& map) {
  std::vector<std::size_t> won(map.choices.size());
  std::vector<Tile> leads;
  for (const Tile& tile : map.tiles)
    if (tile.winner) {
      ++won[*tile.winner];
      leads.push_back(tile);
    }
  const std::size_t ties = map.tiles.size() - leads.size();
  if (leads.empty())
    return fmt::format("All {} places are ties: no lead is above {:g} % and beyond what is known.",
                       ties, 100 * smallest_lead);
  const auto [least, most] = std::ranges::minmax_element(leads, {}, &Tile::margin);
  if (won.size() == 1 && ties == 0)
    return map.choices[0].name + " wins in all " + std::to_string(map.tiles.size()) +
           fmt::format(" places, with {:.3g} to {:.3g} times", least->margin, most->margin) +
           " the throughput of the next.";
  Words parts;
  for (std::size_t i = 0; i < won.size(); ++i)
    parts.push_back(map.choices[i].name + " wins in " + std::to_string(won[i]));
  if (ties > 0)
    parts.push_back(ties == 1 ? "1 is a tie" : std::to_string(ties) + " are ties");
  return "Of " + std::to_string(map.tiles.size()) + " places " + and_listed(parts) +
         "; the largest lead has " + most->first +
         fmt::format(", {:.3g} times the next, at ", most->margin) +
         short_setting(map.x.title, count_shown(map.xs[most->x])) + " and " +
         short_setting(map.y.title, count_shown(map.ys[most->y])) + ".";
}

// The choices of a place, in the order of a contest: an unsteady choice does not win, unless all
// are unsteady.
Tile tile_of(const Comparison& compared, const At& at, const Competing& cells) {
  std::vector<std::pair<std::string, const RankedCell*>> order(cells.begin(), cells.end());
  std::ranges::stable_sort(
      order, [](const auto& a, const auto& b) { return ranks_before(*a.second, *b.second); });
  const auto& [best, first] = order.front();
  Tile tile{.x = at.first,
            .y = at.second,
            .first = best,
            .samples_per_s = first->samples_per_s,
            .in_case = compared.cells[first->result].in_case};
  for (std::size_t i = 1; i < order.size(); ++i)
    if (order[i].second->is_candidate && ties(*order[i].second, *first))
      tile.tied.push_back(order[i].first);
  if (order.size() > 1) {
    const double next = order[1].second->samples_per_s;
    tile.runner_up = order[1].first;
    tile.margin = next > 0 ? tile.samples_per_s / next : 1;
  }
  return tile;
}

Map map_of(const Comparison& compared, const std::string& name, const Grid& grid,
           const Words& axes) {
  Map map{.name = name, .xs = grid.xs, .ys = grid.ys};
  map.x.title = axes[0];
  map.y.title = axes[1];
  for (const auto& [at, cells] : grid.at) {
    Tile tile = tile_of(compared, at, cells);
    if (tile.tied.empty()) {
      Series& choice = found_or_added(map.choices, tile.first, &Series::name);
      const ComparedCell& cell = compared.cells[cells.at(tile.first)->result];
      choice.colour = cell.colour;
      choice.dash = cell.dash;
      tile.winner = static_cast<std::size_t>(&choice - map.choices.data());
    }
    map.tiles.push_back(std::move(tile));
  }
  map.crossings = crossings_of(grid, map.tiles);
  map.sentence = map_sentence(map);
  return map;
}

}  // namespace

std::vector<Map> maps_of(const Comparison& compared, const Ranking& ranking) {
  const Words axes = axes_of(compared);
  if (axes.size() < 2)
    return {};
  const auto without_axes = [&](bool choices) {
    Words options;
    for (const std::string& option : compared.telling_options)
      if (is_among(option, compared.series_options) == choices && !is_among(option, axes))
        options.push_back(option);
    return options;
  };
  const auto choice = names_of(*compared.results, without_axes(true), " ");
  const auto shared = names_of(*compared.results, without_axes(false), ", ");
  if (std::set<std::string>(choice.begin(), choice.end()).size() < 2)
    return {};
  std::map<std::string, std::map<std::size_t, const RankedCell*>> by_name;  // and place
  for (const RankedCell& cell : ranking.cells)
    if (cell.fits)
      by_name[shared[cell.result]][cell.result] = &cell;
  const bool all_fit = std::ranges::all_of(ranking.cells, &RankedCell::fits);
  const auto number = [&](std::size_t place, const std::string& axis) {
    return *finite_number_in((*compared.results)[place].setting(axis));
  };
  std::vector<Map> maps;
  for (const auto& [name, cells] : by_name) {
    std::set<double> xs, ys;
    for (const auto& [place, cell] : cells) {
      xs.insert(number(place, axes[0]));
      ys.insert(number(place, axes[1]));
    }
    if (xs.size() < 2 || ys.size() < 2)
      continue;
    Grid grid{{xs.begin(), xs.end()}, {ys.begin(), ys.end()}, {}};
    const auto index_in = [](const std::vector<double>& values, double value) {
      return static_cast<std::size_t>(std::ranges::lower_bound(values, value) - values.begin());
    };
    for (const auto& [place, cell] : cells)
      grid.at[{index_in(grid.xs, number(place, axes[0])),
               index_in(grid.ys, number(place, axes[1]))}][choice[place]] = cell;
    maps.push_back(map_of(compared, name, grid, axes));
    if (!all_fit)
      maps.back().sentence += " What does not fit into memory is left out.";
  }
  return maps;
}

}  // namespace syncline
