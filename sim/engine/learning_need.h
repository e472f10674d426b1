// What learning takes of a processor and of memory, beside the simulation of its messages.
#pragma once

#include "sim/engine/estimate.h"

namespace syncline {

// Adds what the gradients of `need.iterations` take, and how often what is learned is evaluated.
void add_learning(const Setup& setup, Need& need);

}  // namespace syncline
