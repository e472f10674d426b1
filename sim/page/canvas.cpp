#include "sim/page/canvas.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "sim/page/colours.h"
#include "sim/page/svg.h"
#include "sim/report/readable.h"

namespace syncline {

std::string dashed(const std::string& dash) {
  return dash.empty() ? "" : fmt::format(R"( stroke-dasharray="{}")", dash);
}

std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most)
    return text;
  std::size_t end = most - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80)
    --end;
  return text.substr(0, end) + "\xE2\x80\xA6";
}

void Canvas::line(double x1, double y1, double x2, double y2, const std::string& colour,
                  double thick, const std::string& dash) {
  body += fmt::format(R"(<line x1="{:.5g}" y1="{:.5g}" x2="{:.5g}" y2="{:.5g}" stroke="{}" )"
                      R"(stroke-width="{:.5g}"{}/>)"
                      "\n",
                      x1, y1, x2, y2, colour, thick, dashed(dash));
}

void Canvas::box(double x, double y, double w, double h, const std::string& fill,
                 const std::string& more) {
  body += fmt::format(R"(<rect x="{:.5g}" y="{:.5g}" width="{:.5g}" height="{:.5g}" fill="{}"{}/>)"
                      "\n",
                      x, y, std::max(w, 0.0), h, fill, more);
}

void Canvas::text(double x, double y, const std::string& words, const char* anchor,
                  const std::string& colour, const std::string& more) {
  body += fmt::format(R"(<text x="{:.5g}" y="{:.5g}" text-anchor="{}" fill="{}"{}>{}</text>)"
                      "\n",
                      x, y, anchor, colour, more, in_xml(words));
}

std::string Canvas::whole(const std::string& title, const std::string& subject) {
  text(12, height + 10, shortened(subject, 96), "start", grey);
  height += 20;
  return svg_begin +
         fmt::format(
             R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.5g} {1:.5g}" )"
             R"(width="{0:.5g}" height="{1:.5g}" role="img" )"
             R"(font-family="Helvetica, Arial, 'Liberation Sans', sans-serif" font-size="12">)"
             "\n<title>{2}</title>\n"
             R"(<defs><pattern id="waiting" width="6" height="6" patternUnits="userSpaceOnUse" )"
             R"-(patternTransform="rotate(45)"><rect width="6" height="6" fill="#f7f7f5"/>)-"
             R"(<rect width="1.5" height="6" fill="#c0c4ca"/></pattern></defs>)"
             "\n"
             R"(<rect width="100%" height="100%" fill="#ffffff"/>)"
             "\n{3}</svg>\n",
             canvas_width, height, in_xml(subject.empty() ? title : title + " Of " + subject),
             body);
}

double width_of(const std::string& text) {
  return 6.6 * static_cast<double>(
                   std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string tick_text(double value, const std::string& unit) {
  if (unit == "%")
    return fmt::format("{:.4g} %", 100 * value);
  return unit == "s" ? seconds_shown(value) : count_shown(value);
}

std::vector<double> ticks_of(double least, double most, Scale scale) {
  std::vector<double> ticks;
  if (!(most > least) || most - least < 1e-100)  // there would be no steps
    return {least};
  if (scale == Scale::linear) {
    const double rough = (most - least) / 6;
    const double decade = std::pow(10, std::floor(std::log10(rough)));
    double step = 10 * decade;
    for (const double times : {5.0, 2.0, 1.0})
      if (times * decade >= rough)
        step = times * decade;
    for (double i = std::ceil(least / step - 1e-9); i * step <= most * (1 + 1e-9); ++i)
      ticks.push_back(i * step + 0.0);  // + 0.0 takes the sign off a zero
    return ticks;
  }
  const bool many = std::log10(most / least) > 3;
  for (double decade = std::floor(std::log10(least)); decade <= std::log10(most); ++decade)
    for (const double times : {1.0, 2.0, 5.0})
      if (const double tick = times * std::pow(10, decade);
          (times == 1.0 || !many) && tick >= least * 0.999 && tick <= most * 1.001)
        ticks.push_back(tick);
  return ticks.size() > 1 ? ticks : ticks_of(least, most, Scale::linear);
}

double Ruler::at(double value) const {
  const auto into = [this](double x) { return scale == Scale::linear ? x : std::log(x); };
  const double span = into(most) - into(least);
  return span > 0 ? from + (to - from) * (into(value) - into(least)) / span : (from + to) / 2;
}

}  // namespace syncline
