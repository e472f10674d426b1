// Text that comes from outside: how it is read, and how much of it is shown.
#pragma once

#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace syncline {

// The text of a file. Throws std::runtime_error, which begins with the path, unless it is a regular
// file of at most `most_bytes`: a pipe would be waited for, a device might never end.
std::string text_of_file(const std::string& path, std::size_t most_bytes);

struct TextLine {
  int number = 0;    // from 1
  std::string text;  // without its end
  bool ends = true;  // false: the file stops before a line end
};

// Calls `see` for each line of a file: UTF-8, with or without a byte order mark, lines that end
// with LF or CRLF. Throws as text_of_file, and "path:line: ..." where there is no such text, or a
// line that is longer than any of ours. What `see` throws comes through.
void read_lines(const std::string& path, const std::function<void(const TextLine&)>& see);

// Throws std::runtime_error "path:line: what".
[[noreturn]] void refuse_at(const std::string& path, int line, const std::string& what);

// In small letters.
std::string lower(std::string text);
// Without blanks at both ends; split() also trims each part.
std::string trimmed(const std::string& text);
std::vector<std::string> split(const std::string& text, char separator);

// Returns it as it may be printed: what would move a terminal's cursor or turn the direction of
// writing, and bytes that are no UTF-8, become \xNN.
std::string printable(const std::string& text);

// The beginning of what a message quotes, as it may be printed. A path that can be one is whole.
std::string brief(const std::string& text);
std::string brief_path(const std::string& path);

// All of the text as a decimal number, without blanks; none: it is no such number.
template <class Number = double>
std::optional<Number> number_in(const std::string& text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

// A number in a message, to 12 digits.
std::string number_text(double number);

}  // namespace syncline
