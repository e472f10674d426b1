#include "sim/setup/profiles.h"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "kernels/io/text.h"
#include "sim/setup/platform_values.h"

namespace syncline {
namespace {

// Each repetition is an event of the simulation.
constexpr double least_period_s = 1e-3;

double number_of(const std::string& word, const std::string& path, int line) {
  try {
    return plain_number(word);
  } catch (const std::invalid_argument&) {
    refuse_at(path, line,
              fmt::format("'{}' in a profile: allowed are rows of a time in seconds and a value, "
                          "and lines PERIODICITY or LOOPAFTER with seconds",
                          brief(word)));
  }
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word && word[0] != '#';)
    words.push_back(word);
  return words;
}

}  // namespace

Profile read_profile(const std::string& rows, const std::string& path, int first_line,
                     double period_s) {
  Profile profile;
  double last_s = 0;
  double after_s = -1;
  bool has_rows = false;
  std::istringstream lines(rows);
  int line = first_line;
  for (std::string text; std::getline(lines, text); ++line) {
    const std::vector<std::string> words = words_of(text);
    if (words.empty() || words[0][0] == '%')
      continue;
    if (words.size() != 2)
      refuse_at(path, line,
                fmt::format("'{}' in a profile has {} words in its row: allowed are a time in "
                            "seconds and a value",
                            brief(words[0]), words.size()));
    if (words[0] == "PERIODICITY" || words[0] == "LOOPAFTER") {
      (words[0] == "LOOPAFTER" ? after_s : period_s) = number_of(words[1], path, line);
      continue;
    }
    const double at_s = number_of(words[0], path, line);
    const double value = number_of(words[1], path, line);
    if (at_s < last_s)
      refuse_at(path, line,
                fmt::format("a profile goes back in time, from {:g} to {:g} s: allowed are rows in "
                            "the order of their times, from 0",
                            last_s, at_s));
    profile.least = has_rows ? std::min(profile.least, value) : value;
    profile.most = has_rows ? std::max(profile.most, value) : value;
    has_rows = true;
    profile.rows.push_back({at_s, value});
    last_s = at_s;
  }
  if (!has_rows)
    refuse_at(path, first_line, "a profile without rows: allowed are rows of a time and a value");
  if (after_s >= 0 && period_s <= 0)
    period_s = last_s + after_s;
  else if (after_s >= 0)
    refuse_at(path, first_line, "a profile with a period and LOOPAFTER: allowed is one of them");
  if (period_s > 0 && (period_s < least_period_s || period_s < last_s))
    refuse_at(path, first_line,
              fmt::format("a profile that repeats after {:g} s: allowed are {:g} s or more, so "
                          "that all rows come first and the simulation gets on",
                          period_s, std::max(least_period_s, last_s)));
  profile.times = {.shown_s = std::max({0.0, last_s, period_s}),
                   .period_s = std::max(0.0, period_s)};
  return profile;
}

}  // namespace syncline
