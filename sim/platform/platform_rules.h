// A platform file may have these elements, in this order, and their attributes may say this.
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
  std::vector<std::string> words;  // where it says one of some
};

using ElementRule = std::map<std::string, AttributeRule>;

// By the element's name.
const std::map<std::string, ElementRule>& platform_rules();

// What others' platforms have, and simulating training does not need: disks, and what SimGrid has
// no more.
bool takes_no_part(const XmlElement& element);

// Why an element that SimGrid knows is not allowed; empty if it is unknown.
std::string why_not(const std::string& element);

// An element may stand in some others, after some: this is what every version of SimGrid reads of
// its document type.
class PlatformOrder {
 public:
  // An element begins. Throws std::invalid_argument that says why it cannot stand here.
  void begin(const XmlElement& element);
  void end() { open_.pop_back(); }

 private:
  struct Open {
    std::string name;
    std::string place;  // in it: decides what may follow
    std::string last;   // child
  };
  std::vector<Open> open_;
};

}  // namespace syncline
