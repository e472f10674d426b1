#include "sim/setup/dense_rival.h"

#include "sim/setup/buckets.h"

namespace syncline {

Setup dense_rival(const Setup& setup) {
  Setup rival = setup;
  rival.scenario.compressor = nullptr;
  rival.traffic = dense_traffic(setup.traffic, *setup.scenario.dense_exchange);
  rival.compute.together_part = together_part(rival.scenario);
  if (!setup.tensors.empty())
    rival.buckets =
        cycled(rival.scenario, rival.model, rival.compute, rival.traffic, setup.tensors);
  return rival;
}

}  // namespace syncline
