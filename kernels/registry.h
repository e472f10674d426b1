// Named things that register themselves: each compressor, schedule and exchange is one file, which
// ends in a namespace-scope `const Registered<T> entry{{.name = ..., .sentence = ...}};`. There is
// no other list, so adding one means adding its file. The files must reach the linker as objects (a
// CMake OBJECT library): nothing in a static library would register itself.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/io/text.h"

namespace syncline {

// An option of one schedule, exchange or compressor. The command line, the configuration files and
// `syncline list` are made from this description.
struct OwnOption {
  std::string name = {};      // as written on the command line and in configuration files
  std::string sentence = {};  // its meaning in one sentence, with its unit
  std::string fallback = {};  // its default, as a user would write it; empty: required
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool whole = false;                     // only whole numbers
  std::vector<std::string> choices = {};  // not empty: one of these words, not a number
  std::string unlimited = {};             // not empty: a word for infinity, beside numbers
  // False for an option that decides how much is sent or what is predicted, but not the time of an
  // operation: rows of a cost table do not name it.
  bool changes_cost = true;
};

// Makers of options: a number, a whole number, or one of several words.
inline OwnOption number(const std::string& name, const std::string& sentence,
                        const std::string& fallback, double minimum,
                        double maximum = std::numeric_limits<double>::infinity(),
                        bool whole = false) {
  return {name, sentence, fallback, minimum, maximum, whole};
}

inline OwnOption whole_number(const std::string& name, const std::string& sentence,
                              const std::string& fallback, double minimum, double maximum) {
  return number(name, sentence, fallback, minimum, maximum, true);
}

inline OwnOption choice(const std::string& name, const std::string& sentence,
                        const std::string& fallback, std::vector<std::string> choices) {
  return {.name = name, .sentence = sentence, .fallback = fallback, .choices = std::move(choices)};
}

// Also allows `word`, which stands for infinity.
inline OwnOption or_word(OwnOption option, const std::string& word) {
  option.unlimited = word;
  return option;
}

// Marks an option that does not change the cost of an operation.
inline OwnOption unpriced(OwnOption option) {
  option.changes_cost = false;
  return option;
}

// What `syncline help` says of a registered thing after its sentence.
struct Help {
  std::string more = {};   // when it is useful, or what it costs
  std::string paper = {};  // its source
};

// Describes the allowed values: "numbers from 0 to 1".
std::string allowed_values(const OwnOption& option);

// At most `most` of the names, the most similar to `word` first.
std::vector<std::string> nearest(const std::string& word, std::vector<std::string> names,
                                 std::size_t most = std::numeric_limits<std::size_t>::max());

// "a, b or c": how error messages list what is allowed.
inline std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0)
      text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

// Suggests replacements for `word`: "allowed are a, b or c"; for more than eight names "nearest are
// a, b or c; `syncline list compressors` has all".
std::string instead_of(const std::string& word, const std::vector<std::string>& names,
                       const std::string& all_are_in);

// The option of this name; null if there is none.
inline const OwnOption* option_named(const std::vector<OwnOption>& options,
                                     const std::string& name) {
  const auto found = std::ranges::find(options, name, &OwnOption::name);
  return found == options.end() ? nullptr : &*found;
}

inline bool declares(const std::vector<OwnOption>& options, const std::string& name) {
  return option_named(options, name) != nullptr;
}

// Parses a value and checks it against the option's description. Throws std::invalid_argument:
// "density = 2: allowed are numbers from 0 to 1".
double checked_number(const OwnOption& option, const std::string& text);
const std::string& checked_word(const OwnOption& option, const std::string& text);

// Option values of one registered thing, checked when they were set.
class Settings {
 public:
  Settings() = default;
  // Every option at its default, or at its value in `given` (other entries of `given` are ignored).
  // Throws std::invalid_argument for a bad value or a missing required one.
  Settings(const std::vector<OwnOption>& options, const std::map<std::string, std::string>& given);

  double number(const std::string& name) const { return numbers_.at(name); }
  const std::string& word(const std::string& name) const { return words_.at(name); }

  // Return a copy with one number or word replaced, unchecked; the option must exist.
  Settings with(const std::string& name, double number) const;
  Settings with(const std::string& name, const std::string& word) const;

 private:
  std::map<std::string, double> numbers_;
  std::map<std::string, std::string> words_;
};

template <class T>
class Registered {
 public:
  explicit Registered(T entry) {
    std::string name = entry.name;
    entries().emplace(std::move(name), std::move(entry));
  }

  using Entries = std::map<std::string, T, std::less<>>;
  static const Entries& all() { return entries(); }

  static std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries())
      names.push_back(name);
    return names;
  }

  // Throws std::invalid_argument that lists the known names.
  static const T& find(std::string_view name) {
    const auto found = entries().find(name);
    if (found == entries().end())
      throw std::invalid_argument(
          "unknown " + std::string(T::kind) + " '" + brief(std::string(name)) + "': " +
          instead_of(std::string(name), names(), "`syncline list " + std::string(T::kind) + "s`"));
    return found->second;
  }

 private:
  static Entries& entries() {
    static Entries entries;  // filled before main, by the files themselves
    return entries;
  }
};

}  // namespace syncline
