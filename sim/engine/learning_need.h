// Processor time and memory that learning needs in addition to the simulation of messages.
#pragma once

#include "sim/engine/estimate.h"

namespace syncline {

// Adds the seconds, memory and evaluations that learning takes in `need.iterations`.
void add_learning(const Setup& setup, Need& need);

}  // namespace syncline
