// Makers of options: numbers and words, checked when they are read.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/options/options.h"

namespace syncline {

inline constexpr double tiny = 1e-12;  // "greater than zero"

inline Parameter number(const std::string& name, const std::string& sentence,
                        const std::string& fallback, double minimum, double maximum,
                        bool whole = false) {
  return {name, sentence, fallback, minimum, maximum, whole, {}};
}

inline Parameter choice(const std::string& name, const std::string& sentence,
                        const std::string& fallback, std::vector<std::string> choices) {
  return {.name = name, .sentence = sentence, .fallback = fallback, .choices = std::move(choices)};
}

// What is written is read by `read(parameter, text)` and handed to `assign(scenario, value)`.
template <class Read, class Assign>
Option read_as(const Parameter& parameter, bool is_number, Read read, Assign assign) {
  return {parameter.name,
          parameter.sentence,
          parameter.fallback,
          [parameter, read, assign](Scenario& scenario, const std::string& text) {
            assign(scenario, read(parameter, text));
          },
          is_number,
          allowed_values(parameter)};
}

template <class Assign>
Option numeric(const Parameter& parameter, Assign assign) {
  return read_as(parameter, true, checked_number, assign);
}

template <class Assign>
Option worded(const Parameter& parameter, Assign assign) {
  return read_as(parameter, false, checked_word, assign);
}

// A number for which this word may stand that means none: `assign` gets a std::optional.
template <class Assign>
Option number_or(const std::string& word, Parameter parameter, Assign assign) {
  parameter.unlimited = word;
  return read_as(
      parameter, true,
      [](const Parameter& one, const std::string& text) {
        const double value = checked_number(one, text);
        return text == one.unlimited ? std::optional<double>() : value;
      },
      assign);
}

inline Option explained(Option option, Role role, std::string more, std::string example) {
  option.role = role;
  option.more = std::move(more);
  option.example = std::move(example);
  return option;
}

// Other options mean something only with one of its values.
inline Option selecting(Option option) {
  option.selects = true;
  return option;
}

}  // namespace syncline
