// Lists that keep the order in which their elements were found.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace syncline {

using Words = std::vector<std::string>;

inline bool is_among(const std::string& word, const Words& words) {
  return std::ranges::find(words, word) != words.end();
}

// The element whose `member` has this value; if there is none, a new one at the end. Searches
// element by element: for short lists.
template <class Element, class Value, class Member = std::identity>
Element& found_or_added(std::vector<Element>& all, const Value& value, Member member = {}) {
  auto found = std::ranges::find(all, value, member);
  if (found == all.end()) {
    found = all.emplace(found);
    std::invoke(member, *found) = value;
  }
  return *found;
}

// The index of the element equal to `one`; if there is none, of a new one at the end.
template <class Element>
std::size_t place_in(std::vector<Element>& all, const Element& one) {
  return static_cast<std::size_t>(&found_or_added(all, one) - all.data());
}

// As above, for a list of any length: a map keeps the index of each value.
template <class Element, class Member = std::identity>
class LongList {
 public:
  using Value = std::remove_cvref_t<std::invoke_result_t<Member, Element&>>;

  explicit LongList(Member member = {}) : member_(member) {}
  Element& found_or_added(const Value& value) { return all[place_of(value)]; }
  std::size_t place_of(const Value& value) {
    const auto [place, added] = places_.try_emplace(value, all.size());
    if (added)
      std::invoke(member_, all.emplace_back()) = value;
    return place->second;
  }

  std::vector<Element> all;

 private:
  Member member_;
  std::map<Value, std::size_t> places_;
};
template <class Element, class Value>
LongList(Value Element::*) -> LongList<Element, Value Element::*>;

// How often each word occurs: the most frequent first.
inline std::vector<std::pair<std::string, int>> tallied(const Words& words) {
  std::vector<std::pair<std::string, int>> counts;
  for (const std::string& word : words)
    ++found_or_added(counts, word, &std::pair<std::string, int>::first).second;
  std::ranges::stable_sort(counts, std::greater(), &std::pair<std::string, int>::second);
  return counts;
}

}  // namespace syncline
