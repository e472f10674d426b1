#include "sim/engine/fidelity.h"

#include <algorithm>

#include "sim/catalogue/network.h"
#include "sim/clock/require_arithmetic.h"
#include "sim/engine/estimate.h"

namespace syncline {

void choose_fidelity(Setup& setup) {
  if (setup.scenario.fidelity == Fidelity::analytic)
    require_arithmetic(setup);
  if (setup.scenario.fidelity != Fidelity::automatic)
    return;
  const auto set = [&](bool every_step) {
    setup.traffic.every_step = every_step;
    if (setup.within)
      setup.within->every_step = every_step;
    if (setup.shards) {
      setup.shards->gather.every_step = setup.shards->reduce_scatter.every_step = every_step;
      if (setup.shards->across)
        setup.shards->across->every_step = every_step;
    }
  };
  const auto messages = [&](bool every_step) {
    set(every_step);
    const Estimate needs = estimate(setup);
    return needs.least.flows / needs.runs;
  };
  // SimGrid takes about twenty times as long where cross traffic ties flows together.
  const double most = setup.scenario.network->latency_after_flow ? most_messages_in_steps
                                                                 : most_messages_in_steps / 20;
  // Flows first: there are never more flows than steps, and they are counted faster.
  set(setup.scenario.network->by_size || (messages(false) <= most && messages(true) <= most));
}

bool is_one_flow(const Setup& setup, const Phase& phase) {
  return is_fused(phase, setup.traffic.every_step,
                  setup.traffic.cluster.topology.workers() * phase.stage.channels);
}

bool doubts_flows(const Setup& setup, double fullest_link) {
  constexpr double full = 0.7;
  const auto is_fused = [](const PushedPieces& cut) { return cut.pieces < cut.partitions; };
  return fullest_link >= full && std::ranges::any_of(setup.cuts(), is_fused);
}

std::string fidelity_word(const Setup& setup) {
  if (setup.scenario.fidelity == Fidelity::analytic)
    return "analytic";
  return setup.traffic.every_step ? "step" : "flow";
}

}  // namespace syncline
