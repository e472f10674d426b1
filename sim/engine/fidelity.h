// Decides whether a cell simulates every step of its exchanges, or many steps as one flow.
#pragma once

#include <string>

#include "sim/setup/setup.h"

namespace syncline {

// `fidelity = auto` simulates every step of a cell if its shortest run has at most this many
// messages, which take a second or two of one core. The number of runs does not matter. The limit
// is a twentieth of this on networks whose flows include the latency; on networks with factors by
// message size, `auto` always simulates every step.
constexpr double most_messages_in_steps = 125'000;

// Resolves `fidelity = auto` from the estimated number of messages alone, so the result is the same
// on every machine and in every part of a sweep. A run that grows longer keeps its fidelity.
void choose_fidelity(Setup& setup);

// True if the steps of a phase outside a pipeline are simulated as one flow, because the phase and
// the other channels together have many messages.
bool is_one_flow(const Setup& setup, const Phase& phase);

// True if several partitions are pushed as one flow and the fullest link is nearly full
// (`fullest_link`, 0 to 1). Flows are known to differ from steps by more than 3 % then (law 26).
bool doubts_flows(const Setup& setup, double fullest_link);

// Returns `step`, `flow` or `analytic`.
std::string fidelity_word(const Setup& setup);

}  // namespace syncline
