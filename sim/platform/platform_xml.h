// The XML text of a platform, read by a parser that tells what is wrong with it, before SimGrid's.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace syncline {

struct XmlElement {
  using Attribute = std::pair<std::string, std::string>;  // its name, and what it says

  std::string name;
  int line = 0;
  std::string parent;  // the name of the element that it is in; empty for the first
  std::vector<Attribute> attributes;
  std::string text;  // of itself, once it has ended
  // Where it begins in the text, and where it is over, once it has ended.
  std::size_t from = 0, to = 0;
  // There, line ends and tabs in attributes, which XML reads as blanks.
  std::vector<std::size_t> blanks = {};

  // Empty if there is none.
  std::string attribute(const std::string& wanted) const;
};

// Calls `begun` and `ended` for each element, in the file's order. Throws std::runtime_error of one
// line, which begins with path and line, where the file is no XML of the kind that SimGrid reads;
// what the two throw comes through.
// Returns the text.
std::string read_xml(const std::string& path, const std::function<void(const XmlElement&)>& begun,
                     const std::function<void(const XmlElement&)>& ended);
// The same of this text; `name` is for messages.
void read_xml_text(const std::string& name, const std::string& text,
                   const std::function<void(const XmlElement&)>& begun,
                   const std::function<void(const XmlElement&)>& ended);

}  // namespace syncline
