// Why measured iterations are longer than a scenario's: how much of one cause, by itself, would
// make them as long. By arithmetic, for schedules whose workers wait for all others.
#pragma once

#include <optional>
#include <vector>

#include "sim/platform/routes.h"
#include "sim/setup/setup.h"

namespace syncline {

// Seconds of the scenario's mean iteration. Throws std::runtime_error where arithmetic cannot tell:
// where servers decide what workers do, profiles change exchanges, or rounds differ.
double scenario_iteration_s(const Setup& setup, Routes& routes);

// One thing that may be worse than the scenario says, while all else is as it says.
struct Slowdown {
  enum class Kind {
    cards,        // links between nodes carry `amount` of their bandwidth
    inside,       // links inside nodes carry `amount` of theirs
    steps,        // each step of an exchange takes `amount` seconds longer
    computation,  // computation takes `amount` times as long
  };
  Kind kind = Kind::cards;
  // None: however bad it is, iterations are shorter than measured.
  std::optional<double> amount;
  double rate_Bps = 0;  // of the busiest of these links
};

// Seconds of the scenario's mean iteration with a slowdown of which it has the kind.
double slowed_iteration_s(const Setup& setup, const Slowdown& slowdown);

// Each kind that the scenario has. `iteration_s`: measured, longer than the scenario's.
std::vector<Slowdown> slowdowns_of(const Setup& setup, double iteration_s);

}  // namespace syncline
