#include "kernels/io/text.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <unistd.h>

#include "kernels/io/lines.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

// More than any model, table or configuration needs.
constexpr std::size_t most_file_bytes = 10'000'000;
constexpr std::size_t most_line_bytes = 20'000;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw std::runtime_error(brief_path(path) + ": " + why);
}

[[noreturn]] void refuse_bytes(const std::string& path, const std::string& bytes,
                               std::size_t most_bytes) {
  refuse(path, bytes + " bytes: allowed are " + std::to_string(most_bytes));
}

}  // namespace

std::string text_of_file(const std::string& path, std::size_t most_bytes) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    refuse(path, "no such file");
  if (!fs::status_known(status))
    refuse(path, "cannot be read: " + error.message());
  if (!fs::is_regular_file(status))
    refuse(path, "a folder, a pipe or a device: allowed are regular files");
  if (const auto bytes = fs::file_size(path, error); !error && bytes > most_bytes)
    refuse_bytes(path, std::to_string(bytes), most_bytes);
  const int file = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0)
    refuse(path, std::string("cannot be read: ") + std::strerror(errno));
  std::string text;
  std::string part(1 << 16, '\0');
  ssize_t got = 1;
  while (got > 0 && text.size() <= most_bytes) {  // a file may grow, and /proc gives no sizes
    got = read(file, part.data(), part.size());
    text.append(part, 0, got > 0 ? static_cast<std::size_t>(got) : 0);
  }
  const int reason = errno;
  close(file);
  if (got < 0)
    refuse(path, std::string("cannot be read: ") + std::strerror(reason));
  if (text.size() > most_bytes)
    refuse_bytes(path, "more than " + std::to_string(most_bytes), most_bytes);
  return text;
}

void read_lines(const std::string& path, const std::function<void(const TextLine&)>& see) {
  read_lines_of(text_of_file(path, most_file_bytes), path, see);
}

void read_lines_of(const std::string& text, const std::string& path,
                   const std::function<void(const TextLine&)>& see) {
  if (text.size() > most_file_bytes)
    refuse_bytes(path, std::to_string(text.size()), most_file_bytes);
  const std::string byte_order_mark = "\xEF\xBB\xBF";
  std::size_t begin = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  for (int number = 1; begin < text.size(); ++number) {
    const std::size_t found = text.find('\n', begin);
    const bool ends = found != std::string::npos;
    const std::size_t end = ends ? found : text.size();
    const bool has_return = end > begin && text[end - 1] == '\r';
    TextLine line{number, text.substr(begin, end - begin - (has_return ? 1 : 0)), ends};
    const std::string where = path + ":" + std::to_string(number);
    if (line.text.size() > most_line_bytes)
      refuse_bytes(where, "a line of " + std::to_string(line.text.size()), most_line_bytes);
    if (line.text.find('\0') != std::string::npos)
      refuse(where, "a NUL byte: allowed is text in UTF-8");
    if (line.text.find('\r') != std::string::npos)
      refuse(where, "a carriage return within a line: allowed are lines that end with LF or CRLF");
    see(line);
    begin = end + 1;
  }
}

void refuse_at(const std::string& path, int line, const std::string& what) {
  throw std::runtime_error(path + ":" + std::to_string(line) + ": " + what);
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string trimmed(const std::string& text) {
  const char* blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> fields;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    fields.push_back(trimmed(text.substr(begin, end - begin)));
    if (end == std::string::npos)
      return fields;
    begin = end + 1;
  }
}

std::string printable(const std::string& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::string safe;
  for (std::size_t i = 0; i < text.size();) {
    const unsigned first = byte(i);
    const std::size_t length = first < 0x80                     ? 1
                               : first >= 0xC2 && first <= 0xDF ? 2
                               : first >= 0xE0 && first <= 0xEF ? 3
                               : first >= 0xF0 && first <= 0xF4 ? 4
                                                                : 0;
    bool valid = length > 0 && i + length <= text.size();
    for (std::size_t k = 1; valid && k < length; ++k)
      valid = (byte(i + k) & 0xC0U) == 0x80;
    if (valid && length > 2) {  // overlong forms, surrogates, and above U+10FFFF
      const unsigned second = byte(i + 1);
      valid = !(first == 0xE0 && second < 0xA0) && !(first == 0xED && second > 0x9F) &&
              !(first == 0xF0 && second < 0x90) && !(first == 0xF4 && second > 0x8F);
    }
    const bool control = first < 0x20 || first == 0x7F ||
                         (first == 0xC2 && i + 1 < text.size() && byte(i + 1) < 0xA0) ||
                         // line and paragraph separators, and characters that change the writing
                         // direction
                         (first == 0xE2 && length <= text.size() - i &&
                          ((byte(i + 1) == 0x80 && byte(i + 2) >= 0xA8 && byte(i + 2) <= 0xAE) ||
                           (byte(i + 1) == 0x81 && byte(i + 2) >= 0xA6 && byte(i + 2) <= 0xA9)));
    const std::size_t taken = valid ? length : 1;
    for (std::size_t k = 0; k < taken; ++k)
      if (valid && !control) {
        safe += text[i + k];
      } else {
        char escaped[8];
        std::snprintf(escaped, sizeof escaped, "\\x%02x", byte(i + k));
        safe += escaped;
      }
    i += taken;
  }
  return safe;
}

std::string brief(const std::string& text) {
  constexpr std::size_t most_shown = 100;
  if (text.size() <= most_shown)
    return printable(text);
  std::size_t end = most_shown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80)
    --end;  // not inside a character
  return printable(text.substr(0, end)) + "...";
}

std::string brief_path(const std::string& path) {
  constexpr std::size_t longest = 4096;
  return path.size() > longest ? brief(path) : printable(path);
}

std::optional<double> finite_number_in(const std::string& text) {
  const auto number = number_in(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", number);
  return text;
}

}  // namespace syncline
