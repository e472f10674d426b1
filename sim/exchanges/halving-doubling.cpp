// Recursive halving and doubling (Thakur, Rabenseifner, Gropp 2005): log2 n rounds that halve the
// part for which a rank is responsible, then log2 n rounds that double it again. It sends as few
// bytes as a ring, with 2 log2 n latencies instead of 2(n-1), but partners are far away: many flows
// leave a node at once. If n is not a power of two, the first 2(n - 2^k) ranks form pairs: the even
// rank of each pair sends its buffer to the odd one before the rounds and gets the sum after them.
#include <bit>

#include "sim/collectives.h"

namespace syncline {
namespace {

Plan halving_doubling(const Topology& topology, const Settings&, const Payload& payload, int rank) {
  const std::uint64_t bytes = payload.bytes;
  const int n = topology.workers();
  if (n == 1)
    return {};
  const auto core = static_cast<int>(std::bit_floor(static_cast<unsigned>(n)));
  const int pairs = n - core;

  Plan plan;
  if (rank < 2 * pairs && rank % 2 == 0)
    return {Phase{.verb = Verb::fold, .sends = {{rank + 1, bytes}}, .receives = {}},
            Phase{.verb = Verb::unfold, .sends = {}, .receives = {{rank + 1, bytes}}}};
  if (rank < 2 * pairs)
    plan.push_back(Phase{.verb = Verb::fold, .sends = {}, .receives = {{rank - 1, bytes}}});

  const int place = rank < 2 * pairs ? rank / 2 : rank - pairs;
  const auto rank_at = [&](int p) { return p < pairs ? 2 * p + 1 : p + pairs; };

  std::uint64_t begin = 0;  // the part for which this rank is still responsible
  std::uint64_t end = bytes;
  std::vector<Transfer> kept, given;  // per round: the partner, and the part kept or given
  for (int distance = core / 2; distance >= 1; distance /= 2) {
    const int partner = rank_at(place ^ distance);
    const std::uint64_t middle = begin + (end - begin) / 2;
    const bool low = (place & distance) == 0;
    const std::uint64_t mine = low ? middle - begin : end - middle;
    const std::uint64_t theirs = end - begin - mine;
    plan.push_back(
        Phase{.verb = Verb::halve, .sends = {{partner, theirs}}, .receives = {{partner, mine}}});
    kept.push_back({partner, mine});
    given.push_back({partner, theirs});
    (low ? end : begin) = middle;
  }
  // Doubling repeats the rounds in reverse: each rank sends the part that it kept and receives the
  // part that it gave.
  for (std::size_t round = kept.size(); round-- > 0;)
    plan.push_back(
        Phase{.verb = Verb::doubling, .sends = {kept[round]}, .receives = {given[round]}});
  if (rank < 2 * pairs)
    plan.push_back(Phase{.verb = Verb::unfold, .sends = {{rank - 1, bytes}}, .receives = {}});
  return plan;
}

const Registered<Exchange> entry{{
    .name = "halving-doubling",
    .sentence = "recursive halving, then doubling: log2 n rounds each, any number of workers",
    .help = {.more = "It sends a ring's bytes in fewer steps, but to partners that are far away, "
                     "where flows meet.",
             .paper = "Thakur, Rabenseifner and Gropp, IJHPCA 2005"},
    .uses_servers = false,
    .plan = halving_doubling,
}};

}  // namespace
}  // namespace syncline
