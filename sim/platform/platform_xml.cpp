#include "sim/platform/platform_xml.h"

#include <algorithm>
#include <exception>
#include <expat.h>
#include <fmt/format.h>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "kernels/io/text.h"

namespace syncline {
namespace {

// Reading a file of this size takes seconds and less than 1 GB, whatever its contents are.
constexpr std::size_t most_file_bytes = 100'000'000;
constexpr std::size_t most_attribute_bytes = 100'000;
// Zones are about as deep as a machine has levels. SimGrid looks names up in every level.
constexpr std::size_t most_nested = 64;

const std::string dtd = "https://simgrid.org/simgrid.dtd";
const std::string older_dtd = "http://simgrid.gforge.inria.fr/simgrid/simgrid.dtd";
const std::string allowed_doctype = "allowed is <!DOCTYPE platform SYSTEM \"" + dtd + "\">";

const std::string xml_blanks = " \t\r\n";

struct Reading {
  XML_Parser parser = nullptr;
  std::string path;
  std::string_view text;
  const std::function<void(const XmlElement&)>& begun;
  const std::function<void(const XmlElement&)>& ended;
  std::vector<XmlElement> open;
  std::size_t blank_bytes = 0;  // before a declaration; the parser does not see them
  int blank_lines = 0;
  bool has_doctype = false;
  bool ascii_only = false;  // SimGrid passes on the bytes of other encodings unchanged
  std::exception_ptr problem;

  int line() const { return blank_lines + static_cast<int>(XML_GetCurrentLineNumber(parser)); }
  std::size_t at() const {
    return blank_bytes + static_cast<std::size_t>(XML_GetCurrentByteIndex(parser));
  }
  [[noreturn]] void fail(const std::string& what) const { refuse_at(path, line(), what); }
};

// Places of line ends and tabs in the attributes of the element that begins at reading.at().
std::vector<std::size_t> blanks_in_attributes(const Reading& reading) {
  std::vector<std::size_t> found;
  char quote = '\0';
  const std::size_t end =
      reading.at() + static_cast<std::size_t>(XML_GetCurrentByteCount(reading.parser));
  for (std::size_t i = reading.at(); i < end; ++i) {
    const char c = reading.text[i];
    if (quote == '\0' && (c == '"' || c == '\''))
      quote = c;
    else if (c == quote)
      quote = '\0';
    else if (quote != '\0' && (c == '\n' || c == '\r' || c == '\t'))
      found.push_back(i);
  }
  return found;
}

// Catches exceptions, which must not pass through the parser, because the parser is C.
template <class Act>
void guarded(void* data, Act act) {
  Reading& reading = *static_cast<Reading*>(data);
  if (reading.problem)
    return;
  try {
    act(reading);
  } catch (...) {
    reading.problem = std::current_exception();
    XML_StopParser(reading.parser, XML_FALSE);
  }
}

void begin(void* data, const XML_Char* name, const XML_Char** attributes) {
  guarded(data, [&](Reading& reading) {
    XmlElement element{.name = name,
                       .line = reading.line(),
                       .from = reading.at(),
                       .blanks = blanks_in_attributes(reading)};
    if (!reading.has_doctype)
      reading.fail("no <!DOCTYPE> before <" + brief(name) + ">: " + allowed_doctype);
    if (!reading.open.empty())
      element.parent = reading.open.back().name;
    for (; *attributes != nullptr; attributes += 2) {
      const std::string value = attributes[1];
      if (value.size() > most_attribute_bytes)
        reading.fail(fmt::format("<{}>: an attribute {} of {} bytes: allowed are {}",
                                 brief(element.name), brief(attributes[0]), value.size(),
                                 most_attribute_bytes));
      if (reading.ascii_only && std::ranges::any_of(value, [](unsigned char c) { return c > 127; }))
        reading.fail(fmt::format(
            "<{}>: {} = {}: allowed are characters of ASCII, or a file with encoding=\"UTF-8\"",
            brief(element.name), brief(attributes[0]), brief(value)));
      element.attributes.emplace_back(attributes[0], value);
    }
    if (reading.open.size() >= most_nested)
      reading.fail(fmt::format("<{}> is inside {} other elements: allowed are {}",
                               brief(element.name), reading.open.size(), most_nested - 1));
    reading.open.push_back(std::move(element));
    reading.begun(reading.open.back());
  });
}

void end(void* data, const XML_Char*) {
  guarded(data, [](Reading& reading) {
    reading.open.back().to =
        reading.at() + static_cast<std::size_t>(XML_GetCurrentByteCount(reading.parser));
    reading.ended(reading.open.back());
    reading.open.pop_back();
  });
}

void add_text(void* data, const XML_Char* text, int length) {
  guarded(data, [&](Reading& reading) {
    reading.open.back().text.append(text, static_cast<std::size_t>(length));
  });
}

// SimGrid's parser accepts a version and an encoding with nothing after them.
[[noreturn]] void refuse_declaration(const std::string& path) {
  throw std::runtime_error(path +
                           ":1: the declaration <?xml ...?>: allowed is <?xml version=\"1.0\"?>");
}

void see_declaration(void* data, const XML_Char*, const XML_Char* encoding, int standalone) {
  guarded(data, [&](Reading& reading) {
    if (standalone != -1)  // the file has `standalone`
      refuse_declaration(reading.path);
    std::string name = encoding == nullptr ? "UTF-8" : encoding;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    if (name != "UTF-8" && name != "US-ASCII" && name != "ISO-8859-1")
      reading.fail("encoding = " + brief(name) + ": allowed is UTF-8");
    reading.ascii_only = name != "UTF-8";
  });
}

void see_doctype(void* data, const XML_Char* root, const XML_Char* system,
                 const XML_Char* is_public, int has_subset) {
  guarded(data, [&](Reading& reading) {
    reading.has_doctype = true;
    if (has_subset != 0)
      reading.fail("<!DOCTYPE> has declarations of its own: " + allowed_doctype);
    const std::string name = system == nullptr ? "" : system;
    if ((name != dtd && name != older_dtd) || is_public != nullptr ||
        std::string(root) != "platform")
      reading.fail(fmt::format("<!DOCTYPE> names {} and '{}': {}", brief(root), brief(name),
                               allowed_doctype));
  });
}

void see_cdata(void* data) {
  guarded(data, [](Reading& reading) {
    if (reading.open.back().name != "trace")
      reading.fail("a CDATA section in <" + reading.open.back().name +
                   ">: allowed are elements; text is for <trace>");
  });
}

// Refuses beginnings before the first element that SimGrid cannot read, or misreads.
void check_beginning(const Reading& reading, const std::string& text) {
  if (text.starts_with("\xEF") || text.starts_with("\xFE") || text.starts_with("\xFF") ||
      text.substr(0, 2).find('\0') != std::string::npos)
    throw std::runtime_error(
        reading.path + ":1: a byte order mark, or UTF-16: allowed is UTF-8 that begins with '<'");
  constexpr std::string_view declaration = "<?xml";
  const std::size_t begin = std::min(text.find_first_not_of(xml_blanks), text.size());
  const std::size_t end = text.find("?>", begin);
  if (text.compare(begin, declaration.size(), declaration) == 0 && end != std::string::npos &&
      (xml_blanks.find(text[begin + declaration.size()]) == xml_blanks.npos ||
       xml_blanks.find(text[end - 1]) != xml_blanks.npos))
    refuse_declaration(reading.path);
}

}  // namespace

std::string XmlElement::attribute(const std::string& wanted) const {
  for (const auto& [attribute_name, value] : attributes)
    if (attribute_name == wanted)
      return value;
  return "";
}

std::string read_xml(const std::string& path, const std::function<void(const XmlElement&)>& begun,
                     const std::function<void(const XmlElement&)>& ended) {
  std::string text = text_of_file(path, most_file_bytes);
  read_xml_text(path, text, begun, ended);
  return text;
}

void read_xml_text(const std::string& name, const std::string& text,
                   const std::function<void(const XmlElement&)>& begun,
                   const std::function<void(const XmlElement&)>& ended) {
  const std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser(XML_ParserCreate(nullptr),
                                                                       XML_ParserFree);
  Reading reading{
      .parser = parser.get(), .path = name, .text = text, .begun = begun, .ended = ended};
  check_beginning(reading, text);
  if (const std::size_t begin = text.find_first_not_of(xml_blanks);
      begin != std::string::npos && text.compare(begin, 5, "<?xml") == 0) {
    reading.blank_bytes = begin;  // in some other tools' files, and accepted by SimGrid
    reading.blank_lines = static_cast<int>(
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
  }
  XML_SetUserData(parser.get(), &reading);
  XML_SetElementHandler(parser.get(), begin, end);
  XML_SetCharacterDataHandler(parser.get(), add_text);
  XML_SetXmlDeclHandler(parser.get(), see_declaration);
  XML_SetStartCdataSectionHandler(parser.get(), see_cdata);
  XML_SetStartDoctypeDeclHandler(parser.get(), see_doctype);
  const auto status = XML_Parse(parser.get(), text.data() + reading.blank_bytes,
                                static_cast<int>(text.size() - reading.blank_bytes), XML_TRUE);
  if (reading.problem)
    std::rethrow_exception(reading.problem);
  if (status == XML_STATUS_OK)
    return;
  const XML_Error error = XML_GetErrorCode(parser.get());
  const std::size_t at = reading.at();
  std::string what =
      error == XML_ERROR_DUPLICATE_ATTRIBUTE ? "an attribute occurs twice" : XML_ErrorString(error);
  if (error == XML_ERROR_INVALID_TOKEN && at < text.size()) {
    const std::string found = printable(text.substr(at, 1));
    what = "the character " + found + " is not allowed here";
    if (found == "\\x00")
      what = "a NUL byte: allowed is text";
  }
  reading.fail("no well-formed XML: " + what);
}

}  // namespace syncline
