// A platform file may have these elements, and their attributes may say this.
#pragma once

#include <map>
#include <string>
#include <vector>

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

// Why an element that SimGrid knows is not allowed; empty if it is unknown.
std::string why_not(const std::string& element);

}  // namespace syncline
