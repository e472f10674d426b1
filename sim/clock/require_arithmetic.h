// What `fidelity = analytic` cannot say.
#pragma once

#include <string>

#include "sim/setup/setup.h"

namespace syncline {

// Throws std::runtime_error with the reason and what is allowed instead.
[[noreturn]] void refuse_analytic(const std::string& why);

// Refuses servers, learning, profiles, networks other than `exact`, sizes that warm up, different
// cost tables, and groups of tensors that differ from iteration to iteration. More is refused where
// it is found: work inside an exchange, and averages in groups that share links with those over
// all.
void require_arithmetic(const Setup& setup);

}  // namespace syncline
