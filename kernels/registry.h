// Named things that announce themselves: a compressor, a schedule and an exchange is each one file,
// which ends in a namespace-scope `const Registered<T> entry{{.name = ..., .sentence = ...}};`.
// No list is kept anywhere else, so adding one is adding its file. The files must reach the linker
// as objects (a CMake OBJECT library): from a static library nothing would register itself.
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

// One option that belongs to a schedule, an exchange or a compressor. The command line, the
// configuration files and `syncline list` are made from this description.
struct OwnOption {
  std::string name = {};      // the word on the command line and in configuration files
  std::string sentence = {};  // what it is, in one sentence, with its unit
  std::string fallback = {};  // its default, as a user would write it; empty: it must be given
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool whole = false;                     // only whole numbers
  std::vector<std::string> choices = {};  // when not empty: a word out of these, not a number
  std::string unlimited = {};             // when not empty: a word for infinity, beside numbers
  // False: it decides how much is sent or what is predicted, never what an operation takes, so the
  // rows of a cost table do not name it.
  bool changes_cost = true;
};

// Makers of options: a number, a whole number, and a word out of these.
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

// This word may stand for infinity, beside the numbers.
inline OwnOption or_word(OwnOption option, const std::string& word) {
  option.unlimited = word;
  return option;
}

// The cost of an operation does not depend on it.
inline OwnOption unpriced(OwnOption option) {
  option.changes_cost = false;
  return option;
}

// `syncline help` says this of a registered thing besides its sentence.
struct Help {
  std::string more = {};   // a second sentence: when it is of use, or what it costs
  std::string paper = {};  // where it comes from
};

// This may be written for it: "numbers from 0 to 1".
std::string allowed_values(const OwnOption& option);

// These names, the most similar to `word` first, and so many of them at most.
std::vector<std::string> nearest(const std::string& word, std::vector<std::string> names,
                                 std::size_t most = std::numeric_limits<std::size_t>::max());

// "a, b or c": how every error here lists what is allowed.
inline std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0)
      text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

// What may be written instead of `word`: "allowed are a, b or c"; of more than eight names "nearest
// are a, b or c; `syncline list compressors` has all".
std::string instead_of(const std::string& word, const std::vector<std::string>& names,
                       const std::string& all_are_in);

// The option of this name; null where there is none.
inline const OwnOption* option_named(const std::vector<OwnOption>& options,
                                     const std::string& name) {
  const auto found = std::ranges::find(options, name, &OwnOption::name);
  return found == options.end() ? nullptr : &*found;
}

inline bool declares(const std::vector<OwnOption>& options, const std::string& name) {
  return option_named(options, name) != nullptr;
}

// Checks one written value against its description.
// Throws std::invalid_argument: "density = 2: allowed are numbers from 0 to 1".
double checked_number(const OwnOption& option, const std::string& text);
const std::string& checked_word(const OwnOption& option, const std::string& text);

// The values of the options of one registered thing, checked when they were set.
class Settings {
 public:
  Settings() = default;
  // Every option at its default, or at the value in `given` (others in `given` are ignored).
  // Throws std::invalid_argument on a bad value, or when one without a default is not given.
  Settings(const std::vector<OwnOption>& options, const std::map<std::string, std::string>& given);

  double number(const std::string& name) const { return numbers_.at(name); }
  const std::string& word(const std::string& name) const { return words_.at(name); }

  // These return a copy with one number or word changed, which must be there; it is not checked.
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

  // Throws std::invalid_argument that says which names there are.
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
    static Entries entries;  // filled before main by the files themselves
    return entries;
  }
};

}  // namespace syncline
