#include "kernels/registry.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "kernels/io/units.h"

namespace syncline {
namespace {

// Edit distance: how many letters to add, remove, replace or exchange with a neighbour to turn one
// word into the other (optimal string alignment). With `within`, the distance to the nearest part
// of `other`.
std::size_t distance(const std::string& one, const std::string& other, bool within) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> last;
  std::vector<std::size_t> row(other.size() + 1);
  if (!within)
    std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= one.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return within ? *std::ranges::min_element(row) : row.back();
}

[[noreturn]] void refuse(const OwnOption& option, const std::string& text) {
  throw std::invalid_argument(option.name + " = " + brief(text) + ": allowed are " +
                              allowed_values(option));
}

}  // namespace

std::string allowed_values(const OwnOption& option) {
  if (!option.choices.empty())
    return listed(option.choices);
  std::ostringstream text;
  text << (option.whole ? "whole numbers" : "numbers");
  if (std::isfinite(option.minimum))
    text << " from " << option.minimum;
  if (std::isfinite(option.maximum))
    text << " to " << option.maximum;
  if (is_of_bytes(option.name))
    text << ", or with kB, MB, GB, TB, KiB, MiB, GiB or TiB";
  if (!option.unlimited.empty())
    text << ", or " << option.unlimited;
  return text.str();
}

std::string instead_of(const std::string& word, const std::vector<std::string>& names,
                       const std::string& all_are_in) {
  constexpr std::size_t most_listed = 8;
  constexpr std::size_t some = 3;
  if (names.size() <= most_listed)
    return "allowed are " + listed(nearest(word, names));
  return "nearest are " + listed(nearest(word, names, some)) + "; " + all_are_in + " has all";
}

std::vector<std::string> nearest(const std::string& word, std::vector<std::string> names,
                                 std::size_t most) {
  // No name is as long; comparing more would take long.
  const std::string beginning = word.substr(0, 64);
  std::ranges::stable_sort(names, {}, [&](const std::string& name) {
    const std::size_t whole = 2 * distance(beginning, name, false);
    // A part of a name is meant more often than a misspelt name. Short words are nearly a part of
    // every name: up to four letters only an exact part counts, up to two letters none.
    const std::size_t part = distance(beginning, name, true);
    const bool counts =
        beginning.size() > 4 ? part <= beginning.size() / 4 : part == 0 && beginning.size() > 2;
    return counts ? std::min(whole, 2 * part + 1) : whole;
  });
  names.resize(std::min(names.size(), most));
  return names;
}

double checked_number(const OwnOption& option, const std::string& text) {
  if (!option.unlimited.empty() && text == option.unlimited)
    return std::numeric_limits<double>::infinity();
  const double value =
      number_in(without_unit(option.name, text)).value_or(std::numeric_limits<double>::quiet_NaN());
  if (!std::isfinite(value) || value < option.minimum || value > option.maximum ||
      (option.whole && value != std::floor(value)))
    refuse(option, text);
  return value;
}

const std::string& checked_word(const OwnOption& option, const std::string& text) {
  const auto found = std::find(option.choices.begin(), option.choices.end(), text);
  if (found == option.choices.end())
    refuse(option, text);
  return *found;
}

Settings::Settings(const std::vector<OwnOption>& options,
                   const std::map<std::string, std::string>& given) {
  for (const OwnOption& option : options) {
    const auto found = given.find(option.name);
    const std::string& text = found == given.end() ? option.fallback : found->second;
    if (text.empty())
      throw std::invalid_argument(option.name + " is not given: " + option.sentence);
    if (option.choices.empty())
      numbers_[option.name] = checked_number(option, text);
    else
      words_[option.name] = checked_word(option, text);
  }
}

Settings Settings::with(const std::string& name, double number) const {
  Settings changed = *this;
  changed.numbers_.at(name) = number;
  return changed;
}

Settings Settings::with(const std::string& name, const std::string& word) const {
  Settings changed = *this;
  changed.words_.at(name) = word;
  return changed;
}

}  // namespace syncline
