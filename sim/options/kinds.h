// Makers of options: numbers and words, checked when they are read.
#pragma once

#include <stdexcept>
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

// An option that is a number: `assign(scenario, value)`.
template <class Assign>
Option numeric(const Parameter& parameter, Assign assign) {
  return {parameter.name,
          parameter.sentence,
          parameter.fallback,
          [parameter, assign](Scenario& scenario, const std::string& text) {
            assign(scenario, checked_number(parameter, text));
          },
          true,
          allowed_values(parameter)};
}

template <class Assign>
Option worded(const Parameter& parameter, Assign assign) {
  return {parameter.name,
          parameter.sentence,
          parameter.fallback,
          [parameter, assign](Scenario& scenario, const std::string& text) {
            assign(scenario, checked_word(parameter, text));
          },
          false,
          allowed_values(parameter)};
}

// The same where the word `auto` stands for no number.
template <class Assign>
Option number_or_auto(const Parameter& parameter, Assign assign) {
  return {parameter.name,
          parameter.sentence,
          parameter.fallback,
          [parameter, assign](Scenario& scenario, const std::string& text) {
            if (text == "auto")
              return;
            try {
              assign(scenario, checked_number(parameter, text));
            } catch (const std::invalid_argument& error) {
              throw std::invalid_argument(std::string(error.what()) + ", or auto");
            }
          },
          true,
          allowed_values(parameter) + ", or auto"};
}

}  // namespace syncline
