// All-to-all, then all-gather: Espresso's (EuroSys 2023) divisible scheme. Each worker gets one
// n-th of every worker's gradient, adds these parts, compresses the sum again and sends it to all.
// CNTK, which ran QSGD's published experiments, aggregates 1-bit gradients in this way (Seide et
// al., Interspeech 2014). 2(n-1)/n of a message leaves a worker, as in an all-reduce, even if
// messages cannot be added; but each worker compresses twice. Without compression: a direct
// reduce-scatter.
#include "sim/collectives.h"

namespace syncline {
namespace {

Plan alltoall(const Topology& topology, const Settings&, const Payload& payload, int rank) {
  const int n = topology.workers();
  if (n == 1)
    return {};
  const bool compressed = payload.elements > 0;
  const std::uint64_t part = largest_share(payload.elements, n);

  Plan plan;
  if (compressed)
    plan.push_back(encode(payload.elements));
  append_all_to_all(plan, Verb::all_to_all, n, rank,
                    [&](int from, int to) { return share(payload.message_of(from), n, to); });
  if (compressed) {
    plan.push_back(decode(part, n));
    plan.push_back(encode(part));
  }
  plan.push_back(all_gather_of_sums(payload, n, rank));
  if (compressed)
    plan.push_back(decode(payload.elements));
  return plan;
}

// Each part of the sum is compressed again by the worker that has added it.
Values sum_of_parts(const Topology& topology, const Settings&, const Contributions& contributions) {
  const Values messages = sum_of_messages(contributions);
  Values sum(contributions.elements);
  const int n = topology.workers();
  for (int worker = 0; worker < n; ++worker) {
    const std::size_t first = shares(contributions.elements, n, 0, worker);
    const std::size_t count = share(contributions.elements, n, worker);
    add_compressed_again(contributions, worker, first, {messages.data() + first, count}, sum);
  }
  return sum;
}

const Registered<Exchange> entry{{
    .name = "alltoall",
    .sentence =
        "each worker adds one n-th of all messages and compresses the sum, which all gather",
    .help = {.more = "It sends as little as an all-reduce even if messages cannot be added, but "
                     "every worker compresses twice. With few values per message, learning is then "
                     "slow, or diverges. Schedule bsp with it, and a compressor with error "
                     "feedback, is DoubleSqueeze, each worker the server of an n-th. Through "
                     "servers ssp is, with staleness = 0, cache = off and pull = compressed; they "
                     "compress once for each worker, DoubleSqueeze's once for all.",
             .paper = "Seide et al., Interspeech 2014; DoubleSqueeze, Tang et al., ICML 2019; "
                      "Espresso, EuroSys 2023"},
    .uses_servers = false,
    .carries = Exchange::Carries::any,
    .plan = alltoall,
    .combine = sum_of_parts,
}};

}  // namespace
}  // namespace syncline
