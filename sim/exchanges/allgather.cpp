// All-gather of messages: every worker gets all messages unchanged, and adds them itself. Sparse
// and quantised gradients need this if their messages cannot be added (TopK-SGD's published code
// uses Horovod's all-gather; Shi et al., ICDCS 2019, compare with it). Messages may differ in size.
//
// ring: n-1 steps round all workers. recursive-doubling (Thakur, Rabenseifner, Gropp 2005): in each
// of log2 n rounds, partners exchange everything they have, twice as much as in the round before.
// If n is not a power of two, the first 2(n - 2^k) ranks form pairs: the even rank of each pair
// sends its message to the odd one before the rounds, and gets all others after them. A worker adds
// all n messages, including its own.
#include <bit>

#include "sim/collectives.h"

namespace syncline {
namespace {

Plan around_the_rings(const Topology& topology, const std::vector<std::uint64_t>& messages,
                      int rank) {
  return in_channels(topology, rank, [&](const RingPlace& place, const ChannelShare& part) {
    std::vector<std::uint64_t> shares;  // by place in the ring
    for (std::size_t i = 0; i < messages.size(); ++i)
      shares.push_back(
          part.of(messages[topology.channels.empty()
                               ? i
                               : index(topology.channels[index(part.channel)].ring[i])]));
    return ring_all_gather(place, shares, 0);
  });
}

Plan doubling(int n, const std::vector<std::uint64_t>& messages, int rank) {
  const auto message = [&](int worker) { return messages[index(worker)]; };
  std::uint64_t all = 0;
  for (const std::uint64_t bytes : messages)
    all += bytes;
  const auto core = static_cast<int>(std::bit_floor(static_cast<unsigned>(n)));
  const int pairs = n - core;
  const bool paired = rank < 2 * pairs;

  Plan plan;
  if (paired && rank % 2 == 0)
    return {
        Phase{.verb = Verb::fold, .sends = {{rank + 1, message(rank)}}, .receives = {}},
        Phase{.verb = Verb::unfold, .sends = {}, .receives = {{rank + 1, all - message(rank)}}}};
  if (paired)
    plan.push_back(
        Phase{.verb = Verb::fold, .sends = {}, .receives = {{rank - 1, message(rank - 1)}}});

  const int place = paired ? rank / 2 : rank - pairs;
  const auto rank_at = [&](int p) { return p < pairs ? 2 * p + 1 : p + pairs; };
  // Bytes that `count` positions from `first` on hold at the beginning.
  const auto held = [&](int first, int count) {
    std::uint64_t bytes = 0;
    for (int p = first; p < first + count; ++p)
      bytes += message(rank_at(p)) + (p < pairs ? message(2 * p) : 0);
    return bytes;
  };
  for (int distance = 1; distance < core; distance *= 2) {
    const int first = place & ~(distance - 1);
    const int partner = rank_at(place ^ distance);
    plan.push_back(Phase{.verb = Verb::all_gather,
                         .sends = {{partner, held(first, distance)}},
                         .receives = {{partner, held(first ^ distance, distance)}}});
  }
  if (paired)
    plan.push_back(Phase{
        .verb = Verb::unfold, .sends = {{rank - 1, all - message(rank - 1)}}, .receives = {}});
  return plan;
}

Plan allgather(const Topology& topology, const Settings& settings, const Payload& payload,
               int rank) {
  const int n = topology.workers();
  if (n == 1)
    return {};
  std::vector<std::uint64_t> messages;
  for (int worker = 0; worker < n; ++worker)
    messages.push_back(payload.message_of(worker));
  Plan plan = settings.word("algorithm") == "ring" ? around_the_rings(topology, messages, rank)
                                                   : doubling(n, messages, rank);
  if (payload.elements > 0) {
    plan.insert(plan.begin(), encode(payload.elements));
    plan.push_back(decode(payload.elements, n));
  }
  return plan;
}

Values sum_of_all(const Topology&, const Settings&, const Contributions& contributions) {
  return sum_of_messages(contributions);
}

const Registered<Exchange> entry{{
    .name = "allgather",
    .sentence = "every worker gets every message: for messages that cannot be added on the way",
    .help = {.more = "Each worker receives n-1 messages, so its time grows with the number of "
                     "workers however small one message is.",
             .paper = "Shi et al., ICDCS 2019; recursive doubling: Thakur et al., IJHPCA 2005"},
    .options = {choice("algorithm", "ring: n-1 steps; recursive-doubling: log2 n rounds", "ring",
                       {"ring", "recursive-doubling"})},
    .uses_servers = false,
    .has_channels = true,
    .carries = Exchange::Carries::any,
    .plan = allgather,
    .combine = sum_of_all,
}};

}  // namespace
}  // namespace syncline
