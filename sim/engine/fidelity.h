// Whether a cell runs every step of its exchanges, or many of them as one flow.
#pragma once

#include <string>

#include "sim/setup/setup.h"

namespace syncline {

// `fidelity = auto` runs every step of a cell whose run, at its least length, has at most so many
// messages: a second or two of a core. How many runs it has changes nothing.
constexpr double most_messages_in_steps = 125'000;

// Decides what `fidelity = auto` comes to, by the estimate of messages alone: so it is the same on
// every machine, and in every part of a sweep. A run that grows longer stays as it began.
void settle_fidelity(Setup& setup);

// Whether the steps of a phase that is in no pipeline are one flow: its messages, with those of the
// other channels, are many.
bool is_one_flow(const Setup& setup, const Phase& phase);

// Whether several partitions are pushed as one over a link that is this full, of 1: there flows are
// known to be more than 3 % away from steps (law 26).
bool doubts_flows(const Setup& setup, double fullest_link);

// It came to `step` or `flow`.
std::string fidelity_word(const Setup& setup);

}  // namespace syncline
