// The limits of `fidelity = analytic`.
#pragma once

#include <string>

#include "sim/setup/setup.h"

namespace syncline {

// Throws std::runtime_error with the reason and the allowed alternatives.
[[noreturn]] void refuse_analytic(const std::string& why);

// Refuses servers, learning, profiles, networks other than `exact`, densities that warm up,
// different cost tables, and groups of tensors that differ from iteration to iteration. Two more
// cases are refused where they are found: work inside an exchange, and neighbours that are drawn at
// random or answer copies as these come.
void require_arithmetic(const Setup& setup);

}  // namespace syncline
