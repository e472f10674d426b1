#include "sim/values.h"

#include <algorithm>
#include <bit>

#include "sim/collectives.h"
#include "sim/plan.h"

namespace syncline {

Values dense_sum(const Contributions& contributions, const std::vector<int>& workers,
                 std::size_t first, std::size_t count) {
  Values sum(count);
  for (const int worker : workers) {
    const float* gradient = contributions.gradients[index(worker)].data() + first;
    for (std::size_t i = 0; i < count; ++i)
      sum[i] += gradient[i];
  }
  return sum;
}

Values sum_of_messages(const Contributions& contributions) {
  Values sum(contributions.elements);
  for (std::size_t i = 0; i < contributions.gradients.size(); ++i) {
    const int worker = static_cast<int>(i);
    contributions.decode(worker, 0, 0,
                         contributions.encode(worker, 0, 0, contributions.gradients[i]), sum);
  }
  return sum;
}

Values sum_of_shares(const Topology& topology, const Contributions& contributions, bool added) {
  Values sum(contributions.elements);
  const int parts = static_cast<int>(topology.nodes.front().size());
  for (int part = 0; part < parts; ++part) {
    const std::size_t first = shares(contributions.elements, parts, 0, part);
    const std::size_t count = share(contributions.elements, parts, part);
    if (count == 0)
      continue;
    std::vector<int> workers;
    std::vector<Values> node_sums;
    for (const std::vector<int>& node : topology.nodes) {
      workers.push_back(node[index(part)]);
      node_sums.push_back(dense_sum(contributions, node, first, count));
    }
    const std::span<float> here = std::span<float>(sum).subspan(first, count);
    if (added) {
      contributions.add_messages(workers, first, {node_sums.begin(), node_sums.end()}, here);
      continue;
    }
    for (std::size_t i = 0; i < workers.size(); ++i)
      contributions.decode(workers[i], 0, first,
                           contributions.encode(workers[i], 0, first, node_sums[i]), here);
  }
  return sum;
}

SparseValues sparse_message(const Contributions& contributions, int worker) {
  Values decoded(contributions.elements);
  contributions.decode(worker, 0, 0,
                       contributions.encode(worker, 0, 0, contributions.gradients[index(worker)]),
                       decoded);
  SparseValues values;
  for (std::size_t i = 0; i < decoded.size(); ++i)
    if (decoded[i] != 0)
      values.push_back({static_cast<std::uint32_t>(i), decoded[i]});
  return values;
}

SparseValues sum_of(const SparseValues& a, const SparseValues& b) {
  SparseValues sum;
  sum.reserve(a.size() + b.size());
  auto left = a.begin(), right = b.begin();
  while (left != a.end() && right != b.end())
    if (left->element < right->element)
      sum.push_back(*left++);
    else if (right->element < left->element)
      sum.push_back(*right++);
    else
      sum.push_back({left->element, left++->value + right++->value});
  sum.insert(sum.end(), left, a.end());
  sum.insert(sum.end(), right, b.end());
  return sum;
}

SparseValues keep_largest(SparseValues& values, std::size_t count) {
  if (values.size() <= count)
    return {};
  // Without the sign, the bits of floats are in the order of magnitudes, with NaN above infinity.
  const auto larger = [](const SparseValue& a, const SparseValue& b) {
    const std::uint32_t x = std::bit_cast<std::uint32_t>(a.value) & 0x7fffffffu;
    const std::uint32_t y = std::bit_cast<std::uint32_t>(b.value) & 0x7fffffffu;
    return x != y ? x > y : a.element < b.element;
  };
  const auto earlier = [](const SparseValue& a, const SparseValue& b) {
    return a.element < b.element;
  };
  const auto end = values.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(values.begin(), end, values.end(), larger);
  SparseValues dropped(end, values.end());
  values.erase(end, values.end());
  std::ranges::sort(values, earlier);
  std::ranges::sort(dropped, earlier);
  return dropped;
}

}  // namespace syncline
