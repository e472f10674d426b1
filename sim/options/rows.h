// Makers of options: numbers and words, checked when they are read.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/options/options.h"

namespace syncline {

inline constexpr double tiny = 1e-12;  // "greater than zero"

// An option whose values are the numbers of a range, and perhaps a word, which empties the
// std::optional of the value.
inline OwnOption numbers(double minimum, double maximum, const std::string& word = "") {
  return {.minimum = minimum, .maximum = maximum, .unlimited = word};
}
inline OwnOption whole(double minimum, double maximum, const std::string& word = "") {
  return {.minimum = minimum, .maximum = maximum, .whole = true, .unlimited = word};
}

// Words, each with its value.
template <class T>
using Words = std::vector<std::pair<std::string, T>>;
inline const Words<bool> on_or_off{{"on", true}, {"off", false}};

template <class T, class Part>
requires std::derived_from<Scenario, Part> T& member_of(Scenario& scenario, T Part::*member) {
  return scenario.*member;
}
template <class T>
T& member_of(Scenario& scenario, T Fusion::*member) {
  return scenario.fusion.*member;
}
template <class T>
T& member_of(Scenario& scenario, T Learning::*member) {
  return scenario.learning.*member;
}

template <class T>
void read(const OwnOption& parameter, const std::string& text, T& value) {
  value = static_cast<T>(checked_number(parameter, text));
}
template <class T>
void read(const OwnOption& parameter, const std::string& text, std::optional<T>& value) {
  const double number = checked_number(parameter, text);
  value = text == parameter.unlimited ? std::nullopt : std::optional(static_cast<T>(number));
}

// A row: the option's name, where its value goes, the values that are allowed, its default and its
// role; then its sentence, a second sentence and an example.

// Any text, which `set` reads. Null: resolve() looks the name up.
inline Option row(const std::string& name, std::function<void(Scenario&, const std::string&)> set,
                  const std::string& fallback, Role role, const std::string& sentence,
                  const std::string& more, const std::string& example) {
  return {.name = name,
          .sentence = sentence,
          .fallback = fallback,
          .set = std::move(set),
          .role = role,
          .more = more,
          .example = example};
}

template <class Owner, class... Rest>
Option row(const std::string& name, std::string Owner::*member, Rest... rest) {
  const auto set = [=](Scenario& scenario, const std::string& text) {
    member_of(scenario, member) = text;
  };
  return row(name, set, rest...);
}

template <class Owner, class T, class... Rest>
Option row(const std::string& name, T Owner::*member, OwnOption values, Rest... rest) {
  values.name = name;
  const auto set = [=](Scenario& scenario, const std::string& text) {
    read(values, text, member_of(scenario, member));
  };
  Option option = row(name, set, rest...);
  option.number = true;
  option.allowed = allowed_values(values);
  return option;
}

template <class Owner, class T, class... Rest>
Option row(const std::string& name, T Owner::*member, const Words<std::type_identity_t<T>>& words,
           Rest... rest) {
  OwnOption values{.name = name};
  for (const auto& [word, value] : words)
    values.choices.push_back(word);
  const auto set = [=](Scenario& scenario, const std::string& text) {
    checked_word(values, text);
    member_of(scenario, member) =
        std::ranges::find(words, text, [](const auto& one) { return one.first; })->second;
  };
  Option option = row(name, set, rest...);
  option.allowed = allowed_values(values);
  return option;
}

// Some other options have a meaning only with one of its values.
inline Option selecting(Option option) {
  option.selects = true;
  return option;
}

}  // namespace syncline
