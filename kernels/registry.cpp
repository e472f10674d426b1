#include "kernels/registry.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

namespace syncline {
namespace {

std::string range_of(const Parameter& parameter) {
  std::ostringstream text;
  text << (parameter.whole ? "whole numbers" : "numbers");
  if (std::isfinite(parameter.minimum))
    text << " from " << parameter.minimum;
  if (std::isfinite(parameter.maximum))
    text << " to " << parameter.maximum;
  if (!parameter.unlimited.empty())
    text << ", or " << parameter.unlimited;
  return text.str();
}

}  // namespace

double checked_number(const Parameter& parameter, const std::string& text) {
  if (!parameter.unlimited.empty() && text == parameter.unlimited)
    return std::numeric_limits<double>::infinity();
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);  // no hex, no blanks
  const bool parsed = error == std::errc() && rest == end && std::isfinite(value);
  if (!parsed || value < parameter.minimum || value > parameter.maximum ||
      (parameter.whole && value != std::floor(value)))
    throw std::invalid_argument(parameter.name + " = " + brief(text) + ": allowed are " +
                                range_of(parameter));
  return value;
}

const std::string& checked_word(const Parameter& parameter, const std::string& text) {
  const auto found = std::find(parameter.choices.begin(), parameter.choices.end(), text);
  if (found == parameter.choices.end())
    throw std::invalid_argument(parameter.name + " = " + brief(text) + ": allowed are " +
                                listed(parameter.choices));
  return *found;
}

Settings::Settings(const std::vector<Parameter>& parameters,
                   const std::map<std::string, std::string>& given) {
  for (const Parameter& parameter : parameters) {
    const auto found = given.find(parameter.name);
    const std::string& text = found == given.end() ? parameter.fallback : found->second;
    if (text.empty())
      throw std::invalid_argument(parameter.name + " is not given: " + parameter.sentence);
    if (parameter.choices.empty())
      numbers_[parameter.name] = checked_number(parameter, text);
    else
      words_[parameter.name] = checked_word(parameter, text);
  }
}

bool Settings::says(const std::string& name, const std::string& word) const {
  const auto found = words_.find(name);
  return found != words_.end() && found->second == word;
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
