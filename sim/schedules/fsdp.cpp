// Fully sharded data parallelism: each of n workers holds a shard, 1/n, of the state that data
// parallelism keeps n times (ZeRO, Rajbhandari et al. 2020, stages 1 to 3; PyTorch FSDP, Zhao et
// al. 2023). With zero = 3 a unit's parameters are gathered before its forward and again before its
// backward, except for the last unit, with which backward begins. The unit's gradient is
// reduce-scattered after its backward, and each worker steps its shard. While a unit computes, the
// next one is gathered (`prefetch`): its gather is queued before this unit's reduce-scatter, as
// with PyTorch's BACKWARD_PRE, because one stream runs them all. With `backward-prefetch` post and
// none, backward gathers the next unit only after this unit has computed. With zero = 1 and 2
// parameters are whole, and are gathered after the step, while the next forward computes the units
// that have arrived (with `prefetch = 0` forward waits for all units).
//
// Micro-steps: gradients are scattered in each micro-step and added up as shards (zero = 2 and 3),
// or added up whole and scattered in the last micro-step (zero = 1, and `no-sync = on` as in
// PyTorch's context no_sync).
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "sim/schedule.h"
#include "sim/worker.h"

namespace syncline {
namespace {

Sharding sharding(const Settings& settings) {
  const double zero = settings.number("zero");
  const double units = settings.number("units");
  Sharding how{.group = settings.word("shard") == "node" ? Among::node : Among::all,
               .parameters = zero == 3,
               .gradients = zero >= 2,
               .adds_whole = zero == 1 || settings.word("no-sync") == "on",
               .prefetch = static_cast<int>(settings.number("prefetch"))};
  if (const std::string& word = settings.word("backward-prefetch"); word != "pre")
    how.backward = word == "post" ? Sharding::Backward::post : Sharding::Backward::none;
  if (units < std::numeric_limits<double>::infinity())
    how.parts = static_cast<int>(units);
  return how;
}

using Units = std::vector<const Bucket*>;

// Gathers units in this order; the first `gathered` units have been started.
struct Pass {
  Worker& worker;
  const Units& units;
  std::size_t gathered;

  void gather_to(std::size_t last) {
    for (; gathered <= std::min(last, units.size() - 1); ++gathered)
      worker.start_gather(*units[gathered]);
  }
};

void forward(Worker& worker, const Sharding& how, const Units& units) {
  Pass pass{worker, units, how.parameters ? 0 : units.size()};
  for (std::size_t i = 0; i < units.size(); ++i) {
    pass.gather_to(i + static_cast<std::size_t>(how.prefetch));
    worker.finish_gather(*units[i]);
    worker.forward(*units[i]);
  }
}

void backward(Worker& worker, const Sharding& how, const Units& units, bool scatters) {
  using Backward = Sharding::Backward;
  const std::size_t ahead =
      how.backward == Backward::pre ? static_cast<std::size_t>(how.prefetch) : 0;
  Pass pass{worker, units, how.parameters ? 1 : units.size()};
  for (std::size_t i = 0; i < units.size(); ++i) {
    pass.gather_to(i + ahead);
    worker.finish_gather(*units[i]);
    worker.backward(*units[i]);
    if (how.backward == Backward::post)
      pass.gather_to(i + 1);
    if (scatters)
      worker.start_reduce_scatter(*units[i]);
  }
}

void finish_gathers(Worker& worker, const Units& units) {
  for (const Bucket* unit : units)
    worker.finish_gather(*unit);
}

void worker(Worker& worker) {
  const Sharding how = sharding(worker.settings());
  Units last_first;
  for (const Bucket& unit : worker.buckets())
    last_first.push_back(&unit);
  const Units first_first(last_first.rbegin(), last_first.rend());
  while (worker.next_iteration()) {
    for (int left = worker.micro_steps() - 1; left >= 0; --left) {
      forward(worker, how, first_first);
      backward(worker, how, last_first, left == 0 || !how.adds_whole);
    }
    worker.finish_averages();
    worker.step();
    if (how.parameters)
      continue;
    for (const Bucket* unit : first_first)
      worker.start_gather(*unit);
    if (how.prefetch == 0)
      finish_gathers(worker, first_first);
  }
  finish_gathers(worker, first_first);
}

const Registered<Schedule> entry{{
    .name = "fsdp",
    .sentence = "bulk synchronous with shards: parameters are gathered, gradients reduce-scattered",
    .help = {.more = "A worker holds 1/n of parameters, gradients and the optimiser's states, and "
                     "sends half as much again as `bsp`; forward hides a part of this.",
             .paper = "ZeRO, Rajbhandari et al., SC 2020, arXiv 1910.02054; PyTorch FSDP, Zhao et "
                      "al., VLDB 2023, arXiv 2304.11277"},
    .options =
        {whole_number("zero",
                      "what is sharded: 1 the optimiser's states, 2 gradients too, 3 "
                      "parameters too",
                      "3", 1, 3),
         or_word(
             whole_number("units",
                          "number of units of equal size, which are gathered one at a time; "
                          "blocks: a unit for each numbered block of layers in the tensors' names",
                          "blocks", 1, 1e5),
             "blocks"),
         whole_number("prefetch",
                      "units that are gathered ahead while one computes; 0: none, in backward "
                      "either, so pre is then none",
                      "1", 0, 1e5),
         choice("backward-prefetch",
                "when backward gathers the next unit: before it computes a unit, after that, or "
                "after it has also queued that unit's gradients",
                "pre", {"pre", "post", "none"}),
         choice("shard",
                "workers that hold all shards together: all, or (node) those of each node, "
                "PyTorch's HYBRID_SHARD, with an all-reduce of gradients between nodes",
                "all", {"all", "node"}),
         choice("no-sync",
                "on: gradients of micro-steps are added up whole and scattered once; off: in "
                "each micro-step (zero = 2 and 3)",
                "off", {"on", "off"})},
    .any_exchange = false,
    .sharding = sharding,
    .worker = worker,
}};

}  // namespace
}  // namespace syncline
