// Short lists whose elements stand in the order in which they were found.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace syncline {

inline bool is_among(const std::string& word, const std::vector<std::string>& words) {
  return std::ranges::find(words, word) != words.end();
}

// The element whose `member` has this value; if there is none, a new one at the end.
template <class Element, class Value, class Member = std::identity>
Element& found_or_added(std::vector<Element>& all, const Value& value, Member member = {}) {
  auto found = std::ranges::find(all, value, member);
  if (found == all.end()) {
    found = all.emplace(found);
    std::invoke(member, *found) = value;
  }
  return *found;
}

// The place of the element that is this; if there is none, of a new one at the end.
template <class Element>
std::size_t place_in(std::vector<Element>& all, const Element& one) {
  return static_cast<std::size_t>(&found_or_added(all, one) - all.data());
}

}  // namespace syncline
