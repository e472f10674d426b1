// Numbers and tables as people read them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace syncline {

// "12 %", of a part; with more digits "12.3 %".
std::string percent(double part, int digits = 0);
// "12.3 ms": three digits and a suitable unit.
std::string seconds_shown(double s);
// "4 min 12 s": what a person waits for.
std::string duration_shown(double s);
std::string bytes_shown(double b);
// "12,345", or four digits if there are fewer.
std::string count_shown(double number);
std::string cost_shown(double price);
// "a, b and c".
std::string and_listed(const std::vector<std::string>& words);
// The first few, and how many more.
std::string few(std::vector<std::string> words);

// At most so many of these, evenly spread, the first and the last among them.
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

// A field of a CSV file: in quotes where commas or quotes are in it.
std::string csv_field(const std::string& value);
// Text that may be in XML 1.0, where control characters are not allowed even escaped.
std::string in_xml(const std::string& text);

}  // namespace syncline
