// The map of winners as a file, with the same tints, names and line as on the page
// (sim/page/browser/map.js).
#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <sstream>

#include "sim/page/canvas.h"
#include "sim/page/colours.h"
#include "sim/page/svg.h"
#include "sim/report/readable.h"

namespace syncline {
namespace {

constexpr double tile_height = 50, map_left = 84;
constexpr std::size_t most_name_lines = 3;

// The name in lines of width `room`; none if there is no room for it.
std::vector<std::string> lines_of_name(const std::string& name, double room) {
  std::vector<std::string> lines;
  std::istringstream words(name);
  for (std::string word; words >> word;) {
    if (!lines.empty() && width_of(lines.back() + " " + word) <= room)
      lines.back() += " " + word;
    else
      lines.push_back(word);
    if (width_of(word) > room || lines.size() > most_name_lines)
      return {};
  }
  return lines;
}

void draw_lines(Canvas& canvas, double x, double y, const std::vector<std::string>& lines,
                const std::string& colour) {
  const double top = y + 4 - 7 * static_cast<double>(lines.size() - 1);
  for (std::size_t i = 0; i < lines.size(); ++i)
    canvas.text(x, top + 14 * static_cast<double>(i), lines[i], "middle", colour);
}

// A box in the winner's tint, hatched if the tint is.
void draw_tint(Canvas& canvas, double x, double y, double w, double h, const Tint& tint) {
  canvas.box(x, y, w, h, tint.fill);
  if (tint.hatched)
    canvas.body += fmt::format(
        "<g opacity=\"0.4\"><rect x=\"{:.5g}\" y=\"{:.5g}\" width=\"{:.5g}\" "
        "height=\"{:.5g}\" fill=\"url(#waiting)\"/></g>\n",
        x, y, w, h);
}

void draw_tie(Canvas& canvas, double x, double y, double w, double h) {
  canvas.box(x, y, w, h, tie_fill, fmt::format(R"( stroke="{}" stroke-dasharray="3 3")", tie_line));
}

// Draws entries side by side, in new rows where there is no more room. Returns where the legend
// ends.
double draw_legend(Canvas& canvas, const Map& map, const std::vector<Tint>& tints, bool named) {
  double left = map_left, top = 10;
  const auto entry = [&](const std::string& name, const auto& draw) {
    if (left > map_left && left + 18 + width_of(name) > canvas_width) {
      left = map_left;
      top += 20;
    }
    draw();
    canvas.text(left + 18, top + 10, name);
    left += width_of(name) + 34;
  };
  for (std::size_t i = 0; i < tints.size(); ++i)
    entry((named ? "" : tints[i].key + ": ") + map.choices[i].name,
          [&] { draw_tint(canvas, left, top, 12, 12, tints[i]); });
  entry("tie", [&] { draw_tie(canvas, left, top, 12, 12); });
  return top + 24;
}

void draw_crossings(Canvas& canvas, const Map& map, const Ruler& x, const Ruler& y) {
  for (const auto& [colour, thick] : {std::pair("#ffffff", 5), std::pair(ink, 2)})
    for (const Crossing& one : map.crossings)
      canvas.line(x.at(one.from_x), y.at(one.from_y), x.at(one.to_x), y.at(one.to_y), colour,
                  thick);
}

}  // namespace

std::string svg_of(const Map& map, const std::string& subject) {
  const std::vector<Tint> tints = tints_of(map.choices);
  const auto count = [](const auto& all) { return static_cast<double>(all.size()); };
  const double right = canvas_width - 24, wide = (right - map_left) / count(map.xs);
  bool named = true;
  for (const Series& choice : map.choices)
    named = named && !lines_of_name(choice.name, wide - 8).empty();
  Canvas canvas;
  const double map_top = draw_legend(canvas, map, tints, named);
  const double bottom = map_top + tile_height * count(map.ys);
  canvas.height = bottom + 50;
  const Ruler x{-0.5, count(map.xs) - 0.5, Scale::linear, map_left, right};
  const Ruler y{-0.5, count(map.ys) - 0.5, Scale::linear, bottom, map_top};
  for (const Tile& tile : map.tiles) {
    const double left = x.at(static_cast<double>(tile.x)) - wide / 2 + 1;
    const double top = y.at(static_cast<double>(tile.y)) - tile_height / 2 + 1;
    if (tile.winner)
      draw_tint(canvas, left, top, wide - 2, tile_height - 2, tints[*tile.winner]);
    else
      draw_tie(canvas, left, top, wide - 2, tile_height - 2);
  }
  draw_crossings(canvas, map, x, y);
  for (const Tile& tile : map.tiles) {
    std::vector<std::string> lines{"tie"};
    if (tile.winner)
      lines = named ? lines_of_name(map.choices[*tile.winner].name, wide - 8)
                    : std::vector{tints[*tile.winner].key};
    draw_lines(canvas, x.at(static_cast<double>(tile.x)), y.at(static_cast<double>(tile.y)), lines,
               tile.winner ? tints[*tile.winner].ink : ink);
  }
  for (std::size_t i = 0; i < map.xs.size(); ++i)
    canvas.text(x.at(static_cast<double>(i)), bottom + 18, count_shown(map.xs[i]), "middle", grey);
  for (std::size_t i = 0; i < map.ys.size(); ++i)
    canvas.text(map_left - 8, y.at(static_cast<double>(i)) + 4, count_shown(map.ys[i]), "end",
                grey);
  canvas.text((map_left + right) / 2, bottom + 40, map.x.title, "middle");
  canvas.text(
      0, 0, map.y.title, "middle", ink,
      fmt::format(" transform=\"translate(14 {:.5g}) rotate(-90)\"", (map_top + bottom) / 2));
  return canvas.whole(map.sentence, subject);
}

}  // namespace syncline
