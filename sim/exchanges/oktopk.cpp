// Ok-Topk (Li and Hoefler, PPoPP 2022): a sparse all-reduce whose volume does not grow with the
// number of workers. Split and reduce: indices are cut into one region per worker; each worker
// sends the others its selected values in their regions and merges the values that it gets for its
// own region. Then all workers gather the regions' parts of the global top-k. Each worker sends
// 2k(n-1)/n words in each of the two.
//
// Regions are chosen so that the parts are even before the split. After the split they may differ.
// `balance = on` adds the exchange that evens them out before the all-gather, at its upper bound:
// another 2k(n-1)/n words from each worker, so 6k at most. Two things take no time here: the
// agreement on regions and thresholds (once in many iterations), and the selection by threshold
// among the merged values.
#include <algorithm>

#include "sim/collectives.h"

namespace syncline {
namespace {

Plan oktopk(const Topology& topology, const Settings& settings, const Payload& payload, int rank) {
  const int n = topology.workers();
  if (n == 1)
    return {};
  const bool compressed = payload.elements > 0;
  const auto selected = [&](int from, int to) { return share(payload.message_of(from), n, to); };
  const auto merged = [&](int, int to) { return share(payload.bytes, n, to); };

  Plan plan;
  if (compressed)
    plan.push_back(encode(payload.elements));
  append_all_to_all(plan, Verb::split, n, rank, selected);
  if (compressed)
    plan.push_back(decode(largest_share(payload.elements, n), n));
  if (settings.word("balance") == "on")
    append_all_to_all(plan, Verb::balance, n, rank, merged);
  plan.push_back(all_gather_of_sums(payload, n, rank));
  if (compressed)
    plan.push_back(decode(payload.elements));
  return plan;
}

// Each worker keeps, of its region, the values that reach the k-th largest of all merged values.
// The paper finds this threshold once in many iterations and reuses it; here it is always exact. A
// worker's selected values of elements below the threshold stay in its residual, so nothing is
// lost. If the compressor sets no k, k is the length of the longest list.
Values sum_of_regions(const Topology& topology, const Settings&,
                      const Contributions& contributions) {
  const int n = topology.workers();
  Values sum(contributions.elements);
  std::vector<SparseValues> own;
  std::size_t longest = 0;
  for (int worker = 0; worker < n; ++worker) {
    own.push_back(sparse_message(contributions, worker));
    longest = std::max(longest, own.back().size());
    for (const auto& [element, value] : own.back())
      sum[element] += value;
  }
  SparseValues merged;
  for (std::size_t i = 0; i < sum.size(); ++i)
    if (sum[i] != 0)
      merged.push_back({static_cast<std::uint32_t>(i), sum[i]});
  std::vector<bool> dropped(contributions.elements);
  for (const auto& [element, value] :
       keep_largest(merged, contributions.wanted > 0 ? contributions.wanted : longest)) {
    sum[element] = 0;
    dropped[element] = true;
  }
  for (int worker = 0; worker < n; ++worker)
    for (const auto& [element, value] : own[index(worker)])
      if (dropped[element])
        contributions.give_back(worker, element, value);
  std::vector<std::size_t> kept(static_cast<std::size_t>(n));  // by region
  int owner = 0;
  for (const auto& [element, value] : merged) {
    while (element >= shares(contributions.elements, n, 0, owner + 1))
      ++owner;
    ++kept[index(owner)];
  }
  for (int worker = 0; worker < n; ++worker)
    contributions.sends_list(worker, kept[index(worker)], share(contributions.elements, n, worker));
  return sum;
}

const Registered<Exchange> entry{{
    .name = "oktopk",
    .sentence = "each worker merges one region of all workers' selections, then all gather them",
    .help =
        {.more =
             "Its volume does not grow with the number of workers: at most 6k values and indices "
             "per worker. A worker keeps its selected values that are not in the result.",
         .paper = "Li and Hoefler, PPoPP 2022"},
    .options = {choice(
        "balance", "on: even out the regions before the all-gather, at the highest possible cost",
        "off", {"on", "off"})},
    .uses_servers = false,
    .carries = Exchange::Carries::sparse,
    .plan = oktopk,
    .combine = sum_of_regions,
}};

}  // namespace
}  // namespace syncline
