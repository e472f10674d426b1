// Ok-Topk (Li and Hoefler, PPoPP 2022): a sparse all-reduce whose volume does not grow with the
// number of workers. Split and reduce: indices are cut into one region per worker, each worker
// sends the others what it selected in their regions and merges what it gets for its own. Then all
// gather the regions' part of the global top-k. Each worker sends 2k(n-1)/n words in either.
//
// Regions are chosen so that the parts are even before the split. After it they may differ, and
// `balance = on` adds the exchange that evens them out before the all-gather, at its upper bound:
// another 2k(n-1)/n words from each worker, so 6k at most. Takes no time here: the agreement on
// regions and thresholds (once in many iterations), and the selection by threshold among the merged
// values.
#include "sim/plan.h"

namespace syncline {
namespace {

Plan oktopk(const Topology& topology, const Settings& settings, const Payload& payload, int rank) {
  const int n = topology.workers();
  if (n == 1)
    return {};
  const bool compressed = payload.elements > 0;
  const auto region = [&](int, int to) { return share(payload.bytes, n, to); };

  Plan plan;
  if (compressed)
    plan.push_back(encode(payload.elements));
  append_all_to_all(plan, "split", n, rank, region);
  if (compressed)
    plan.push_back(decode(largest_share(payload.elements, n), n));
  if (settings.word("balance") == "on")
    append_all_to_all(plan, "balance", n, rank, region);
  plan.push_back(ring_all_gather(place_among_all(n, rank), payload.bytes, 0));
  if (compressed)
    plan.push_back(decode(payload.elements));
  return plan;
}

const Registered<Exchange> entry{{
    .name = "oktopk",
    .sentence = "each worker merges one region of all workers' selections, then all gather them",
    .help = {.more = "Its volume does not grow with the number of workers: at most 6k values and "
                     "indices per worker.",
             .paper = "Li and Hoefler, PPoPP 2022"},
    .parameters = {{.name = "balance",
                    .sentence =
                        "on: even the regions out before the all-gather, at its worst price",
                    .fallback = "off",
                    .choices = {"on", "off"}}},
    .uses_servers = false,
    .carries = Exchange::Carries::sparse,
    .plan = oktopk,
}};

}  // namespace
}  // namespace syncline
