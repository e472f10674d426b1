// Text from outside: how it is read, and how much of it is shown.
#pragma once

#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace syncline {

// The text of a file. Throws std::runtime_error, which begins with the path, unless it is a regular
// file of at most `most_bytes`: reading a pipe would wait, and a device might never end.
std::string text_of_file(const std::string& path, std::size_t most_bytes);

struct TextLine {
  int number = 0;    // from 1
  std::string text;  // without its line end
  bool ends = true;  // false: the file stops before a line end
};

// Calls `see` for each line of a file: UTF-8, with or without a byte order mark, lines that end
// with LF or CRLF. Throws like text_of_file, and "path:line: ..." if the text is not UTF-8 or a
// line is too long. Exceptions of `see` pass through.
void read_lines(const std::string& path, const std::function<void(const TextLine&)>& see);

// Throws std::runtime_error "path:line: what".
[[noreturn]] void refuse_at(const std::string& path, int line, const std::string& what);

// Lower case.
std::string lower(std::string text);
// trimmed() removes blanks at both ends; split() also trims each part.
std::string trimmed(const std::string& text);
std::vector<std::string> split(const std::string& text, char separator);

// The text as it may be printed: bytes that are not UTF-8, and characters that would move a
// terminal's cursor or change the writing direction, become \xNN.
std::string printable(const std::string& text);

// The beginning of a text for quoting in a message, printable. brief_path() keeps paths of valid
// length whole.
std::string brief(const std::string& text);
std::string brief_path(const std::string& path);

// The whole text as a decimal number, without blanks; nullopt if it is none.
template <class Number = double>
std::optional<Number> number_in(const std::string& text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

// The same, if it is finite.
std::optional<double> finite_number_in(const std::string& text);

// "1 cell", "2 cells".
template <class Count>
std::string counted(Count count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// A number for a message, to 12 digits.
std::string number_text(double number);

}  // namespace syncline
