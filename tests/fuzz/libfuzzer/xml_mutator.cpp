// Mutations of a platform file that keep most of them well-formed, so that code behind the XML
// parser is reached: elements are added, copied, moved and dropped, and attributes get values of
// others.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sim/platform/platform_rules.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace syncline {
namespace {

using Random = std::minstd_rand;

struct Span {
  std::size_t begin = 0;
  std::size_t length = 0;
};

template <class Any>
const Any& one_of(const std::vector<Any>& all, Random& random) {
  return all[random() % all.size()];
}

const std::vector<std::string>& usual_values() {
  static const std::vector<std::string> all{"",
                                            "0",
                                            "1",
                                            "2",
                                            "3",
                                            "-1",
                                            "0.5",
                                            "1e6",
                                            "1e-300",
                                            "1e21",
                                            "1 2 3",
                                            "2,2",
                                            "1,2,2",
                                            "0-3",
                                            "1,4-5",
                                            "7-0",
                                            "1f",
                                            "1Tf",
                                            "1Gf, 2Gf",
                                            "1Bps",
                                            "1GBps",
                                            "1e21Bps",
                                            "0",
                                            "1us",
                                            "1e6s",
                                            "1;2;1;1",
                                            "2;2,2;1,2;1,1",
                                            "2,1;2,1;2,1;1",
                                            "a",
                                            "b",
                                            "c",
                                            "w",
                                            "l_UP",
                                            "l_DOWN",
                                            "l",
                                            "node",
                                            "role",
                                            "host",
                                            "server",
                                            "device"};
  return all;
}

std::vector<Span> between(const std::string& text, char open, char close) {
  std::vector<Span> found;
  for (std::size_t begin = text.find(open); begin != std::string::npos;) {
    const std::size_t end = text.find(close, begin + 1);
    if (end == std::string::npos)
      break;
    found.push_back({begin, end - begin + 1});
    begin = text.find(open, end + 1);
  }
  return found;
}

std::string value_of(const std::string& text, const AttributeRule& rule, Random& random) {
  const std::vector<Span> values = between(text, '"', '"');
  if (!rule.words.empty() && random() % 8 != 0)
    return one_of(rule.words, random);
  if (values.empty() || random() % 2 == 0)
    return one_of(usual_values(), random);
  const Span& value = one_of(values, random);
  return text.substr(value.begin + 1, value.length - 2);
}

std::string new_element(const std::string& text, Random& random) {
  const auto& rules = platform_rules();
  const auto& [name, attributes] =
      *std::next(rules.begin(), static_cast<std::ptrdiff_t>(random() % rules.size()));
  std::string element = "<" + name;
  for (const auto& [attribute, rule] : attributes)
    if (rule.needed || random() % 4 == 0)
      element.append(" ")
          .append(attribute)
          .append("=\"")
          .append(value_of(text, rule, random))
          .append("\"");
  return element + (random() % 4 == 0 ? ">0 1\n</" + name + ">" : "/>");
}

void change(std::string& text, Random& random) {
  const std::vector<Span> tags = between(text, '<', '>');
  const std::vector<Span> values = between(text, '"', '"');
  if (tags.empty() || values.empty())
    return;
  const Span& tag = one_of(tags, random);
  const Span& other = one_of(tags, random);
  const Span& value = one_of(values, random);
  const std::string copy = text.substr(tag.begin, tag.length);
  switch (random() % 6) {
    case 0:
      text.insert(tag.begin, new_element(text, random));
      break;
    case 1:
      text.insert(other.begin, copy);
      break;
    case 2:
      text.erase(tag.begin, tag.length);
      break;
    case 3:  // moved up
      if (other.begin < tag.begin) {
        text.erase(tag.begin, tag.length);
        text.insert(other.begin, copy);
      }
      break;
    default:
      text.replace(value.begin + 1, value.length - 2, value_of(text, {}, random));
  }
}

}  // namespace
}  // namespace syncline

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  syncline::Random random(seed + 1);
  if (random() % 8 == 0)
    return LLVMFuzzerMutate(data, size, most);
  std::string text(data, data + size);
  for (auto changes = 1 + random() % 3; changes > 0; --changes)
    syncline::change(text, random);
  if (text.size() > most)
    return LLVMFuzzerMutate(data, size, most);
  std::copy(text.begin(), text.end(), data);
  return text.size();
}
