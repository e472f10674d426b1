#include "tests/fuzz/law.h"

#include <regex>
#include <stdexcept>
#include <string_view>
#include <typeinfo>

#include "kernels/io/text.h"
#include "tests/unit/folder.h"

namespace syncline {
namespace {

constexpr std::size_t most_bytes = 2500;  // all options fit into one message

[[noreturn]] void broken(const std::string& law, const std::string& text) {
  throw std::logic_error(law + ": " + printable(text.substr(0, most_bytes)));
}

// Whether a word in the text does not come from the bytes, raw or printed: "\x0f" ends in a letter.
bool brings(const std::string& text, std::string_view word, Bytes bytes) {
  if (text.find(word) == std::string::npos)
    return false;
  const std::string given(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return given.find(word) == std::string::npos && printable(given).find(word) == std::string::npos;
}

}  // namespace

std::string file_of(Bytes bytes, const std::string& name) {
  static const TemporaryFolder folder;
  return folder.write(name, {bytes.begin(), bytes.end()});
}

bool reads(Bytes bytes, const std::function<void()>& read) {
  try {
    read();
    return true;
  } catch (const std::exception& error) {
    if (typeid(error) == typeid(std::logic_error))  // found by `read` itself
      throw;
    // Exactly these types: exceptions of libraries are often derived from them.
    if (typeid(error) != typeid(std::runtime_error) &&
        typeid(error) != typeid(std::invalid_argument))
      broken(std::string("an exception of another kind, ") + typeid(error).name(), error.what());
    require_our_words(bytes, error.what());
    return false;
  }
}

void require_our_words(Bytes bytes, const std::string& message) {
  if (message.empty())
    broken("a message says nothing", message);
  if (message.find('\n') != std::string::npos)
    broken("a message has several lines", message);
  if (printable(message).size() > most_bytes)
    broken("a message has " + std::to_string(message.size()) + " bytes", message);
  // A tool that our messages name, whose name contains a library's word.
  static const std::regex own_name("chakra_jsonizer");
  const std::string others = std::regex_replace(message, own_name, "");
  for (const char* word :
       {"stod",         "stoi",      "stol",    "stoul",        "json",  "bad_alloc",
        "basic_string", "vector",    "map::at", "regex",        "boost", "filesystem error",
        "terminate",    "Assertion", "signal",  "Segmentation", "xbt",   "Backtrace",
        "Impossible",   "/src/"})
    if (brings(others, word, bytes))
      broken(std::string("a message has a library's word, ") + word, message);
  static const std::regex library_name("(std|simgrid)::[A-Za-z_]");  // not "simgrid:" and a colon
  if (std::smatch found;
      std::regex_search(message, found, library_name) && brings(message, found.str(), bytes))
    broken("a message has a library's name, " + found.str(), message);
  require_plain_text(bytes, printable(message));
}

void require_plain_text(Bytes bytes, const std::string& text) {
  for (const std::string& line : split(text, '\n'))
    if (printable(line) != line)
      broken("text that is not plain", line);
  static const std::regex no_number("(^|[^a-z])(-?nan|-?inf)([^a-z]|$)");
  if (!brings(text, "nan", bytes) && !brings(text, "inf", bytes))  // is faster
    return;
  if (std::smatch found; std::regex_search(text, found, no_number))
    broken("text with what is no number", found.str() + " in " + text);
}

}  // namespace syncline
