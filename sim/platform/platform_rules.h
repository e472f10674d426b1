// The elements of a platform file, their order, and the values of their attributes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/platform/platform_xml.h"

namespace syncline {

enum class AttributeKind { text, name, speed, bandwidth, time, cores, number, words, profile };

struct AttributeRule {
  AttributeKind says = AttributeKind::text;
  bool needed = false;
  std::vector<std::string> words;  // the allowed words, for AttributeKind::words
};

using ElementRule = std::map<std::string, AttributeRule>;

// By the element's name.
const std::map<std::string, ElementRule>& platform_rules();

// True for elements in other tools' platforms that the simulation of training does not need: disks,
// and elements that SimGrid no longer has.
bool takes_no_part(const XmlElement& element);

// Why an element that SimGrid knows is not allowed; empty if the element is unknown.
std::string why_not(const std::string& element);

// Checks which elements may stand in others, and after which: the part of its document type that
// every version of SimGrid reads.
class PlatformOrder {
 public:
  // Call it when an element begins. Throws std::invalid_argument that says why the element cannot
  // stand here.
  void begin(const XmlElement& element);
  void end() { open_.pop_back(); }

 private:
  struct Open {
    std::string name;
    std::string place;  // decides which elements may follow in it
    std::string last;   // its last child
  };
  std::vector<Open> open_;
};

}  // namespace syncline
