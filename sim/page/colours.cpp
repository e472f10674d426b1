#include "sim/page/colours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace syncline {
namespace {

constexpr std::array colours{0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x000000};
constexpr std::size_t most_steps = 5;  // steps of lightness that an eye can tell apart for certain

// Red, green and blue as linear light, in which colours are mixed (IEC 61966-2-1).
using Light = std::array<double, 3>;

Light light_of(int colour) {
  Light light{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double part = ((colour >> (16 - 8 * static_cast<int>(i))) & 0xff) / 255.0;
    light[i] = part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
  }
  return light;
}

std::string written(const Light& light) {
  std::string text = "#";
  for (const double part : light) {
    const double shown = part <= 0.0031308 ? 12.92 * part : 1.055 * std::pow(part, 1 / 2.4) - 0.055;
    text += fmt::format("{:02x}", std::clamp(static_cast<int>(std::lround(255 * shown)), 0, 255));
  }
  return text;
}

double luminance(const Light& light) {
  return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2];
}

// The colour, mixed with white or black to the lightness L* (CIE 1976).
Light with_lightness(const Light& colour, double lightness) {
  const double wanted = std::pow((lightness + 16) / 116, 3), own = luminance(colour);
  Light mixed = colour;
  for (double& part : mixed)
    part = wanted >= own ? part + (1 - part) * (wanted - own) / (1 - own) : part * wanted / own;
  return mixed;
}

}  // namespace

std::string colour_of(int index) {
  return index < 0
             ? bound_colour
             : fmt::format("#{:06x}", colours[static_cast<std::size_t>(index) % colours.size()]);
}

std::vector<Tint> tints_of(const std::vector<Series>& choices) {
  constexpr double lightest = 88;
  const double step = choices.size() <= 3 ? 22 : 15;
  std::vector<Tint> tints;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const double lightness = lightest - step * static_cast<double>(i % most_steps);
    const int colour =
        colours[static_cast<std::size_t>(std::max(0, choices[i].colour)) % colours.size()];
    tints.push_back({.fill = written(with_lightness(light_of(colour), lightness)),
                     .ink = lightness > 50 ? ink : "#ffffff",
                     .hatched = i >= most_steps,
                     .key = std::string(1, static_cast<char>('A' + i % 26))});
    if (i >= 26)
      tints.back().key += std::to_string(i / 26 + 1);
  }
  return tints;
}

}  // namespace syncline
