// Reads the XML text of a platform before SimGrid does, with a parser that says what is wrong.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace syncline {

struct XmlElement {
  using Attribute = std::pair<std::string, std::string>;  // name and value

  std::string name;
  int line = 0;
  std::string parent;  // the name of the element around it; empty for the first
  std::vector<Attribute> attributes;
  std::string text;  // of itself, once it has ended
  // Where the element begins in the text and, once it has ended, where it ends.
  std::size_t from = 0, to = 0;
  // Places of line ends and tabs in its attributes, which XML reads as blanks.
  std::vector<std::size_t> blanks = {};

  // Empty if the attribute is absent.
  std::string attribute(const std::string& wanted) const;
};

// Calls `begun` and `ended` for each element, in the file's order. Returns the text. Throws
// std::runtime_error with one line, which begins with path and line, if the file is not XML of the
// kind that SimGrid reads; passes on the exceptions of the two functions.
std::string read_xml(const std::string& path, const std::function<void(const XmlElement&)>& begun,
                     const std::function<void(const XmlElement&)>& ended);
// The same for this text; `name` is for messages.
void read_xml_text(const std::string& name, const std::string& text,
                   const std::function<void(const XmlElement&)>& begun,
                   const std::function<void(const XmlElement&)>& ended);

}  // namespace syncline
