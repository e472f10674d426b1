#include "sim/page/svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>

#include "sim/page/canvas.h"
#include "sim/page/colours.h"
#include "sim/report/readable.h"

namespace syncline {

const std::string svg_begin =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- syncline figure -->\n";

namespace {

constexpr std::array dashes{"", "7 4", "2 3", "9 3 2 3"};

void marker(Canvas& canvas, int kind, double x, double y, const std::string& colour) {
  const auto polygon = [&](const std::string& points) {
    canvas.body += fmt::format("<polygon points=\"{}\" fill=\"{}\"/>\n", points, colour);
  };
  const auto at = [&](double dx, double dy) {
    return fmt::format("{:.5g},{:.5g} ", x + dx, y + dy);
  };
  switch (kind % 7) {
    case 0:
      canvas.body += fmt::format(R"(<circle cx="{:.5g}" cy="{:.5g}" r="3.6" fill="{}"/>)"
                                 "\n",
                                 x, y, colour);
      break;
    case 1:
      polygon(at(0, -4.6) + at(4.6, 0) + at(0, 4.6) + at(-4.6, 0));
      break;
    case 2:
      polygon(at(0, -4.6) + at(4.4, 3.4) + at(-4.4, 3.4));
      break;
    case 3:
      polygon(at(-3.4, -3.4) + at(3.4, -3.4) + at(3.4, 3.4) + at(-3.4, 3.4));
      break;
    case 4:
      canvas.box(x - 3.6, y - 3.6, 7.2, 7.2, colour, " rx=\"2\"");
      break;
    default:  // a cross; with two more lines a star
      for (const auto& [dx, dy] : {std::pair(3.2, 3.2), std::pair(3.2, -3.2)})
        canvas.line(x - dx, y - dy, x + dx, y + dy, colour, 1.5);
      if (kind % 7 == 6) {
        canvas.line(x - 4.6, y, x + 4.6, y, colour, 1.5);
        canvas.line(x, y - 4.6, x, y + 4.6, colour, 1.5);
      }
  }
}

bool drawable(double x, double y, const Chart& chart) {
  return std::isfinite(x) && std::isfinite(y) && (chart.x.scale == Scale::linear || x > 0) &&
         (chart.y.scale == Scale::linear || y > 0);
}

void draw_axes(Canvas& canvas, const Chart& chart, const Ruler& x, const Ruler& y,
               const std::vector<double>& xs) {
  for (const double tick : ticks_of(y.least, y.most, y.scale)) {
    canvas.line(66, y.at(tick), x.to, y.at(tick), pale);
    canvas.text(60, y.at(tick) + 4, tick_text(tick, chart.y.unit == "%" ? "%" : ""), "end", grey);
  }
  const bool one_tick_each = chart.kind == Chart::Kind::lines && xs.size() <= 12;
  double free_from = 0;  // labels leave out what would overlap
  for (const double tick : one_tick_each ? xs : ticks_of(x.least, x.most, x.scale)) {
    canvas.line(x.at(tick), 344, x.at(tick), 349, grey);
    const std::string label = tick_text(tick, "");
    if (x.at(tick) - width_of(label) / 2 < free_from)
      continue;
    canvas.text(x.at(tick), 364, label, "middle", grey);
    free_from = x.at(tick) + width_of(label) / 2;
  }
  const auto with_scale = [](const Axis& axis) {
    return axis.title + (axis.scale == Scale::linear ? ", linear scale" : ", log scale");
  };
  canvas.text((x.from + x.to) / 2, 388, with_scale(chart.x), "middle");
  canvas.text(0, 0, with_scale(chart.y), "middle", ink,
              " transform=\"translate(14 182) rotate(-90)\"");
}

// The end of a line, and the place of its name.
struct End {
  std::string name;
  std::string colour;
  std::string dash = {};
  int marker = -1;  // -1: none
  double x = 0, from = 0, y = 0;
};

// Draws the range of a series' repetitions, behind all lines.
void draw_band(Canvas& canvas, const Chart& chart, const Series& series, const Ruler& x,
               const Ruler& y) {
  std::string there, back;
  for (std::size_t i = 0; i < series.bands.size(); ++i) {
    const SeedBand& band = series.bands[i];
    if (!drawable(series.x[i], band.least, chart) || !drawable(series.x[i], band.most, chart))
      continue;
    there += fmt::format("{:.5g},{:.5g} ", x.at(series.x[i]), y.at(band.most));
    back.insert(0, fmt::format("{:.5g},{:.5g} ", x.at(series.x[i]), y.at(band.least)));
  }
  if (!there.empty())
    canvas.body += fmt::format("<polygon points=\"{}{}\" fill=\"{}\" fill-opacity=\"0.15\"/>\n",
                               there, back, colour_of(series.colour));
}

// Returns the end of the line; none if no point of it can be drawn.
std::optional<End> draw_line(Canvas& canvas, const Chart& chart, const Series& series,
                             const Ruler& x, const Ruler& y) {
  const bool bound = series.colour < 0;
  std::string path;
  const std::string dash =
      bound ? "4 4" : dashes[static_cast<std::size_t>(series.dash) % dashes.size()];
  const bool marked = !bound && chart.kind == Chart::Kind::lines;
  End end{shortened(series.name, 26), colour_of(series.colour), dash, marked ? series.colour : -1};
  for (std::size_t i = 0; i < series.x.size(); ++i)
    if (drawable(series.x[i], series.y[i], chart)) {
      end.x = x.at(series.x[i]);
      end.from = end.y = y.at(series.y[i]);
      path += fmt::format("{}{:.5g} {:.5g}", path.empty() ? "M" : " L", end.x, end.y);
      if (marked)
        marker(canvas, series.colour, end.x, end.y, end.colour);
    }
  if (!series.is_dots)
    canvas.body += fmt::format(R"(<path d="{}" fill="none" stroke="{}" stroke-width="{}"{}/>)"
                               "\n",
                               path, end.colour, bound ? "1.4" : "2", dashed(dash));
  return path.empty() ? std::nullopt : std::optional(end);
}

// Draws the names of lines one below another at the right, each as near to the end of its line as
// there is room. Before each name are a sample of its line and a grey stub from the chart.
void draw_names(Canvas& canvas, std::vector<End> ends, double right) {
  std::ranges::sort(ends, {}, &End::y);
  for (std::size_t i = 1; i < ends.size(); ++i)
    ends[i].y = std::max(ends[i].y, ends[i - 1].y + 15);
  double most = 348;
  for (auto end = ends.rbegin(); end != ends.rend(); ++end, most -= 15)
    end->y = most = std::min(end->y, most);
  for (const End& end : ends) {
    if (right - end.x < 2 && std::abs(end.y - end.from) < 45)
      canvas.line(right + 7, end.from, right + 12, end.y, bound_colour);
    canvas.line(right + 14, end.y, right + 34, end.y, end.colour, 2, end.dash);
    if (end.marker >= 0)
      marker(canvas, end.marker, right + 24, end.y, end.colour);
    canvas.text(right + 38, end.y + 4, end.name, "start", end.colour == bound_colour ? grey : ink);
  }
}

std::string lines_svg(const Chart& chart, const std::string& subject) {
  Canvas canvas{.height = 400};
  std::vector<double> xs, ys;
  double names = 0;
  for (const Series& series : chart.series) {
    names = std::max(names, width_of(shortened(series.name, 26)));
    for (std::size_t i = 0; i < series.x.size(); ++i)
      if (drawable(series.x[i], series.y[i], chart)) {
        xs.push_back(series.x[i]);
        ys.push_back(series.y[i]);
        if (!series.bands.empty())
          for (const double end : {series.bands[i].least, series.bands[i].most})
            if (drawable(series.x[i], end, chart))
              ys.push_back(end);
      }
  }
  if (xs.empty())
    return canvas.whole(chart.title, subject);
  std::ranges::sort(xs);
  xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
  const Ruler x{xs.front(), xs.back(), chart.x.scale, 72, canvas_width - names - 48};
  const auto [least, most] = std::ranges::minmax(ys);
  const bool parts = chart.y.unit == "%";
  const Ruler y{parts ? 0 : least - 0.15 * std::abs(least),
                parts ? std::max(1.0, most) : most + 0.15 * std::abs(most), chart.y.scale, 344, 20};
  draw_axes(canvas, chart, x, y, xs);
  for (const Series& series : chart.series)
    draw_band(canvas, chart, series, x, y);
  std::vector<End> ends;
  for (auto series = chart.series.rbegin(); series != chart.series.rend(); ++series)
    if (const auto end = draw_line(canvas, chart, *series, x, y))
      ends.push_back(*end);
  draw_names(canvas, std::move(ends), x.to);
  return canvas.whole(chart.title + ": " + chart.sentence, subject);
}

const char* part_colour(const std::string& part) {
  return part == "computation"             ? "#65717f"
         : part == "compression"           ? "#d9b900"
         : part == "exposed communication" ? "#56b4e9"
                                           : "url(#waiting)";
}

std::string bars_svg(const Chart& chart, const std::string& subject) {
  constexpr double row = 30;
  const double rows = static_cast<double>(chart.categories.size());
  Canvas canvas{.height = 40 + row * rows + 50};
  double names = 60, most = chart.x.unit == "%" ? 1 : 0;
  for (std::size_t i = 0; i < chart.categories.size(); ++i) {
    names = std::max(names, width_of(shortened(chart.categories[i], 30)) + 24);
    double sum = 0;
    for (const Series& series : chart.series)
      sum += series.y[i];
    most = std::max(most, sum);
  }
  const Ruler x{0, most, Scale::linear, names, canvas_width - 24};
  const double bottom = 40 + row * rows;
  for (const double tick : ticks_of(0, most, Scale::linear)) {
    canvas.line(x.at(tick), 36, x.at(tick), bottom, pale);
    canvas.text(x.at(tick), bottom + 16, tick_text(tick, chart.x.unit), "middle", grey);
  }
  canvas.text((names + canvas_width - 24) / 2, bottom + 38, chart.x.title, "middle");
  double legend = names;
  if (chart.kind == Chart::Kind::stack)
    for (const Series& series : chart.series) {
      canvas.box(legend, 10, 12, 12, part_colour(series.name));
      canvas.text(legend + 18, 20, series.name);
      legend += width_of(series.name) + 40;
    }
  for (std::size_t i = 0; i < chart.categories.size(); ++i) {
    const double top = 40 + row * static_cast<double>(i);
    canvas.box(names - 10, top + 8, 4, 14, colour_of(chart.colours[i]));
    canvas.text(names - 16, top + 19, shortened(chart.categories[i], 30), "end");
    double sum = 0;
    for (const Series& series : chart.series) {
      const bool stack = chart.kind == Chart::Kind::stack;
      canvas.box(x.at(sum), top + 4, x.at(sum + series.y[i]) - x.at(sum), row - 8,
                 stack ? part_colour(series.name) : colour_of(chart.colours[i]));
      sum += series.y[i];
    }
  }
  return canvas.whole(chart.title + ": " + chart.sentence, subject);
}

}  // namespace

std::string svg_of(const Chart& chart, const std::string& subject) {
  return chart.kind == Chart::Kind::lines || chart.kind == Chart::Kind::curves
             ? lines_svg(chart, subject)
             : bars_svg(chart, subject);
}

std::string svg_of(const DrawnTimeline& timeline, const std::string& subject) {
  static constexpr std::array fills{"#97a3b2", "#65717f", "#d9b900",      "#56b4e9",
                                    "#1b1c1f", "#56b4e9", "url(#waiting)"};
  static constexpr std::array names{
      "forward", "backward and step", "compress", "messages, exposed", "adding, updating", "",
      "waiting"};
  std::array<bool, fills.size()> used{};
  for (const DrawnTrack& track : timeline.tracks)
    for (const DrawnSlice& slice : track.slices)
      used[static_cast<std::size_t>(slice.activity == Activity::exposed ? Activity::communicate
                                                                        : slice.activity)] = true;
  Canvas canvas;
  constexpr double left = 110;
  const Ruler x{0, timeline.seconds, Scale::linear, left, canvas_width - 24};
  double legend = left;
  double line = 20;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i]) {
      if (legend + 17 + width_of(names[i]) > canvas_width) {
        legend = left;
        line += 18;
      }
      canvas.box(legend, line - 10, 12, 12, fills[i]);
      canvas.text(legend + 17, line, names[i]);
      legend += width_of(names[i]) + 30;
    }
  double y = line + 14;
  std::string last;
  std::string boxes;
  for (const DrawnTrack& track : timeline.tracks) {
    const double tall = track.stream == "compute" ? 14 : 5;
    if (track.name != last) {
      y += last.empty() ? 0 : 7;
      canvas.text(left - 10, y + 11, shortened(track.name, 14), "end");
    }
    last = track.name;
    Canvas slices;
    for (const DrawnSlice& slice : track.slices)
      slices.box(x.at(slice.start_s), y, std::max(0.4, x.at(slice.end_s) - x.at(slice.start_s)),
                 tall, fills[static_cast<std::size_t>(slice.activity)]);
    boxes += slices.body;
    y += tall + 1.5;
  }
  for (const double tick : ticks_of(0, timeline.seconds, Scale::linear)) {
    canvas.line(x.at(tick), line + 10, x.at(tick), y + 2, pale);
    canvas.text(x.at(tick), y + 18, tick_text(tick, "s"), "middle", grey);
  }
  canvas.body += boxes;
  canvas.text((left + canvas_width - 24) / 2, y + 38, "seconds", "middle");
  canvas.height = y + 50;
  return canvas.whole(timeline.sentence, subject);
}

}  // namespace syncline
