// What a platform in words may say, and what families of clusters say without it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace syncline {

struct PlatformWord {
  std::string name;
  std::string example;
  std::string sentence;
  std::string needs = {};  // what it means nothing without, as one would write it
};
// In the order in which a platform's comment has them.
const std::vector<PlatformWord>& platform_word_rows();

// A value as one would write it, and where it is from.
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
// Null: there is none of this name.
const PlatformFamily* platform_family(const std::string& name);

// Peak fp32 speed of a device, and the rate of its slot, as SimGrid writes them, and where they are
// from. Empty text: not known.
FamilyValue speed_of_device(const std::string& device);
FamilyValue slot_of_device(const std::string& device);
// Between two GPUs of two nodes with such cards; empty where the family's own counts.
FamilyValue latency_of_cards(double card_Bps);

}  // namespace syncline
