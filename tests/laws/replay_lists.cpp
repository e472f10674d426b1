// Exchanges that merge lists, implemented from their papers: Shi et al. (ICDCS 2019), algorithms 2
// to 4 with the residuals of the authors' code; Li and Hoefler (PPoPP 2022), algorithms 1 and 2.
#include <algorithm>
#include <cmath>
#include <map>

#include "tests/laws/replay_rules.h"

namespace syncline {
namespace {

using List = std::map<std::size_t, float>;  // by element

List list_of(const Floats& sent) {
  List list;
  for (std::size_t i = 0; i < sent.size(); ++i)
    if (sent[i] != 0)
      list[i] = sent[i];
  return list;
}

List sum_of(List sum, const List& other) {
  for (const auto& [element, value] : other)
    sum[element] += value;
  return sum;
}

List largest(const List& list, std::size_t count) {
  std::vector<std::pair<std::size_t, float>> all(list.begin(), list.end());
  std::ranges::stable_sort(
      all, [](const auto& a, const auto& b) { return std::abs(a.second) > std::abs(b.second); });
  all.resize(std::min(count, all.size()));
  return {all.begin(), all.end()};
}

// Merges lists in pairs into the k largest of their sum. Workers beyond a power of two first merge
// with a partner.
List by_a_tree(std::vector<List> lists, std::size_t k) {
  std::size_t core = 1;
  while (2 * core <= lists.size())
    core *= 2;
  std::vector<List> left;
  const std::size_t more = lists.size() - core;
  for (std::size_t i = 0; i < lists.size(); ++i)
    if (i < 2 * more && i % 2 == 1)
      left.back() = largest(sum_of(left.back(), lists[i]), k);
    else
      left.push_back(lists[i]);
  while (left.size() > 1) {
    std::vector<List> next;
    for (std::size_t i = 0; i < left.size(); i += 2)
      next.push_back(largest(sum_of(left[i], left[i + 1]), k));
    left = next;
  }
  return left.front();
}

}  // namespace

Floats merged_lists(ReplayRules& rules, int bucket, const std::vector<Floats>& sent) {
  const Elements& span = rules.buckets[index(bucket)];
  const double density = rules.scenario.compressor_settings.number("density");
  const auto size = static_cast<double>(span.end - span.begin);
  const auto k = static_cast<std::size_t>(std::max(1.0, std::floor(density * size)));
  std::vector<List> lists;
  List everything;
  for (const Floats& of_worker : sent) {
    lists.push_back(list_of(of_worker));
    everything = sum_of(everything, lists.back());
  }
  const List global =
      rules.scenario.exchange->name == "gtopk" ? by_a_tree(lists, k) : largest(everything, k);
  // A worker keeps its own values of elements that are not in the global list.
  for (std::size_t worker = 0; worker < lists.size(); ++worker)
    for (const auto& [element, value] : lists[worker])
      if (!global.contains(element))
        rules.messages.put_back({static_cast<int>(worker), 0, bucket, 0}, element, value);
  Floats sum(span.end - span.begin);
  for (const auto& [element, value] : global) {
    sum[element] = value;
    rules.result.lost[span.begin + element] += double{everything.at(element)} - double{value};
  }
  return sum;
}

}  // namespace syncline
