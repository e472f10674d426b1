// gTop-k (Shi et al., ICDCS 2019): a global top-k by a tree. In each of log2 P rounds the odd one
// of two participants sends its k (index, value) pairs to the even one, which adds them to its own
// pairs and keeps the k largest. Then rank 0's k pairs go back along the same tree. Every message
// has k pairs: 4k log2 P words go through rank 0, where an all-gather brings 2k(P-1) words to every
// worker.
//
// The paper requires P to be a power of two. Otherwise, here, the first 2(P - 2^j) ranks form
// pairs: the odd rank of each pair sends to the even one in a round before the tree, and gets the
// result in a round after it.
//
// A merge takes the seconds of decoding one message. Selecting k values again takes no time here:
// the selection is among at most 2k values, 2 * density of the buffer that the first selection
// reads.
#include <algorithm>
#include <bit>

#include "sim/collectives.h"

namespace syncline {
namespace {

Plan gtopk(const Topology& topology, const Settings&, const Payload& payload, int rank) {
  const int n = topology.workers();
  if (n == 1)
    return {};
  const auto core = static_cast<int>(std::bit_floor(static_cast<unsigned>(n)));
  const int pairs = n - core;
  const bool compressed = payload.elements > 0;

  const auto place_of = [&](int worker) {
    return worker < 2 * pairs ? worker / 2 : worker - pairs;
  };
  // A worker sends up its selection, or the list that it has merged; rank 0's list comes down.
  const auto bytes_up = [&](int worker) {
    const bool merges = worker < 2 * pairs ? worker % 2 == 0 : place_of(worker) % 2 == 0;
    return merges ? payload.sum_of(worker) : payload.message_of(worker);
  };
  Plan plan;
  const auto send = [&](Verb verb, int to, std::uint64_t bytes) {
    plan.push_back(Phase{.verb = verb, .sends = {{to, bytes}}, .receives = {}});
  };
  const auto receive = [&](Verb verb, int from, std::uint64_t bytes) {
    plan.push_back(Phase{.verb = verb, .sends = {}, .receives = {{from, bytes}}});
  };
  const std::uint64_t down = payload.sum_of(0);
  const auto read = [&] {  // a merge, or the result
    if (compressed)
      plan.push_back(decode(payload.elements));
  };
  if (compressed)
    plan.push_back(encode(payload.elements));

  const bool paired = rank < 2 * pairs;
  if (paired && rank % 2 == 1) {
    send(Verb::fold, rank - 1, bytes_up(rank));
    receive(Verb::unfold, rank - 1, down);
    read();
    return plan;
  }
  if (paired) {
    receive(Verb::fold, rank + 1, bytes_up(rank + 1));
    read();
  }
  const int place = place_of(rank);
  const auto rank_at = [&](int p) { return p < pairs ? 2 * p : p + pairs; };
  int distance = 1;  // to the partner; at the end, to the rank that got this rank's k pairs
  for (; distance < core && (place & distance) == 0; distance *= 2) {
    receive(Verb::reduce, rank_at(place + distance), bytes_up(rank_at(place + distance)));
    read();
  }
  if (place != 0) {
    send(Verb::reduce, rank_at(place - distance), bytes_up(rank));
    receive(Verb::broadcast, rank_at(place - distance), down);
  }
  while ((distance /= 2) >= 1)
    send(Verb::broadcast, rank_at(place + distance), down);
  if (paired)
    send(Verb::unfold, rank + 1, down);
  read();
  return plan;
}

// A worker that selected a value of an element which is not in the last list gets its own value of
// this element back, as in the authors' code. A value of an element in the last list counts as
// sent, even if a merge dropped the value before another branch brought the element: that value is
// lost. Giving it back, too, would require telling its worker about every merge. The merging worker
// cannot keep it, because a sum of several workers in one residual wins the next selection, is
// dropped again and grows. If the compressor sets no k, k is the length of the longer of the two
// lists.
Values sum_of_tree(const Topology& topology, const Settings&, const Contributions& contributions) {
  const int n = topology.workers();
  const auto core = static_cast<int>(std::bit_floor(static_cast<unsigned>(n)));
  const int pairs = n - core;
  std::vector<SparseValues> lists;
  for (int worker = 0; worker < n; ++worker)
    lists.push_back(sparse_message(contributions, worker));
  const std::vector<SparseValues> own = lists;
  const auto merge = [&](int into, int from) {
    SparseValues& mine = lists[index(into)];
    const SparseValues& other = lists[index(from)];
    contributions.sends_list(from, other.size(), contributions.elements);
    const std::size_t longer = std::max(mine.size(), other.size());
    mine = sum_of(mine, other);
    keep_largest(mine, contributions.wanted > 0 ? contributions.wanted : longer);
  };
  for (int pair = 0; pair < pairs; ++pair)
    merge(2 * pair, 2 * pair + 1);
  const auto rank_at = [&](int place) { return place < pairs ? 2 * place : place + pairs; };
  for (int distance = 1; distance < core; distance *= 2)
    for (int place = 0; place < core; place += 2 * distance)
      merge(rank_at(place), rank_at(place + distance));
  contributions.sends_list(0, lists.front().size(), contributions.elements);
  Values sum(contributions.elements);
  std::vector<bool> selected(contributions.elements);
  for (const auto& [element, value] : lists.front()) {
    sum[element] = value;
    selected[element] = true;
  }
  for (int worker = 0; worker < n; ++worker)
    for (const auto& [element, value] : own[index(worker)])
      if (!selected[element])
        contributions.give_back(worker, element, value);
  return sum;
}

const Registered<Exchange> entry{{
    .name = "gtopk",
    .sentence =
        "a tree merges lists of k values in pairs into one list of k, which all workers get",
    .help = {.more =
                 "Each of about 2 log2 n messages has k values, where a gather brings k values of "
                 "every worker. A worker keeps its selected values that are not in the last list. "
                 "A value that a merge dropped is lost if another branch brought the same element.",
             .paper = "Shi et al., ICDCS 2019"},
    .uses_servers = false,
    .carries = Exchange::Carries::sparse,
    .plan = gtopk,
    .combine = sum_of_tree,
}};

}  // namespace
}  // namespace syncline
