#include "sim/report/readable.h"

#include <cmath>
#include <fmt/format.h>

#include "kernels/io/text.h"

namespace syncline {

std::string percent(double part, int digits) {
  return fmt::format("{:.{}f} %", 100 * part, digits);
}

std::string seconds_shown(double s) {
  if (s == 0)
    return "0 s";
  if (s >= 1)
    return fmt::format("{:.3g} s", s);
  return s >= 1e-3 ? fmt::format("{:.3g} ms", s * 1e3) : fmt::format("{:.3g} us", s * 1e6);
}

std::string duration_shown(double s) {
  struct Unit {
    const char* name;
    double seconds;
  };
  constexpr Unit units[] = {{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}};
  if (s < 99.95)
    return seconds_shown(s);
  if (s >= 100 * units[0].seconds)
    return count_shown(s / units[0].seconds) + " d";
  for (std::size_t i = 0; i + 1 < std::size(units); ++i) {  // two units are precise enough
    const double small = std::round(s / units[i + 1].seconds);
    const double each = std::round(units[i].seconds / units[i + 1].seconds);
    if (small >= each)
      return fmt::format("{:.0f} {}", std::floor(small / each), units[i].name) +
             (std::fmod(small, each) > 0
                  ? fmt::format(" {:.0f} {}", std::fmod(small, each), units[i + 1].name)
                  : "");
  }
  return seconds_shown(s);
}

std::string bytes_shown(double b) {
  for (const char* unit : {"B", "kB", "MB", "GB", "TB"}) {
    if (b < 1000)
      return fmt::format("{:.4g} {}", b, unit);
    b /= 1000;
  }
  return fmt::format("{:.4g} PB", b);
}

std::string count_shown(double number) {
  if (std::abs(number) < 999.95)
    return fmt::format("{:.4g}", number);
  if (std::abs(number) >= 1e15)
    return fmt::format("{:.3g}", number);
  std::string digits = fmt::format("{:.0f}", number);
  for (std::size_t at = digits.size(); at > (number < 0 ? 4U : 3U);)
    digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string rate_shown(double per_s, int decimals) {
  return per_s < std::pow(10, 2 - decimals) ? fmt::format("{:#.3g}", per_s)
                                            : fmt::format("{:.{}f}", per_s, decimals);
}

std::string cost_shown(double price) {
  return price >= 0.1 && price < 999.995 ? fmt::format("{:.2f}", price) : count_shown(price);
}

std::string aligned(const std::vector<Column>& columns, std::size_t rows) {
  // Lengths are in characters, not bytes: names can be in any script.
  const auto length = [](const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
  };
  std::vector<std::size_t> widths;
  for (const Column& column : columns) {
    widths.push_back(length(column.title));
    for (const std::string& cell : column.cells)
      widths.back() = std::max(widths.back(), length(cell));
  }
  std::string table;
  for (std::size_t row = 0; row <= rows; ++row) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Column& column = columns[i];
      const std::string& text = row == 0 ? column.title : column.cells[row - 1];
      const std::string padding(widths[i] - length(text), ' ');
      line += (line.empty() ? "" : "  ") + (column.left ? text + padding : padding + text);
    }
    table += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return table;
}

std::string csv_field(const std::string& value) {
  if (value.find_first_of(",\"") == std::string::npos)
    return value;
  std::string quoted = "\"";
  for (const char c : value)
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string in_xml(const std::string& text) {
  std::string escaped;
  for (const char c : printable(text))
    escaped += c == '&'   ? "&amp;"
               : c == '<' ? "&lt;"
               : c == '>' ? "&gt;"
               : c == '"' ? "&quot;"
                          : std::string(1, c);
  return escaped;
}

std::string and_listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

std::string listed_briefly(std::vector<std::string> words) {
  constexpr std::size_t most = 3;
  if (words.size() > most + 1) {
    const std::size_t more = words.size() - most;
    words.resize(most);
    words.push_back(std::to_string(more) + " more");
  }
  return and_listed(words);
}

}  // namespace syncline
