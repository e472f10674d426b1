// Numbers and tables for people to read.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace syncline {

// "12 %", of a part; with more digits "12.3 %".
std::string percent(double part, int digits = 0);
// "12.3 ms": three digits and a suitable unit.
std::string seconds_shown(double s);
// "4 min 12 s": for times that a person waits.
std::string duration_shown(double s);
std::string bytes_shown(double b);
// "12,345", or four digits for a smaller number.
std::string count_shown(double number);
std::string cost_shown(double price);
// With these decimals, or more, so that there are at least three digits.
std::string rate_shown(double per_s, int decimals);
// "a, b and c".
std::string and_listed(const std::vector<std::string>& words);
// The first few words, and how many more there are.
std::string listed_briefly(std::vector<std::string> words);

// At most `most` of these, evenly spread, with the first and the last among them.
template <class One>
std::vector<One> spread(const std::vector<One>& all, std::size_t most) {
  const std::size_t taken = std::min(all.size(), most);
  std::vector<One> some;
  for (std::size_t i = 0; i < taken; ++i)
    some.push_back(all[taken == 1 ? 0 : i * (all.size() - 1) / (taken - 1)]);
  return some;
}

struct Column {
  std::string title;
  std::vector<std::string> cells;
  bool left = false;
};
std::string aligned(const std::vector<Column>& columns, std::size_t rows);

// A field of a CSV file, in quotes if it has commas or quotes.
std::string csv_field(const std::string& value);
// Text for XML 1.0, in which control characters are not allowed, even escaped.
std::string in_xml(const std::string& text);

}  // namespace syncline
