// The words of a platform in words, and the families of clusters with their values.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace syncline {

struct PlatformWord {
  std::string name;
  std::string example;
  std::string sentence;
  std::string needs = {};  // the word without which it has no effect, as one would write it
};
// In the order of the comment in a platform's XML.
const std::vector<PlatformWord>& platform_word_rows();

// A value as one would write it, and its source.
struct FamilyValue {
  std::string text;
  std::string source;
};

struct PlatformFamily {
  std::string name;
  std::string sentence;
  std::map<std::string, FamilyValue> values;  // by word
};
const std::vector<PlatformFamily>& platform_families();
// Null: there is no family of this name.
const PlatformFamily* platform_family(const std::string& name);

// Peak fp32 speed of a device, and rate of its slot, in SimGrid's notation and with their source.
// Empty text: unknown.
FamilyValue speed_of_device(const std::string& device);
FamilyValue slot_of_device(const std::string& device);
// Latency between two GPUs of two nodes with such cards; empty: the family's own latency applies.
FamilyValue latency_of_cards(double card_Bps);

}  // namespace syncline
